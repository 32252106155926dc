"""Calls of several steps for ``test_taken_and_refused``."""

from __future__ import annotations

from typing import Any


def _second_of_bce(library: Any, x: Any, y: Any, by: Any) -> Any:
    """The derivative by ``by`` of the derivative of the binary cross entropy by ``x``."""
    loss = library.nn.functional.binary_cross_entropy(x, y)
    first = library.autograd.grad(loss, x, create_graph=True)[0]
    return library.autograd.grad(first.sum(), by)


def _slope_of_all(library: Any, x: Any) -> Any:
    """The gradient of all that ``native_group_norm`` gives."""
    out, mean, scale = library.native_group_norm(x, None, None, 1, 6, 1, 2, 1e-5)
    return library.autograd.grad((out**2).sum() + mean.sum() + (scale**3).sum(), x)


# -- products of bools -----------------------------------------------------------------------------


def inner_of_no_bools(L: Any, T: Any) -> Any:
    B = T([True, False])[:0]
    return L.inner(B, B)


def tensordot_of_no_bools(L: Any, T: Any) -> Any:
    B = T([True, False])[:0]
    return L.tensordot(B, B, 1)


def einsum_of_no_bools(L: Any, T: Any) -> Any:
    B = T([[True, False]])
    return L.einsum("ij,jk->ik", B[:0], B.T)


# -- results written -------------------------------------------------------------------------------


def index_add_over_its_input(L: Any, T: Any) -> Any:
    X = L.zeros(3)
    L.index_add(X, 0, T([0, 2]), L.ones(2), out=X)
    return X


def logsumexp_over_a_part(L: Any) -> Any:
    X = L.arange(5.0)
    L.logsumexp(X[:4].view(2, 2), 0, out=X[1:3])
    return X


def logsumexp_over_another_part(L: Any) -> Any:
    X = L.arange(5.0)
    L.logsumexp(X[:4].view(2, 2), 1, out=X[:2])
    return X


def ndtr_over_its_input(L: Any) -> Any:
    X = L.arange(5.0)
    L.special.ndtr(X[:4], out=X[1:])
    return X


def ndtri_over_its_input(L: Any) -> Any:
    X = L.arange(5.0)
    L.special.ndtri(X[:4], out=X[1:])
    return X


def index_copy_over_its_input(L: Any, T: Any) -> Any:
    X = L.zeros(3)
    L.index_copy(X, 0, T([0, 2]), L.ones(2), out=X)
    return X


def scatter_add_over_its_input(L: Any, T: Any) -> Any:
    X = L.zeros(3)
    L.scatter_add(X, 0, T([0, 2]), L.ones(2), out=X)
    return X


def gather_over_its_input(L: Any, T: Any) -> Any:
    X = L.zeros(3)
    L.gather(X, 0, T([0, 2, 1]), out=X)
    return X


def index_select_over_its_input(L: Any, T: Any) -> Any:
    X = L.zeros(3)
    L.index_select(X, 0, T([0, 2, 1]), out=X)
    return X


def index_add_over_a_part(L: Any, T: Any) -> Any:
    X = L.zeros(4)
    L.index_add(X[:3], 0, T([0, 2]), L.ones(2), out=X[1:])
    return X


def scatter_add_over_a_part(L: Any, T: Any) -> Any:
    X = L.zeros(4)
    L.scatter_add(X[:3], 0, T([0, 2]), L.ones(2), out=X[1:])
    return X


def index_add_over_its_source(L: Any, T: Any) -> Any:
    X = L.ones(3)
    L.index_add(L.zeros(3), 0, T([0, 2, 1]), X, out=X)
    return X


def scatter_add_over_its_source(L: Any, T: Any) -> Any:
    X = L.ones(3)
    L.scatter_add(L.zeros(3), 0, T([0, 2, 1]), X, out=X)
    return X


def scatter_add_over_its_index(L: Any, T: Any) -> Any:
    X = T([0, 2, 1])
    L.scatter_add(T([0, 0, 0]), 0, X, T([1, 1, 1]), out=X)
    return X


