"""The ends of what a dtype holds, infinities and NaN: short programs, compared with PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import flatten

INF, NAN = math.inf, math.nan
Program = Callable[[Any], Any]


def slopes(lib: Any, call: Callable[..., Any], *numbers: Any, came: Any = None) -> list[Any]:
    """The value of ``call`` at float32 tensors, and its gradients by them; ``came`` comes in."""
    inputs = [lib.tensor(x, dtype=lib.float32, requires_grad=True) for x in numbers]
    value = call(*inputs)
    came = lib.ones_like(value) if came is None else lib.tensor(came, dtype=value.dtype)
    return [value, *lib.autograd.grad(value, inputs, came)]


def smallest(lib: Any, name: str, values: list[float], sources: list[float]) -> Any:
    place = lib.tensor([0, 0, 1])

    def call(x: Any, source: Any) -> Any:
        return x.scatter_reduce(0, place, source, name, include_self=False)

    return slopes(lib, call, values, sources)[:2]


def angle_slopes(lib: Any, numbers: list[complex]) -> Any:
    z = lib.tensor(numbers, requires_grad=True)
    return lib.autograd.grad(z.angle().sum(), z)[0]


def of_nan(lib: Any) -> list[Callable[[Any], Any]]:
    """Functions whose gradient PyTorch keeps a number where they give NaN, so it can be masked."""
    functional = lib.nn.functional
    target = lib.tensor([NAN, 1.0, NAN, -2.0])
    return [
        lib.abs, lib.acosh, functional.relu6, functional.hardswish,
        functional.elu, functional.selu, lambda x: functional.celu(x, 2.0),
        lambda x: functional.elu(x, 0.5), lambda x: functional.l1_loss(x, target, reduction="none"),
        lambda x: lib.quantile(x.view(2, 2), 0.3, 1).repeat(2), lambda x: lib.xlogy(x.detach(), x),
        lambda x: lib.xlogy(x, lib.tensor([-1.0, 2.0, 3.0, -4.0])),
        lambda x: lib.special.xlog1py(x, lib.tensor([-2.0, 2.0, -1.0, -4.0])),
        *(lambda x, p=p: lib.linalg.vector_norm(x, p).repeat(4) for p in (1, INF, -INF)),
    ]  # fmt: skip


#: name of the edge: what PyTorch gives there.
SAME: dict[str, Program] = {
    "deviation whose square is infinite": lambda lib: [
        call(lib.tensor([1e30, -1e30, 2e30])) for call in (lib.std, lib.std_mean)
    ],
    "deviation whose square is 0": lambda lib: lib.tensor([[1e-30, -1e-30], [2e-30, 0]]).std(0),
    "variance that is infinite": lambda lib: lib.tensor([3e38, -3e38]).var(),
    "gradient where the value is NaN": lambda lib: [
        slopes(lib, call, [NAN, -3.0, 0.5, 2.0], came=[came] * 4)
        for call in of_nan(lib) for came in (1.5, 0.0)
    ],
    "gradient of a huge deviation": lambda lib: slopes(lib, lib.std, [1e30, -1e30, 2e30]),
    "norm of one huge or tiny number": lambda lib: [
        lib.linalg.vector_norm(lib.tensor([[1e30], [-1e-30], [0.0]]), p, 1)
        for p in (2, 3, 0.5, 0, 1, INF)
    ],
    "distance of two small numbers": lambda lib: lib.dist(lib.tensor(1e-30), lib.tensor(0.0), 4),
    "histogram of numbers that adding 1 leaves alone": lambda lib: [
        lib.histc(lib.tensor(-1.8e22), 1), lib.histc(lib.tensor([1e22, 3e22]), 3),
    ],
    "dim as a 0-d tensor": lambda lib: [
        call(lib.tensor([[1.0, 2], [3, 1]]), lib.tensor(at), True)
        for call in (lib.max, lib.min) for at in (0, -1)
    ],
    "hinge of infinities": lambda lib: [
        lib.nn.functional.hinge_embedding_loss(
            lib.tensor([INF, -INF, NAN, 1]), lib.tensor(y), reduction="none"
        )
        for y in ([1, -1, 1, 1], [-1, 1, -1, -1])
    ],
    "cosine loss of a target that is neither": lambda lib: (
        lib.nn.functional.cosine_embedding_loss(
            lib.tensor([[NAN, 1.0]]), lib.tensor([[1.0, 1.0]]), lib.tensor([2]), reduction="none"
        )
    ),
    "squared margins about -inf": lambda lib: slopes(
        lib, lambda x: lib.nn.functional.multi_margin_loss(x, lib.tensor([1]), p=2), [[1, -INF, 2]]
    ),
    "margins of labels about infinities": lambda lib: [
        slopes(
            lib, lambda x: lib.nn.functional.multilabel_margin_loss(x, lib.tensor([[0, 1, -1]])), x
        )
        for x in ([[1, -INF, 2]], [[INF, 1, 2]])
    ],
    "gradients of the parts of a complex number": lambda lib: slopes(
        lib, lib.complex, [1, 2], [1, 2], came=[complex(INF, 1), complex(1, NAN)]
    ),
    "infinite gradient of an imaginary part": lambda lib: slopes(
        lib, lambda x: lib.complex(x, x).imag, [1.0, 2.0], came=[INF, 1.0]
    ),
    "gradient of an angle": lambda lib: lib.view_as_real(angle_slopes(lib, [3 + 4j, 0, -2 - 1j])),
    "deviation of nothing": lambda lib: [
        call(lib.zeros(0, 2, dtype=dtype), 0, correction=n)
        for call in (lib.std, lib.var) for n in (-1, -2) for dtype in (lib.float32, lib.cfloat)
    ],
    "infinite gradient of a trace": lambda lib: slopes(lib, lib.trace, [[1, 2], [3, 4]], came=INF),
    "slope of logit at -0": lambda lib: slopes(lib, lib.logit, [0.0, -0.0, 1.0, 2.0]),
    "slope of a running sum that became infinite": lambda lib: slopes(
        lib, lambda x: x.logcumsumexp(0), [0, 1, INF, 2], came=[1, -2, 1, 1]
    ),
}  # fmt: skip

#: What PyTorch gives otherwise, and not right: the program and the right answer.
RIGHT: dict[str, tuple[Program, Any]] = {
    # It counts the elements that include_self=False leaves out among the equal ones.
    "smallest of infinite sources alone": (
        lambda lib: smallest(lib, "amin", [NAN, 2, 2], [INF, INF, 2])[1], [0, 0, 1],
    ),
    "largest of sources equal to what they replace": (
        lambda lib: slopes(
            lib, lambda s: lib.tensor([1.0, 2]).scatter_reduce(
                0, lib.tensor([0, 0]), s, "amax", include_self=False
            ), [1, 0],
        )[1], [1, 0],
    ),
    "largest of -inf sources alone": (
        lambda lib: slopes(
            lib, lambda s: lib.tensor([NAN, 2.0]).scatter_reduce(
                0, lib.tensor([0, 0]), s, "amax", include_self=False
            ), [-INF, -INF],
        )[1], [0.5, 0.5],
    ),
    # The variances of both parts, which it adds, are infinite.
    "deviation of huge complex numbers": (
        lambda lib: lib.tensor([1e25 + 1e25j, -1e25j]).std(), math.sqrt(2.5) * 1e25,
    ),
    # The squares that it divides by are 0 or infinite.
    "slope of the angle of small and large numbers": (
        lambda lib: lib.view_as_real(angle_slopes(lib, [1e-30 + 1e-30j, 1e30 - 1e30j])),
        [[-0.5e30, 0.5e30], [0.5e-30, 0.5e-30]],
    ),
    # Powers of the size by themselves are infinite or 0 there.
    "slope of a huge norm": (
        lambda lib: slopes(lib, lambda x: lib.linalg.vector_norm(x, 6, 1), [[1e30], [-1e-30]])[1],
        [[1], [-1]],
    ),
    "histogram wider than the dtype": (
        lambda lib: lib.histc(lib.tensor([5e37, -3e38, 3e38]), 3), [1, 1, 1],
    ),
    # Both are computed from the size of a number that may be below 0.
    "slope by a size below 0": (
        lambda lib: slopes(lib, lib.polar, [-1.0, 0.0], [0.0, 0.0], came=[1 + 0j, 1 + 0j])[1],
        [1, 1],
    ),
    "trapezoids of bytes": (
        lambda lib: lib.trapezoid(lib.tensor([200, 100], dtype=lib.uint8)), 150,
    ),
}  # fmt: skip


#: A NaN in a matrix that LAPACK's pivots meet; NumPy's LAPACK takes it for a number.
SPOILED = [
    [[NAN, 1.0], [1.0, 2.0]], [[1.0, NAN], [1.0, 2.0]], [[1.0, 0.0], [0.0, NAN]],
    [[NAN, NAN], [NAN, NAN]], [[INF, 1.0], [1.0, 2.0]],
]  # fmt: skip
SOLVERS: dict[str, Callable[[Any, Any], Any]] = {
    "inv": lambda lib, a: lib.linalg.inv(a),
    "inv_ex": lambda lib, a: lib.linalg.inv_ex(a),
    "solve": lambda lib, a: lib.linalg.solve(a, lib.tensor([1.0, 2.0])),
    "solve_ex": lambda lib, a: lib.linalg.solve_ex(a, lib.tensor([1.0, 2.0])),
    "lu_factor": lambda lib, a: lib.linalg.lu_factor(a),
    "lu_solve": lambda lib, a: lib.linalg.lu_solve(
        *lib.linalg.lu_factor(a), lib.tensor([[1.0], [2.0]])
    ),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_nan_in_a_matrix_stays(torch: Any, name: str) -> None:
    if tt.get_backend() != "numpy":
        pytest.skip("what takes NaN for a number is NumPy's LAPACK")
    for matrix in SPOILED:
        for batch in (matrix, [matrix, [[1.0, 2.0], [3.0, 4.0]]]):
            if len(batch) != len(matrix) and name.startswith(("solve", "lu_solve")):
                continue
            ours, theirs = (
                parts(list(flatten(SOLVERS[name](lib, lib.tensor(batch))))) for lib in (tt, torch)
            )
            for one, other in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-6)


def parts(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in parts(item)]
    return [np.asarray(value.detach().tolist())]


@pytest.mark.parametrize("edge", SAME)
def test_edge_cases_have_pytorchs_results(torch: Any, edge: str) -> None:
    ours, theirs = (parts(SAME[edge](lib)) for lib in (tt, torch))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6)


@pytest.mark.parametrize("edge", RIGHT)
def test_edge_cases_that_pytorch_gets_wrong_are_right(edge: str) -> None:
    program, wanted = RIGHT[edge]
    np.testing.assert_allclose(program(tt).tolist(), wanted, rtol=1e-6)


@pytest.mark.parametrize("end", [NAN, INF, -INF])
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ends_that_are_not_finite_are_refused_for_integer_dtypes(
    torch: Any, name: str, end: float
) -> None:
    for lib in (torch, tt):
        with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
            getattr(lib, name)(lib.tensor(end), 1, 3, dtype=lib.int64)


def test_weights_that_sum_to_zero_are_refused() -> None:
    with pytest.raises(RuntimeError, match="weights sum to zero, can't be normalized"):
        tt.cov(tt.tensor([[1.0, 2.0]]), aweights=tt.tensor([0.0, 0.0]))
