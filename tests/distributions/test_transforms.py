"""Transforms and constraints against PyTorch's: values, Jacobians, gradients, shapes, equality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_all_close, compare, libraries, numbers

C = np.array([1.5, 2.0, -0.5])
Made = Callable[[Any, Any], Any]

#: By name, a function of ``transforms`` and the library, and the shape of an argument.
TRANSFORMS: dict[str, tuple[Made, tuple[int, ...]]] = {
    "exp": (lambda t, lib: t.ExpTransform(), (2, 3)),
    "power": (lambda t, lib: t.PowerTransform(lib.tensor(C)), (2, 3)),
    "sigmoid": (lambda t, lib: t.SigmoidTransform(), (3,)),
    "softplus": (lambda t, lib: t.SoftplusTransform(), (3,)),
    "tanh": (lambda t, lib: t.TanhTransform(), (3,)),
    "abs": (lambda t, lib: t.AbsTransform(), (3,)),
    "affine": (lambda t, lib: t.AffineTransform(lib.tensor(C), lib.tensor(-C)), (2, 3)),
    "affine of vectors": (lambda t, lib: t.AffineTransform(1.0, -2.0, event_dim=1), (2, 3)),
    "softmax": (lambda t, lib: t.SoftmaxTransform(), (2, 3)),
    "stick breaking": (lambda t, lib: t.StickBreakingTransform(), (2, 3)),
    "lower Cholesky": (lambda t, lib: t.LowerCholeskyTransform(), (2, 3, 3)),
    "positive definite": (lambda t, lib: t.PositiveDefiniteTransform(), (2, 3, 3)),
    "correlations": (lambda t, lib: t.CorrCholeskyTransform(), (2, 6)),
    "a correlation": (lambda t, lib: t.CorrCholeskyTransform(), (1,)),
    "distribution function": (
        lambda t, lib: t.CumulativeDistributionTransform(
            lib.distributions.Normal(lib.tensor(C), 1.5)), (2, 3)),
    "cat": (
        lambda t, lib: t.CatTransform(
            [t.ExpTransform(), t.identity_transform, t.SigmoidTransform()], -1, [1, 2, 1]), (2, 4)),
    "cat of rows": (
        lambda t, lib: t.CatTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)]), (2, 4)),
    "cat of vectors": (
        lambda t, lib: t.CatTransform(
            [t.AffineTransform(1.0, 3.0, 1), t.AffineTransform(1.0, 2.0)], -1, [2, 2]), (2, 4)),
    "stack": (
        lambda t, lib: t.StackTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)], 1),
        (3, 2)),
    "reshape": (lambda t, lib: t.ReshapeTransform((2, 3), (6,)), (4, 2, 3)),
    "into a simplex": (
        lambda t, lib: t.ComposeTransform(
            [t.AffineTransform(0.0, 2.0), t.StickBreakingTransform()]), (2, 3)),
    "one after the other": (
        lambda t, lib: t.ComposeTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0, 1)]),
        (2, 3)),
    "none": (lambda t, lib: t.identity_transform, (2, 3)),
    "independent": (lambda t, lib: t.IndependentTransform(t.ExpTransform(), 1), (2, 3)),
    "independent simplices": (
        lambda t, lib: t.IndependentTransform(t.StickBreakingTransform(), 1), (4, 2, 3)),
    "inverse": (lambda t, lib: t.ExpTransform().inv, (3,)),
    "inverse of several": (
        lambda t, lib: t.ComposeTransform([t.ExpTransform(), t.AffineTransform(0.0, 2.0)]).inv,
        (3,)),
}  # fmt: skip
OF_POSITIVE = {"power", "inverse", "inverse of several"}
WITHOUT_JACOBIAN = {"abs", "softmax", "lower Cholesky", "positive definite"}
#: Their results have other numbers than their arguments.
OF_ANOTHER_SIZE = {
    "correlations", "a correlation", "independent simplices", "into a simplex", "stick breaking",
}  # fmt: skip
#: Two of these are equal: nothing is to be chosen of them, though PyTorch says no.
ALWAYS_EQUAL = {"correlations", "a correlation"}
SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (2, 3), (6,), (2, 3, 3), (5, 4, 6)]


def made(library: Any, name: str) -> Any:
    return TRANSFORMS[name][0](library.distributions.transforms, library)


def argument(name: str) -> np.ndarray[Any, Any]:
    values = numbers(*TRANSFORMS[name][1]) * 0.3
    return np.abs(values) if name in OF_POSITIVE else values


def answer(call: Callable[[], Any]) -> str:
    """What is said of a transform: a text, or the error in its place."""
    try:
        return str(call()).replace("tinytorch.", "torch.")
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.torch
@pytest.mark.parametrize("name", TRANSFORMS)
def test_values_jacobians_and_gradients_of_transforms_are_pytorchs(name: str) -> None:
    def there(library: Any, x: Any) -> Any:
        return made(library, name)(x)

    def and_back(library: Any, x: Any) -> Any:
        transform = made(library, name)
        return transform.inv(transform(x))

    def change(library: Any, x: Any) -> Any:
        transform = made(library, name)
        return transform.log_abs_det_jacobian(x, transform(x))

    calls = [there, and_back] if name in WITHOUT_JACOBIAN else [there, and_back, change]
    for call in calls:
        compare(call, argument(name), orders=1)


@pytest.mark.parametrize("name", [
    name for name in TRANSFORMS if name not in WITHOUT_JACOBIAN | OF_ANOTHER_SIZE])  # fmt: skip
def test_log_abs_det_jacobian_is_the_determinant_of_the_jacobian(name: str) -> None:
    transform = made(tt, name)
    x = tt.tensor(argument(name))
    jacobian = tt.autograd.functional.jacobian(transform, x).reshape(x.numel(), x.numel())
    expected = tt.linalg.slogdet(jacobian)[1]
    found = transform.log_abs_det_jacobian(x, transform(x)).sum()
    assert found.item() == pytest.approx(expected.item(), rel=1e-9)


@pytest.mark.torch
@pytest.mark.parametrize("name", TRANSFORMS)
def test_properties_of_transforms_are_pytorchs(name: str) -> None:
    ours, theirs = (made(library, name) for library in libraries())
    for say in (
        repr, lambda t: t.bijective, lambda t: t.event_dim, lambda t: t.domain,
        lambda t: t.codomain, lambda t: t.domain.event_dim, lambda t: t.codomain.event_dim,
        lambda t: t.domain.is_discrete, lambda t: t.sign, lambda t: t.inv.sign,
    ):  # fmt: skip
        assert answer(lambda: say(ours)) == answer(lambda: say(theirs))


@pytest.mark.torch
@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_forward_and_inverse_shapes_of_transforms_are_pytorchs(
    name: str, shape: tuple[int, ...]
) -> None:
    found = []
    for library in libraries():
        transform, size = made(library, name), library.Size(shape)
        answers = (
            answer(lambda: tuple(transform.forward_shape(size))),
            answer(lambda: tuple(transform.inverse_shape(size))),
        )
        # PyTorch names a shape that does not fit as the expected one, and the other way round.
        found.append([text if text[0] == "(" else text[:25] for text in answers])
    for ours, theirs in zip(*found, strict=True):
        assert ours.replace("broadcast_shapes: ", "")[:13] == theirs[:13]
        assert ours == theirs or ours[0] != "("


@pytest.mark.torch
@pytest.mark.parametrize("name", TRANSFORMS)
def test_equality_of_transforms_is_pytorchs(name: str) -> None:
    answers = []
    for library in libraries():
        others = [made(library, other) for other in TRANSFORMS if other not in ALWAYS_EQUAL]
        answers.append([made(library, name) == other for other in others])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_cached_transform_returns_the_same_argument_when_inverted(name: str) -> None:
    transform = made(tt, name).with_cache()
    assert transform.with_cache() is transform
    x = tt.tensor(argument(name))
    assert transform.inv(transform(x)) is x
    plain = made(tt, name)
    assert_all_close(transform(x), plain(x))


@pytest.mark.torch
def test_transforms_of_large_arguments_are_pytorchs() -> None:
    found = []
    for library in libraries():
        t = library.distributions.transforms
        far = library.tensor(np.array([40.0, -40.0, 0.3]))
        found.append([t.CorrCholeskyTransform()(far), t.SigmoidTransform()(far * 30)])
        assert [t.AffineTransform(0.0, scale).sign for scale in (2, 0, -2)] == [1, 0, -1]
    assert_all_close(*found)


WRONG: dict[str, Made] = {
    "a cache of two": lambda t, lib: t.ExpTransform(cache_size=2),
    "shapes of other sizes": lambda t, lib: t.ReshapeTransform((2,), (3,)),
    "no transform": lambda t, lib: t.CatTransform([3]),
    "lengths of another number": lambda t, lib: t.CatTransform([t.ExpTransform()], 0, [1, 2]),
    "another length": lambda t, lib: t.CatTransform([t.ExpTransform()])(lib.zeros(2)),
    "a dimension too many": lambda t, lib: t.StackTransform([t.ExpTransform()], 1)(lib.zeros(1)),
    "slices of another number": lambda t, lib: t.StackTransform([t.ExpTransform()]).inv(
        lib.zeros(2)),
    "too few dimensions": lambda t, lib: t.IndependentTransform(t.ExpTransform(), 1)(lib.zeros(())),
    "no lower triangle": lambda t, lib: t.CorrCholeskyTransform().forward_shape((2,)),
    "no square": lambda t, lib: t.CorrCholeskyTransform().inverse_shape((2, 3)),
    "no inverse": lambda t, lib: t.Transform()(lib.zeros(1)),
    "dimensions that differ": lambda t, lib: t.CorrCholeskyTransform().event_dim,
    "no region": lambda t, lib: lib.distributions.biject_to(
        lib.distributions.constraints.boolean),
    "a matrix": lambda t, lib: lib.distributions.biject_to(
        lib.distributions.constraints.lower_cholesky),
    "no constraint": lambda t, lib: lib.distributions.biject_to.register(3, 4),
    "no base constraint": lambda t, lib: lib.distributions.constraints.independent(3, 1),
    "a negative number": lambda t, lib: lib.distributions.constraints.independent(
        lib.distributions.constraints.real, -1),
    "a number that is none": lambda t, lib: lib.distributions.constraints.independent(
        lib.distributions.constraints.real, "a"),
    "fewer dimensions": lambda t, lib: lib.distributions.constraints.real_vector.check(
        lib.zeros(())),
    "parts that are none": lambda t, lib: lib.distributions.constraints.stack([3]),
    "no mixture": lambda t, lib: lib.distributions.constraints.MixtureSameFamilyConstraint(3),
    "a dependent one": lambda t, lib: lib.distributions.constraints.dependent.check(lib.zeros(1)),
    "dimensions unknown": lambda t, lib: lib.distributions.constraints.dependent.event_dim,
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_of_transforms_raises_pytorchs_errors(case: str) -> None:
    raised = []
    for library in libraries():
        with pytest.raises(Exception) as caught:
            WRONG[case](library.distributions.transforms, library)
        raised.append((caught.type, str(caught.value).replace("tinytorch.", "torch.")))
    assert raised[0] == raised[1]


MATRICES = np.stack(
    [
        np.eye(3),
        np.diag([1.0, -1.0, 1.0]),
        np.ones((3, 3)),
        np.tril(np.ones((3, 3))),
        np.full((3, 3), np.nan),
        np.triu(np.ones((3, 3))),
    ]
)
ROWS = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.5, 0.5, 0.5], [2.0, -1.0, 0.0]])
PLAIN = np.array([-np.inf, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, np.inf, np.nan])
#: By name, a function of ``constraints``, and values to check.
REGIONS: dict[str, tuple[Callable[[Any], Any], np.ndarray[Any, Any]]] = {
    **{name: (lambda c, name=name: getattr(c, name), PLAIN) for name in (
        "boolean", "nonnegative_integer", "positive_integer", "real", "positive", "nonnegative",
        "unit_interval")},
    **{name: (lambda c, name=name: getattr(c, name), ROWS) for name in (
        "one_hot", "simplex", "real_vector")},
    **{name: (lambda c, name=name: getattr(c, name), MATRICES) for name in (
        "lower_triangular", "lower_cholesky", "corr_cholesky", "square", "symmetric")},
    **{name: (lambda c, name=name: getattr(c, name), MATRICES[:3]) for name in (
        "positive_semidefinite", "positive_definite")},
    "infinite": (lambda c: c.positive_definite, np.full((2, 2), np.inf)),
    "no square": (lambda c: c.positive_definite, np.ones((4, 2, 3))),
    "not symmetric": (lambda c: c.positive_definite, MATRICES[3:]),
    "integers between": (lambda c: c.integer_interval(0, 2), PLAIN),
    "integers up to": (lambda c: c._IntegerLessThan(1), PLAIN),
    "integers from": (lambda c: c._IntegerGreaterThan(1), PLAIN),
    "less": (lambda c: c.less_than(1.0), PLAIN),
    "between": (lambda c: c.interval(-1.0, 2.0), PLAIN),
    "half open": (lambda c: c.half_open_interval(-1.0, 2.0), PLAIN),
    "counts": (lambda c: c.multinomial(2), ROWS),
    "independent": (lambda c: c.independent(c.positive, 1), ROWS),
    "a mixture": (lambda c: c.MixtureSameFamilyConstraint(c.positive), ROWS),
    "a mixture of vectors": (lambda c: c.MixtureSameFamilyConstraint(c.simplex), ROWS),
    "cat": (lambda c: c.cat([c.positive, c.real], -1, [1, 2]), ROWS),
    "stack": (lambda c: c.stack([c.positive, c.real, c.boolean], -1), ROWS),
    "stack of reals": (lambda c: c.stack([c.positive, c.real, c.unit_interval], -1), ROWS),
    "stack of rows": (lambda c: c.stack([c.simplex, c.one_hot, c.simplex, c.real_vector]), ROWS),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", REGIONS)
def test_constraints_accept_the_values_that_pytorchs_accept(name: str) -> None:
    make, values = REGIONS[name]
    found = []
    for library in libraries():
        constraint = make(library.distributions.constraints)
        found.append((constraint, constraint.check(library.tensor(values))))
    (ours, inside), (theirs, expected) = found
    assert_all_close(inside, expected)
    assert (repr(ours), ours.event_dim, ours.is_discrete) == (
        repr(theirs),
        theirs.event_dim,
        theirs.is_discrete,
    )


def test_one_matrix_does_not_hide_another() -> None:
    """PyTorch asks whether matrices are definite only where all of them are symmetric."""
    definite = tt.distributions.constraints.positive_definite
    matrices = tt.tensor(np.stack([MATRICES[3], MATRICES[1], MATRICES[0]]))
    assert definite.check(matrices).tolist() == [False, False, True]


@pytest.mark.torch
@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("region", [
    "real", "positive", "nonnegative", "unit_interval", "simplex", "real_vector", "lower_cholesky",
    "positive_definite", "corr_cholesky", "between", "half open", "less", "independent", "cat",
    "stack", "stack of reals",
])  # fmt: skip
def test_transforms_lead_into_the_region(registry: str, region: str) -> None:
    shape = {"lower_cholesky": (2, 3, 3), "positive_definite": (2, 3, 3)}.get(region, (2, 3))
    found = []
    for library in libraries():
        d = library.distributions
        constraint = (REGIONS[region][0] if region in REGIONS else lambda c: getattr(c, region))(
            d.constraints
        )
        try:
            transform = getattr(d, registry)(constraint)
        except NotImplementedError as error:
            found.append(str(error))
            continue
        moved = transform(library.tensor(numbers(*shape)))
        assert bool(constraint.check(moved).all())
        found.append(moved)
    assert isinstance(found[0], str) == isinstance(found[1], str)
    if isinstance(found[0], str):
        assert found[0] == found[1]
    else:
        assert_all_close(*found)