# -- edges -----------------------------------------------------------------------------------------


def index_put_of_a_float_among_ints(L: Any, T: Any) -> Any:
    X = L.zeros(3, dtype=L.int64)
    X.index_put_((T([True, False, True]),), T(2.5))
    return X


def embedding_renorms_every_other_row(L: Any, F: Any, T: Any) -> Any:
    X = L.ones(4, 3)
    F.embedding(T([0, 1]), X[::2], max_norm=1.0)
    return X


# -- sizes and steps -------------------------------------------------------------------------------


def cdist_to_nan(L: Any, T: Any) -> Any:
    x = L.eye(2)
    return L.cdist(x, x + T([[0.0], [float("nan")]]), p=0.0).isnan()


# -- sizes of others -------------------------------------------------------------------------------


def sizes_with_a_tensor(L: Any, T: Any) -> Any:
    X = (1, T(4)) + L.Size([2])
    return X, type(X) is L.Size


def sizes_times_two(L: Any) -> Any:
    X = L.Size([2]) * 2
    return X, type(X) is L.Size, type(3 * X) is L.Size


# -- bytes as masks --------------------------------------------------------------------------------


def bytes_as_a_mask(L: Any, T: Any) -> Any:
    X = L.zeros(3)
    X[T([1, 0, 1], dtype=L.uint8)] = T([5.0, 6.0])
    return X


def a_byte_as_a_mask(L: Any, T: Any) -> Any:
    X = L.zeros(3)
    X[T(1, dtype=L.uint8)] = T([5.0, 6.0, 7.0])
    return X


def gradient_through_a_mask_of_bytes(L: Any, T: Any) -> Any:
    X = L.ones(3).requires_grad_()
    return L.autograd.grad(X[T([1, 0, 1], dtype=L.uint8)].sum(), X)


# -- lists of indices ------------------------------------------------------------------------------


def a_list_of_lists_as_index(L: Any) -> Any:
    X = L.zeros(3, 4)
    X[[[0, 1], [2, 3]]] = 5.0
    return X


# -- edges of gradients ----------------------------------------------------------------------------


def gradient_of_one_logdet_of_two(L: Any, T: Any) -> Any:
    x = T([[[1.0, 2], [3, 4]], [[3, 1], [1, 2]]]).requires_grad_()
    return L.autograd.grad(L.logdet(x)[1:], x)


def gradient_of_logdet_of_a_negative_determinant(L: Any, T: Any) -> Any:
    x = T([[1.0, 2], [3, 4]]).requires_grad_()
    return L.autograd.grad(L.logdet(x), x)


def gradient_of_multi_margin_loss(L: Any, F: Any, T: Any) -> Any:
    x = T([[1.0, 2.0, 1.0]], requires_grad=True)
    return L.autograd.grad(F.multi_margin_loss(x, T([1])), x)


def gradient_of_squared_multi_margin_loss(L: Any, F: Any, T: Any) -> Any:
    x = T([[1.0, 2.0]], requires_grad=True)
    return L.autograd.grad(F.multi_margin_loss(x, T([1]), p=2), x)


def gradient_of_multilabel_margin_loss(L: Any, F: Any, T: Any) -> Any:
    x = T([1.0, 2.0], requires_grad=True)
    return L.autograd.grad(F.multilabel_margin_loss(x, T([1, -1])), x)


def second_derivative_of_bce_by_its_input(L: Any, T: Any) -> Any:
    x = T([0.0, 1.0, 0.5], requires_grad=True)
    return _second_of_bce(L, x, T([0.0, 1.0, 0.0]), x)


def second_derivative_of_bce_by_its_target(L: Any, T: Any) -> Any:
    y = T([0.25, 1.0], requires_grad=True)
    return _second_of_bce(L, T([0.5, 0.75]).requires_grad_(), y, y)


def gradient_of_native_group_norm(L: Any) -> Any:
    x = L.arange(6.0).reshape(1, 6, 1).square().requires_grad_()
    return _slope_of_all(L, x)
