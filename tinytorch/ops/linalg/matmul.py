"""Products of matrices and vectors."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.op import Array, Backend, Out, Overlap, op, reads
from ...dispatch.out import scalar_name
from ...graph.nodes import Node
from ...graph.special_nodes import ndim_of, input_requires_grad
from ..checks import check_scalar_types

#: Operands of fewer elements can take the fast path, which does not limit BLAS's threads.
_SMALL = 4096
#: Multiply-adds up to which OpenBLAS uses one thread by itself (``backends/numpy/blas.py``).
_SINGLE_THREAD_PRODUCTS = 1 << 18


def product_node_name(node: Node) -> str:
    """PyTorch's name of a product's node, by the dimensions of its factors and its result.

    The dimensions of a factor that needs no gradient are not saved, but inferred.
    """
    a, b = ndim_of(node, "input"), ndim_of(node, "other")
    n = len(node.shape)
    if a is None:
        a = n + 1 if b == 1 else n if b == 2 else 3
    if b is None:
        b = {(1, 0): 1, (1, 1): 2, (2, 1): 1, (2, 2): 2}.get((a, n), 3)
    if (a, b) in _PRODUCTS:
        return _PRODUCTS[a, b]
    folded = a == 2 and b > 2 and input_requires_grad(node, "input")
    return "CloneBackward0" if folded else "UnsafeViewBackward0"


_PRODUCTS = {
    (1, 1): "DotBackward0", (2, 1): "MvBackward0", (1, 2): "SqueezeBackward4", (2, 2): "MmBackward0"
}  # fmt: skip


@op(
    operators=("matmul",),
    namespaces=("", "linalg"),
    method=True,
    node=product_node_name,
    strict=True,
    out=Out.EXACT,
)
def matmul(xp: Backend, input: Array, other: Array, *, out: Array | None = None) -> Array:
    """Matrix product of two tensors.

    Args:
        input: ``(k,)``, ``(n, k)`` or ``(..., n, k)``.
        other: ``(k,)``, ``(k, m)`` or ``(..., k, m)``; leading dimensions broadcast.

    Returns:
        The dot product of two vectors (0-d), a matrix-vector product, or matrices of shape
        ``(..., n, m)``.

    Raises:
        RuntimeError: If the inner sizes or the dtypes differ, or one of them is 0-d.

    Example:
        >>> tt.tensor([[1.0, 2.0], [3.0, 4.0]]) @ tt.tensor([1.0, 1.0])
        tensor([3., 7.])
    """
    few = not xp.fuses and input.ndim == 2 == other.ndim
    if few and out is None and 1 < input.size < _SMALL > other.size > 1:
        dtype = input.dtype
        if (
            dtype is other.dtype
            and dtype.char in "fd"
            and len(input) * other.size <= _SINGLE_THREAD_PRODUCTS
        ):
            try:
                return input.dot(other)
            except ValueError:  # check_product raises PyTorch's error instead
                pass
    check_product("matmul", input, other)
    return xp.matmul(input, other) if out is None else xp.matmul(input, other, out=out)


def check_product(name: str, a: Array, b: Array) -> None:
    """Raise PyTorch's error unless the dtypes and inner sizes of ``a @ b`` match."""
    dtype = a.dtype
    if dtype is not b.dtype or dtype.char == "?":
        check_factors(name, a, b)
    if not a.ndim or not b.ndim:
        raise RuntimeError(
            f"{name}: both arguments to matmul need to be at least 1D, but they are {a.ndim}D and "
            f"{b.ndim}D"
        )
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise RuntimeError(_mismatch_message(name, a, b))


def check_factors(name: str, a: Array, b: Array) -> None:
    """Check the dtypes of two factors: one dtype, and no bools unless a matrix is empty.

    Raises:
        RuntimeError: If the dtypes differ.
        NotImplementedError: For bools.
    """
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}"
        )
    if a.dtype.kind == "b" and (a.size and b.size or a.ndim == b.ndim == 1):
        kernel = _KERNELS.get(name) or _KERNELS.get((min(a.ndim, 3), min(b.ndim, 3)), "bmm")
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


