"""``beta * input + alpha * product``, for each product of matrices and vectors."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.inplace import call_inplace
from ...dispatch.op import Array, Backend, composite, op
from ...dispatch.out import scalar_name
from ...dispatch.promotion import written_number
from ..checks import in_single, is_half
from ..pointwise.arithmetic import check_factor
from ..shape.sizes import expand
from .matmul import check_product


def _added(xp: Backend, input: Array, product: Array, beta: Any, alpha: Any) -> Array:
    """``beta * input + alpha * product``; the product's memory may be used.

    Factors of integers lose their fractions, as in PyTorch; those of bools are bools, whose
    addition is "or".
    """
    dtype = xp.dtype_of(product)
    beta, alpha = (written_number(factor, dtype) for factor in (beta, alpha))
    input = xp.call(expand, input, product.shape)
    if alpha != 1:
        product = product * alpha
    if beta == 0:  # not even NaN passes
        return product
    return xp.add(product, input if beta == 1 else input * beta, out=product)


_TWO_DTYPES = "{}: self and mat2 must have the same dtype, but got {{}} and {{}}"


def _check_dtypes(xp: Backend, text: str, *arrays: Array) -> None:
    """RuntimeError in PyTorch's words, which name the dtypes, unless all are of one."""
    if any(x.dtype != arrays[0].dtype for x in arrays):
        raise RuntimeError(text.format(*(scalar_name(xp.dtype_of(x)) for x in arrays)))


def _scaled(g: Any, factor: Any) -> Any:
    return g if factor == 1 else g * factor


def _input_rule(xp: Any, g: Any, beta: Any) -> Any:
    return xp.zeros_like(g) if beta == 0 else _scaled(g, beta)


def _transposed(xp: Any, x: Any) -> Any:
    return xp.swapaxes(x, -1, -2)


