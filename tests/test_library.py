"""Operators of a program's own, against PyTorch's: the same definitions give the same results."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import tinytorch as tt


@pytest.fixture(params=["tinytorch", "torch"])
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield pytest.importorskip(request.param, reason="compared with PyTorch")


def custom(torch: Any, name: str, fn: Any, **hints: Any) -> Any:
    """``custom_op`` of a function whose annotations name the library's own tensors."""
    fn.__annotations__ = hints
    return torch.library.custom_op(f"tested::{name}", mutates_args=())(fn)


def test_an_operator_with_a_gradient(torch: Any) -> None:
    def scaled(x, factor=2.0):  # type: ignore[no-untyped-def]
        assert not torch.is_grad_enabled()
        return x * factor

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.factor = inputs[1]

    op = custom(torch, "scaled", scaled, x=torch.Tensor, factor=float, **{"return": torch.Tensor})
    x = torch.ones(2, requires_grad=True)
    unknown = op(x)
    assert unknown.grad_fn is not None
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        unknown.sum().backward()
    op.register_autograd(lambda ctx, g: (g * ctx.factor, None), setup_context=setup_context)
    (op(x) + torch.ops.tested.scaled(x, factor=3.0)).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    with torch.no_grad():
        assert op(x, 4.0).tolist() == [4.0, 4.0]
    assert repr(op) == "<CustomOpDef(tested::scaled)>"
    assert torch.ops.tested.scaled.overloads() == ["default"]
    assert str(torch.ops.tested.scaled.default) == "tested.scaled.default"
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x'"):
        op("text")