#: PyTorch's kernel for a product, by the function's name or the factors' numbers of dimensions.
_KERNELS: dict[Any, str] = {
    (1, 1): "dot", (2, 1): "addmv_impl_cpu", (3, 1): "addmv_impl_cpu", (1, 3): "addmv_impl_cpu",
    (1, 2): "addmm_impl_cpu_", (2, 2): "addmm_impl_cpu_", (3, 2): "addmm_impl_cpu_",
    (2, 3): "addmm_impl_cpu_", "linear": "addmm_impl_cpu_", "addbmm": "addmm_impl_cpu_",
    "baddbmm": "baddbmm",
}  # fmt: skip


def _mismatch_message(name: str, a: Array, b: Array) -> str:
    """PyTorch's error message for factors whose inner sizes differ."""
    if a.ndim == b.ndim == 1:
        return (
            f"{name}: inconsistent tensor size, expected tensor [{a.shape[0]}] and src "
            f"[{b.shape[0]}] to have the same number of elements"
        )
    if a.ndim > 2 and b.ndim > 2:
        return (
            f"{name}: Expected size for first two dimensions of batch2 tensor to be: "
            f"[{math.prod(b.shape[:-2])}, {a.shape[-1]}] but got: "
            f"[{math.prod(b.shape[:-2])}, {b.shape[-2]}]; got shapes {list(a.shape)} and "
            f"{list(b.shape)}"
        )
    rows = a.shape[-2] if a.ndim > 1 else 1
    columns = b.shape[-1] if b.ndim > 1 else 1
    return (
        f"{name}: mat1 and mat2 shapes cannot be multiplied ({rows}x{a.shape[-1]} and "
        f"{b.shape[-2] if b.ndim > 1 else b.shape[0]}x{columns}); got shapes {list(a.shape)} and "
        f"{list(b.shape)}"
    )


def transpose_matrices(xp: Any, x: Any) -> Any:
    """The transpose of each matrix."""
    return xp.swapaxes(x, -1, -2)


def _as_rows(xp: Any, x: Any) -> Any:
    """``x`` of shape ``(..., n)`` as one matrix of all its rows."""
    # A size of -1 would be ambiguous for an empty tensor.
    return xp.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))


@reads(input="other")
def _matmul_input_gradient(xp: Any, g: Any, input: Any, other: Any) -> Any:
    """Gradient of ``input`` in ``matmul``, of the shape before a sum over broadcast dimensions."""
    if other.ndim == 1:
        if input.ndim == 1:
            return g * other
        return g[..., None] * other
    if input.ndim == 1:
        return xp.matmul(other, g[..., None])[..., 0]
    return xp.matmul(g, transpose_matrices(xp, other))


@reads(other="input")
def _matmul_other_gradient(xp: Any, g: Any, input: Any, other: Any) -> Any:
    """Gradient of ``other`` in ``matmul``, of the shape before a sum over broadcast dimensions."""
    if input.ndim == 1:
        return g * input if other.ndim == 1 else input[:, None] * g[..., None, :]
    if other.ndim == 1:
        return xp.matmul(transpose_matrices(xp, input), g[..., None])[..., 0]
    if other.ndim == 2 and input.ndim > 2:
        # Compute one product over all rows instead of a sum of one product per batch element.
        return xp.matmul(transpose_matrices(xp, _as_rows(xp, input)), _as_rows(xp, g))
    return xp.matmul(transpose_matrices(xp, input), g)


matmul.vjp(input=_matmul_input_gradient, other=_matmul_other_gradient)


@op(method=True, strict=True, out=Out.EXACT)
def mm(xp: Backend, input: Array, mat2: Array, *, out: Array | None = None) -> Array:
    """Product of two matrices, without broadcasting.

    Args:
        input: ``(n, k)``.
        mat2: ``(k, m)``.

    Raises:
        RuntimeError: If an operand is not a matrix or the inner sizes differ.

    Example:
        >>> tt.mm(tt.eye(2), tt.ones(2, 1))
        tensor([[1.],
                [1.]])
    """
    for at, array in (("self", input), ("mat2", mat2)):
        if array.ndim != 2:
            raise RuntimeError(f"mm: {at} must be a matrix, got shape {list(array.shape)}")
    check_product("mm", input, mat2)
    return xp.matmul(input, mat2) if out is None else xp.matmul(input, mat2, out=out)


