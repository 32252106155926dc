"""The dtypes below float32: casts bit by bit, operations in float32 and rounded once."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tests.fresh import run
from tests.oracles import host, libraries
from tinytorch import dtypes
from tinytorch.backends import load
from tinytorch.backends.low_precision import widen

pytest.importorskip("ml_dtypes", reason="the extra [lowp] is not installed")

#: Those that the backend has: CuPy has no float8.
NAMES = [dtype.name for dtype in dtypes.LOW if dtype in load(str(tt.get_backend())).low]
float8 = pytest.mark.skipif("float8_e5m2" not in NAMES, reason="the backend has no float8")


def bits_of(tensor: Any) -> Any:
    """The bits of one of PyTorch's tensors."""
    import torch

    kind = {1: torch.uint8, 2: torch.int16}[tensor.element_size()]
    return tensor.view(kind).numpy().view(f"u{tensor.element_size()}")


def every(name: str) -> tuple[Any, Any]:
    """All numbers of a dtype, as a tensor of ours and of PyTorch's."""
    import torch

    size = getattr(tt, name).itemsize
    bits = np.arange(1 << 8 * size).astype(f"u{size}")
    ours = tt.from_numpy(bits.view(getattr(tt, name).dtype))
    theirs = torch.from_numpy(bits.view(f"i{size}") if size == 2 else bits)
    return ours, theirs.view(getattr(torch, name))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wide", ["float16", "float32", "float64"])
def test_every_number_is_widened_as_pytorch_does(torch: Any, name: str, wide: str) -> None:
    ours, theirs = every(name)
    wanted = theirs.to(getattr(torch, wide)).numpy()
    np.testing.assert_array_equal(ours.to(getattr(tt, wide)).numpy(), wanted)
    if wide == "float32":
        host = ours._xp.to_numpy(ours._data)
        np.testing.assert_array_equal(widen(host, ours.dtype), wanted)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wide", ["float16", "float32", "float64", "int64"])
def test_numbers_are_rounded_as_pytorch_does(torch: Any, name: str, wide: str) -> None:
    draw = np.random.RandomState(0)
    bits = draw.randint(0, 1 << 32, 100_000, dtype=np.uint64).astype(np.uint32)
    special = [0.0, -0.0, np.inf, -np.inf, 1e-40, 3.4e38, 448, 464, 57344, 61440]
    with np.errstate(all="ignore"):
        single = np.concatenate([bits.view("f4"), np.array(special, "f4")])
        single = single[~np.isnan(single)]
        source = {
            "float16": single.astype("f2"), "float32": single, "float64": single * 1.0000001,
            "int64": draw.randint(-(1 << 40), 1 << 40, 10_000),
        }[wide]  # fmt: skip
        ours = tt.from_numpy(source).to(getattr(tt, name))
        theirs = torch.from_numpy(source).to(getattr(torch, name))
    known = ~theirs.float().isnan().numpy()
    bits = ours._xp.to_numpy(ours._data).view(f"u{ours.itemsize}")
    np.testing.assert_array_equal(bits[known], bits_of(theirs)[known])
    np.testing.assert_array_equal(ours.float().isnan().numpy(), ~known)


@pytest.mark.parametrize("count", [3, 15, 16, 17, 100])
@pytest.mark.parametrize("call", [
    "rand({n}, dtype={d})", "randn({n}, dtype={d})", "zeros({n}, dtype={d}).normal_(1, 2)",
    "zeros({n}, dtype={d}).uniform_(-1, 3)", "zeros({n}, dtype={d}).exponential_()",
    "zeros({n}, dtype={d}).bernoulli_(0.3)", "zeros({n}, dtype={d}).random_()",
    "zeros({n}, dtype={d}).cauchy_()", "zeros({n}, dtype={d}).geometric_(0.3)",
])  # fmt: skip
def test_random_bfloat16_numbers_are_pytorchs(torch: Any, call: str, count: int) -> None:
    found = []
    for lib in (tt, torch):
        lib.manual_seed(1)
        made = eval(f"lib.{call.format(n=count, d='lib.bfloat16')}")
        found.append(made.float().numpy())
    np.testing.assert_array_equal(*found)


