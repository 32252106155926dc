"""Hooks on tensors and nodes, and operations whose backward a user writes."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import autograd


def leaf(*values: float) -> tt.Tensor:
    return tt.tensor(list(values), dtype=tt.float64, requires_grad=True)


def test_hook_of_a_leaf_sees_the_whole_gradient_once() -> None:
    x, seen = leaf(2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * x + x).sum().backward()
    assert seen == [5.0]


def test_hook_may_replace_the_gradient() -> None:
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert x.grad.tolist() == [30.0]


def test_hooks_run_in_order_and_go_away() -> None:
    x, seen = leaf(1.0), []
    first = x.register_hook(lambda g: seen.append("first"))
    x.register_hook(lambda g: seen.append("second"))
    x.sum().backward()
    first.remove()
    x.sum().backward()
    assert seen == ["first", "second", "second"]


def test_a_hook_on_one_of_several_results_sees_its_gradient() -> None:
    x = leaf(1.0, 2.0, 3.0)
    a, b = x.split(2)
    a.register_hook(lambda g: g * 2)
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [2.0, 2.0, 1.0]


def test_hook_needs_a_tensor_that_requires_grad() -> None:
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't"):
        tt.ones(1).register_hook(lambda g: None)


def test_retain_grad_keeps_what_a_hook_left() -> None:
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [12.0] and y.retains_grad


def test_post_accumulate_hook_sees_the_leaf() -> None:
    x, seen = leaf(2.0), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 4).sum().backward()
    assert seen == [4.0]


def test_node_hooks_see_gradients_of_results_and_inputs() -> None:
    x, seen = leaf(2.0), []
    y = x * 3
    y.grad_fn.register_prehook(lambda outputs: seen.append(("pre", outputs[0].item())))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(("post", inputs[0].item())))
    y.sum().backward()
    assert seen == [("pre", 1.0), ("post", 3.0)]


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: tt.Tensor) -> tt.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: tt.Tensor) -> tt.Tensor:
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


class Exponential(autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: tt.Tensor) -> tt.Tensor:
        out = x.exp()
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, grad: tt.Tensor) -> tt.Tensor:
        (out,) = ctx.saved_tensors
        return grad * out


class SumAndDifference(autograd.Function):
    @staticmethod
    def forward(x: tt.Tensor, y: tt.Tensor, factor: float) -> tuple[tt.Tensor, tt.Tensor]:
        return (x + y) * factor, (x - y) * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.factor = inputs[2]

    @staticmethod
    def backward(ctx: Any, a: tt.Tensor, b: tt.Tensor) -> tuple[Any, ...]:
        return (a + b) * ctx.factor, (a - b) * ctx.factor, None


@pytest.mark.parametrize("function", [Cube, Exponential])
def test_a_custom_function_has_first_and_second_derivatives(
    function: type[autograd.Function],
) -> None:
    x = leaf(0.5, 1.5)
    assert autograd.gradcheck(function.apply, (x,))
    assert autograd.gradgradcheck(function.apply, (x,))
    assert autograd.gradgradcheck(function.apply, (x,), check_fwd_over_rev=True, fast_mode=True)
    with pytest.raises(TypeError, match="check_fwd"):
        autograd.gradcheck(function.apply, (x,), check_fwd_over_rev=True)


def test_a_function_may_have_several_results_and_a_non_tensor_argument() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 5.0)
    assert autograd.gradcheck(lambda a, b: SumAndDifference.apply(a, b, 2.0), (x, y))


def test_function_knows_which_gradients_are_wanted() -> None:
    wanted = []

    class Watch(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: tt.Tensor, y: tt.Tensor) -> tt.Tensor:
            wanted.append(ctx.needs_input_grad)
            return x + y

        @staticmethod
        def backward(ctx: Any, grad: tt.Tensor) -> tuple[Any, ...]:
            return grad, None

    Watch.apply(leaf(1.0), tt.ones(1, dtype=tt.float64)).sum().backward()
    assert wanted == [(True, False)]


def test_saved_tensor_of_a_function_that_changed_is_refused() -> None:
    x = leaf(1.0)
    y = x * 1
    out = Cube.apply(y)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_function_is_freed_after_backward() -> None:
    out = Cube.apply(leaf(1.0)).sum()
    out.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        out.backward()


def test_wrong_number_of_gradients_is_refused() -> None:
    class Short(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: tt.Tensor, y: tt.Tensor) -> tt.Tensor:
            return x + y

        @staticmethod
        def backward(ctx: Any, grad: tt.Tensor) -> tt.Tensor:
            return grad

    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 1\)"):
        Short.apply(leaf(1.0), leaf(2.0)).sum().backward()


def test_once_differentiable_refuses_a_second_derivative() -> None:
    class Once(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: tt.Tensor) -> tt.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @autograd.function.once_differentiable
        def backward(ctx: Any, grad: tt.Tensor) -> tt.Tensor:
            return grad * 2 * ctx.saved_tensors[0]

    x = leaf(3.0)
    (g,) = autograd.grad(Once.apply(x), x, leaf(1.0), create_graph=True)
    assert g.tolist() == [6.0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_other_threads_may_register_hooks_during_a_pass() -> None:
    stop = threading.Event()
    once_hooked = [leaf(1.0) for _ in range(200)]  # what a pass has to look at

    def register(leaves: list[tt.Tensor]) -> None:
        for x in leaves:
            x.register_hook(lambda g: None).remove()

    def register_on() -> None:
        while not stop.is_set():
            register([leaf(1.0) for _ in range(50)])

    register(once_hooked)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    other = threading.Thread(target=register_on)
    other.start()
    try:
        for _ in range(5_000):
            x = leaf(1.0)
            (x * 2).sum().backward()
            assert x.grad is not None and x.grad.tolist() == [2.0]
    finally:
        stop.set()
        other.join()
        sys.setswitchinterval(before)


def test_inference_mode_records_nothing() -> None:
    x = leaf(1.0)
    with tt.inference_mode():
        y = x * 2
    assert not y.requires_grad


def test_a_failed_pass_leaves_no_hooks_for_the_next() -> None:
    class Failing(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: tt.Tensor) -> tt.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: tt.Tensor) -> tt.Tensor:
            raise ValueError("no gradient today")

    x, seen = leaf(1.0, 2.0, 3.0), []
    a, b = (x * 1).split(2)
    a.register_hook(lambda g: seen.append(g.tolist()))
    failing = Failing.apply(b)
    newer = a * 2  # its gradient reaches the hook's tensor before the other one fails
    with pytest.raises(ValueError, match="no gradient today"):
        (failing.sum() + newer.sum()).backward(retain_graph=True)
    b.sum().backward()
    assert seen == [] and x.grad.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.torch
def test_queued_callbacks_run_at_the_end_of_the_running_backward(torch: Any) -> None:
    def program(T: Any) -> list[Any]:
        noted: list[Any] = []
        engine = T.autograd.Variable._execution_engine

        class Double(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return 2 * x

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                noted.append(T.autograd._is_checkpoint_valid())
                engine.queue_callback(lambda: noted.append(p.grad is not None and p.grad.tolist()))
                return 2 * grad

        p = T.ones(2, requires_grad=True)
        T.autograd.grad(Double.apply(p).sum(), p)
        Double.apply(p).sum().backward()
        try:
            engine.queue_callback(lambda: None)
        except RuntimeError as error:
            noted.append(str(error))
        return [*noted, T.autograd._is_checkpoint_valid()]

    assert program(tt) == program(torch)
