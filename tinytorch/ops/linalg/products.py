"""Products of matrices and vectors: chains, cross products, groups, bilinear forms, ``addmm``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.inplace import call_inplace
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import OPS, Array, Backend, Out, Overlap, composite, op
from ...dispatch.out import scalar_name
from ...dispatch.promotion import convert_to_write
from ...warnings import warn
from ..checks import check_scalar_types, check_supported, compute_in_single, is_half
from ..pointwise.arithmetic import check_factor
from ..reduce.reduction import sum as sum_
from ..results import write_result
from ..shape.joining import cat, stack
from ..shape.sizes import expand, normalize_dim, unsqueeze
from .matmul import check_product, matmul, transpose_matrices


@composite(namespaces=("linalg",), node="ViewBackward0", out=Out.EXACT)
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Product of two or more matrices, in the order that takes the fewest multiplications.

    Args:
        tensors: Matrices; the first and the last may be vectors.

    Returns:
        The product: a matrix, a vector if one end is one, 0-d if both are.

    Raises:
        RuntimeError: For fewer than two tensors, or shapes or dtypes that do not fit.

    Example:
        >>> tt.linalg.multi_dot([tt.ones(2, 5), tt.ones(5, 1), tt.ones(1, 3)])
        tensor([[5., 5., 5.],
                [5., 5., 5.]])
    """
    chain = list(tensors)
    _check_chain(chain)
    first, last = (end._data.ndim == 1 for end in (chain[0], chain[-1]))
    if first:
        chain[0] = unsqueeze(chain[0], 0)
    if last:
        chain[-1] = unsqueeze(chain[-1], 1)
    product = _multiply_chain(chain, _best_cuts(chain), 0, len(chain) - 1)
    if first:
        product = product.squeeze(0)
    if last:
        product = product.squeeze(-1)
    return write_result(out, product, "linalg.multi_dot")  # type: ignore[no-any-return]


def _check_chain(chain: list[Tensor]) -> None:
    """Raise RuntimeError for tensors that ``multi_dot`` cannot multiply."""
    if len(chain) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(chain)}")
    shapes = [tensor._data.shape for tensor in chain]
    for i, tensor in enumerate(chain):
        is_end = i in (0, len(chain) - 1)
        if len(shapes[i]) != 2 and not (is_end and len(shapes[i]) == 1):
            which = f"the {'first' if i == 0 else 'last'} tensor" if is_end else f"tensor {i}"
            raise RuntimeError(
                f"multi_dot(): {which} must be {'1D or ' if is_end else ''}2D but got "
                f"{tensor.ndim}D"
            )
        if tensor.dtype is not chain[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{scalar_name(chain[0].dtype)} and tensor {i} {scalar_name(tensor.dtype)}"
            )
        if i and shapes[i - 1][-1] != shapes[i][0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(chain[i - 1].shape)} and "
                f"{list(tensor.shape)} cannot be multiplied"
            )


def _best_cuts(chain: list[Tensor]) -> dict[tuple[int, int], int]:
    """The k of each (i, j) such that matrices i..j are cheapest as (i..k) @ (k + 1..j).

    It is found by dynamic programming.

    Reference:
        Cormen et al., Introduction to Algorithms, "Matrix-chain multiplication".
    """
    if len(chain) == 2:
        return {(0, 1): 0}
    sizes = [chain[0].shape[0], *(t.shape[1] for t in chain)]
    cost: dict[tuple[int, int], int] = {(i, i): 0 for i in range(len(chain))}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, len(chain)):
        for i in range(len(chain) - length):
            j = i + length
            cost[i, j], cuts[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )
    if len(chain) == 3 and cost[0, 2] == cost[0, 1] + sizes[0] * sizes[2] * sizes[3]:
        cuts[0, 2] = 1  # for equal costs, PyTorch multiplies the first two first
    return cuts


