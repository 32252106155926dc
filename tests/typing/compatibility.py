"""Types of the calls that PyTorch programs make around the mathematics."""

from __future__ import annotations

import io
from typing import assert_type

import tinytorch as tt
import tinytorch.backends.cudnn as cudnn
from tinytorch import nn
from tinytorch.cuda.amp import GradScaler, autocast

cudnn.benchmark = True
tt.backends.cudnn.deterministic = True
tt.backends.cuda.matmul.allow_tf32 = True
tt.set_num_threads(2)
tt.set_default_device("cpu")
assert_type(tt.get_default_device(), tt.device)


@tt.compile
def double(x: tt.Tensor) -> tt.Tensor:
    return x * 2


@tt.compile(mode="reduce-overhead", fullgraph=True)
def triple(x: tt.Tensor) -> tt.Tensor:
    return x * 3


@tt.no_grad()
def evaluate(model: nn.Linear, scaler: GradScaler) -> tt.Tensor:
    with autocast(enabled=False):
        loss = model(double(tt.FloatTensor([1.0, 2.0])))
    return assert_type(scaler.scale(loss), tt.Tensor)


assert_type(double(tt.ones(2)), tt.Tensor)
assert_type(triple(tt.ones(2)), tt.Tensor)
compiled: nn.Module = tt.compile(nn.Linear(2, 1))
assert_type(tt.LongTensor(2, 3), tt.Tensor)
assert_type(tt.typename(3), str)

file = io.BytesIO()
tt.save({"weight": tt.ones(2)}, file, pickle_protocol=2)
file.seek(0)
loaded = tt.load(file, map_location=tt.device("cpu"), weights_only=True)
tt.serialization.add_safe_globals([nn.Linear])
with tt.serialization.safe_globals([(nn.Linear, "old.Linear")]):
    file.seek(0)
    state = tt.load(file, map_location=lambda storage, location: storage.cpu())

is_float = isinstance(tt.ones(2), tt.FloatTensor)
assert_type(tt.default_generator.initial_seed(), int)
assert_type(tt.ones(2).layout, tt.layout)
channels_last = tt.ones(1, 2, 3, 3).to(memory_format=tt.channels_last)
