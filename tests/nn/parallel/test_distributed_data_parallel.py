"""``DistributedDataParallel`` in a group of one rank: against the module alone and PyTorch's.

`tests/distributed` runs it on several ranks.
"""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.distributed.ranks import needs_mpi

pytestmark = needs_mpi


@pytest.fixture(autouse=True)
def group() -> Iterator[None]:
    """A process group of this process alone."""
    tt.distributed.init_process_group("mpi")
    yield
    tt.distributed.destroy_process_group()


@pytest.fixture
def torchs_group(torch: Any, tmp_path: Path) -> Iterator[Any]:
    """PyTorch's distributed package with such a group; returns PyTorch."""
    dist = importlib.import_module("torch.distributed")
    store = dist.FileStore(str(tmp_path / "store"), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield torch
    dist.destroy_process_group()


class Branches:
    """Base of a module of which a forward pass may use one branch only."""

    def forward(self, x: Any, both: bool = True) -> Any:
        y = self.first(x)  # type: ignore[attr-defined]
        return y + self.second(x) if both else y  # type: ignore[attr-defined]


def build(lib: Any, dtype: str = "float64") -> Any:
    """A module whose weights are the same in both libraries."""

    class Module(Branches, lib.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = lib.nn.Linear(3, 2), lib.nn.Linear(3, 2)

    module = Module().to(getattr(lib, dtype))
    with lib.no_grad():
        for seed, parameter in enumerate(module.parameters()):
            values = np.random.RandomState(seed).standard_normal(tuple(parameter.shape))
            parameter.copy_(lib.tensor(values))
    return module


def batch(lib: Any) -> Any:
    return lib.tensor(np.random.RandomState(9).standard_normal((4, 3)))


def gradients(module: Any) -> list[Any]:
    """The gradients of the parameters as nested lists, None where there is none."""
    return [None if p.grad is None else p.grad.tolist() for p in module.parameters()]


OPTIONS: list[dict[str, Any]] = [
    {}, {"gradient_as_bucket_view": True}, {"static_graph": True},
    {"find_unused_parameters": True}, {"bucket_cap_mb": 1e-6}, {"init_sync": False},
    {"bucket_cap_mb_list": [1e-6, 25]}, {"forward_sync_buffers": False},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_gradients_of_one_rank_are_the_modules_own(options: dict[str, Any]) -> None:
    module = build(tt)
    model = tt.nn.parallel.DistributedDataParallel(build(tt), **options)
    for _ in range(3):
        for each in (module, model):
            each(batch(tt)).pow(2).sum().backward()
        assert gradients(model) == gradients(module)


@pytest.mark.parametrize("options", [
    {}, {"find_unused_parameters": True}, {"static_graph": True},
    {"find_unused_parameters": True, "gradient_as_bucket_view": True},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.filterwarnings("ignore")
def test_passes_with_unused_parameters_are_pytorchs(
    torchs_group: Any, both: bool, options: dict[str, Any]
) -> None:
    found = []
    for lib in (tt, torchs_group):
        model = lib.nn.parallel.DistributedDataParallel(build(lib), **options)
        seen: list[Any] = []
        for _ in range(2):
            try:
                model(batch(lib), both).sum().backward()
                seen.append(gradients(model))
            except RuntimeError as error:
                seen.append(str(error).split(".")[0])
        found.append(seen)
    for ours, theirs in zip(*found, strict=True):
        if isinstance(theirs, str):
            assert ours == theirs
        else:
            assert [g is None for g in ours] == [g is None for g in theirs]
            for one, other in zip(ours, theirs, strict=True):
                if other is not None:
                    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_passes_without_synchronization_add_up_and_the_next_one_reduces_their_sum() -> None:
    module = build(tt)
    model = tt.nn.parallel.DistributedDataParallel(build(tt))
    with model.no_sync():
        assert not model.require_backward_grad_sync
        for each in (module, model):
            each(batch(tt)).sum().backward()
            each(2 * batch(tt)).sum().backward()
    assert model.require_backward_grad_sync
    for each in (module, model):
        each(batch(tt)).sum().backward()
    assert gradients(model) == gradients(module)


def test_a_hook_reduces_the_buckets() -> None:
    module = build(tt)
    model = tt.nn.parallel.DistributedDataParallel(build(tt))
    buckets: list[int] = []

    # Annotations are strings in this file, and the hook's are compared with the classes.
    def triple(state, bucket):  # type: ignore[no-untyped-def]
        state.append(bucket.buffer().numel())
        future: tt.futures.Future[tt.Tensor] = tt.futures.Future()
        future.set_result(3 * bucket.buffer())
        return future

    model.register_comm_hook(buckets, triple)
    for each in (module, model):
        each(batch(tt)).sum().backward()
    assert sum(buckets) == sum(p.numel() for p in module.parameters())
    for found, wanted in zip(gradients(model), gradients(module), strict=True):
        np.testing.assert_allclose(found, 3 * np.array(wanted), rtol=1e-14)
    with pytest.raises(RuntimeError, match="can only be called once"):
        model.register_comm_hook(None, triple)


@pytest.mark.filterwarnings("ignore")
def test_wrong_use_raises_pytorchs_errors(torchs_group: Any) -> None:
    def int_bucket(state: object, bucket: int) -> Any:
        """Take a bucket of the wrong type."""

    uses: list[Any] = [
        lambda lib, ddp: ddp(lib.nn.ReLU()),
        lambda lib, ddp: ddp(lib.nn.Linear(1, 1).requires_grad_(False)),
        lambda lib, ddp: ddp(lib.nn.LazyLinear(2)),
        lambda lib, ddp: ddp(lib.nn.Linear(1, 1), device_ids=[0]),
        lambda lib, ddp: ddp(lib.nn.Linear(1, 1)).register_comm_hook(None, 3),
        lambda lib, ddp: ddp(lib.nn.Linear(1, 1)).register_comm_hook(None, int_bucket),
    ]
    for use in uses:
        kinds = []
        for lib in (tt, torchs_group):
            with pytest.raises((RuntimeError, TypeError, ValueError)) as caught:
                use(lib, lib.nn.parallel.DistributedDataParallel)
            kinds.append((caught.type, str(caught.value).split()[:4]))
        assert kinds[0] == kinds[1]


def test_names_in_the_state_begin_with_the_module() -> None:
    module = build(tt)
    model = tt.nn.parallel.DistributedDataParallel(module)
    assert list(model.state_dict()) == [f"module.{name}" for name in module.state_dict()]
    assert model.module is module
    assert not model.will_sync_module_buffers()  # it has none
    norm = tt.nn.parallel.DistributedDataParallel(tt.nn.BatchNorm1d(2))
    assert norm.will_sync_module_buffers() and norm.broadcast_buffers
    norm.broadcast_buffers = False
    assert not norm.forward_sync_buffers and not norm.will_sync_module_buffers()


def test_a_pickled_model_reduces_again() -> None:
    linear = tt.nn.Linear(2, 1)
    model = tt.nn.parallel.DistributedDataParallel(linear)
    again = pickle.loads(pickle.dumps(model))
    for each in (linear, again):
        each(tt.ones(3, 2)).sum().backward()
    assert gradients(again) == gradients(linear)
    own = tt.nn.parallel.DistributedDataParallel(linear, process_group=tt.distributed.new_group())
    with pytest.raises(RuntimeError, match="default process group"):
        pickle.dumps(own)


def test_parameters_to_ignore_are_not_reduced() -> None:
    module, kind = build(tt), tt.nn.parallel.DistributedDataParallel
    kind._set_params_and_buffers_to_ignore_for_model(module, ["second.weight", "second.bias"])
    model = kind(module)
    data = model._get_ddp_logging_data()
    assert data["num_parameter_tensors"] == 2 and data["world_size"] == 1
    model(batch(tt)).sum().backward()
    assert None not in gradients(model)