@op(
    method=True,
    inplace=True,
    strict=True,
    buffered=True,
    exact_out=True,
    former_order=("beta", "alpha"),
)
def addmm(
    xp: Backend, input: Array, mat1: Array, mat2: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """``beta * input + alpha * (mat1 @ mat2)``.

    Args:
        input: Tensor that broadcasts to ``(n, m)``.
        mat1: ``(n, k)``.
        mat2: ``(k, m)``.
        beta: Factor of ``input``; 0 ignores it, NaN included. Default 1.
        alpha: Factor of the product; default 1.

    Returns:
        ``(n, m)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or the dtype does not hold a factor.

    Example:
        >>> import tinytorch as tt
        >>> tt.addmm(tt.ones(1), tt.eye(2), tt.eye(2))
        tensor([[2., 1.],
                [1., 2.]])
    """
    for at, array in (("mat1", mat1), ("mat2", mat2)):
        if array.ndim != 2:
            raise RuntimeError(f"addmm: {at} must be a matrix, got {array.ndim}-D tensor")
    check_product("addmm", mat1, mat2)
    _check_dtypes(xp, _TWO_DTYPES.format("addmm"), input, mat2)
    if is_half(mat1):
        return in_single(xp, addmm.kernel, input, mat1, mat2, beta=beta, alpha=alpha)
    return _added(xp, input, xp.matmul(mat1, mat2), beta, alpha)


def _mat1_rule(xp: Any, g: Any, mat2: Any, alpha: Any) -> Any:
    return _scaled(xp.matmul(g, _transposed(xp, mat2)), alpha)


def _mat2_rule(xp: Any, g: Any, mat1: Any, alpha: Any) -> Any:
    return _scaled(xp.matmul(_transposed(xp, mat1), g), alpha)


addmm.vjp(input=_input_rule, mat1=_mat1_rule, mat2=_mat2_rule)


@op(
    method=True,
    inplace=True,
    strict=True,
    buffered=True,
    exact_out=True,
    former_order=("beta", "alpha"),
)
def addmv(
    xp: Backend, input: Array, mat: Array, vec: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """``beta * input + alpha * (mat @ vec)``.

    Args:
        input: Tensor that broadcasts to ``(n,)``.
        mat: ``(n, k)``.
        vec: ``(k,)``.
        beta: Factor of ``input``; 0 ignores it, NaN included. Default 1.
        alpha: Factor of the product; default 1.

    Returns:
        ``(n,)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or the dtype does not hold a factor.

    Example:
        >>> import tinytorch as tt
        >>> tt.addmv(tt.ones(2), tt.eye(2), tt.tensor([1.0, 2.0]))
        tensor([2., 3.])
    """
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError(
            f"addmv: vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim}"
        )
    _check_dtypes(
        xp, "addmv input tensors must have the same dtype, but got {}, {}, and {}", input, mat, vec
    )
    check_product("addmv", mat, vec)
    return _added(xp, input, xp.matmul(mat, vec), beta, alpha)


addmv.vjp(
    input=_input_rule,
    mat=lambda xp, g, vec, alpha: _scaled(g, alpha)[:, None] * vec,
    vec=lambda xp, g, mat, alpha: _scaled(xp.matmul(_transposed(xp, mat), g), alpha),
)


@op(method=True, inplace=True, promote="alike", former_order=("beta", "alpha"))
def addr(
    xp: Backend, input: Array, vec1: Array, vec2: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """``beta * input + alpha * outer(vec1, vec2)``; among bools, "or" and "and".

    Args:
        input: Tensor that broadcasts to ``(n, m)``.
        vec1: ``(n,)``.
        vec2: ``(m,)``.
        beta: Factor of ``input``; 0 ignores it, NaN included. Default 1.
        alpha: Factor of the product; default 1.

    Returns:
        ``(n, m)``.

    Raises:
        RuntimeError: If shapes do not fit, the dtype does not hold a factor, or the factor is of
            another kind: a bool or, of integers, a float.

    Example:
        >>> import tinytorch as tt
        >>> tt.addr(tt.zeros(2, 2), tt.tensor([1.0, 2.0]), tt.tensor([3.0, 4.0]))
        tensor([[3., 4.],
                [6., 8.]])
    """
    for at, array in (("vec1", vec1), ("vec2", vec2)):
        if array.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {at}, but got {array.ndim}-D")
    product = vec1[:, None] * vec2
    for at, factor in (("beta", beta), ("alpha", alpha)):
        check_factor("addr", product.dtype.kind, at, factor)
    return _added(xp, input, product, beta, alpha)


addr.vjp(
    input=_input_rule,
    vec1=lambda xp, g, vec2, alpha: _scaled(xp.matmul(g, vec2), alpha),
    vec2=lambda xp, g, vec1, alpha: _scaled(xp.matmul(vec1, g), alpha),
)


def _check_batches(name: str, batch1: Array, batch2: Array) -> None:
    for at, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name}: {at} must be a 3D tensor, got {array.ndim}D")
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"{name}: Expected size for first two dimensions of batch2 tensor to be: "
            f"[{batch1.shape[0]}, {batch1.shape[2]}] but got: [{batch2.shape[0]}, "
            f"{batch2.shape[1]}]."
        )
    check_product(name, batch1, batch2)


@op(
    method=True,
    inplace=True,
    strict=True,
    buffered=True,
    exact_out=True,
    former_order=("beta", "alpha"),
)
def baddbmm(
    xp: Backend, input: Array, batch1: Array, batch2: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """``beta * input + alpha * (batch1 @ batch2)``, over a batch.

    Args:
        input: Tensor that broadcasts to ``(b, n, m)``.
        batch1: ``(b, n, k)``.
        batch2: ``(b, k, m)``.
        beta: Factor of ``input``; 0 ignores it, NaN included. Default 1.
        alpha: Factor of the products; default 1.

    Returns:
        ``(b, n, m)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or the dtype does not hold a factor.

    Example:
        >>> import tinytorch as tt
        >>> tt.baddbmm(tt.ones(1), tt.ones(2, 1, 3), tt.ones(2, 3, 1)).flatten()
        tensor([4., 4.])
    """
    _check_dtypes(
        xp, "baddbmm: Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}",
        input, batch1, batch2,
    )  # fmt: skip
    _check_batches("baddbmm", batch1, batch2)
    if is_half(batch1):
        return in_single(xp, baddbmm.kernel, input, batch1, batch2, beta=beta, alpha=alpha)
    return _added(xp, input, xp.matmul(batch1, batch2), beta, alpha)


baddbmm.vjp(
    input=_input_rule,
    batch1=lambda xp, g, batch2, alpha: _scaled(xp.matmul(g, _transposed(xp, batch2)), alpha),
    batch2=lambda xp, g, batch1, alpha: _scaled(xp.matmul(_transposed(xp, batch1), g), alpha),
)


@op(method=True, strict=True, buffered="first", exact_out=True, former_order=("beta", "alpha"))
def addbmm(
    xp: Backend, input: Array, batch1: Array, batch2: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """``beta * input + alpha * sum(batch1 @ batch2)``, summed over a batch.

    Args:
        input: Tensor that broadcasts to ``(n, m)``.
        batch1: ``(b, n, k)``.
        batch2: ``(b, k, m)``.
        beta: Factor of ``input``; 0 ignores it, NaN included. Default 1.
        alpha: Factor of the sum; default 1.

    Returns:
        ``(n, m)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or the dtype does not hold a factor.

    Example:
        >>> import tinytorch as tt
        >>> tt.addbmm(tt.zeros(1), tt.ones(2, 1, 3), tt.ones(2, 3, 2))
        tensor([[6., 6.]])
    """
    _check_batches("addbmm", batch1, batch2)
    _check_dtypes(xp, _TWO_DTYPES.format("addbmm"), input, batch2)
    if is_half(batch1):
        return in_single(xp, addbmm.kernel, input, batch1, batch2, beta=beta, alpha=alpha)
    # One product whose inner dimension is that of all matrices together.
    rows, columns = batch1.shape[1], batch2.shape[2]
    left = xp.reshape(xp.swapaxes(batch1, 0, 1), (rows, batch1.shape[0] * batch1.shape[2]))
    right = xp.reshape(batch2, (batch2.shape[0] * batch2.shape[1], columns))
    return _added(xp, input, xp.matmul(left, right), beta, alpha)


addbmm.vjp(
    input=_input_rule,
    batch1=lambda xp, g, batch2, alpha: _scaled(xp.matmul(g, _transposed(xp, batch2)), alpha),
    batch2=lambda xp, g, batch1, alpha: _scaled(xp.matmul(_transposed(xp, batch1), g), alpha),
)


@composite(method=True)
def addbmm_(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """In-place form of ``addbmm``. As in torch, a tensor that would broadcast grows instead.

    Args:
        input: Tensor that broadcasts to ``(n, m)``.
        batch1: ``(b, n, k)``.
        batch2: ``(b, k, m)``.
        beta: Factor of ``input``; default 1.
        alpha: Factor of the sum; default 1.

    Returns:
        ``input``, then ``(n, m)``.

    Raises:
        RuntimeError: As for ``addbmm``, and if a tensor that requires grad would grow.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(1, 2).addbmm_(tt.ones(2, 1, 3), tt.ones(2, 3, 2))
        tensor([[6., 6.]])
    """
    shape = (*batch1.shape[1:2], *batch2.shape[2:])
    if tuple(input.shape) != shape:
        grown = addbmm(input, batch1, batch2, beta=beta, alpha=alpha)
        return input.resize_(grown.shape).copy_(grown)
    options = {"beta": beta, "alpha": alpha}
    return call_inplace(addbmm.op, (input, batch1, batch2), options)