mm.vjp(
    input=lambda xp, g, mat2: xp.matmul(g, transpose_matrices(xp, mat2)),
    mat2=lambda xp, g, input: xp.matmul(transpose_matrices(xp, input), g),
)


@op(method=True, strict=True, out=Out.EXACT)
def bmm(xp: Backend, input: Array, mat2: Array, *, out: Array | None = None) -> Array:
    """Products of the matrices in two batches.

    Args:
        input: ``(b, n, k)``.
        mat2: ``(b, k, m)``.

    Raises:
        RuntimeError: If an operand is not a batch of matrices or sizes differ.

    Example:
        >>> tt.bmm(tt.ones(2, 1, 3), tt.ones(2, 3, 1)).shape
        tinytorch.Size([2, 1, 1])
    """
    for at, array in (("batch1", input), ("batch2", mat2)):
        if array.ndim != 3:
            raise RuntimeError(f"bmm: {at} must be a 3D tensor, got shape {list(array.shape)}")
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            "bmm: Expected size for first two dimensions of batch2 tensor to be: "
            f"[{input.shape[0]}, {input.shape[2]}] but got: [{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    check_scalar_types(xp, "bmm", input, mat2)
    check_product("bmm", input, mat2)
    return xp.matmul(input, mat2) if out is None else xp.matmul(input, mat2, out=out)


bmm.vjp(
    input=lambda xp, g, mat2: xp.matmul(g, transpose_matrices(xp, mat2)),
    mat2=lambda xp, g, input: xp.matmul(transpose_matrices(xp, input), g),
)


@op(method=True, strict=True, out=Out.EXACT, overlap=Overlap.DISJOINT)
def mv(xp: Backend, input: Array, vec: Array) -> Array:
    """Product of a matrix and a vector.

    Args:
        input: ``(n, k)``.
        vec: ``(k,)``, of the same dtype.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> tt.mv(tt.eye(2), tt.tensor([3.0, 4.0]))
        tensor([3., 4.])
    """
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(
            f"mv: vector + matrix @ vector expected, got {vec.ndim}, {input.ndim}, {vec.ndim}"
        )
    if input.dtype != vec.dtype:
        of_matrix, of_vector = (scalar_name(xp.dtype_of(x)) for x in (input, vec))
        raise RuntimeError(
            f"mv: addmv input tensors must have the same dtype, but got {of_vector}, {of_matrix}, "
            f"and {of_vector}"
        )
    check_factors("mv", input, vec)
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({input.shape[0]}), mat "
            f"({input.shape[0]}x{input.shape[1]}), vec ({vec.shape[0]})"
        )
    return xp.matmul(input, vec)


mv.vjp(
    input=lambda xp, g, vec: g[:, None] * vec,
    vec=lambda xp, g, input: xp.matmul(transpose_matrices(xp, input), g),
)


@op(method=True, out=Out.EXACT, overlap=Overlap.DISJOINT)
def dot(xp: Backend, input: Array, tensor: Array) -> Array:
    """Sum of the products of two vectors' elements.

    For other tensors it is NumPy's ``dot``: sums over the last dimension of ``input`` and the last
    but one of ``tensor``.

    Args:
        input: ``(n,)``, or ``(*, n)``.
        tensor: ``(n,)``, or ``(*, n, m)``.

    Raises:
        RuntimeError: If the lengths or the dtypes differ.

    Example:
        >>> tt.dot(tt.tensor([1.0, 2.0]), tt.tensor([3.0, 4.0]))
        tensor(11.)
    """
    if input.ndim != 1 or tensor.ndim != 1:
        if _dot_shapes_match(input, tensor) and input.dtype == tensor.dtype:
            return xp.dot(input, tensor)
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input.dtype != tensor.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {input.dtype} and "
            f"{tensor.dtype}"
        )
    if input.shape != tensor.shape:
        raise RuntimeError(_mismatch_message("dot", input, tensor))
    check_factors("dot", input, tensor)
    return xp.dot(input, tensor)


