"""Contractions beside PyTorch's and NumPy's, their gradients, and what they refuse."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

EQUATIONS: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
    ("bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("ba,bc", [(2, 3), (2, 4)]),
    ("i,j,k->kji", [(2,), (3,), (4,)]),
    ("ij,ij->ij", [(2, 3), (2, 3)]),
    ("ij,ij", [(2, 3), (2, 3)]),
    ("ii", [(4, 4)]),
    ("ii->i", [(4, 4)]),
    ("iij->ji", [(3, 3, 2)]),
    ("iiij->ji", [(3, 3, 3, 2)]),
    ("ii,ij->j", [(3, 3), (3, 2)]),
    ("ij->", [(2, 3)]),
    ("ij->", [(2, 0)]),
    ("->", [()]),
    (",i->i", [(), (3,)]),
    ("...ij,...jk", [(2, 3, 4), (4, 5)]),
    ("a...a->...", [(3, 2, 3)]),
    ("bB,...Bb->B...", [(2, 3), (4, 3, 2)]),
    (" i j , j k -> k i ", [(3, 4), (4, 5)]),
    ("ijk,ilm,njm,nlk,abc->", [(2, 2, 2)] * 5),
]


def draw(shapes: list[tuple[int, ...]], requires_grad: bool = False) -> list[Any]:
    return [tt.tensor(np.random.randn(*s), requires_grad=requires_grad) for s in shapes]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_einsum_is_numpys(equation: str, shapes: list[tuple[int, ...]]) -> None:
    operands = draw(shapes)
    wanted = np.einsum(equation, *[x.numpy() for x in operands])
    got = tt.einsum(equation, *operands)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.numpy(), wanted, atol=1e-12)


ORDERED = ["ij,jk->ik", "ij,jk->ki", "bij,bjk->bki", "bhqd,bhkd->bhqk", "bqhd,bkhd->bhkq",
           "bhqk,bkhd->bqhd", "i,j->ji", "i,jk->jik", "ij,ij->ji", "ij,k->ikj"]  # fmt: skip


@pytest.mark.parametrize("equation", ORDERED)
def test_strides_of_einsums_result_are_pytorchs(torch: Any, equation: str) -> None:
    sizes = dict(zip("bhijkqd", (2, 3, 4, 5, 6, 7, 8), strict=True))
    terms = equation.partition("->")[0].split(",")
    shapes = [[sizes[c] for c in term] for term in terms]
    wanted = torch.einsum(equation, *map(torch.ones, shapes))
    assert tt.einsum(equation, *map(tt.ones, shapes)).stride() == wanted.stride()


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij->j", [(1, 4)]), ("ij,k->jk", [(1, 4), (3,)]), ("i,i->", [(1,), (1,)]),
     ("a,b->", [(1,), (1,)]), ("ij,k->jk", [(2, 4), (3,)]), ("ij,jk->ik", [(2, 4), (4, 3)])],
)  # fmt: skip
def test_dtypes_of_sums_over_integers_are_torchs(torch: Any, equation: str, shapes: Any) -> None:
    got, wanted = (
        lib.einsum(equation, *(lib.ones(shape, dtype=lib.uint8) for shape in shapes))
        for lib in (tt, torch)
    )
    assert str(got.dtype).split(".")[1] == str(wanted.dtype).split(".")[1]


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [*EQUATIONS, ("...ik, ...j -> ij", [(1, 2, 3), (3,)]), ("ab,ac->bc", [(1, 3), (5, 4)])],
)
def test_value_and_gradient_of_einsum_are_pytorchs(
    torch: Any, equation: str, shapes: list[tuple[int, ...]]
) -> None:
    operands = draw(shapes, requires_grad=True)
    twins = [torch.tensor(x.detach().numpy(), requires_grad=True) for x in operands]
    wanted, got = torch.einsum(equation, *twins), tt.einsum(equation, *operands)
    np.testing.assert_allclose(got.detach().numpy(), wanted.detach().numpy(), atol=1e-12)
    cotangent = np.random.randn(*wanted.shape)
    wanted.backward(torch.tensor(cotangent))
    got.backward(tt.tensor(cotangent))
    for ours, theirs in zip(operands, twins, strict=True):
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), atol=1e-11)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij,jk->ki", [(2, 3), (3, 2)]), ("iij,jk,lk->il", [(2, 2, 3), (3, 2), (2, 2)]),
     ("...i,i->", [(2, 2), (2,)]), ("ab,ac->bc", [(1, 2), (3, 2)])],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [tt.float64, tt.complex128])
def test_einsum_has_first_and_second_derivatives(equation: str, shapes: Any, dtype: Any) -> None:
    operands = tuple(tt.randn(s, dtype=dtype, requires_grad=True) for s in shapes)

    def function(*tensors: Any) -> Any:
        return tt.einsum(equation, *tensors)

    assert tt.autograd.gradcheck(function, operands)
    assert tt.autograd.gradgradcheck(function, operands)


def test_sublists_mean_what_letters_mean() -> None:
    a, b = draw([(2, 3, 4), (4, 5)])
    wanted = tt.einsum("...j,jk->k...", a, b).numpy()
    got = tt.einsum(a, [..., 1], b, [1, 2], [2, ...])
    np.testing.assert_array_equal(got.numpy(), wanted)
    implicit = tt.einsum(b, [7, 3])  # labels sort, so the result is transposed
    np.testing.assert_array_equal(implicit.numpy(), b.numpy().T)


def test_operands_may_come_in_a_list() -> None:
    a, b = draw([(2, 3), (3, 4)])
    np.testing.assert_allclose(tt.einsum("ij,jk", [a, b]).numpy(), a.numpy() @ b.numpy())


def test_einsum_computes_the_cheapest_product_first() -> None:
    # Left to right this would make a 300 x 300 matrix; by cost it makes vectors only.
    from tinytorch.ops.linalg.einsum import make_plan

    plan = make_plan("ij,jk,k->i", ((300, 300), (300, 300), (300,)))
    assert plan.pairs[0][:2] == (1, 2)


@pytest.mark.parametrize(
    ("equation", "shapes", "text"),
    [
        ("ij,jk", [(2, 3), (4, 5)], "subscript j has size 4 for operand 1"),
        ("ij,jk", [(2, 3)], "fewer operands were provided than specified"),
        ("ij", [(2, 3), (2, 3)], "more operands were provided than specified"),
        ("ijk", [(2, 3)], r"number of subscripts in the equation \(3\)"),
        ("i", [(2, 3)], "and no ellipsis was given"),
        ("i1", [(2, 3)], r"subscripts must be in \[a-zA-Z\]"),
        ("i.j", [(2, 3)], "not part of any ellipsis"),
        ("...i...", [(2, 3)], "an ellipsis was already found"),
        ("ii", [(2, 3)], "the sizes don't match, 3 != 2"),
        ("a->... .", [(2,)], r"found '.' for output but an ellipsis \(...\) was already found"),
        ("a->..", [(2,)], r"found '.' for output that is not part of any ellipsis"),
        ("a->1", [(2,)], "invalid subscript given at index 3"),
        ("a,2", [(2,), (2,)], "invalid subscript given at index 2"),
        ("ai", [(2,)], r"does not match the number of dimensions \(1\) for operand 0 and no ell"),
        ("ai...", [(2,)], r"is more than the number of dimensions \(1\) for operand 0"),
        ("ij->ii", [(2, 3)], "appears more than once in the output"),
        ("ij->k", [(2, 3)], "does not appear in the equation for any input operand"),
    ],
)
def test_einsum_refuses_invalid_equations(
    equation: str, shapes: list[tuple[int, ...]], text: str
) -> None:
    with pytest.raises(RuntimeError, match=text):
        tt.einsum(equation, *draw(shapes))


def test_einsum_without_operands_is_refused() -> None:
    for args in (("ij",), ("", []), (tt.ones(2),)):
        with pytest.raises(ValueError, match="at least one operand"):
            tt.einsum(*args)
    for number in (("a", 1), (1, [0])):
        with pytest.raises(TypeError, match="must be Tensor, not int"):
            tt.einsum(*number)
    with pytest.raises(ValueError, match=r"valid range \[0, 52\)"):
        tt.einsum(tt.ones(2), [60], [60])


# -- products with a name ----------------------------------------------------------------------


@pytest.mark.parametrize("dims", [0, 1, 2, ([0, 1], [1, 0]), ([-1], [0]), ([], [])])
def test_tensordot_is_numpys(dims: Any) -> None:
    a, b = draw([(3, 3), (3, 3)])
    wanted = np.tensordot(a.numpy(), b.numpy(), dims)
    np.testing.assert_allclose(tt.tensordot(a, b, dims).numpy(), wanted, atol=1e-12)
    np.testing.assert_allclose(tt.tensordot(a, b, axes=dims).numpy(), wanted, atol=1e-12)


def test_tensordot_stretches_a_size_of_one() -> None:
    a, b = draw([(1, 2), (3, 4)])
    wanted = np.tensordot(np.repeat(a.numpy(), 3, 0), b.numpy(), ([0], [0]))
    np.testing.assert_allclose(tt.tensordot(a, b, ([0], [0])).numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("dims", "text"),
    [(1, r"first has size 3 in dim 1"), (-1, "expects dims >= 0"), (3, "expects dims < ndim"),
     (([0], [1, 0]), "should have same length")],
)  # fmt: skip
def test_tensordot_refuses_sizes_that_do_not_fit(dims: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        tt.tensordot(tt.ones(2, 3), tt.ones(4, 5), dims)


@pytest.mark.parametrize("shapes", [[(3,), (3,)], [(2, 3), (4, 5, 3)], [(), (2, 3)]])
def test_inner_is_numpys(shapes: list[tuple[int, ...]]) -> None:
    a, b = draw(shapes)
    np.testing.assert_allclose(a.inner(b).numpy(), np.inner(a.numpy(), b.numpy()), atol=1e-12)


def test_inner_refuses_other_last_dimensions() -> None:
    with pytest.raises(RuntimeError, match="the last dimension must match"):
        tt.inner(tt.ones(2, 3), tt.ones(2))


@pytest.mark.parametrize("shapes", [[(2, 3), (4, 5)], [(2,), (3, 4, 5)], [(), (2,)], [(0,), (2,)]])
def test_kron_is_numpys(shapes: list[tuple[int, ...]]) -> None:
    a, b = draw(shapes)
    np.testing.assert_allclose(a.kron(b).numpy(), np.kron(a.numpy(), b.numpy()))


def test_kron_promotes_dtypes() -> None:
    assert tt.kron(tt.ones(2), tt.ones(2, dtype=tt.int64)).dtype is tt.float32


def test_tensordot_writes_to_out() -> None:
    a, b, out = tt.ones(2, 2), tt.ones(2, 2), tt.empty(0)
    assert tt.tensordot(a, b, 1, out=out) is out
    assert out.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        tt.inner(a.requires_grad_(), b, out=out)


@pytest.mark.torch
@pytest.mark.parametrize(("equation", "shapes"), [
    ("...i,...i->...", ((2, 2), (1,))), ("i,->i", ((2,), ())), ("ij,j->i", ((2, 1), (1,))),
    ("ii,i->i", ((2, 2), (1,))), ("i,i->", ((1,), (3,))), ("ij,jk->ik", ((2, 1), (1, 2))),
    ("i,i->i", ((2,), (2,))), ("i,i->", ((2,), (2,))),
    ("i,j,k->ijk", ((1,), (2,), (1,))), ("ij,k->ijk", ((1, 1), (1,))),
])  # fmt: skip
def test_dtypes_are_promoted_whatever_the_sizes(equation: str, shapes: Any) -> None:
    import torch

    names = ("float16", "bfloat16", "float32", "float64", "int64", "complex64")
    for kinds in itertools.product(names, repeat=2):
        kinds = (*kinds, kinds[1])[: len(shapes)]
        found = []
        for library in (tt, torch):
            pairs = zip(shapes, kinds, strict=True)
            operands = [library.ones(s, dtype=getattr(library, k)) for s, k in pairs]
            try:
                result = library.einsum(equation, *operands)
                found.append((str(result.dtype).partition(".")[2], tuple(result.shape)))
            except RuntimeError:
                found.append(("RuntimeError", ()))
        assert found[0] == found[1], kinds
