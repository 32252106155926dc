"""Gradients of compiled functions are those of the functions."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch
from tests.distributed.ranks import needs_mpi
from tinytorch import nn

tt: Any = tinytorch


def make_net() -> Any:
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))


def gradients(function: Callable[..., Any], inputs: list[Any], weights: list[Any]) -> list[Any]:
    """Gradients of the sum of squares of the results."""
    found = function(*inputs)
    results = found if isinstance(found, tuple) else (found,)
    loss = sum((each * each).abs().sum() for each in results if each.requires_grad)
    return list(tt.autograd.grad(loss, weights, allow_unused=True))


def same(a: Any, b: Any, tolerance: float = 1e-6) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype is b.dtype and tt.allclose(a, b, rtol=tolerance, atol=tolerance)


FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "chain": (lambda x: (x.sin() * x + 1).exp().log1p(), 1),
    "product": (lambda x, y: (x @ y.t()).softmax(-1), 2),
    "several results": (lambda x, y: (x * y, x + 1, y.sum(0)), 2),
    "unused": (lambda x, y: x * 2, 2),
    "detached": (lambda x, y: (x * y.detach(), (x * 2).detach()), 2),
    "views": (lambda x: x.t()[1:].reshape(-1).view(-1, 2).sum(1), 1),
    "in place": (lambda x: (x * 2).add_(1).mul_(x).clamp_(min=0.0), 1),
    "parts": (lambda x: tt.cat([x[:2] * 2, x[2:].exp()]).index_select(1, tt.tensor([2, 0])), 1),
    "sort": (lambda x: x.sort(1).values.cumsum(0), 1),
    "where": (lambda x, y: tt.where(x > y, x, y * 2), 2),
    "no grad inside": (lambda x, y: x * (y * 2 + no_grad_sum(x)), 2),
    "reductions": (lambda x: x.max(1).values + x.std(1) + x.logsumexp(1), 1),
    "convolution": (
        lambda x, y: nn.functional.conv1d(x.view(1, 4, -1), y.view(2, 4, -1)[:, :, :2]), 2
    ),
}  # fmt: skip


def no_grad_sum(x: Any) -> Any:
    with tt.no_grad():
        return x.sum()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [tt.float32, tt.float64], ids=str)
def test_gradients_are_those_of_the_function(name: str, dtype: Any) -> None:
    function, count = FUNCTIONS[name]
    compiled = tt.compile(function, fullgraph=True)
    for seed in range(3):
        tt.manual_seed(seed)
        inputs = [tt.randn(4, 6, dtype=dtype, requires_grad=True) for _ in range(count)]
        expected = gradients(function, inputs, inputs)
        for a, b in zip(expected, gradients(compiled, inputs, inputs), strict=True):
            assert same(a, b)
    assert len(compiled._compiled.entries) == 1


def test_complex_and_bfloat16_gradients_are_those_of_the_function() -> None:
    for dtype in (tt.complex128, tt.bfloat16):
        x = tt.randn(5, dtype=dtype, requires_grad=True)
        compiled = tt.compile(lambda z: z * z.conj() + z.exp() if z.is_complex() else z.exp() * z)
        for _ in range(3):
            (expected,) = gradients(compiled._torchdynamo_orig_callable, [x], [x])
            (found,) = gradients(compiled, [x], [x])
            assert same(expected, found)


def test_parameters_and_inputs_get_gradients_as_they_require_them() -> None:
    net = make_net()
    compiled = tt.compile(net)
    for frozen in (0, 3, None):
        net.requires_grad_(True)
        if frozen is not None:
            net[frozen].requires_grad_(False)
        for needs in (True, False, True):
            x = tt.randn(5, 6, requires_grad=needs)
            wanted = [t for t in (x, *net.parameters()) if t.requires_grad]
            expected, found = gradients(net, [x], wanted), gradients(compiled, [x], wanted)
            assert all(map(same, expected, found))
    assert len(compiled.forward.entries) == 6


def test_backward_accumulates_into_grad() -> None:
    net, other = make_net(), make_net()
    other.load_state_dict(net.state_dict())
    compiled = tt.compile(net)
    for _ in range(3):
        x = tt.randn(5, 6)
        for module in (compiled, other):
            module(x).square().sum().backward()
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert same(p.grad, q.grad, 1e-5)


def test_inputs_with_a_history_pass_their_gradients_on() -> None:
    """Also if the history contains the parameters of the function: derivatives are partial."""
    net = nn.Linear(4, 4)
    compiled = tt.compile(net)
    x = tt.randn(3, 4, requires_grad=True)
    for _ in range(3):
        expected = gradients(lambda x: net(net(x).tanh()), [x], [x, *net.parameters()])
        found = gradients(lambda x: compiled(compiled(x).tanh()), [x], [x, *net.parameters()])
        assert all(map(same, expected, found))


def test_several_calls_live_at_once() -> None:
    net = make_net()
    compiled = tt.compile(net)
    xs = [tt.randn(5, 6) for _ in range(4)]
    compiled(xs[0])
    results = [compiled(x) for x in xs]
    for x, y in zip(reversed(xs), reversed(results), strict=True):
        assert same(net(x), y)
        expected = tt.autograd.grad(net(x).square().sum(), list(net.parameters()))
        assert all(map(same, expected, tt.autograd.grad(y.square().sum(), list(net.parameters()))))


def test_results_are_not_changed_by_later_calls() -> None:
    compiled = tt.compile(lambda x: x * 2 + 1)
    results = [compiled(tt.full((1000,), float(i))) for i in range(5)]
    assert [y[0].item() for y in results] == [1.0, 3.0, 5.0, 7.0, 9.0]
    results[1].fill_(0.0)
    assert compiled(tt.ones(1000))[0].item() == 3.0 and results[2][0].item() == 5.0


def test_a_second_backward_needs_retain_graph() -> None:
    compiled = tt.compile(lambda x: (x * x).exp())
    x = tt.randn(3, requires_grad=True)
    for _ in range(3):
        y = compiled(x).sum()
        (first,) = tt.autograd.grad(y, x, retain_graph=True)
        (second,) = tt.autograd.grad(y, x)
        assert tt.equal(first, second)
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            tt.autograd.grad(y, x)


def test_inputs_that_are_changed_before_backward_raise() -> None:
    compiled = tt.compile(lambda x, w: (x * w).sum())
    w = tt.ones(3, requires_grad=True)
    for _ in range(3):
        x = tt.ones(3)
        y = compiled(x, w)
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


@pytest.mark.filterwarnings("ignore:.*gradient of a result raises:UserWarning")
def test_only_the_backward_pass_raises_if_a_gradient_cannot_be_computed() -> None:
    def change_factor(x: Any, factor: Any) -> Any:
        result = x * factor
        factor.add_(1)
        return result.sum()

    compiled = tt.compile(change_factor)
    for _ in range(3):
        found = compiled(tt.ones(3, requires_grad=True), tt.full((3,), 2.0))
        assert found.item() == 6
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            found.backward()


def test_second_derivatives() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.BatchNorm1d(4), nn.Linear(4, 1))
    compiled = tt.compile(net)

    def penalty(module: Any, x: Any) -> list[Any]:
        (grad,) = tt.autograd.grad(module(x).square().sum(), x, create_graph=True)
        return list(
            tt.autograd.grad(grad.square().sum(), [x, *net.parameters()], allow_unused=True)
        )

    for _ in range(3):
        x = tt.randn(5, 3, requires_grad=True, dtype=tt.float32)
        expected = penalty(net, x)
        before = [buffer.clone() for buffer in net.buffers()]
        found = penalty(compiled, x)
        for a, b in zip(expected, found, strict=True):
            assert same(a, b, 1e-4)
        net(x)
        # The second call of `net` in the backward pass has not updated the statistics again.
        count = dict(net.named_buffers())["2.num_batches_tracked"]
        assert count.item() == before[-1].item() + 2


def test_second_derivatives_are_partial_where_weights_are_in_the_history() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).double()
    compiled = tt.compile(net)

    def penalty(module: Any, x: Any) -> list[Any]:
        y = module(module(x) * 2)
        (grad,) = tt.autograd.grad(y.square().sum(), x, create_graph=True)
        (again,) = tt.autograd.grad(grad.exp().sum(), x, create_graph=True)
        return [*tt.autograd.grad(again.square().sum(), [x, *net.parameters()])]

    for _ in range(6):  # after some calls, both run eagerly
        x = tt.randn(4, 3, dtype=tt.float64, requires_grad=True)
        for a, b in zip(penalty(net, x), penalty(compiled, x), strict=True):
            assert same(a, b, 1e-9)


def test_second_derivatives_repeat_the_draws_of_the_call() -> None:
    def drop(x: Any) -> Any:
        return nn.functional.dropout(x, 0.5) ** 3

    compiled = tt.compile(drop)
    for seed in range(4):
        found = []
        for function in (drop, compiled):
            tt.manual_seed(seed)
            x = tt.arange(1.0, 9.0).requires_grad_()
            (grad,) = tt.autograd.grad(function(x).sum(), x, create_graph=True)
            found.append((*tt.autograd.grad(grad.sum(), x), tt.rand(1)))
        assert same(found[0][0], found[1][0]) and tt.equal(found[0][1], found[1][1])


def test_transforms_and_checkpoint_of_a_compiled_function_are_right() -> None:
    def cube(x: Any) -> Any:
        return (x**3).sum()

    compiled = tt.compile(cube, fullgraph=True)
    x = tt.tensor([1.0, 2.0, 3.0])
    compiled(x)
    assert tt.equal(tt.func.grad(compiled)(x), 3 * x**2)
    assert tt.equal(tt.func.vmap(compiled)(x), x**3)
    assert tt.equal(tt.func.jvp(compiled, (x,), (tt.ones(3),))[1], (3 * x**2).sum())
    assert tt.equal(tt.func.hessian(compiled)(x).diagonal(), 6 * x)
    with tt.autograd.set_detect_anomaly(True):
        assert compiled(x).item() == 36.0
    x.requires_grad_()
    for reentrant in (True, False):
        y = tt.utils.checkpoint.checkpoint(compiled, x, use_reentrant=reentrant)
        (grad,) = tt.autograd.grad(y, x) if not reentrant else (None,)
        assert grad is None or tt.equal(grad, 3 * x.detach() ** 2)


def test_checkpoints_with_dropout_draw_the_same_numbers_again() -> None:
    net = nn.Linear(3, 3)

    def run(x: Any) -> Any:
        def part(y: Any) -> Any:
            return nn.functional.dropout(net(y), 0.5)

        return tt.utils.checkpoint.checkpoint(part, x, use_reentrant=False).square().sum()

    compiled = tt.compile(run, fullgraph=True)
    found = []
    for function in (run, compiled):
        tt.manual_seed(0)
        inputs = [tt.full((2, 3), float(i), requires_grad=True) for i in range(1, 5)]
        results = [function(x) for x in inputs[:2]]
        results += [function(x) for x in inputs[2:]]  # all are alive before the first backward
        found.append([tt.autograd.grad(y, x)[0] for x, y in zip(inputs, results, strict=True)])
    assert all(map(same, *found)) and len(compiled._compiled.entries) == 1


def test_hooks_of_parameters_run_in_a_compiled_step() -> None:
    net, other = nn.Linear(2, 2), nn.Linear(2, 2)
    other.load_state_dict(net.state_dict())
    counted: list[Any] = []
    for module in (net, other):
        module.weight.register_hook(lambda grad: grad.clamp(-0.1, 0.1))
    net.bias.register_post_accumulate_grad_hook(lambda parameter: counted.append(parameter))

    def step(module: Any) -> None:
        module.zero_grad()
        module(5 * tt.ones(1, 2)).sum().backward()

    compiled = tt.compile(step)
    compiled(net)  # runs eagerly: the net has no gradients yet
    with pytest.warns(UserWarning, match="it changes counted"):
        compiled(net)
    for _ in range(3):
        compiled(net)
        compiled(other)
    assert len(counted) == 5
    for module in (net, other):
        assert module.weight.grad is not None
        assert same(module.weight.grad, tt.full((2, 2), 0.1))


def test_hooks_of_results_and_inputs_run() -> None:
    compiled = tt.compile(lambda x: x * 3)
    for _ in range(3):
        x = tt.ones(2, requires_grad=True)
        seen: list[str] = []
        y = compiled(x)

        def double(g: Any, seen: list[str] = seen) -> Any:
            seen.append("result")
            return g * 2

        y.register_hook(double)
        x.register_hook(lambda g: seen.append("input"))
        y.sum().backward()
        assert seen == ["result", "input"] and x.grad.tolist() == [6.0, 6.0]


def test_functions_with_a_gradient_of_their_own() -> None:
    factor = [1.0]

    class Scaled(tt.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            result = x.exp() * factor[0]
            ctx.save_for_backward(x, result)
            return result

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, result = ctx.saved_tensors
            return grad * result + 0 * x * tt.ones(2)

    def apply(x: Any) -> Any:
        return Scaled.apply(x) * 2

    compiled = tt.compile(apply, fullgraph=True)
    for value in (1.0, 1.0, 3.0, 3.0):
        factor[0] = value
        x = tt.randn(2, requires_grad=True)
        (expected,), (found,) = gradients(apply, [x], [x]), gradients(compiled, [x], [x])
        assert same(expected, found)
    assert len(compiled._compiled.entries) == 2


def test_a_gradient_of_some_results_alone() -> None:
    compiled = tt.compile(lambda x: (x * 2, x.exp(), x.long()))
    for _ in range(3):
        x = tt.zeros(2, requires_grad=True)
        first, second, third = compiled(x)
        assert not third.requires_grad and third.dtype is tt.int64
        assert tt.autograd.grad(second.sum(), x, retain_graph=True)[0].tolist() == [1.0, 1.0]
        assert tt.autograd.grad(first.sum() + second.sum(), x)[0].tolist() == [3.0, 3.0]


def test_writes_to_inputs_are_seen() -> None:
    buffer, state = tt.zeros(3), {"count": tt.zeros(1)}

    def update(x: Any, out: Any) -> Any:
        buffer.mul_(0.5).add_(x)
        state["count"] += 1
        tt.add(x, 1, out=out)
        x[0] = 9.0
        return x

    compiled = tt.compile(update)
    for i in range(1, 4):
        x, out = tt.ones(3), tt.empty(3)
        assert compiled(x, out) is x
        assert x.tolist() == [9.0, 1.0, 1.0] and out.tolist() == [2.0] * 3
        assert state["count"].item() == i and x._version > 0
    assert buffer.tolist() == [1.75] * 3 and len(compiled._compiled.entries) == 1


def test_views_of_inputs_as_results_are_views() -> None:
    compiled = tt.compile(lambda x: (x.t()[1:], x * 2, x[:1]), fullgraph=True)
    for offset in (0, 0, 2, 1):
        whole = tt.zeros(6, 3)
        x = whole[offset : offset + 3]
        view, _, other = compiled(x)
        assert view.stride() == (1, 3) and view._base is not None
        view.fill_(1.0)
        other.fill_(7.0)
        assert x.tolist() == [[7.0] * 3, [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    detached = tt.compile(lambda x: (x.t()[1:], x * 2, x.detach()[:1]), fullgraph=True)
    for _ in range(3):
        w = tt.randn(3, 3, requires_grad=True)
        view, product, other = detached(w)
        assert view.requires_grad and not other.requires_grad
        (grad,) = tt.autograd.grad(view.sum() + product.sum(), w)
        assert grad.tolist() == [[2.0, 3.0, 3.0]] * 3
        assert tt.equal(other, w[:1])
    assert len(compiled._compiled.entries) == 1 and len(detached._compiled.entries) == 1


def test_results_may_be_parts_of_one_another() -> None:
    parts = tt.compile(lambda x: (x * 2).chunk(2, 1), fullgraph=True)
    for _ in range(3):
        x = tt.randn(3, 4, requires_grad=True)
        a, b = parts(x)
        assert tt.equal(a, x[:, :2] * 2) and tt.equal(b, x[:, 2:] * 2)
        assert tt.autograd.grad(b.sum(), x)[0].tolist() == [[0.0, 0.0, 2.0, 2.0]] * 3
    whole = tt.compile(lambda x: ((y := x * 2)[:1], y, y.detach(), y), fullgraph=True)
    for _ in range(3):
        x = tt.ones(2, requires_grad=True)
        part, y, detached, again = whole(x)
        assert tt.autograd.grad(part.sum() + 2 * y.sum(), x)[0].tolist() == [6.0, 4.0]
        assert again is y and not detached.requires_grad
        with tt.no_grad():
            part.zero_()
        assert y.tolist() == detached.tolist() == [0.0, 2.0]


def test_results_that_overlap_are_a_break() -> None:
    parts = tt.compile(lambda x: ((y := x * 2)[:2], y[1:]))
    with pytest.warns(UserWarning, match="two results share memory"):
        parts(tt.ones(3))
    for _ in range(2):
        a, b = parts(tt.ones(3))
        a.zero_()
        assert b.tolist() == [0.0, 2.0]


class Reverse(tt.autograd.Function):  # type: ignore[misc]
    """View whose gradient is negated, for training against a domain classifier."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return -grad


