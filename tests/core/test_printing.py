"""``repr`` of tensors says what torch's says, and the print options are torch's."""

from __future__ import annotations

import asyncio
import math
import random
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.core import printing

DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 "
    "float16 bfloat16 float32 float64 complex64 complex128"
).split()
NAN, INF = math.nan, math.inf


@pytest.fixture(autouse=True)
def _default_options() -> Iterator[None]:
    with printing.printoptions(profile="default"):
        yield


# -- texts that torch 2.13 printed -----------------------------------------------------------

TEXTS = [
    (1.0, "float32", "tensor(1.)"),
    (1, "int64", "tensor(1)"),
    (True, "bool", "tensor(True)"),
    ([1, 20], "uint8", "tensor([ 1, 20], dtype=tinytorch.uint8)"),
    ([1.0, 2.0], "float32", "tensor([1., 2.])"),
    ([1.5, NAN], "float32", "tensor([1.5000,    nan])"),
    ([1.0, INF, -INF], "float32", "tensor([1., inf, -inf])"),
    ([NAN, NAN], "float32", "tensor([nan, nan])"),
    ([0.0, -0.0], "float32", "tensor([0., -0.])"),
    ([1.5], "float64", "tensor([1.5000], dtype=tinytorch.float64)"),
    ([1e10, 1.0], "float32", "tensor([1.0000e+10, 1.0000e+00])"),
    ([1e-5, 1.0], "float32", "tensor([1.0000e-05, 1.0000e+00])"),
    (1e8, "float32", "tensor(100000000.)"),
    (123456789.0, "float32", "tensor(1.2346e+08)"),
    ([1 + 2j, 3.5 - 1j], "complex64", "tensor([1.0000+2.j, 3.5000-1.j])"),
    (complex(1, -0.0), "complex64", "tensor(1.-0.j)"),
    (complex(NAN, INF), "complex64", "tensor(nan+infj)"),
    ([], "float32", "tensor([])"),
    ([], "int64", "tensor([], dtype=tinytorch.int64)"),
    ([[], []], "float32", "tensor([], size=(2, 0))"),
    ([[True, False], [False, True]], "bool", "tensor([[ True, False],\n        [False,  True]])"),
    ([[[1], [2]], [[3], [4]]], "int64",
     "tensor([[[1],\n         [2]],\n\n        [[3],\n         [4]]])"),
    (list(range(2000)), "int64", "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "dtype", "text"), TEXTS, ids=[row[2][:40] for row in TEXTS])
def test_text_is_the_one_torch_prints(data: Any, dtype: str, text: str) -> None:
    t = tt.tensor(data, dtype=getattr(tt, dtype))
    assert repr(t) == str(t) == text


def test_leaf_shows_requires_grad_and_result_shows_grad_fn() -> None:
    x = tt.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(x + x) == "tensor([2., 4.], grad_fn=<AddBackward0>)"
    assert repr(x.detach()) == "tensor([1., 2.])"


def test_parameter_has_a_heading() -> None:
    text = "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert repr(tt.nn.Parameter(tt.ones(2))) == text


def test_buffer_is_shown_as_a_tensor() -> None:
    assert repr(tt.nn.Buffer(tt.ones(2))) == "tensor([1., 1.])"


def test_subclass_shows_its_name() -> None:
    class Image(tt.nn.Buffer):
        pass

    assert repr(Image(tt.ones(2, 2))) == "Image([[1., 1.],\n       [1., 1.]])"


def test_long_suffixes_go_to_a_line_of_their_own() -> None:
    x = tt.ones(2, 15).requires_grad_()
    row = "[1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.]"
    assert repr(x) == f"tensor([{row},\n        {row}],\n       requires_grad=True)"


def test_printing_neither_records_nor_bumps_the_version() -> None:
    x = tt.ones(3, requires_grad=True)
    y = x * 2
    repr(y)
    assert y._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_default_dtype_decides_which_dtype_goes_unsaid() -> None:
    before = tt.get_default_dtype()
    tt.set_default_dtype(tt.float64)
    try:
        assert repr(tt.tensor([0.5])) == "tensor([0.5000])"
        assert repr(tt.tensor([0.5], dtype=tt.float32)).endswith("dtype=tinytorch.float32)")
        assert repr(tt.tensor([0.5j])) == "tensor([0.+0.5000j])"
    finally:
        tt.set_default_dtype(before)


# -- beside torch ----------------------------------------------------------------------------


class Tensor:
    """A torch tensor as tinytorch's printing sees one: any dtype, any ``grad_fn``."""

    def __init__(self, t: Any, device: str = "cpu") -> None:
        self.t, self.name = t, device
        self.shape, self.requires_grad, self.grad_fn = t.shape, t.requires_grad, t.grad_fn
        self.dtype = getattr(tt.dtypes, str(t.dtype).removeprefix("torch."))
        self.shown = 0

    @property
    def device(self) -> Any:
        return _Device(type=self.name.partition(":")[0], name=self.name)

    def numel(self) -> int:
        return int(self.t.numel())

    def detach(self) -> Tensor:
        return Tensor(self.t.detach(), self.name)

    def __getitem__(self, key: Any) -> Tensor:
        return Tensor(self.t[key], self.name)

    def tolist(self) -> Any:
        return self.t.tolist()


class _Device(SimpleNamespace):
    def __str__(self) -> str:
        return str(self.name)


@pytest.fixture
def torch(torch: Any) -> Iterator[Any]:
    torch.set_printoptions(profile="default")
    yield torch
    torch.set_printoptions(profile="default")


def expected(t: Any) -> str:
    return repr(t).replace("dtype=torch.", "dtype=tinytorch.")


def number(rng: random.Random, kind: int) -> float:
    """A float of one of five kinds, each a notation of its own; sometimes a special one."""
    if rng.random() < 0.2:
        return rng.choice([0.0, -0.0, NAN, INF, -INF])
    return (
        rng.gauss(0, 1),
        float(rng.randint(-20, 20)),
        rng.gauss(0, 1) * 10 ** rng.uniform(-10, 12),
        float(rng.randint(-(10 ** rng.randint(1, 12)), 10**12)),
        rng.uniform(-1e-4, 1e-4),
    )[kind]


def values(rng: random.Random, torch: Any, dtype: str, count: int) -> list[Any]:
    kinds = rng.randint(0, 4), rng.randint(0, 4)
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if "int" in dtype:
        limits = torch.iinfo(getattr(torch, dtype))
        top = min(rng.choice([5, 100, limits.max]), limits.max)
        return [rng.randint(max(-top, limits.min), top) for _ in range(count)]
    if dtype.startswith("complex"):
        return [complex(*(number(rng, kind) for kind in kinds)) for _ in range(count)]
    return [number(rng, kinds[0]) for _ in range(count)]


def random_tensor(rng: random.Random, torch: Any, dtype: str) -> Any:
    dims = rng.choice([0, 1, 1, 2, 2, 3, 4])
    sizes = [0, 1, 2, 3, 5, 6, 7, 8, 12, 30] if dims < 4 else [1, 2, 3, 7]
    shape = [rng.choice(sizes) for _ in range(dims)]
    if dims == 1 and rng.random() < 0.3:
        shape = [rng.randint(0, 1500)]
    data = values(rng, torch, dtype, math.prod(shape))
    return torch.tensor(data, dtype=getattr(torch, dtype)).reshape(shape)


def random_options(rng: random.Random) -> dict[str, Any]:
    choices = {
        "precision": range(10),
        "threshold": [0, 3, 20, 500],
        "edgeitems": range(6),
        "linewidth": [1, 20, 40, 79, 120, 200],
        "sci_mode": [True, False, None],
    }
    chosen = {name: rng.choice(list(c)) for name, c in choices.items() if rng.random() < 0.5}
    return {"profile": rng.choice(["default", "short", "full"]), **chosen}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("dtype", DTYPES)
def test_layout_of_the_repr_is_pytorchs(torch: Any, dtype: str, seed: int) -> None:
    rng = random.Random(f"{dtype} {seed}")
    for turn in range(20):
        t = random_tensor(rng, torch, dtype)
        options = random_options(rng) if turn % 2 else {"profile": "default"}
        torch.set_printoptions(**options)
        printing.set_printoptions(**options)
        assert printing.tensor_repr(Tensor(t)) == expected(t), options


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bfloat16"])
def test_tensor_prints_as_torchs_tensor(torch: Any, dtype: str) -> None:
    rng = random.Random(dtype)
    for _ in range(20):
        t = random_tensor(rng, torch, dtype)
        ours = tt.tensor(t.tolist(), dtype=getattr(tt, dtype)).reshape(t.shape)
        assert repr(ours) == expected(t)


@pytest.mark.parametrize("shape", [(), (3,), (40,), (12, 12), (2, 3, 4), (0,), (2, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_suffixes_of_the_repr_are_pytorchs(torch: Any, dtype: str, shape: tuple[int, ...]) -> None:
    leaf = torch.ones(shape, dtype=getattr(torch, dtype), requires_grad=True)
    for t in (leaf, leaf * 2, leaf.sum().sin(), leaf.reshape(-1)):
        assert printing.tensor_repr(Tensor(t)) == expected(t)


@pytest.mark.parametrize("default", ["float16", "float32", "float64"])
def test_dtype_suffix_follows_the_default_dtype(torch: Any, default: str) -> None:
    before = tt.get_default_dtype()
    torch.set_default_dtype(getattr(torch, default))
    tt.set_default_dtype(getattr(tt, default))
    try:
        for dtype in DTYPES:
            for shape in [(2,), (0,), (0, 2)]:
                t = torch.ones(shape, dtype=getattr(torch, dtype))
                assert printing.tensor_repr(Tensor(t)) == expected(t)
    finally:
        torch.set_default_dtype(torch.float32)
        tt.set_default_dtype(before)


def test_tensor_contents_replaces_the_contents_of_the_repr(torch: Any) -> None:
    t = torch.ones(2, requires_grad=True)
    ours = printing.tensor_repr(Tensor(t), tensor_contents="hello")
    assert ours == t.__repr__(tensor_contents="hello")


def test_print_options_of_each_profile_are_pytorchs(torch: Any) -> None:
    for profile in ("default", "short", "full"):
        torch.set_printoptions(profile=profile)
        printing.set_printoptions(profile=profile)
        assert printing.get_printoptions() == torch._tensor_str.get_printoptions()


def test_sci_mode_falls_back_to_automatic_as_in_torch(torch: Any) -> None:
    for module in (torch, printing):
        module.set_printoptions(sci_mode=True)
        module.set_printoptions(precision=2)
    t = torch.tensor([0.5])
    assert printing.tensor_repr(Tensor(t)) == expected(t) == "tensor([0.50])"


# -- without torch ---------------------------------------------------------------------------


class Counting:
    """Stands for a large tensor on another device; counts the elements that are read."""

    requires_grad, grad_fn = False, None
    device = _Device(type="cuda", name="cuda:0")
    dtype = tt.int64

    def __init__(self, shape: tuple[int, ...], read: list[int]) -> None:
        self.shape, self.read = shape, read

    def numel(self) -> int:
        return math.prod(self.shape)

    def detach(self) -> Counting:
        return self

    def __getitem__(self, key: tuple[slice, ...]) -> Counting:
        cut = [len(range(n)[s]) for n, s in zip(self.shape, key, strict=False)]
        return Counting((*cut, *self.shape[len(key) :]), self.read)

    def tolist(self) -> Any:
        self.read.append(self.numel())
        out: Any = 7
        for size in reversed(self.shape):
            out = [out] * size
        return out


def test_only_the_elements_shown_are_read() -> None:
    read: list[int] = []
    text = printing.tensor_repr(Counting((10**6, 10**6, 2), read))
    assert sum(read) == 6 * 6 * 2
    assert text.count("7") == 6 * 6 * 2
    assert text.startswith("Counting([[[7, 7],")


def test_device_is_named_where_it_is_not_the_cpu() -> None:
    text = printing.tensor_repr(Counting((2,), []))
    assert text == "Counting([7, 7], device='cuda:0')"


def test_scope_ends_on_an_exception() -> None:
    before = tt.get_printoptions()
    with pytest.raises(KeyError), tt.printoptions(precision=1):
        tt.set_printoptions(linewidth=20)
        assert (tt.get_printoptions()["precision"], tt.get_printoptions()["linewidth"]) == (1, 20)
        raise KeyError
    assert tt.get_printoptions() == before


def test_scope_yields_the_options_in_force() -> None:
    with tt.printoptions(profile="short", threshold=INF) as options:
        assert options == {
            "precision": 2, "threshold": INF, "edgeitems": 2, "linewidth": 80, "sci_mode": None
        }  # fmt: skip


def test_a_refused_option_changes_nothing() -> None:
    before = tt.get_printoptions()
    with pytest.raises(ValueError, match=r"precision to be at least 0, got -1"):
        tt.set_printoptions(linewidth=10, precision=-1)
    with pytest.raises(TypeError, match=r"edgeitems to be an int, got str"):
        tt.set_printoptions(edgeitems="3")
    with pytest.raises(ValueError, match=r"one of 'default', 'short', 'full'; got 'long'"):
        tt.set_printoptions(profile="long")
    assert tt.get_printoptions() == before


def test_numpys_suppress_means_no_exponents() -> None:
    tt.set_printoptions(suppress=True)
    assert repr(tt.tensor([1e10, 0.5])) == "tensor([10000000000.0000,           0.5000])"


def test_an_unlimited_line_is_not_broken() -> None:
    tt.set_printoptions(linewidth=INF)
    assert "\n" not in repr(tt.zeros(900, dtype=tt.float64, requires_grad=True))


def test_scope_is_seen_by_its_own_thread_and_task_alone() -> None:
    outside: list[int] = []

    async def other() -> int:
        return int(tt.get_printoptions()["precision"])

    async def scoped() -> int:
        with tt.printoptions(precision=1):
            await asyncio.sleep(0)
            return int(tt.get_printoptions()["precision"])

    async def both() -> list[int]:
        return await asyncio.gather(scoped(), other(), scoped())

    def look() -> None:
        outside.append(int(tt.get_printoptions()["precision"]))

    assert asyncio.run(both()) == [1, 4, 1]
    with tt.printoptions(precision=1):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert outside == [4]


def test_setting_outside_of_a_scope_holds_in_every_thread() -> None:
    seen: list[int] = []

    def work() -> None:
        # A new thread is outside of this test's scope.
        tt.set_printoptions(precision=2)
        second = threading.Thread(target=lambda: seen.append(tt.get_printoptions()["precision"]))
        second.start()
        second.join()
        tt.set_printoptions(profile="default")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [2]


@pytest.mark.parametrize("spec", ["", ".3f", ">8", "d"])
@pytest.mark.parametrize("value", [2, [2], [[1, 2], [3, 4]], []])
def test_format_takes_numbers_alone_as_in_torch(torch: Any, value: Any, spec: str) -> None:
    try:
        wanted = format(torch.tensor(value), spec)
    except TypeError:
        with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor"):
            format(tt.tensor(value), spec)
    else:
        assert format(tt.tensor(value), spec) == wanted