def _multiply_chain(
    chain: list[Tensor], cuts: dict[tuple[int, int], int], i: int, j: int
) -> Tensor:
    """The product of the matrices i to j of a chain, grouped by ``cuts``."""
    if i == j:
        return chain[i]
    k = cuts[i, j]
    return matmul(_multiply_chain(chain, cuts, i, k), _multiply_chain(chain, cuts, k + 1, j))


@composite(node="ViewBackward0", out=Out.EXACT)
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Product of matrices; deprecated, as it is in PyTorch: see ``linalg.multi_dot``.

    Args:
        *matrices: One or more matrices, one by one or as one sequence. The first and the last of
            several may be vectors.

    Raises:
        RuntimeError: For no matrices, or sizes or dtypes that do not fit.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.chain_matmul(tt.ones(1, 2), tt.ones(2, 3), tt.ones(3, 1))
        tensor([[6.]])
    """
    warn(
        "tinytorch.chain_matmul is deprecated. Use tinytorch.linalg.multi_dot instead, which "
        "accepts a list of two or more tensors rather than multiple parameters."
    )
    chain = matrices[0] if len(matrices) == 1 and not isinstance(matrices[0], Tensor) else matrices
    if not chain:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    if len(chain) == 1:
        return write_result(out, chain[0].clone(), "chain_matmul")  # type: ignore[no-any-return]
    return multi_dot(chain, out=out)


@composite(namespaces=("linalg",), node="SumBackward1", out=Out.EXACT, overlap=Overlap.DISJOINT)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Dot products of the vectors along a dimension, those of ``x`` conjugated.

    Args:
        x: Floating-point or complex tensor.
        y: Tensor that broadcasts with ``x``.
        dim: The dimension; default the last.

    Returns:
        Tensor without dimension ``dim``.

    Raises:
        RuntimeError: If shapes do not broadcast, or dtypes differ or are not floating-point.

    Example:
        >>> tt.linalg.vecdot(tt.ones(2, 3), tt.tensor([1.0, 2.0, 3.0]))
        tensor([6., 6.])
    """
    kind = x._data.dtype.kind
    if kind not in "fcV":  # NumPy has no kind of its own for reduced precision
        raise RuntimeError(
            "linalg.vecdot: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(x.dtype)}"
        )
    if x.dtype is not y.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{scalar_name(x.dtype)} and y of type {scalar_name(y.dtype)} instead"
        )
    return sum_((x.conj() if kind == "c" else x) * y, dim)


@op(namespaces=("linalg",), out=Out.EXACT, overlap=Overlap.DISJOINT)
def cross(xp: Backend, input: Array, other: Array, *, dim: int = -1) -> Array:
    """Cross product of the vectors of three elements along a dimension.

    Args:
        input: Tensor of size 3 along ``dim``.
        other: Tensor with as many dimensions, which broadcasts with ``input``.
        dim: The dimension; default the last.

    Raises:
        RuntimeError: If the size along ``dim`` is not 3, or numbers of dimensions or dtypes differ.

    Example:
        >>> tt.linalg.cross(tt.tensor([1.0, 0.0, 0.0]), tt.tensor([0.0, 1.0, 0.0]))
        tensor([0., 0., 1.])
    """
    if input.ndim != other.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions, got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    at = normalize_dim("linalg.cross", dim, input.ndim)
    if not input.ndim or input.shape[at] != 3 or other.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got "
            f"{input.shape[at] if input.ndim else 0} and {other.shape[at] if other.ndim else 0}"
        )
    check_supported(xp, "cross", input, unsupported="b")
    check_scalar_types(xp, "linalg.cross", input, other)
    a0, a1, a2 = _components(input, at)
    b0, b1, b2 = _components(other, at)
    first = a1 * b2 - a2 * b1
    out = xp.empty((*first.shape[:at], 3, *first.shape[at:]), first.dtype)
    for part, product in zip(
        _components(out, at), (first, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), strict=True
    ):
        part[...] = product
    return out


def _components(x: Any, at: int) -> list[Any]:
    """The three components of ``x`` along the dimension ``at``, views even of a vector."""
    return [x[(slice(None),) * at + (i, ...)] for i in range(3)]