def pair(torch: Any, *shape: int) -> tuple[Any, Any]:
    values = torch.randn(*shape).bfloat16()
    ours = tt.tensor(values.float().numpy()).bfloat16()
    return ours.requires_grad_(), values.requires_grad_()


@pytest.mark.parametrize("text", [
    "x + x", "x * 2.5", "3 - x", "x / 3", "x.sin()", "x.exp()", "x @ x.T", "x.sum(0)", "x.mean()",
    "lib.softmax(x, 1)", "x.cumsum(1)", "lib.nn.functional.gelu(x)", "x.std(1)", "x.max(1).values",
    "lib.nn.functional.layer_norm(x, (6,))", "lib.cat([x, x])", "x[1:, ::2]", "x.T.reshape(-1)",
    "lib.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None])", "x.logsumexp(0)",
    "lib.nn.functional.mse_loss(x, x.detach() + 1)", "lib.where(x > 0, x, 0)", "x.sort(1).values",
    "lib.nn.functional.conv1d(x[None], x[:, :, None])", "x.expand(2, 6, 6).sum(0)", "x.prod(1)",
])  # fmt: skip
def test_results_and_gradients_are_within_a_unit_of_pytorchs(torch: Any, text: str) -> None:
    """Or of its in float32, where its kernel for bfloat16 rounds between steps."""
    torch.manual_seed(0)
    (ours, theirs), unit = pair(torch, 6, 6), 2.0**-7
    wide = theirs.detach().float().requires_grad_()
    found, wanted, exact = (
        eval(text, {"lib": lib, "x": x}) for lib, x in ((tt, ours), (torch, theirs), (torch, wide))
    )
    assert found.dtype is tt.bfloat16 and tuple(found.shape) == tuple(wanted.shape)
    weights = np.random.RandomState(0).randint(-9, 9, tuple(found.shape)).astype("float32")
    for lib, out in ((tt, found), (torch, wanted), (torch, exact)):
        (out.float() * lib.tensor(weights)).sum().backward()
    for a, b, c in ((found, wanted, exact), (ours.grad, theirs.grad, wide.grad)):
        assert a.dtype is tt.bfloat16
        values, low, high = (t.detach().float().numpy() for t in (a, b, c))
        least = np.minimum(abs(values - low), abs(values - high))
        assert (least <= unit * abs(high) + 1e-6).all()


CALLS = [
    "x + y", "x * 2.5", "3 - x", "2 / x", "x % 3", "-x", "x.exp()", "lib.add(x, y, alpha=3)",
    "x.sum(0)", "lib.sum(input=x, dim=1, keepdim=True)", "x.max(1)[0]", "x @ y.T", "x.T + y.T",
    "F.linear(x, y)", "F.layer_norm(x, (6,), y[0], y[1])", "lib.cat([x, y], dim=1)", "x.cumsum(1)",
    "F.gelu(x, approximate='tanh')", "lib.where(x > 0, x, y)", "x.expand(2, 6, 6) * y",
    "F.scaled_dot_product_attention(x[None], y[None], x[None])", "lib.stack([x, y])", "x + i",
    "F.embedding(i, x)", "F.embedding_bag(i, x, mode='max')", "lib.cat([x, x.T])", "x - x.mT",
]  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
@pytest.mark.parametrize("recorded", [False, True])
def test_a_call_is_that_in_float32_rounded_once(text: str, recorded: bool) -> None:
    values = np.random.RandomState(0).randn(2, 6, 6).astype("float32")
    index = tt.tensor([[1, 1, 5, 0, 0, 2]])
    found = []
    for dtype in (tt.bfloat16, tt.float32):
        x, y = (tt.tensor(part).bfloat16().to(dtype).requires_grad_() for part in values)
        with tt.set_grad_enabled(recorded):
            out = eval(text, {"lib": tt, "F": tt.nn.functional, "x": x, "y": y, "i": index})
        assert out.dtype is dtype and out.requires_grad is recorded
        node = out.grad_fn.name() if recorded else None
        bits = out.detach().bfloat16()._data.view("u2")
        found.append((bits.tolist(), out.shape, out.stride(), node))
    assert found[0] == found[1]


