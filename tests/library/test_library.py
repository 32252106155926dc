"""Operators of a program's own, against PyTorch's: the same definitions give the same results."""

from __future__ import annotations

import gc
import re
import weakref
from typing import Any

import pytest

import tinytorch as tt


def custom(lib: Any, name: str, fn: Any, **hints: Any) -> Any:
    """``custom_op`` of a function whose annotations name the library's own tensors."""
    fn.__annotations__ = hints
    return lib.library.custom_op(f"tested::{name}", mutates_args=())(fn)


def test_a_custom_operator_with_a_registered_gradient_is_differentiated(lib: Any) -> None:
    def scaled(x, factor=2.0):  # type: ignore[no-untyped-def]
        assert not lib.is_grad_enabled()
        return x * factor

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.factor = inputs[1]

    op = custom(lib, "scaled", scaled, x=lib.Tensor, factor=float, **{"return": lib.Tensor})
    x = lib.ones(2, requires_grad=True)
    unknown = op(x)
    assert unknown.grad_fn is not None
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        unknown.sum().backward()
    op.register_autograd(lambda ctx, g: (g * ctx.factor, None), setup_context=setup_context)
    (op(x) + lib.ops.tested.scaled(x, factor=3.0)).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    with lib.no_grad():
        assert op(x, 4.0).tolist() == [4.0, 4.0]
    assert repr(op) == "<CustomOpDef(tested::scaled)>"
    assert lib.ops.tested.scaled.overloads() == ["default"]
    assert str(lib.ops.tested.scaled.default) == "tested.scaled.default"
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x'"):
        op("text")