# The factors of a triple product can be rotated: (a x b) . g = a . (b x g) = b . (g x a).
cross.vjp(
    input=lambda xp, g, other, dim: xp.call(cross, other, g, dim=dim),
    other=lambda xp, g, input, dim: xp.call(cross, g, input, dim=dim),
)


@composite(namespaces=("linalg",))
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Vandermonde matrices of the elements of ``x``: column ``k`` holds ``x ** k``.

    Args:
        x: ``(..., n)``.
        N: Number of columns; default n.

    Returns:
        ``(..., n, N)``; int64 for integers.

    Raises:
        RuntimeError: For bools, or if ``N`` is less than 2.

    Example:
        >>> tt.linalg.vander(tt.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [1, 2, 4],
                [1, 3, 9]])
    """
    if x._data.dtype.kind == "b":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    x = x if x.ndim else x.reshape(1)
    if N is None:
        N = x.shape[-1]
    elif N <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {N}.")
    return powers(x, N)


def powers(x: Tensor, count: int) -> Tensor:
    """``x ** 0, x ** 1, ...`` along a new last dimension of size ``count``, at least 1."""
    column = unsqueeze(x, -1)
    ones = OPS["ones_like"].function(column)
    return cat((ones, column.expand(*x._data.shape, count - 1).cumprod(-1)), -1)


@composite(namespaces=("nn.functional",))
def grouped_mm(
    mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None,
    out_dtype: dtypes.dtype | None = None,
) -> Tensor:  # fmt: skip
    """One matrix product per group, where groups may differ in one size: a mixture of experts.

    Unlike PyTorch's, it accepts float64.

    Args:
        mat_a: ``(groups, m, k)``, or a matrix ``(rows, k)`` whose rows are in groups; if
            ``mat_b`` is a matrix, too, its columns are in groups.
        mat_b: ``(groups, k, n)``, or a matrix ``(k, columns)`` whose columns are in groups; if
            ``mat_a`` is a matrix, too, its rows are in groups.
        offs: The end of each group, int32; only if there is a matrix.
        bias: Must be None.
        out_dtype: None or the dtype of ``mat_a``.

    Returns:
        ``(groups, m, n)``; if one operand is a matrix, a matrix, with zeros beyond the last group.

    Raises:
        RuntimeError: For shapes that do not fit, a ``bias`` or another ``out_dtype``.

    Example:
        >>> experts = tt.stack([tt.eye(2), 2 * tt.eye(2)])
        >>> ends = tt.tensor([1, 3], dtype=tt.int32)
        >>> tt.nn.functional.grouped_mm(tt.ones(3, 2), experts, offs=ends)
        tensor([[1., 1.],
                [2., 2.],
                [2., 2.]])
    """
    _check_grouped_mm(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return matmul(mat_a, mat_b)
    groups = [slice(*ends) for ends in pairwise([0, *offs.tolist()])]
    if mat_a.ndim == mat_b.ndim:
        return stack([matmul(mat_a[:, group], mat_b[group]) for group in groups])
    rows = mat_a.ndim == 2
    products = [matmul(mat_a[group], mat_b[i]) if rows else matmul(mat_a[i], mat_b[:, group])
                for i, group in enumerate(groups)]  # fmt: skip
    rest = (mat_a.shape[0] if rows else mat_b.shape[1]) - groups[-1].stop
    shape = (rest, mat_b.shape[-1]) if rows else (mat_a.shape[1], rest)
    return cat([*products, products[0].new_zeros(shape)], 0 if rows else 1)


def _check_grouped_mm(a: Tensor, b: Tensor, offs: Tensor | None, bias: Any, out_dtype: Any) -> None:
    """Raise RuntimeError for arguments of ``grouped_mm`` that do not fit."""
    same = a.shape[-1] == b.shape[-2] if a.ndim > 1 and b.ndim > 1 else True
    for wrong, text in (
        (a.ndim not in (2, 3), "mat_a has to be 2 or 3d"),
        (b.ndim not in (2, 3), "mat_b has to be 2 or 3d"),
        (not same, "contraction dimension of mat_a and mat_b must match"),
        ((a.ndim == b.ndim == 3) is not (offs is None),
         "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"),
        (offs is not None and offs.dtype != dtypes.int32, "Offsets have to be int32"),
        (a.dtype != b.dtype, "Expected mat_a and mat_b to have the same dtype"),
        (a.ndim == b.ndim == 3 and len(a) != len(b), "batched dimension has to match"),
        (bias is not None, "Bias not supported yet"),
        (out_dtype not in (None, a.dtype),
         "Grouped gemm output dtype must match `mat_a` dtype"),
    ):  # fmt: skip
        if wrong:
            raise RuntimeError(f"grouped_mm: {text}")
    groups = next((len(each) for each in (a, b) if each.ndim == 3), None)
    if offs is not None and groups is not None and groups != offs.numel():
        raise RuntimeError("grouped_mm: matrix batch sizes have to match")


@composite(namespaces=("nn.functional", ""), node="ViewBackward0")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1ᵀ weight[o] input2 + bias[o]`` for each output o.

    Args:
        input1: ``(*, in1_features)``.
        input2: ``(*, in2_features)``, with the same leading dimensions.
        weight: ``(out_features, in1_features, in2_features)``.
        bias: ``(out_features,)``; default none.

    Returns:
        ``(*, out_features)``.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.bilinear(tt.tensor([1.0, 2.0]), tt.tensor([3.0]), tt.ones(1, 2, 1))
        tensor([9.])
    """
    _check_bilinear_inputs(input1, input2, weight, bias)
    outputs, first, second = weight.shape
    a: Any = input1
    w: Any = weight
    rows = a @ w.permute(1, 0, 2).reshape((first, outputs * second))
    rows = rows.reshape((*input1.shape[:-1], outputs, second))
    out = (rows @ input2.unsqueeze(-1)).squeeze(-1)
    # The gradient of each factor needs the two others, which must not change until backward.
    factors = input1, input2, weight
    saved = (f for f in factors if any(other.requires_grad for other in factors if other is not f))
    out = keep_versions(out, *saved)
    return out if bias is None else out + bias


