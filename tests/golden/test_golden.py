"""What an earlier version pickled is read, and what it could import is still there.

The files were written at 0.1.0 by ``write.py``; the values in them are NumPy's arrays.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.fresh import process
from tests.golden.objects import describe

ARCHIVE = zipfile.ZipFile(Path(__file__).parent / "objects.zip")
NAMES = [name.removesuffix(".pickle") for name in ARCHIVE.namelist() if name.endswith(".pickle")]
SAVED = [name.removesuffix(".pt") for name in ARCHIVE.namelist() if name.endswith(".pt")]


#: Names that were reachable in these modules by accident: imports of the library's own files that
#: PyTorch's do not have.
LEAKED = {
    "torch.__config__": {"Any", "annotations"},
    "torch.__future__": {"FUTURE", "annotations"},
    "torch._tensor_str": {"Any", "annotations"},
    "torch.backends": {"serving"},
    "torch.cuda.memory": {"in_words", "number"},
    "torch.cuda.random": {"number"},
    "torch.cuda.streams": {"number"},
    "torch._tensor": set(
        "ABOVE Making Slot asked_first check_wanted deep_copied face_of making settle take_after "
        "without_the_rest".split()
    ),
    "torch.nn.attention.flex_attention": set(
        "CannotBatch Level arange lifted mapped_over once stand_in vmap".split()
    ),
    "torch.nn.parameter": {"is_never_asked", "refusing"},
    "torch.nn.utils.prune": {"hook_of"},
    "torch.nn.utils.spectral_norm": {"check_none", "taken_off"},
    "torch.nn.utils.weight_norm": {"check_none", "taken_off"},
    "torch.serialization": {"opened", "pickled"},
    "torch.utils.data.dataloader": set("Failure Job Team Threads make_fetch pinning shown".split()),
    "torch.utils.data.dataset": {"shown"},
    "torch.autograd.function": set(
        "PUSHING Slot TWICE as_user check_dirty check_marks fits fresh from_user is_among likes "
        "save set_history transposed".split()
    ),
    "torch.autograd.forward_ad": {"Push", "check_sizes", "entered", "writable_for"},
    "torch.autograd.functional": set(
        "filled finished prepared single_of vector_of weights_of".split()
    ),
    "torch.autograd.graph": set("FORBIDDEN Recording STACK Slot WeakKeyDictionary face_of".split()),
    "torch.distributed.debug": {"compare", "silent"},
    "torch.distributed.launch": {"root_of", "said"},
    "torch.distributed.optim": {"Absent"},
    "torch.distributed.optim.zero_redundancy_optimizer": {"Absent", "DistributedOptimizer"},
    "torch.utils._pytree": {"of_mapping", "spread", "with_paths"},
    "torch.distributed.rendezvous": {"Place", "launched", "place"},
    "torch.multiprocessing": {"when_parent_ends"},
    "torch.testing._comparison": {"Mismatch", "Where", "scalar_text", "tensor_text"},
    "torch.utils.checkpoint": {"saved_tensors_hooks"},
    "torch.utils.flop_counter": {"WeakKeyDictionary", "Work", "works"},
    **{
        f"torch.optim.{name}": set("check_averages functional like number numbers_stay run".split())
        for name in (
            "_adafactor _muon adadelta adagrad adam adamax adamw asgd lbfgs nadam radam rmsprop "
            "rprop sgd".split()
        )
    },
}
# One table filled all files of these packages; each file has its own names now.
_FX = set(
    "Any Argument Callable Graph GraphModule Interpreter Node Proxy TABLES Target Tracer "
    "Transformer TypeVar annotations fill get_proxy_mode has_side_effect map_aggregate map_arg "
    "replace_pattern symbolic_trace wrap".split()
)
for _name in (
    "experimental experimental.proxy_tensor graph graph_module interpreter node proxy "
    "subgraph_rewriter".split()
):
    LEAKED[f"torch.fx.{_name}"] = _FX
LEAKED["torch.fx"] = set("Any Argument Callable TABLES Target TypeVar fill".split()) | {
    "get_proxy_mode", "map_aggregate",
}  # fmt: skip
for _name in ("onnx", "onnx.symbolic_helper", *(f"onnx.symbolic_opset{n}" for n in range(7, 21))):
    LEAKED[f"torch.{_name}"] = {"Any", "Callable", "TypeVar"}
# A module now.
for _name in ("", "._trace_wrapped_higher_order_op", ".eval_frame", ".external_utils", ".utils"):
    LEAKED[f"torch._dynamo{_name}"] = {"config"}


def is_same(one: Any, other: Any) -> bool:
    """Whether a kept description holds; an object may have got further attributes since.

    A class counts as the same where its former path leads to it.
    """
    if isinstance(one, np.ndarray | np.generic):
        return one.dtype == other.dtype and np.array_equal(one, other, one.dtype.kind in "fc")
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict):
        return one.keys() <= other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, str) and one.startswith("tinytorch."):
        return one == other or resolve_name(one) is resolve_name(other)
    return bool(one == other) or (one != one and other != other)


@pytest.fixture(autouse=True)
def _numpy() -> Any:
    if tt.get_backend() != "numpy":
        pytest.skip("the pickles are the NumPy backend's")


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_of_an_earlier_version_is_read(name: str) -> None:
    value = pickle.loads(ARCHIVE.read(f"{name}.pickle"))
    assert is_same(pickle.loads(ARCHIVE.read(f"{name}.description")), describe(value))


@pytest.mark.parametrize("name", SAVED)
def test_a_checkpoint_of_an_earlier_version_is_read(name: str) -> None:
    value = tt.load(io.BytesIO(ARCHIVE.read(f"{name}.pt")), weights_only=False)
    assert is_same(pickle.loads(ARCHIVE.read(f"{name}.description")), describe(value))


def missing_names() -> None:
    import json

    from tests.golden.names import public_names
    from tests.golden.test_golden import ARCHIVE, LEAKED

    for module, names in json.loads(ARCHIVE.read("names.json")).items():
        here = public_names(module, names)
        if here is None:
            print(module, "cannot be imported")
        elif missing := set(names) - set(here) - LEAKED.get(module, set()):
            print(module, "lacks", *sorted(missing))


def test_every_module_and_name_of_an_earlier_version_is_there() -> None:
    done = process(missing_names)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