def test_a_custom_operator_accepts_lists_of_tensors_and_keyword_arguments(lib: Any) -> None:
    def weighted(xs, w, *, k=1):  # type: ignore[no-untyped-def]
        return [x * w * k for x in xs]

    def setup_context(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        ctx.w, ctx.k = inputs[1], keyword_only_inputs["k"]
        ctx.save_for_backward(*inputs[0])

    def backward(ctx: Any, grads: Any) -> Any:
        pairs = zip(ctx.saved_tensors, grads, strict=True)
        return [g * ctx.w * ctx.k for g in grads], sum((x * g).sum() for x, g in pairs) * ctx.k

    op = custom(lib, "weighted", weighted, xs=list[lib.Tensor], w=lib.Tensor, k=int,
                **{"return": list[lib.Tensor]})  # fmt: skip
    op.register_autograd(backward, setup_context=setup_context)
    xs = [lib.full((2,), n, requires_grad=True) for n in (1.0, 2.0)]
    w = lib.tensor(3.0, requires_grad=True)
    a, b = op(xs, w, k=2)
    (a.sum() + 10 * b.sum()).backward()
    assert [x.grad.tolist() for x in xs] == [[6.0, 6.0], [60.0, 60.0]] and w.grad.item() == 84.0


def test_needs_input_grad_has_an_entry_per_argument(lib: Any) -> None:
    told = []
    op = custom(lib, "asking", lambda xs, n, w: xs[0] * w, xs=list[lib.Tensor], n=int,
                w=lib.Tensor, **{"return": lib.Tensor})  # fmt: skip

    def backward(ctx: Any, g: Any) -> Any:
        told.append(ctx.needs_input_grad)
        return [g, None], None, g

    op.register_autograd(backward)
    x, w = lib.ones(2, requires_grad=True), lib.ones(2)
    op([x, w], 3, w).sum().backward()
    assert told == [([True, False], False, False)] and x.grad.tolist() == [1.0, 1.0]


def test_operations_inside_of_a_custom_operator_are_not_recorded(lib: Any) -> None:
    weight = lib.ones(2, requires_grad=True)
    hints = {"x": lib.Tensor, "return": lib.Tensor}
    assert not custom(lib, "closed", lambda x: x * weight, **hints)(lib.ones(2)).requires_grad
    op = custom(lib, "kept", lambda x: x * 2, **hints)
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


def test_values_that_do_not_fit_a_schema_are_refused(lib: Any) -> None:
    lib.library.define("fitting::op", "(Tensor[] xs, int n, float f, str s) -> Tensor")
    lib.library.impl("fitting::op", "default", lambda xs, n, f, s: xs[0] * n * f)
    op, x = lib.ops.fitting.op, lib.ones(1)
    assert op([x], 2, 3, "s").item() == 6.0
    wrong = {"List[Tensor]": (x, 2, 3.0, "s"), "int": ([x], "2", 3.0, "s"),
             "float": ([x], 2, "3", "s"), "str": ([x], 2, 3.0, 4)}  # fmt: skip
    for kind, values in wrong.items():
        with pytest.raises(RuntimeError, match=f"Expected a value of type '{re.escape(kind)}'"):
            op(*values)


def test_custom_op_refuses_unsupported_signatures(lib: Any) -> None:
    def f(x, *, y):  # type: ignore[no-untyped-def]
        return x

    f.__annotations__ = {"x": lib.Tensor, "y": lib.Tensor, "return": lib.Tensor}
    with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
        lib.library.custom_op("refused::f", mutates_args=())(f)
    f.__annotations__["y"] = int
    for changed, text in (("xy", "must either be a sequence of the names"),
                          ({"z"}, "{'z'} in mutates_args were not found"),
                          ({"y"}, "Parameter y is in mutable_args but only Tensors")):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            lib.library.infer_schema(f, mutates_args=changed)
    made = lib.library.custom_op("refused::changing", mutates_args={"x"})(f)
    with pytest.raises(RuntimeError, match="autograd formula for non-functional operator"):
        made.register_autograd(lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="Cannot define an operator inside of a"):
        lib.library.Library("refused", "IMPL").define("g(Tensor x) -> Tensor")


def test_a_custom_operator_must_not_return_its_argument(lib: Any) -> None:
    op = custom(lib, "same", lambda x: x, x=lib.Tensor, **{"return": lib.Tensor})
    with pytest.raises(RuntimeError, match="must not also be an input to this custom operator"):
        op(lib.ones(1))


def test_a_library_defines_and_implements_operators(lib: Any) -> None:
    library = lib.library.Library("declared", "FRAGMENT")
    assert library.define("power(Tensor x, int n=2, *, float scale=1.0) -> Tensor") == "power"
    op = lib.ops.declared.power
    with pytest.raises(NotImplementedError, match="Could not run 'declared::power'"):
        op(lib.ones(1, device="cpu"))
    library.impl("power", lambda x, n=2, scale=1.0: scale * x**n, "CompositeImplicitAutograd")
    x = lib.full((1,), 3.0, requires_grad=True)
    op(x, 3, scale=2.0).backward()
    assert op(x).item() == 9.0 and x.grad.item() == 54.0
    with pytest.raises(RuntimeError, match="missing value for argument 'x'"):
        op()
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'q'"):
        op(x, q=1)
    with pytest.raises(RuntimeError, match="same name and overload name multiple times"):
        library.define("power(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="Unsupported kind: OTHER"):
        lib.library.Library("declared", "OTHER")
    with pytest.raises(AttributeError, match="'declared' object has no attribute 'root'"):
        lib.ops.declared.root
    with pytest.raises(OSError, match="Could not load this library"):
        lib.ops.load_library("/nowhere.so")


def test_define_and_impl_accept_qualified_names(lib: Any) -> None:
    lib.library.define("named::half", "(Tensor x) -> Tensor")

    def half(x: Any) -> Any:
        return x / 2

    lib.library.impl("named::half", "cpu", half)
    lib.library.register_kernel("named::half", "cuda", half)
    assert lib.library.register_fake("named::half", half) is half
    assert lib.ops.named.half(lib.ones(1, device="cpu")).item() == 0.5
    lib.library.register_autograd("named::half", lambda ctx, g: g / 2)
    x = lib.ones(1, requires_grad=True, device="cpu")
    lib.ops.named.half(x).backward()
    assert x.grad.item() == 0.5


def test_infer_schema_returns_pytorchs_schema(lib: Any) -> None:
    def f(x, y=None, n=3, *, flags=(), name="a"):  # type: ignore[no-untyped-def]
        return x, y

    f.__annotations__ = {"x": lib.Tensor, "y": lib.Tensor | None, "n": int, "name": str}
    with pytest.raises(ValueError, match="Parameter flags must have a type annotation"):
        lib.library.infer_schema(f, mutates_args=())
    f.__annotations__["flags"] = object
    with pytest.raises(ValueError, match="Parameter flags has unsupported type"):
        lib.library.infer_schema(f, mutates_args=())

    def h(*x):  # type: ignore[no-untyped-def]
        return x

    h.__annotations__ = {"x": lib.Tensor, "return": lib.Tensor}
    with pytest.raises(ValueError, match="We do not support positional-only args, varargs"):
        lib.library.infer_schema(h, mutates_args=())

    def g(x, y=None, n=3, *, on=True):  # type: ignore[no-untyped-def]
        return x, y

    g.__annotations__ = {"x": lib.Tensor, "y": lib.Tensor | None, "n": int, "on": bool,
                         "return": tuple[lib.Tensor, lib.Tensor]}  # fmt: skip
    assert lib.library.infer_schema(g, mutates_args={"x"}) == (
        "(Tensor(a0!) x, Tensor? y=None, SymInt n=3, *, bool on=True) -> (Tensor, Tensor)"
    )


def test_defaults_are_what_they_were(lib: Any) -> None:
    device = lib.device("cpu")

    def cast(x, dtype=lib.float64, device=device, how="a"):  # type: ignore[no-untyped-def]
        assert how == "a"
        return x.to(device, dtype, copy=True)

    op = custom(lib, "cast", cast, x=lib.Tensor, dtype=lib.dtype, device=lib.device,
                how=str, **{"return": lib.Tensor})  # fmt: skip
    assert op(lib.ones(1, device="cpu")).dtype is lib.float64
    assert lib.library.infer_schema(cast, mutates_args=()) == (
        '(Tensor x, ScalarType dtype=float64, Device device="cpu", str how="a") -> Tensor'
    )


def test_operators_of_aten_are_found_by_name() -> None:
    x = tt.ones(2)
    assert tt.ops.aten.add.Tensor(x, x).tolist() == [2.0, 2.0]
    assert tt.ops.aten.add.Tensor is tt.ops.aten.add.Tensor
    assert tt.ops.aten.linalg_cross(tt.eye(3)[0], tt.eye(3)[1]).tolist() == [0.0, 0.0, 1.0]
    assert tt.ops.aten.fft_fft.default(x).tolist() == [2.0, 0.0]
    assert tt.ops.aten.special_entr.default(x).tolist() == [0.0, 0.0]
    with pytest.raises(NotImplementedError, match="ops.aten.hovercraft"):
        tt.ops.aten.hovercraft.default(x)


def test_classes_of_arguments_override_operators(torch: Any) -> None:
    found = []
    for library in (tt, torch):
        library.library.define("overridden::twice", "(Tensor x) -> Tensor")
        library.library.impl("overridden::twice", "default", lambda x: 2 * x)

        class Loud:
            @classmethod
            def __torch_function__(
                cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> str:
                return f"{func} {len(args)}"

        class Marked(library.Tensor):  # type: ignore[misc, name-defined]
            pass

        twice = library.ops.overridden.twice
        marked = library.ones(1).as_subclass(Marked)
        found.append((twice(Loud()), twice.default(Loud()), type(twice(marked)) is Marked))
    assert found[0] == found[1] == ("overridden.twice 1", "overridden.twice.default 1", True)
