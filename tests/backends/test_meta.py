"""The device ``meta``: shapes and dtypes as PyTorch's, and no numbers."""

from __future__ import annotations

import copy
import io
import pickle
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt

#: One line each: what is made of a tensor on the device.
MADE: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda t, x: x,
    "sum of a number": lambda t, x: x + 1,
    "sum of a scalar on the CPU": lambda t, x: x + t.tensor(1.0, device="cpu"),
    "product": lambda t, x: x @ x.T,
    "another dtype": lambda t, x: x.double(),
    "a copy": lambda t, x: copy.deepcopy(x),
    "written to": lambda t, x: x.copy_(t.ones(2, 3, device="cpu")),
    "zeros_like": lambda t, x: t.zeros_like(x),
    "randn_like": lambda t, x: t.randn_like(x),
    "empty_like on the CPU": lambda t, x: t.empty_like(x, device="cpu").zero_(),
    "moved there": lambda t, x: t.ones(3, 2, device="cpu").t().to("meta"),
    "moved there in another dtype": lambda t, x: t.ones(3, device="cpu").to("meta", t.float16),
    "from numbers": lambda t, x: t.tensor([1, 2], device="meta"),
    "arange": lambda t, x: t.arange(5, device="meta:0"),
    "more than there is memory": lambda t, x: t.empty(2**20, 2**22, device="meta"),
    "ones without end": lambda t, x: t.ones(2**42, device="meta", dtype=t.int8),
    "one number without end": lambda t, x: t.full((2**40,), 2, device="meta"),
    "a fraction": lambda t, x: t.full((2, 2), 2.5, device="meta"),
    "like that": lambda t, x: t.zeros_like(t.empty(2**20, 2**20, device="meta")),
    "max": lambda t, x: x.max(1).values,
    "sort": lambda t, x: x.sort().indices,
    "rows by numbers": lambda t, x: x[t.zeros(4, dtype=t.int64, device="meta")],
    "rows by numbers on the CPU": lambda t, x: x[t.tensor([0, 1], device="cpu")],
    "embedding": lambda t, x: t.nn.functional.embedding(t.arange(2, device="meta"), x),
    "convolution": lambda t, x: t.nn.functional.conv2d(
        t.ones(1, 3, 8, 8, device="meta"), t.ones(4, 3, 3, 3, device="meta")),
    "a layer": lambda t, x: t.nn.Linear(3, 5, device="meta")(x),
    "drawn by rejection": lambda t, x: t.nn.init.trunc_normal_(x),
    "a gradient": lambda t, x: t.autograd.grad((x.requires_grad_() * 2).sum(), x)[0],
    "as the default": lambda t, x: by_default(t, "meta"),
    "loaded": lambda t, x: reloaded(t, t.ones(2, 3, device="cpu"), map_location="meta"),
}  # fmt: skip

#: What asks for numbers.
REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "item": lambda t, x: x.sum().item(),
    "float": lambda t, x: float(x.sum()),
    "int": lambda t, x: int(x.sum()),
    "bool": lambda t, x: bool((x > 0).all()),
    "allclose": lambda t, x: t.allclose(x, x),
    "tolist": lambda t, x: x.tolist(),
    "numpy": lambda t, x: x.numpy(),
    "dlpack": lambda t, x: x.__dlpack__(),
    "cpu": lambda t, x: x.cpu(),
    "to": lambda t, x: x.to("cpu"),
    "copied to the CPU": lambda t, x: t.ones(2, 3, device="cpu").copy_(x),
    "a module": lambda t, x: t.nn.Linear(2, 3, device="meta").to("cpu"),
}


def reloaded(t: Any, x: Any, **options: Any) -> Any:
    file = io.BytesIO()
    t.save(x, file)
    file.seek(0)
    return t.load(file, **options)


def by_default(t: Any, device: str) -> Any:
    with t.device(device):
        return t.ones(2)


def told(t: Any, call: Callable[[Any, Any], Any]) -> list[str]:
    out = call(t, t.ones(2, 3, device="meta"))
    texts = [repr(out), out.dtype, out.device, out.is_meta, out.stride(), out.type()]
    return [str(text).replace("tinytorch", "torch") for text in texts]


