"""``utils.checkpoint`` without a pass of its own: what it costs, and its second derivatives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tests.fresh import run
from tinytorch.utils.checkpoint import checkpoint


def chain(x: tt.Tensor) -> tt.Tensor:
    return x.sin().cos().sin().cos().sin().cos().sin().cos().sin().cos()


def calls_of_functions(step: Callable[[], Any]) -> int:
    """Number of Python functions that a step enters, once everything is imported and written."""
    for _ in range(3):
        step()
    entered = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal entered
        entered += event == "call"

    sys.setprofile(count)
    try:
        step()
    finally:
        sys.setprofile(None)
    return entered


def calls_of_ten_operations() -> None:
    import tinytorch as tt
    from tests.utils.test_checkpoint import calls_of_functions, chain
    from tinytorch.utils.checkpoint import checkpoint

    x = tt.linspace(-1, 1, 10).requires_grad_()
    print(calls_of_functions(lambda: chain(x)))
    print(calls_of_functions(lambda: chain(x).sum().backward()))
    print(calls_of_functions(lambda: checkpoint(chain, x, use_reentrant=False).sum().backward()))


def test_ten_operations_are_repeated_at_few_calls() -> None:
    """In a process of its own: each backend in use has a generator whose state is kept."""
    once, plain, repeated = map(int, run(calls_of_ten_operations).split())
    # Beside the second call: each operation packs, is noted again, and takes what it needs.
    assert repeated - plain - once <= 60 + 10 * 12


def test_state_of_the_generators_is_read_once_until_a_number_is_drawn() -> None:
    generator = tt.Generator()
    engine = generator._engine
    first = engine.snapshot()
    assert engine.snapshot() is first and not engine.has_moved(first)
    for draw in (
        lambda: tt.rand(3, generator=generator),
        lambda: tt.randn(1, generator=generator),
        lambda: tt.randperm(5, generator=generator),
        lambda: tt.poisson(tt.ones(3), generator=generator),
        lambda: generator.manual_seed(3),
        lambda: generator.set_state(tt.Generator().get_state()),
    ):
        before = engine.snapshot()
        numbers = tt.rand(5000, generator=generator)
        engine.rewind(before)
        draw()
        assert engine.has_moved(before)
        engine.rewind(before)
        assert not engine.has_moved(before)
        assert tt.equal(tt.rand(5000, generator=generator), numbers)


F = tt.nn.functional
FUNCTIONS: list[Callable[[tt.Tensor, tt.Tensor], tt.Tensor]] = [
    lambda x, w: (x @ w).tanh() * x,
    lambda x, w: tt.cat([x.sin(), w * x]).exp(),
    lambda x, w: tt.where(x > 0, x * w, x.exp()),
    lambda x, w: x[tt.tensor([1, 0])] ** 3 / w,
    lambda x, w: tt.stack([x, w, x * w]).prod(0),
    lambda x, w: F.layer_norm(x @ w, (2,)),
    lambda x, w: x.clone().mul_(w).sin_(),
    lambda x, w: checkpoint(lambda a: (a @ w).sin(), x.exp(), use_reentrant=False) * x,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: str(FUNCTIONS.index(f)))
def test_second_derivatives_are_the_slopes_of_the_first(function: Any) -> None:
    x = tt.tensor([[0.3, -0.4], [0.9, 1.3]], dtype=tt.float64, requires_grad=True)
    w = tt.tensor([[1.2, 0.7], [-0.8, 0.5]], dtype=tt.float64, requires_grad=True)

    def repeated(x: tt.Tensor, w: tt.Tensor) -> tt.Tensor:
        return checkpoint(function, x, w, use_reentrant=False)

    assert tt.autograd.gradcheck(repeated, (x, w))
    assert tt.autograd.gradgradcheck(repeated, (x, w))