def _check_bilinear_inputs(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None
) -> None:
    """Raise RuntimeError for arguments of ``bilinear`` that do not fit."""
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    for dim, (n, m) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if n != m:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {n} and {m}"
            )
    for given in (input2, weight, bias):
        if given is not None and given.dtype != input1.dtype:
            raise RuntimeError(
                "bilinear(): All tensors must have the same dtype, got "
                f"{scalar_name(input1.dtype)} and {scalar_name(given.dtype)}"
            )
    if weight.ndim != 3:
        raise RuntimeError(f"bilinear(): weight must be 3-D, got {list(weight.shape)}")
    for argument, given, wanted in (
        ("input1", input1, weight.shape[1]), ("input2", input2, weight.shape[2]),
    ):  # fmt: skip
        if given.shape[-1] != wanted:
            raise RuntimeError(
                f"bilinear(): {argument} size does not match weight size: got {given.shape[-1]} "
                f"but expected {wanted}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected "
            f"{weight.shape[0]}"
        )


def _add_product(xp: Backend, input: Array, product: Array, beta: Any, alpha: Any) -> Array:
    """``beta * input + alpha * product``, which may be written to ``product``.

    As in PyTorch, the factors are converted to the dtype: those of integers lose their fractions,
    and those of bools become bools, whose addition is "or".
    """
    dtype = xp.dtype_of(product)
    beta, alpha = (convert_to_write(factor, dtype) for factor in (beta, alpha))
    if input.shape != product.shape:
        input = xp.call(expand, input, product.shape)
    if alpha != 1:
        product = product * alpha
    if beta == 0:  # then NaN in input is ignored
        return product
    return xp.add(product, input if beta == 1 else input * beta, out=product)


_TWO_DTYPES = "{}: self and mat2 must have the same dtype, but got {{}} and {{}}"