@pytest.mark.parametrize("case", MADE)
def test_properties_of_meta_tensors_are_pytorchs(case: str, torch: Any) -> None:
    assert told(tt, MADE[case]) == told(torch, MADE[case])


@pytest.mark.parametrize("case", REFUSED)
def test_reading_the_values_of_a_meta_tensor_raises_pytorchs_error(case: str, torch: Any) -> None:
    caught = []
    for t in (tt, torch):
        with pytest.raises((RuntimeError, TypeError, BufferError)) as info:
            REFUSED[case](t, t.ones(2, 3, device="meta"))
        caught.append((info.type, str(info.value).replace("tinytorch", "torch")))
    assert caught[0] == caught[1]


def test_nonzero_of_a_meta_tensor_raises_because_its_size_is_unknown(lib: Any) -> None:
    x = lib.ones(2, 3, device="meta")
    for call in (lib.nonzero, lib.where, lambda mask: x[mask], lambda mask: x[:, mask[0]]):
        with pytest.raises(NotImplementedError, match="nonzero"):
            call(x > 0)
    for call in (lambda: x.unique(), lambda: x.masked_select(x > 0)):
        with pytest.raises(NotImplementedError, match=" meta tensor|Meta tensors"):
            call()


def test_the_repr_of_a_meta_tensor_shows_dots_and_its_size(lib: Any) -> None:
    x = lib.ones(2, device="meta", dtype=lib.int64)
    assert repr(x).endswith(f"(..., device='meta', size=(2,), dtype={lib.__name__}.int64)")
    assert f"{x.sum()}".startswith("tensor(..., device='meta', size=()")
    assert "size=(3, 2), requires_grad=True" in repr(lib.nn.Linear(2, 3, device="meta").weight)
    assert x.data_ptr() == 0


def test_a_model_is_described_and_then_filled(lib: Any) -> None:
    with lib.device("cpu"):
        state = lib.random.get_rng_state()
        with lib.device("meta"):
            net = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3))
        assert lib.equal(lib.random.get_rng_state(), state)  # nothing was drawn
        assert all(p.is_meta for p in (*net.parameters(), *net.buffers()))
        numbers = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3)).state_dict()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            net.load_state_dict(numbers)
        assert [
            str(each.message).partition(" parameter in the checkpoint")[0] for each in caught
        ] == [f"for {key}: copying from a non-meta" for key in numbers]
        assert net[0].weight.is_meta
        net.load_state_dict(numbers, assign=True)
        assert net[0].weight.requires_grad and lib.equal(net[0].weight, numbers["0.weight"])
        assert net(lib.ones(4, 2)).shape == (4, 3)
        empty = lib.nn.Linear(2, 3, device="meta").to_empty(device="cpu")
        assert empty.weight.device.type == "cpu" and empty.weight.shape == (3, 2)


def test_the_backend_is_pickled_by_its_name() -> None:
    backend = tt.ones(1, device="meta").backend
    assert pickle.loads(pickle.dumps(backend)) is backend and str(backend) == "meta"


def test_layers_of_any_size_are_made_and_initialised(lib: Any) -> None:
    layer = lib.nn.Linear(2**22, 2**20, device="meta")
    for change in (lib.nn.init.zeros_, lib.nn.init.normal_, lib.nn.init.xavier_uniform_):
        change(layer.weight)
    assert tuple(layer.weight.shape) == (2**20, 2**22) and layer.weight.is_meta


@pytest.mark.parametrize("write", ["zero_", "normal_", "fill_"])
def test_no_memory_is_written_to(write: str) -> None:
    resource = pytest.importorskip("resource", reason="it tells how much memory is in use")
    x = tt.empty(2**26, device="meta")  # 256 MiB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    getattr(x, write)(*[1.0] if write == "fill_" else [])
    unit = 1 if sys.platform == "darwin" else 1024
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit < 2**24


def test_copying_a_wrong_shape_to_a_meta_tensor_raises(lib: Any) -> None:
    x = lib.ones(2, 3, device="meta")
    with pytest.raises(RuntimeError, match="size|shape"):
        x.copy_(lib.ones(2))