def test_a_view_with_a_gradient_rule_of_its_own_as_a_result() -> None:
    of_input = tt.compile(lambda x: Reverse.apply(x).t(), fullgraph=True)
    of_result = tt.compile(lambda x: (y := x * 2, Reverse.apply(y)), fullgraph=True)
    for _ in range(3):
        x = tt.ones(2, 2, requires_grad=True)
        assert tt.autograd.grad(of_input(x * 1).sum(), x)[0].tolist() == [[-1.0, -1.0]] * 2
        y, reversed_ = of_result(x)
        assert tt.autograd.grad((y + 3 * reversed_).sum(), x)[0].tolist() == [[-4.0, -4.0]] * 2


def test_a_change_in_place_of_an_input_with_a_history() -> None:
    compiled = tt.compile(lambda x: x.mul_(3).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            w = tt.ones(2, requires_grad=True)
            compiled(w * 2).backward()
            assert w.grad is not None and w.grad.tolist() == [6.0, 6.0]


def test_backward_inside_of_the_function_through_the_history_of_an_input() -> None:
    compiled = tt.compile(lambda x: (x * x).sum().backward())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            w = tt.ones(2, requires_grad=True)
            compiled(w * 2)
            assert w.grad is not None and w.grad.tolist() == [8.0, 8.0]


def test_gradients_that_the_function_sets_on_arguments() -> None:
    def step(x: Any) -> Any:
        loss = (x * x).sum()
        loss.backward()
        return loss.detach()

    compiled = tt.compile(step)
    for i in range(4):
        x = tt.full((2,), float(i), requires_grad=True)
        compiled(x)
        assert x.grad is not None and x.grad.tolist() == [2.0 * i] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in range(2, 5):
            compiled(x)
            assert x.grad.tolist() == [6.0 * n] * 2


@needs_mpi
def test_distributed_data_parallel_over_a_compiled_module() -> None:
    distributed = tt.distributed
    distributed.init_process_group("mpi")
    try:
        net, other = make_net(), make_net()
        other.load_state_dict(net.state_dict())
        parallel = nn.parallel.DistributedDataParallel(tt.compile(net))
        outside = tt.compile(nn.parallel.DistributedDataParallel(copy.deepcopy(other)))
        for _ in range(3):
            x = tt.randn(4, 6)
            expected = gradients(other, [x], list(other.parameters()))
            for module in (parallel, outside):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    module.zero_grad()
                    module(x).square().sum().backward()
                for a, p in zip(expected, module.parameters(), strict=True):
                    assert same(a, p.grad, 1e-5)
    finally:
        distributed.destroy_process_group()


def test_threads_run_one_compiled_module_at_once() -> None:
    net = make_net()
    compiled = tt.compile(net, backend="numpy")
    wrong: list[Any] = []

    def work(seed: int) -> None:
        random = tt.Generator().manual_seed(seed)
        for i in range(20):
            x = tt.randn(5 + i % 2, 6, generator=random)
            weights = list(net.parameters())
            expected = tt.autograd.grad(net(x).square().sum(), weights)
            found = tt.autograd.grad(compiled(x).square().sum(), weights)
            if not all(map(same, expected, found)):
                wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(compiled.forward.entries) <= 8


def test_copies_and_pickles_of_compiled_modules_are_on_their_own() -> None:
    net = make_net()
    compiled = tt.compile(net)
    x = tt.randn(2, 6)
    before = compiled(x)
    for other in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert tt.allclose(other(x), before, atol=1e-6) and other._orig_mod is not net
        with tt.no_grad():
            other._orig_mod[0].weight.zero_()
        assert tt.allclose(compiled(x), before, atol=1e-6)
        assert not tt.allclose(other(x), before, atol=1e-6)


def test_autocast_gradients() -> None:
    net = make_net()
    compiled = tt.compile(net)
    for _ in range(3):
        x = tt.randn(5, 6)
        with tt.autocast("cpu", dtype=tt.bfloat16):
            expected, found = net(x), compiled(x)
        assert expected.dtype is found.dtype and same(expected, found)
        weights = list(net.parameters())
        for a, b in zip(
            tt.autograd.grad(expected.float().sum(), weights),
            tt.autograd.grad(found.float().sum(), weights), strict=True,
        ):  # fmt: skip
            assert same(a, b, 1e-2)


def test_gradients_agree_with_finite_differences() -> None:
    compiled = tt.compile(lambda x, y: (x.sigmoid() @ y).logsumexp(0))
    x = tt.randn(3, 4, dtype=tt.float64, requires_grad=True)
    y = tt.randn(4, 2, dtype=tt.float64, requires_grad=True)
    compiled(x, y)
    assert tt.autograd.gradcheck(compiled, (x, y)) and tt.autograd.gradgradcheck(compiled, (x, y))
    h, base = 1e-6, np.asarray(compiled(x, y).detach())
    step = x.detach().clone()
    step[1, 2] += h
    slope = (np.asarray(compiled(step, y).detach()) - base) / h
    found = tt.autograd.functional.jacobian(compiled, (x, y))[0][:, 1, 2]
    assert np.allclose(slope, found.numpy(), atol=1e-5)


# -- hooks and gradients of the first calls --------------------------------------------------------


@pytest.mark.parametrize("late", [False, True])
def test_hooks_of_leaves_are_called_once_for_each_backward_pass(late: bool) -> None:
    weight, x = tt.ones(3, requires_grad=True), tt.ones(3, requires_grad=True)
    compiled = tt.compile(lambda x: (x * weight).sin())
    if late:
        compiled(x)
    weight.register_hook(lambda g: g * 5)
    x.register_hook(lambda g: g * 7)
    for _ in range(3):
        weight.grad = x.grad = None
        compiled(x).sum().backward()
        assert weight.grad is not None and x.grad is not None
        assert np.allclose(weight.grad.numpy(), 5 * np.cos(1)) and np.allclose(
            x.grad, 7 * np.cos(1)
        )


def test_hooks_with_effects_do_not_record_a_module_again() -> None:
    seen: list[Any] = []
    net = nn.Linear(2, 2)
    net.weight.register_hook(seen.append)
    compiled = tt.compile(net)
    for count in range(1, 13):
        compiled(tt.ones(1, 2)).sum().backward()
        assert len(seen) == count
    assert len(compiled.forward.entries) == 1 and not compiled.forward.breaks


def test_a_module_is_recorded_once_whether_it_has_gradients_or_not() -> None:
    net = nn.Linear(2, 2)
    compiled = tt.compile(net)
    for _ in range(3):
        compiled(tt.ones(1, 2)).sum().backward()
    assert len(compiled.forward.entries) == 1


def test_a_function_that_reads_gradients_is_recorded_for_each_presence() -> None:
    weight = tt.ones(3, requires_grad=True)
    compiled = tt.compile(lambda x: x if weight.grad is None else x * weight.grad)
    x = tt.full((3,), 2.0)
    for grad in (None, tt.full((3,), 4.0), tt.full((3,), 5.0), None):
        weight.grad = grad
        for _ in range(2):
            assert compiled(x).tolist() == [2.0 if grad is None else 2 * float(grad[0])] * 3
    assert len(compiled._compiled.entries) == 2


def test_gradients_that_a_step_replaces_keep_their_values_for_other_references() -> None:
    weight = tt.ones(3, requires_grad=True)

    def step(x: Any) -> Any:
        weight.grad = None
        (x * weight).sum().backward()
        return x + 1

    compiled = tt.compile(step)
    held = []
    for number in range(1, 7):
        compiled(tt.full((3,), float(number)))
        held.append(weight.grad)
    assert [grad.tolist() for grad in held] == [[float(n)] * 3 for n in range(1, 7)]


def test_gradients_of_other_arguments_stay() -> None:
    def step(x: Any) -> None:
        x.grad = None
        (x * x).sum().backward()

    compiled = tt.compile(step)
    arguments = [tt.full((2,), float(n), requires_grad=True) for n in range(4)]
    for x in arguments:
        x.grad = tt.ones(2)
    for x in arguments:
        compiled(x)
    assert [x.grad.tolist() for x in arguments] == [[2.0 * n] * 2 for n in range(4)]


@pytest.mark.parametrize("options", [{}, {"backend": "reference"}, {"mode": "check"}])
def test_an_invalid_index_leaves_the_gradients_that_a_step_replaces(options: Any) -> None:
    table = tt.ones(3, 2, requires_grad=True)

    def step(index: Any) -> None:
        if table.grad is None:  # by assert, pytest would be in the function's reach
            raise AssertionError
        rows = nn.functional.embedding(index, table)
        table.grad = None
        rows.sum().backward()

    compiled = tt.compile(step, **options)
    table.grad = tt.zeros(3, 2)
    for _ in range(3):
        compiled(tt.tensor([1, 2, 1]))
        assert table.grad.tolist() == [[0.0] * 2, [2.0] * 2, [1.0] * 2]
    with warnings.catch_warnings(), pytest.raises(IndexError, match="out of range"):
        warnings.simplefilter("ignore")
        compiled(tt.tensor([1, 3, 1]))
    assert table.grad.tolist() == [[0.0] * 2, [2.0] * 2, [1.0] * 2]


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_step_holds_its_gradients_once(engine: str) -> None:
    table = tt.ones(1024, 256, requires_grad=True)

    @tt.compile(backend=engine)  # type: ignore[untyped-decorator]
    def step(index: Any) -> None:
        table.grad = None
        nn.functional.embedding(index, table).sum().backward()

    index = tt.tensor([1, 2, 1])
    gc.disable()  # no cycle holds the arrays of the recording
    tracemalloc.start()
    try:
        for _ in range(3):
            step(index)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        step(index)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert table.nbytes < peak < 1.5 * table.nbytes and held < 1.5 * table.nbytes