def _dot_shapes_match(a: Array, b: Array) -> bool:
    """Whether NumPy's ``dot`` accepts the shapes, as it does if an operand is 0-d."""
    if not a.ndim or not b.ndim:
        return True
    return bool(a.shape[-1] == b.shape[-2 if b.ndim > 1 else 0])


def _dot_input_gradient(xp: Any, g: Any, in_shape: Any, tensor: Any) -> Any:
    """Gradient of ``input``, of shape ``in_shape``, in NumPy's ``dot``."""
    ndim = len(in_shape)
    if ndim == tensor.ndim == 1 or not ndim or not tensor.ndim:
        return g * tensor
    rest = [d for d in range(tensor.ndim) if d != max(tensor.ndim - 2, 0)]
    return xp.tensordot(g, tensor, (list(range(ndim - 1, g.ndim)), rest))


def _dot_tensor_gradient(xp: Any, g: Any, input: Any, in_shape: Any) -> Any:
    """Gradient of ``tensor``, of shape ``in_shape``, in NumPy's ``dot``."""
    ndim = len(in_shape)
    if input.ndim == ndim == 1 or not input.ndim or not ndim:
        return g * input
    rows = list(range(input.ndim - 1))
    found = xp.tensordot(input, g, (rows, rows))
    return found if ndim == 1 else xp.moveaxis(found, 0, -2)


dot.vjp(input=_dot_input_gradient, tensor=_dot_tensor_gradient)


def _linear_node_name(node: Node) -> str:
    """PyTorch's name of the node of ``linear``, by its bias and the result's dimensions."""
    n = len(node.shape)
    if node.edges[2] is not None:
        return "AddmmBackward0" if n == 2 else "ViewBackward0"
    return {1: "SqueezeBackward4", 2: "MmBackward0"}.get(n, "UnsafeViewBackward0")


@op(namespaces=("nn.functional",), node=_linear_node_name, strict=True, out=Out.EXACT)
def linear(xp: Backend, input: Array, weight: Array, bias: Array | None = None) -> Array:
    """``input @ weight.T + bias``.

    Args:
        input: ``(*, in_features)``.
        weight: ``(out_features, in_features)``, or ``(in_features,)``.
        bias: ``(out_features,)``, or 0-d for a 1-d weight; default none.

    Returns:
        ``(*, out_features)``, without the last dimension for a 1-d weight.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> tt.nn.functional.linear(tt.ones(1, 2), tt.ones(3, 2), tt.zeros(3))
        tensor([[2., 2., 2.]])
    """
    dtype, ndim = input.dtype, input.ndim
    if ndim == 2 == weight.ndim and 1 < input.size < _SMALL > weight.size > 1:
        if dtype is weight.dtype and dtype.char in "fd" and input.shape[1] == weight.shape[1]:
            if len(input) * weight.size <= _SINGLE_THREAD_PRODUCTS:
                product = input.dot(weight.T)
                if bias is None:
                    return product
                if bias.dtype is dtype and bias.shape == product.shape[1:]:
                    product += bias
                    return product
    if input.shape[-1:] != weight.shape[-1:]:
        _raise_size_mismatch(input, weight)
    if dtype is not weight.dtype or dtype.char == "?":
        _check_linear_dtypes(input, weight)
    if weight.ndim != 2:
        return _linear_with_vector(xp, input, weight, bias)
    fused = xp.fused("linear", input, weight, bias) if bias is not None and xp.fuses else None
    if fused is not None:
        return fused
    product = xp.matmul(input, weight.T)
    if bias is not None:
        xp.add(product, _align_bias(bias, product, input), out=product)
    return product


def _check_linear_dtypes(input: Array, weight: Array) -> None:
    """Raise an error unless input and weight of ``linear`` have one dtype, which is not bool."""
    if input.dtype != weight.dtype:
        raise RuntimeError(
            "linear: mat1 and mat2 must have the same dtype, but got "
            f"{input.dtype} and {weight.dtype}"
        )
    check_factors("linear" if weight.ndim == 2 else "", input, weight)


def _raise_size_mismatch(input: Array, weight: Array) -> None:
    """Raise PyTorch's error for an input and a weight whose last dimensions differ."""
    _check_dimensions(input, weight)
    raise RuntimeError(
        f"linear: mat1 and mat2 shapes cannot be multiplied ({math.prod(input.shape[:-1])}x"
        f"{input.shape[-1]} and {weight.shape[-1]}x"
        f"{weight.shape[0] if weight.ndim > 1 else 1}); expected input of shape "
        f"(*, {weight.shape[-1]}), got {list(input.shape)}"
    )