def _check_same_dtypes(xp: Backend, text: str, *arrays: Array) -> None:
    """Raise RuntimeError unless the arrays have one dtype.

    ``text`` is the error's message with a field for the dtype of each array.
    """
    first, *others = arrays
    for other in others:
        if other.dtype != first.dtype:
            raise RuntimeError(text.format(*(scalar_name(xp.dtype_of(x)) for x in arrays)))


def _scale(g: Any, factor: Any) -> Any:
    """``g * factor``, without a multiplication by 1."""
    return g if factor == 1 else g * factor


def _input_gradient(xp: Any, g: Any, beta: Any) -> Any:
    """Gradient of ``input`` in ``addmm`` and related functions: ``beta * g``."""
    return xp.zeros_like(g) if beta == 0 else _scale(g, beta)


@op(
    method=True,
    inplace=True,
    strict=True,
    overlap=Overlap.ALLOWED,
    out=Out.EXACT,
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
        >>> tt.addmm(tt.ones(1), tt.eye(2), tt.eye(2))
        tensor([[2., 1.],
                [1., 2.]])
    """
    for at, array in (("mat1", mat1), ("mat2", mat2)):
        if array.ndim != 2:
            raise RuntimeError(f"addmm: {at} must be a matrix, got {array.ndim}-D tensor")
    check_product("addmm", mat1, mat2)
    _check_same_dtypes(xp, _TWO_DTYPES.format("addmm"), input, mat2)
    if is_half(mat1):
        return compute_in_single(xp, addmm.kernel, input, mat1, mat2, beta=beta, alpha=alpha)
    return _add_product(xp, input, xp.matmul(mat1, mat2), beta, alpha)


def _mat1_gradient(xp: Any, g: Any, mat2: Any, alpha: Any) -> Any:
    """Gradient of ``mat1`` in ``addmm``."""
    return _scale(xp.matmul(g, transpose_matrices(xp, mat2)), alpha)


def _mat2_gradient(xp: Any, g: Any, mat1: Any, alpha: Any) -> Any:
    """Gradient of ``mat2`` in ``addmm``."""
    return _scale(xp.matmul(transpose_matrices(xp, mat1), g), alpha)


addmm.vjp(input=_input_gradient, mat1=_mat1_gradient, mat2=_mat2_gradient)


@op(
    method=True,
    inplace=True,
    strict=True,
    overlap=Overlap.ALLOWED,
    out=Out.EXACT,
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
        >>> tt.addmv(tt.ones(2), tt.eye(2), tt.tensor([1.0, 2.0]))
        tensor([2., 3.])
    """
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError(
            f"addmv: vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim}"
        )
    _check_same_dtypes(
        xp, "addmv input tensors must have the same dtype, but got {}, {}, and {}", input, mat, vec
    )
    check_product("addmv", mat, vec)
    return _add_product(xp, input, xp.matmul(mat, vec), beta, alpha)


addmv.vjp(
    input=_input_gradient,
    mat=lambda xp, g, vec, alpha: _scale(g, alpha)[:, None] * vec,
    vec=lambda xp, g, mat, alpha: _scale(xp.matmul(transpose_matrices(xp, mat), g), alpha),
)


@op(
    method=True,
    inplace=True,
    promote="alike",
    strict=True,
    former_order=("beta", "alpha"),
    like=addmm,
)
def addr(
    xp: Backend, input: Array, vec1: Array, vec2: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """``beta * input + alpha * outer(vec1, vec2)``; of bools, with "or" and "and".

    Args:
        vec1: ``(n,)``.
        vec2: ``(m,)``.

    Returns:
        ``(n, m)``.

    Raises:
        RuntimeError: If shapes do not fit, the dtype does not hold a factor, or a factor is a bool
            or, for integers, a float.

    Example:
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
    return _add_product(xp, input, product, beta, alpha)


addr.vjp(
    input=_input_gradient,
    vec1=lambda xp, g, vec2, alpha: _scale(xp.matmul(g, vec2), alpha),
    vec2=lambda xp, g, vec1, alpha: _scale(xp.matmul(vec1, g), alpha),
)


def _check_batches(name: str, batch1: Array, batch2: Array) -> None:
    """Raise an error unless ``batch1 @ batch2`` is a product of 3-d arrays."""
    for argument, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name}: {argument} must be a 3D tensor, got {array.ndim}D")
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
    overlap=Overlap.ALLOWED,
    out=Out.EXACT,
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
        >>> tt.baddbmm(tt.ones(1), tt.ones(2, 1, 3), tt.ones(2, 3, 1)).flatten()
        tensor([4., 4.])
    """
    _check_same_dtypes(
        xp, "baddbmm: Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}",
        input, batch1, batch2,
    )  # fmt: skip
    _check_batches("baddbmm", batch1, batch2)
    if is_half(batch1):
        return compute_in_single(xp, baddbmm.kernel, input, batch1, batch2, beta=beta, alpha=alpha)
    return _add_product(xp, input, xp.matmul(batch1, batch2), beta, alpha)


baddbmm.vjp(
    input=_input_gradient,
    batch1=lambda xp, g, batch2, alpha: _scale(xp.matmul(g, transpose_matrices(xp, batch2)), alpha),
    batch2=lambda xp, g, batch1, alpha: _scale(xp.matmul(transpose_matrices(xp, batch1), g), alpha),
)


@op(
    method=True,
    strict=True,
    overlap=Overlap.FIRST,
    out=Out.EXACT,
    former_order=("beta", "alpha"),
    like=baddbmm,
)
def addbmm(
    xp: Backend, input: Array, batch1: Array, batch2: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """``beta * input + alpha * sum(batch1 @ batch2)``, summed over a batch.

    Args:
        input: Tensor that broadcasts to ``(n, m)``.
        alpha: Factor of the sum; default 1.

    Returns:
        ``(n, m)``.

    Example:
        >>> tt.addbmm(tt.zeros(1), tt.ones(2, 1, 3), tt.ones(2, 3, 2))
        tensor([[6., 6.]])
    """
    _check_batches("addbmm", batch1, batch2)
    _check_same_dtypes(xp, _TWO_DTYPES.format("addbmm"), input, batch2)
    if is_half(batch1):
        return compute_in_single(xp, addbmm.kernel, input, batch1, batch2, beta=beta, alpha=alpha)
    # Compute one product whose inner dimension is that of all matrices together.
    rows, columns = batch1.shape[1], batch2.shape[2]
    left = xp.reshape(xp.swapaxes(batch1, 0, 1), (rows, batch1.shape[0] * batch1.shape[2]))
    right = xp.reshape(batch2, (batch2.shape[0] * batch2.shape[1], columns))
    return _add_product(xp, input, xp.matmul(left, right), beta, alpha)


addbmm.vjp(
    input=_input_gradient,
    batch1=lambda xp, g, batch2, alpha: _scale(xp.matmul(g, transpose_matrices(xp, batch2)), alpha),
    batch2=lambda xp, g, batch1, alpha: _scale(xp.matmul(transpose_matrices(xp, batch1), g), alpha),
)


@composite(method=True, like=addbmm)
def addbmm_(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """In-place form of ``addbmm``; as in PyTorch, an input that would broadcast is resized.

    Args:
        beta: Factor of ``input``; default 1.

    Returns:
        ``input``, of shape ``(n, m)``.

    Raises:
        RuntimeError: As for ``addbmm``, and if an input that requires grad would be resized.

    Example:
        >>> tt.zeros(1, 2).addbmm_(tt.ones(2, 1, 3), tt.ones(2, 3, 2))
        tensor([[6., 6.]])
    """
    shape = (*batch1.shape[1:2], *batch2.shape[2:])
    if tuple(input.shape) != shape:
        result = addbmm(input, batch1, batch2, beta=beta, alpha=alpha)
        return input.resize_(result.shape).copy_(result)
    options = {"beta": beta, "alpha": alpha}
    return call_inplace(addbmm.op, (input, batch1, batch2), options)