@pytest.mark.skipif("float8_e5m2" not in NAMES, reason="CuPy's kernels look at their arguments")
def test_bfloat16_calls_of_one_dtype_take_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take the short way, whatever they compute."""
    for name in ("call_reduced", "call_composite_reduced"):
        monkeypatch.setattr(f"tinytorch.dispatch.call.{name}", None)
    functions = tt.nn.functional
    x = tt.ones(2, 2, dtype=tt.bfloat16, requires_grad=True)
    y = functions.layer_norm((x + 1) @ x * 2, (2,), x[0]).softmax(dim=1).sum()
    y.backward()
    assert x.grad is not None and x.grad.dtype is tt.bfloat16
    with pytest.raises(TypeError):  # of several dtypes: the long way, which is not there
        x + tt.ones(2)


@pytest.mark.parametrize("name", ["embedding", "embedding_bag"])
def test_a_table_is_scaled_down_in_place(torch: Any, name: str) -> None:
    values = np.random.RandomState(0).randn(5, 3).astype("float32")
    found = []
    for lib in (tt, torch):
        table = lib.tensor(values).bfloat16()
        index = lib.tensor([[0, 1, 1], [4, 1, 2]])
        rows = getattr(lib.nn.functional, name)(index, table, max_norm=1.0)
        found += [rows.float().numpy(), table.float().numpy()]
    for ours, theirs in zip(found[:2], found[2:], strict=True):
        # A unit of what is added up: the rows of a bag may cancel.
        np.testing.assert_allclose(ours, theirs, rtol=2**-7, atol=2**-8)


@pytest.mark.parametrize(("text", "name"), [
    ("3 - x", "RsubBackward1"), ("2 / x", "MulBackward0"), ("x - 3", "SubBackward0"),
])  # fmt: skip
def test_the_node_of_a_bfloat16_operator_has_pytorchs_name(lib: Any, text: str, name: str) -> None:
    x = lib.ones(2, dtype=lib.bfloat16, requires_grad=True)
    assert eval(text, {"x": x}).grad_fn.name() == name


LAYERS = {
    "layer_norm": "F.layer_norm(x, (4,), w[0], w[1])", "rms_norm": "F.rms_norm(x, (4,), w[0])",
    "group_norm": "F.group_norm(x, 2, w[0], w[1])",
    "in training": "F.batch_norm(x, *s, *w, True)",
    "afterwards": "F.batch_norm(x, *s, *w)",
    "instance_norm": "F.instance_norm(x, None, None, w[0], w[1])",
    "native_group_norm": "lib.native_group_norm(x, w[0], w[1], 3, 4, 4, 2, 0.1)",
    "native_layer_norm": "lib.native_layer_norm(x, (4,), w[0], w[1], 0.1)",
    "softmax's": "lib._softmax_backward_data(x, x.detach().abs(), 1, x.dtype)",
    "log_softmax's": "lib._log_softmax_backward_data(x, x.detach(), 1, x.dtype)",
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.filterwarnings("ignore:Mismatch dtype")  # PyTorch says that it is slow
@pytest.mark.parametrize("kept", ["bfloat16", "float32"])
def test_layers_are_as_near_as_pytorchs(torch: Any, name: str, kept: str) -> None:
    """In values, gradients and running statistics, with parameters of either dtype."""
    draw = np.random.RandomState(0)
    values, parameters = draw.randn(3, 4, 4), draw.randn(4, 4) ** 2
    found = []
    for lib, low, own in (
        (tt, tt.bfloat16, getattr(tt, kept)),
        (torch, torch.bfloat16, getattr(torch, kept)),
        (torch, torch.float64, torch.float64),
    ):
        x = lib.tensor(values, dtype=lib.float32).bfloat16().to(low).requires_grad_()
        w = lib.tensor(parameters, dtype=lib.float32).bfloat16().to(own)
        w, s = w[:2].detach().clone().requires_grad_(), w[2:].detach().clone()
        names = {"lib": lib, "F": lib.nn.functional, "x": x, "w": w, "s": s}
        out = eval(LAYERS[name], names)
        out = out if isinstance(out, tuple) else (out,)
        out[0].backward(lib.arange(48).reshape(3, 4, 4).to(low))
        grads = [t.grad for t in (x, w) if t.grad is not None]
        found.append([*out, *grads, s])
    for ours, theirs, exact in zip(*found, strict=True):
        assert repr(ours.dtype).partition(".")[2] == repr(theirs.dtype).partition(".")[2]
        a, b, c = (t.detach().double().numpy() for t in (ours, theirs, exact))
        assert (abs(a - c) <= 2**-8 * abs(c) + abs(b - c).max()).all()


def test_a_bfloat16_sum_is_rounded_once() -> None:
    """By addition after addition it would end at 256, whose neighbour is 258."""
    assert tt.ones(1000, dtype=tt.bfloat16).sum().item() == 1000
    x = tt.ones((), dtype=tt.bfloat16, requires_grad=True)
    x.expand(1000).sum().backward()
    assert x.grad is not None and x.grad.item() == 1000


def test_bfloat16_is_promoted_as_in_pytorch(torch: Any) -> None:
    for name in (
        "bool",
        "uint8",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
    ):
        results = [
            (lib.ones(2, dtype=lib.bfloat16) + lib.ones(2, dtype=getattr(lib, name))).dtype
            for lib in (tt, torch)
        ]
        assert repr(results[0]).partition(".")[2] == repr(results[1]).partition(".")[2]


def test_bfloat16_tensors_are_written_in_place() -> None:
    x = tt.tensor([1.0, 2.0, 3.0], dtype=tt.bfloat16)
    y = x[1:]
    x += 1
    x.mul_(2.5)
    x[0] = 7
    assert x.tolist() == [7.0, 7.5, 10.0] and y.tolist() == [7.5, 10.0]
    assert x.dtype is tt.bfloat16 and x.copy_(tt.ones(3)).tolist() == [1.0, 1.0, 1.0]
    assert tt.add(x, x, out=x) is x and x.tolist() == [2.0, 2.0, 2.0]


def test_the_node_of_a_bfloat16_result_is_named_after_its_operation() -> None:
    x = tt.ones(2, 2, dtype=tt.bfloat16, requires_grad=True)
    assert (x @ x).grad_fn.name() == "MmBackward0" and (x * 2).grad_fn.name() == "MulBackward0"


def test_a_model_trains_as_in_pytorch(torch: Any) -> None:
    losses = []
    for lib in (tt, torch):
        lib.manual_seed(0)
        layers = (lib.nn.Linear(8, 16), lib.nn.ReLU(), lib.nn.Linear(16, 1))
        model = lib.nn.Sequential(*layers).to(lib.bfloat16)
        optimizer = lib.optim.Adam(model.parameters(), lr=0.01)
        x = lib.randn(32, 8).to(lib.bfloat16)
        for _ in range(20):
            optimizer.zero_grad()
            loss = lib.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


@float8
@pytest.mark.parametrize("text", [
    "x + x", "x.sum()", "-x", "x.sin()", "x.clamp(0)", "x.mean()", "x + 1.0", "x.sort()",
])  # fmt: skip
def test_operations_that_float8_lacks_raise_as_in_pytorch(lib: Any, text: str) -> None:
    x = lib.zeros(2, 2).to(lib.float8_e4m3fn)
    with pytest.raises(
        (NotImplementedError, RuntimeError), match="not implemented for 'Float8|Pro"
    ):
        eval(text, {"x": x})


@float8
@pytest.mark.parametrize("text", [
    "x == x", "x[0]", "x.T", "x.clone()", "lib.cat([x, x])", "x.float()",
    "x.sum(dtype=lib.float32)",
    "x.isnan()", "x.flip(0)", "lib.where(x == x, x, x)", "x.fill_(3)", "x.view(lib.uint8)",
])  # fmt: skip
def test_conversions_and_views_of_float8_work_as_in_pytorch(lib: Any, text: str) -> None:
    x = lib.tensor([[1.0, 2.0], [500.0, -3.0]], dtype=lib.float8_e4m3fn)
    assert x.tolist() == [[1.0, 2.0], [448.0, -3.0]]
    assert eval(text, {"x": x, "lib": lib}).numel() > 0


@float8
def test_float8_takes_part_in_no_promotion() -> None:
    with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
        tt.promote_types(tt.float8_e5m2, tt.float32)


def test_the_error_without_ml_dtypes_says_what_to_install() -> None:
    def program() -> None:
        import sys

        sys.modules["ml_dtypes"] = None  # type: ignore[assignment]
        import pytest

        import tinytorch as tt

        with pytest.raises(AttributeError, match="bfloat16.*install the package ml_dtypes"):
            tt.bfloat16
        with pytest.raises(TypeError, match="no dtype 'bfloat16'; .*install the package ml_dtypes"):
            tt.ones(1, dtype="bfloat16")
        with pytest.raises(ImportError, match="install the package ml_dtypes"):
            tt.autocast("cpu")
        assert "bfloat16" not in dir(tt)
        x = tt.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]

    run(program)


def _named(form: str, name: str) -> Call:
    if form == "function":
        return lambda L, x, s: getattr(L, name)(x, s)
    return lambda x, s: getattr(x.clone(), f"{name}_")(s)


#: Numbers that bfloat16 does not hold, and some that it does.
OPERANDS = (0.3, 257, 257.0, -0.7, 1 / 3, 1000.1, 2, 0.5)
BESIDE_NUMBERS: list[Call] = [
    *(
        _named(form, name)
        for name in "eq ne lt le gt ge add sub mul div fmod remainder floor_divide".split()
        for form in ("function", "in place")
    ),
    lambda x, s: s - x, lambda x, s: s / x, lambda x, s: s % x, lambda x, s: s**x,
    lambda x, s: s == x, lambda L, x, s: L.rsub(x, s), lambda L, x, s: L.add(s, x),
    lambda L, x, s: L.sub(x, x * 2, alpha=s) if s in (2, 0.5) else x,
    lambda L, x, s: L.where(x > 0, x, s), lambda x, s: x.masked_fill(x > 0, s),
    lambda x, s: x.clamp(max=s), lambda L, x, s: L.full_like(x, s), lambda x, s: x.clone().fill_(s),
    lambda L, x, s: L.nn.functional.hardshrink(x, abs(s)),
    lambda L, x, s: L.atan2(x, L.as_tensor(s)), lambda L, x, s: L.hypot(x, L.as_tensor(s)),
    lambda L, x, s: L.maximum(x, L.as_tensor(s)), lambda L, x, s: L._foreach_add([x], s)[0],
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["number", "0-d float32", "0-d float64", "0-d bfloat16"])
@pytest.mark.parametrize("call", BESIDE_NUMBERS, ids=words)
def test_operands_are_rounded_to_the_dtype_of_the_tensor(call: Call, kind: str) -> None:
    draw = np.random.RandomState(0)
    values = [*(draw.randn(60) * 3).tolist(), *OPERANDS, 0.0, -0.0, math.inf, -math.inf, math.nan]
    results = []
    for library in libraries():
        found = []
        for s in OPERANDS:
            x = library.tensor(values, dtype=library.bfloat16)
            dtype = getattr(library, kind.removeprefix("0-d "), None)
            given = s if kind == "number" else library.tensor(s, dtype=dtype)
            if isinstance(s, float) or kind == "number":
                found.append(
                    host(call_with_names(call, {"L": library, "x": x, "s": given}).float())
                )
        results.append(np.stack(found))
    np.testing.assert_array_equal(*results)


@pytest.mark.torch
@pytest.mark.parametrize("call", [
    lambda L, x: L.nan_to_num(x), lambda x: x.nan_to_num_(), lambda x: x.nan_to_num(0.3, 1e30),
    lambda L, x: L.nextafter(x, L.ones_like(x)), lambda x: x.nextafter_(-x),
    lambda L, x: x + L.finfo(x.dtype).eps, lambda x: 0.3 in x, lambda x: x[0] == 0.3,
    lambda L, x: L.nn.functional.softmin(x[:4], 0, dtype=L.float32).sum(dtype=L.float16),
    lambda L, x: L.nn.functional.softmax(x[:4], 0, dtype=L.float64).sum(dtype=L.float16),
    lambda L, x: L.nn.functional.log_softmax(x[:4], 0, dtype=L.float16) > 0,
    lambda L, x: x[:4].float().mul(1.01).sum(dtype=L.bfloat16),
    lambda L, x: x[:4].float().mul(1.01).prod(dtype=L.bfloat16),
    lambda L, x: x[:4].float().mul(1.01).cumsum(0, dtype=L.bfloat16),
    lambda L, x: x[:4].float().mul(1.01).cumprod(0, dtype=L.bfloat16),
    lambda L, x: x[:4].double().mul(1.01).nansum(dtype=L.bfloat16),
    lambda L, x: x.half().mean(dtype=L.bfloat16), lambda L, x: x.mean(dtype=L.float32),
    lambda L, x: x[:4].sum(dtype=L.float64), lambda L, x: x[:4].cumsum(0, dtype=L.float32),
    lambda L, x: x.to(L.float8_e5m2)[:1] == 0.3, lambda L, x: x.to(L.float8_e4m3fn)[:1] == 0.3,
], ids=words)  # fmt: skip
def test_formats_and_dtypes_as_arguments_decide_as_in_pytorch(call: Call) -> None:
    values = [0.3, 1.0, -2.5, 3.0, 0.0, -0.0, math.inf, -math.inf, math.nan]
    results = []
    for library in libraries():
        x = library.tensor(values, dtype=library.bfloat16)
        found = call_with_names(call, {"L": library, "x": x})
        results.append(found if isinstance(found, bool) else str(found).partition(".")[2])
        if hasattr(found, "dtype"):
            results[-1] = str(found.dtype).partition(".")[2], found.double().numpy()
    np.testing.assert_equal(*results)


#: Operations of two matrices, most of which take them in one dtype alone.
OF_TWO: list[Call] = [
    lambda L, a, b: L.mm(a, b), lambda L, a, b: a @ b, lambda L, a, b: L.mv(a, b[0]),
    lambda L, a, b: L.dot(a[0], b[0]), lambda L, a, b: L.vdot(a[0], b[0]),
    lambda L, a, b: L.bmm(a[None], b[None]), lambda L, a, b: L.addmm(a, b, b),
    lambda L, a, b: L.addmm(b, a, b), lambda L, a, b: L.addmv(a[0], b, b[0]),
    lambda L, a, b: L.baddbmm(a[None], b[None], b[None]),
    lambda L, a, b: L.nn.functional.linear(a, b),
    lambda L, a, b: L.nn.functional.linear(a, a, b[0]),
    lambda L, a, b: L.nn.functional.conv1d(a[None], b[None]),
    lambda L, a, b: L.nn.functional.conv_transpose1d(a[None], b[:, :, None]),
    lambda L, a, b: L.nn.functional.bilinear(a, b, b[None]),
    lambda L, a, b: L.nn.functional.prelu(a, b[0]),
    lambda L, a, b: L.nn.functional.scaled_dot_product_attention(a[None], b[None], b[None]),
    lambda L, a, b: L.lerp(a, b, 0.5), lambda L, a, b: L.lerp(a, a, b),
    lambda a, b: a.lerp_(b, 0.5),
    lambda L, a, b: L.heaviside(a, b), lambda L, a, b: L.isclose(a, b),
    lambda L, a, b: L.allclose(a, b), lambda L, a, b: a.masked_scatter(L.tensor(True), b),
    lambda L, a, b: a.masked_scatter_(L.tensor(True), b),
    lambda L, a, b: a.scatter_reduce(0, L.tensor([[0, 1]]), b, "amax"),
    lambda L, a, b: a.scatter_reduce_(0, L.tensor([[0, 1]]), b, "prod"),
    lambda L, a, b: a.scatter_add(0, L.tensor([[0, 1]]), b),
    lambda L, a, b: a.index_reduce(0, L.tensor([0]), b[:1], "mean"),
    lambda L, a, b: a.index_fill(0, L.tensor([0]), b[0, 0]),
    lambda L, a, b: a.index_fill_(0, L.tensor([0]), b[0, 0].float() * 1j),
    lambda L, a, b: L.select_scatter(a, b[0], 0, 0), lambda L, a, b: L.diagonal_scatter(a, b[0]),
    lambda L, a, b: L.slice_scatter(a, b[:1], 0, 0, 1), lambda L, a, b: L.add(a, b),
    lambda L, a, b: L.where(a > 0, a, b), lambda L, a, b: L.logical_and(a, b),
    lambda L, a, b: L.einsum("ij,jk", a, b), lambda L, a, b: L.tensordot(a, b, 1),
    lambda L, a, b: L.nn.functional.mse_loss(a, b), lambda L, a, b: L.cat([a, b]),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("call", OF_TWO, ids=words)
def test_two_dtypes_are_promoted_or_refused_as_in_pytorch(call: Call) -> None:
    for first, second in itertools.product(("bfloat16", "float16", "float32"), repeat=2):
        outcomes: list[Any] = []
        for library in libraries():
            a, b = (
                library.tensor([[1.0, 0.5], [2.0, 0.25]]).to(getattr(library, name))
                for name in (first, second)
            )
            try:
                result = call_with_names(call, {"L": library, "a": a, "b": b})
                outcomes.append(str(getattr(result, "dtype", None)).rpartition(".")[2])
            except (RuntimeError, NotImplementedError):
                outcomes.append("refused")
        assert outcomes[0] == outcomes[1], (first, second)


@pytest.mark.torch
@pytest.mark.parametrize("text", [
    "special.ndtr(x, out=o)", "ldexp(x, x, out=o)", "transpose_copy(x, 0, 1, out=o)",
    "hstack((x, x), out=o)", "linalg.vecdot(x, x, out=o)", "softmax(x, 0, out=o)",
])  # fmt: skip
def test_composites_write_bfloat16_to_out(torch: Any, text: str) -> None:
    results = []
    for lib in (tt, torch):
        o = lib.empty(0, dtype=lib.bfloat16)
        x = lib.tensor([[0.5, -1.5], [2.0, 0.25]], dtype=lib.bfloat16)
        result = eval(f"L.{text}", {"L": lib, "x": x, "o": o})
        assert result is o
        results.append(o.float().numpy())
    np.testing.assert_allclose(*results, rtol=2**-7)