def _check_dimensions(input: Array, weight: Array) -> None:
    """Raise RuntimeError for a 0-d input, or a weight of 0 or more than 2 dimensions."""
    if not input.ndim or not weight.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and "
            f"{weight.ndim}D"
        )
    if weight.ndim > 2:
        raise RuntimeError(
            f"linear: t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D"
        )


def _linear_with_vector(xp: Backend, input: Array, weight: Array, bias: Array | None) -> Array:
    """``linear`` with a 1-d weight; RuntimeError for a weight of 0 or more than 2 dimensions."""
    _check_dimensions(input, weight)
    product = xp.matmul(input, weight)
    if bias is None:
        return product
    if input.ndim > 1 and bias.ndim:
        raise RuntimeError("linear: mat2 must be a matrix, got 1-D tensor")
    return product + bias


def _align_bias(bias: Array, product: Array, input: Array) -> Array:
    """The bias in a shape that can be added to ``product`` in place.

    Raises RuntimeError if its shape or dtype does not fit.
    """
    if bias.dtype != input.dtype:
        raise RuntimeError(
            "linear: input, weight and bias must have the same dtype, but got "
            f"{input.dtype} and a bias of {bias.dtype}"
        )
    if bias.ndim <= product.ndim:
        return bias
    if product.ndim == 1 and bias.shape == (1, product.shape[0]):
        return bias[0]  # PyTorch's product is a matrix of one row here
    raise RuntimeError(
        f"linear: a bias of shape {list(bias.shape)} does not broadcast to the result's "
        f"shape {list(product.shape)}"
    )


@linear.vjp_joint("input", "weight", "bias")
@reads(input="weight", weight="input", bias="")
def _linear_backward(xp: Any, g: Any, in_shape: Any, input: Any, weight: Any) -> tuple[Any, ...]:
    """Gradients of the input, the weight and the bias of ``linear``.

    ``in_shape`` holds the shapes of the three, with None where no gradient is needed.
    """
    input_shape, weight_shape, bias_shape = in_shape
    if weight.ndim == 1:
        return (
            None if input_shape is None else g[..., None] * weight,
            None if weight_shape is None else g[..., None] * input,
            None if bias_shape is None else g,
        )
    rows = g if g.ndim == 2 else _as_rows(xp, g)
    inputs = input if input.ndim == 2 else _as_rows(xp, input)
    return (
        None if input_shape is None else xp.matmul(g, weight),
        None if weight_shape is None else xp.matmul(rows.T, inputs),
        None if bias_shape is None else _bias_gradient(xp, g, rows, len(bias_shape)),
    )


def _bias_gradient(xp: Any, g: Any, rows: Any, ndim: int) -> Any:
    """The gradient of a bias of ``ndim`` dimensions; the caller sums it where it was broadcast.

    ``g`` is the gradient of the result, and ``rows`` the same as a matrix.
    """
    if ndim == 1:
        return xp.sum(rows, axis=0)
    return rows if ndim > g.ndim else g


@op(method=True, promote="arithmetic", aliases=("ger",), node="MulBackward0")
def outer(xp: Backend, input: Array, vec2: Array) -> Array:
    """Products of each element of one vector and each element of another.

    Args:
        input: ``(n,)``; a tensor of any other shape is flattened, as in NumPy.
        vec2: ``(m,)``, or flattened.

    Returns:
        ``(n, m)``.

    Example:
        >>> tt.outer(tt.tensor([1, 2]), tt.tensor([3, 4]))
        tensor([[3, 4],
                [6, 8]])
    """
    return input.reshape(-1, 1) * vec2.reshape(-1)


outer.vjp(
    input=lambda xp, g, in_shape, vec2: xp.reshape(xp.matmul(g, xp.reshape(vec2, (-1,))), in_shape),
    vec2=lambda xp, g, in_shape, input: xp.reshape(
        xp.matmul(xp.reshape(input, (-1,)), g), in_shape
    ),
)