def test_lists_and_names_alone(torch: Any) -> None:
    def weighted(xs, w, *, k=1):  # type: ignore[no-untyped-def]
        return [x * w * k for x in xs]

    def setup_context(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        ctx.w, ctx.k = inputs[1], keyword_only_inputs["k"]
        ctx.save_for_backward(*inputs[0])

    def backward(ctx: Any, grads: Any) -> Any:
        pairs = zip(ctx.saved_tensors, grads, strict=True)
        return [g * ctx.w * ctx.k for g in grads], sum((x * g).sum() for x, g in pairs) * ctx.k

    op = custom(torch, "weighted", weighted, xs=list[torch.Tensor], w=torch.Tensor, k=int,
                **{"return": list[torch.Tensor]})  # fmt: skip
    op.register_autograd(backward, setup_context=setup_context)
    xs = [torch.full((2,), n, requires_grad=True) for n in (1.0, 2.0)]
    w = torch.tensor(3.0, requires_grad=True)
    a, b = op(xs, w, k=2)
    (a.sum() + 10 * b.sum()).backward()
    assert [x.grad.tolist() for x in xs] == [[6.0, 6.0], [60.0, 60.0]] and w.grad.item() == 84.0


def test_whose_gradient_is_wanted_is_told_per_argument(torch: Any) -> None:
    told = []
    op = custom(torch, "asking", lambda xs, n, w: xs[0] * w, xs=list[torch.Tensor], n=int,
                w=torch.Tensor, **{"return": torch.Tensor})  # fmt: skip

    def backward(ctx: Any, g: Any) -> Any:
        told.append(ctx.needs_input_grad)
        return [g, None], None, g

    op.register_autograd(backward)
    x, w = torch.ones(2, requires_grad=True), torch.ones(2)
    op([x, w], 3, w).sum().backward()
    assert told == [([True, False], False, False)] and x.grad.tolist() == [1.0, 1.0]


def test_what_a_kernel_does_is_not_recorded_and_not_kept(torch: Any) -> None:
    weight = torch.ones(2, requires_grad=True)
    hints = {"x": torch.Tensor, "return": torch.Tensor}
    assert not custom(torch, "closed", lambda x: x * weight, **hints)(torch.ones(2)).requires_grad
    op = custom(torch, "kept", lambda x: x * 2, **hints)
    op.register_autograd(lambda ctx, g: g * 2)
    x = weight * 1
    y = op(x)
    given, result = weakref.ref(x), weakref.ref(y)
    gc.disable()
    try:
        del x
        assert given() is None
        y.sum().backward()
        del y
        assert result() is None and weight.grad.tolist() == [2.0, 2.0]
    finally:
        gc.enable()


def test_values_that_do_not_fit_a_schema(torch: Any) -> None:
    torch.library.define("fitting::op", "(Tensor[] xs, int n, float f, str s) -> Tensor")
    torch.library.impl("fitting::op", "default", lambda xs, n, f, s: xs[0] * n * f)
    op, x = torch.ops.fitting.op, torch.ones(1)
    assert op([x], 2, 3, "s").item() == 6.0
    wrong = {"List[Tensor]": (x, 2, 3.0, "s"), "int": ([x], "2", 3.0, "s"),
             "float": ([x], 2, "3", "s"), "str": ([x], 2, 3.0, 4)}  # fmt: skip
    for kind, values in wrong.items():
        with pytest.raises(RuntimeError, match=f"Expected a value of type '{re.escape(kind)}'"):
            op(*values)


def test_what_custom_op_refuses(torch: Any) -> None:
    def f(x, *, y):  # type: ignore[no-untyped-def]
        return x

    f.__annotations__ = {"x": torch.Tensor, "y": torch.Tensor, "return": torch.Tensor}
    with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
        torch.library.custom_op("refused::f", mutates_args=())(f)
    f.__annotations__["y"] = int
    for changed, text in (("xy", "must either be a sequence of the names"),
                          ({"z"}, "{'z'} in mutates_args were not found"),
                          ({"y"}, "Parameter y is in mutable_args but only Tensors")):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            torch.library.infer_schema(f, mutates_args=changed)
    made = torch.library.custom_op("refused::changing", mutates_args={"x"})(f)
    with pytest.raises(RuntimeError, match="autograd formula for non-functional operator"):
        made.register_autograd(lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="Cannot define an operator inside of a"):
        torch.library.Library("refused", "IMPL").define("g(Tensor x) -> Tensor")


def test_results_are_no_arguments(torch: Any) -> None:
    op = custom(torch, "same", lambda x: x, x=torch.Tensor, **{"return": torch.Tensor})
    with pytest.raises(RuntimeError, match="must not also be an input to this custom operator"):
        op(torch.ones(1))


def test_a_library_of_operators(torch: Any) -> None:
    library = torch.library.Library("declared", "FRAGMENT")
    assert library.define("power(Tensor x, int n=2, *, float scale=1.0) -> Tensor") == "power"
    op = torch.ops.declared.power
    with pytest.raises(NotImplementedError, match="Could not run 'declared::power'"):
        op(torch.ones(1, device="cpu"))
    library.impl("power", lambda x, n=2, scale=1.0: scale * x**n, "CompositeImplicitAutograd")
    x = torch.full((1,), 3.0, requires_grad=True)
    op(x, 3, scale=2.0).backward()
    assert op(x).item() == 9.0 and x.grad.item() == 54.0
    with pytest.raises(RuntimeError, match="missing value for argument 'x'"):
        op()
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'q'"):
        op(x, q=1)
    with pytest.raises(RuntimeError, match="same name and overload name multiple times"):
        library.define("power(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="Unsupported kind: OTHER"):
        torch.library.Library("declared", "OTHER")
    with pytest.raises(AttributeError, match="'declared' object has no attribute 'root'"):
        torch.ops.declared.root  # noqa: B018
    with pytest.raises(OSError, match="Could not load this library"):
        torch.ops.load_library("/nowhere.so")


def test_functions_to_define_and_implement_by_name(torch: Any) -> None:
    torch.library.define("named::half", "(Tensor x) -> Tensor")

    def half(x: Any) -> Any:
        return x / 2

    torch.library.impl("named::half", "cpu", half)
    torch.library.register_kernel("named::half", "cuda", half)
    assert torch.library.register_fake("named::half", half) is half
    assert torch.ops.named.half(torch.ones(1, device="cpu")).item() == 0.5
    torch.library.register_autograd("named::half", lambda ctx, g: g / 2)
    x = torch.ones(1, requires_grad=True, device="cpu")
    torch.ops.named.half(x).backward()
    assert x.grad.item() == 0.5


def test_schemas_of_functions(torch: Any) -> None:
    def f(x, y=None, n=3, *, flags=(), name="a"):  # type: ignore[no-untyped-def]
        return x, y

    f.__annotations__ = {"x": torch.Tensor, "y": torch.Tensor | None, "n": int, "name": str}
    with pytest.raises(ValueError, match="Parameter flags must have a type annotation"):
        torch.library.infer_schema(f, mutates_args=())
    f.__annotations__["flags"] = object
    with pytest.raises(ValueError, match="Parameter flags has unsupported type"):
        torch.library.infer_schema(f, mutates_args=())

    def h(*x):  # type: ignore[no-untyped-def]
        return x

    h.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    with pytest.raises(ValueError, match="We do not support positional-only args, varargs"):
        torch.library.infer_schema(h, mutates_args=())

    def g(x, y=None, n=3, *, on=True):  # type: ignore[no-untyped-def]
        return x, y

    g.__annotations__ = {"x": torch.Tensor, "y": torch.Tensor | None, "n": int, "on": bool,
                         "return": tuple[torch.Tensor, torch.Tensor]}  # fmt: skip
    assert torch.library.infer_schema(g, mutates_args={"x"}) == (
        "(Tensor(a0!) x, Tensor? y=None, SymInt n=3, *, bool on=True) -> (Tensor, Tensor)"
    )


def test_defaults_are_what_they_were(torch: Any) -> None:
    device = torch.device("cpu")

    def cast(x, dtype=torch.float64, device=device, how="a"):  # type: ignore[no-untyped-def]
        assert how == "a"
        return x.to(device, dtype, copy=True)

    op = custom(torch, "cast", cast, x=torch.Tensor, dtype=torch.dtype, device=torch.device,
                how=str, **{"return": torch.Tensor})  # fmt: skip
    assert op(torch.ones(1, device="cpu")).dtype is torch.float64
    assert torch.library.infer_schema(cast, mutates_args=()) == (
        '(Tensor x, ScalarType dtype=float64, Device device="cpu", str how="a") -> Tensor'
    )


def test_pytorchs_own_operators_by_name() -> None:
    x = tt.ones(2)
    assert tt.ops.aten.add.Tensor(x, x).tolist() == [2.0, 2.0]
    assert tt.ops.aten.add.Tensor is tt.ops.aten.add.Tensor
    assert tt.ops.aten.linalg_cross(tt.eye(3)[0], tt.eye(3)[1]).tolist() == [0.0, 0.0, 1.0]
    assert tt.ops.aten.fft_fft.default(x).tolist() == [2.0, 0.0]
    assert tt.ops.aten.special_entr.default(x).tolist() == [0.0, 0.0]
    with pytest.raises(NotImplementedError, match="ops.aten.hovercraft"):
        tt.ops.aten.hovercraft.default(x)
