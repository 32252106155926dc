"""What a transform adds to tensors ends with the call: levels, threads, memory."""

from __future__ import annotations

import gc
import inspect
import pickle
import threading
import weakref
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import func
from tinytorch.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

X = [1.0, 2.0]


def cube(x: Any) -> Any:
    return (x**3).sum()


@pytest.mark.parametrize(
    "transform",
    [
        grad(cube), jacrev(lambda x: x**3), jacfwd(lambda x: x**3), hessian(cube),
        lambda x: vjp(lambda x: x**3, x)[1](x)[0], lambda x: vjp(lambda x: x**3, x)[0],
        lambda x: jvp(lambda x: x**3, (x,), (x,))[1], lambda x: linearize(cube, x)[1](x),
        lambda x: jacfwd(lambda t: tt.stack([t, t**2, t**3]))(x[0]), vmap(lambda a: a * 2),
        vmap(grad(lambda a: a**3)), grad(lambda x: (x * grad(cube)(x)).sum()),
        grad(lambda x: (x * grad(lambda y: cube(x * y))(tt.ones(2))).sum()),
    ],
)  # fmt: skip
def test_a_result_requires_grad_as_its_argument_does(transform: Any) -> None:
    assert not transform(tt.tensor(X)).requires_grad
    x = tt.tensor(X, requires_grad=True)
    result = transform(x)
    assert result.requires_grad and result.grad_fn is not None
    result.sum().backward()
    assert x.grad is not None
    with tt.no_grad():
        assert not transform(x).requires_grad


def test_tensors_captured_by_a_function_can_be_differentiated() -> None:
    """d/dw of d/dx (w**2 x**3) = 6 w x**2."""
    w = tt.tensor(2.0, requires_grad=True)
    gradient = grad(lambda x: w**2 * x**3)(tt.tensor(3.0))
    (outer,) = tt.autograd.grad(gradient, w)
    assert outer.item() == 6 * 2 * 9
    assert not grad(lambda x: w.detach() * x)(tt.tensor(3.0)).requires_grad


def test_a_vjp_that_leaves_its_level_is_still_right() -> None:
    """The function that vjp returns outlives the gradient it was made inside."""
    kept = []

    def f(x: Any) -> Any:
        out, pull = vjp(lambda y: x * y**2, x)
        kept.append(pull)
        return pull(tt.ones(()))[0]

    assert grad(f)(tt.tensor(3.0)).item() == 4 * 3.0  # d/dx of 2 x * x
    late = kept[0](tt.tensor(1.0))[0]
    assert late.item() == 18.0 and not late.requires_grad


def test_levels_of_threads_are_their_own() -> None:
    found: dict[int, Any] = {}
    barrier = threading.Barrier(4)

    def work(i: int) -> None:
        def f(x: Any) -> Any:
            barrier.wait()
            return x**3 * i

        found[i] = grad(grad(f))(tt.tensor(2.0))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {i: g.item() for i, g in found.items()} == {i: 12.0 * i for i in range(4)}
    assert not any(g.requires_grad for g in found.values())


def test_modes_and_levels_are_left_after_an_error() -> None:
    def fail(x: Any) -> Any:
        raise KeyError(x)

    x = tt.tensor(X)
    for transform in (grad, jacrev, jacfwd, vmap, lambda f: lambda x: vmap(grad(f))(x)):
        with tt.no_grad():
            with pytest.raises(KeyError):
                transform(fail)(x)
            assert not tt.is_grad_enabled()
    captured = tt.zeros(2)
    captured += x
    assert captured.tolist() == X
    assert tt.ones(1)._vc is None  # tensors are made as usual again


def test_a_gradient_keeps_no_graph_alive() -> None:
    """Nothing waits for Python to look for cycles either."""
    seen: list[Any] = []

    def f(x: Any) -> Any:
        y = x * 2
        seen.extend([weakref.ref(x), weakref.ref(y)])
        return (y**2).sum()

    x = tt.tensor(X)
    gc.collect()
    gc.disable()
    try:
        results = [grad(f)(x), hessian(f)(x), vmap(grad(f))(tt.stack([x, x])), jvp(f, (x,), (x,)),
                   vjp(f, x)[1](tt.ones(())), linearize(f, x)[1](x), vjp(f, x)[0]]  # fmt: skip
        assert [each() for each in seen] == [None] * 16 and len(results) == 7
    finally:
        gc.enable()


def test_transforms_leave_their_arguments_unchanged() -> None:
    x, y = tt.tensor(X), tt.tensor(X, requires_grad=True)
    grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, y)
    hessian(cube)(y)
    jvp(cube, (y,), (x,))
    assert x.grad is None and y.grad is None and not x.requires_grad and y.is_leaf


def test_hooks_of_the_outer_graph_stay_out() -> None:
    x = tt.tensor(X, requires_grad=True)
    called = []
    x.register_hook(lambda g: called.append(g))
    grad(cube)(x)
    assert not called


def test_functions_with_a_first_derivative_only_raise_at_the_second() -> None:
    """A Function without second derivatives has a Jacobian, and says so of its Hessian."""

    class Twice(tt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        @tt.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = tt.tensor(X)
    assert jacrev(Twice.apply)(x).tolist() == jacfwd(Twice.apply)(x).tolist() == [[2, 0], [0, 2]]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        jvp(Twice.apply, (x,), (x,))


@pytest.mark.parametrize("name", func.__all__)
def test_public_functions_of_func_have_their_names(name: str) -> None:
    function = getattr(func, name)
    assert (function.__module__, function.__qualname__) == ("tinytorch.func", name)
    assert pickle.loads(pickle.dumps(function)) is function
    assert inspect.getsource(function) and function.__doc__


def test_signatures_of_func_are_pytorchs(torch: Any) -> None:
    for name in func.__all__:
        mine, theirs = (inspect.signature(getattr(m, name)).parameters for m in (func, torch.func))
        wanted = [(p.name, p.kind, p.default) for p in theirs.values() if p.name[0] != "_"]
        have = [(p.name, p.kind, p.default) for p in mine.values()]
        assert have == wanted, name


def test_a_wrapped_function_keeps_its_name_and_a_module_its_own() -> None:
    net = tt.nn.Linear(2, 2)
    assert grad(cube).__name__ == "cube" and grad(cube).__wrapped__ is cube
    assert vmap(net)(tt.ones(3, 2)).shape == (3, 2)
    assert not hasattr(vmap(net), "_parameters")
