"""Products of several groups of rows, each with a matrix of its own: mixtures of experts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..shape.joining import cat, stack
from .matmul import matmul


@composite(namespaces=("nn.functional",))
def grouped_mm(
    mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None,
    out_dtype: dtypes.dtype | None = None,
) -> Tensor:  # fmt: skip
    """Matrix products of groups, whose sizes may differ in one dimension.

    Args:
        mat_a: ``(groups, m, k)``, or a matrix whose rows are in groups, ``(rows, k)``, or, with a
            matrix ``mat_b``, whose columns are.
        mat_b: ``(groups, k, n)``, or a matrix whose columns are in groups, ``(k, columns)``, or,
            with a matrix ``mat_a``, whose rows are.
        offs: Where each group ends, int32; for matrices alone.
        bias: None.
        out_dtype: That of ``mat_a``.

    Returns:
        ``(groups, m, n)``; with groups of rows or of columns a matrix, with zeros beyond the last
        group. Not so in PyTorch: float64 is taken, too.

    Raises:
        RuntimeError: For shapes that do not fit, a ``bias`` or another ``out_dtype``.

    Example:
        >>> import tinytorch as tt
        >>> experts = tt.stack([tt.eye(2), 2 * tt.eye(2)])
        >>> ends = tt.tensor([1, 3], dtype=tt.int32)
        >>> tt.nn.functional.grouped_mm(tt.ones(3, 2), experts, offs=ends)
        tensor([[1., 1.],
                [2., 2.],
                [2., 2.]])
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return matmul(mat_a, mat_b)
    cuts = [slice(*ends) for ends in pairwise([0, *offs.tolist()])]
    if mat_a.ndim == mat_b.ndim:
        return stack([matmul(mat_a[:, cut], mat_b[cut]) for cut in cuts])
    rows = mat_a.ndim == 2
    parts = [matmul(mat_a[cut], mat_b[at]) if rows else matmul(mat_a[at], mat_b[:, cut])
             for at, cut in enumerate(cuts)]  # fmt: skip
    left = (mat_a.shape[0] if rows else mat_b.shape[1]) - cuts[-1].stop
    shape = (left, mat_b.shape[-1]) if rows else (mat_a.shape[1], left)
    return cat([*parts, parts[0].new_zeros(shape)], 0 if rows else 1)


def _check(a: Tensor, b: Tensor, offs: Tensor | None, bias: Any, out_dtype: Any) -> None:
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
