"""Transforms of vectors into points of the simplex, and of matrices into triangular factors."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..dtypes import finfo
from ..ops.create.factories import eye
from ..ops.create.ranges import arange
from ..ops.linalg.triangular import cholesky
from ..ops.nn.padding import pad
from ..ops.nn.rectifiers import logsigmoid, softplus
from . import constraints
from ._transform import _ParameterlessTransform, check_dims
from .utils import clipped_sigmoid, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform",
    "SoftmaxTransform", "StickBreakingTransform",
]  # fmt: skip


class SoftmaxTransform(_ParameterlessTransform):
    """``y = softmax(x)``, with the logarithm as a pseudo-inverse.

    The transform is not bijective, so its Jacobian has no determinant.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.SoftmaxTransform()(tt.zeros(4))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        exponentials = (x - x.max(-1, True)[0]).exp()
        return exponentials / exponentials.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Size:
        check_dims(shape, 1)
        return Size(shape)

    inverse_shape = forward_shape


class StickBreakingTransform(_ParameterlessTransform):
    """Map vectors of ``n - 1`` numbers to ``n`` shares whose sum is 1, by stick breaking.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.StickBreakingTransform()(tt.zeros(2))
        tensor([0.3333, 0.3333, 0.3333])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _offsets(self, x: Tensor) -> Tensor:
        """``log(n), ..., log(1)``: with these offsets, zeros become equal probabilities."""
        return arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x: Tensor) -> Tensor:
        z = clipped_sigmoid(x - self._offsets(x))
        left = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        left = (1 - shares.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return shares.log() - left.log() + self._offsets(shares)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offsets(x)
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Size:
        check_dims(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Size:
        check_dims(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(_ParameterlessTransform):
    """Map square matrices to lower triangular ones, with the exponential of the diagonal.

    The elements above the diagonal are lost, so the Jacobian has no determinant.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.LowerCholeskyTransform()(tt.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain: Any = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_ParameterlessTransform):
    """Map square matrices to positive definite ones, through lower triangular factors.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.PositiveDefiniteTransform()(tt.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain: Any = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        found: Tensor = LowerCholeskyTransform().inv(cholesky(y))
        return found


class CorrCholeskyTransform(_ParameterlessTransform):
    """Map vectors of ``n (n - 1) / 2`` numbers to Cholesky factors of correlation matrices.

    The hyperbolic tangents of the numbers are canonical partial correlations. They fill the part
    below the diagonal row by row. Each one is multiplied by the length that the elements before
    it leave in its row, so that every row has length 1.

    Example:
        >>> factor = tt.distributions.CorrCholeskyTransform()(tt.tensor([1.0]))
        >>> factor @ factor.mT
        tensor([[1.0000, 0.7616],
                [0.7616, 1.0000]])

    Reference:
        Stan Reference Manual, "Cholesky factors of correlation matrices"; D. Lewandowski,
        D. Kurowicka and H. Joe, "Generating random correlation matrices based on vines and
        extended onion method", Journal of Multivariate Analysis 100 (2009).
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        ones = eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        return (partial + ones) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad(1 - (y * y).cumsum(-1)[..., :-1], [1, 0], value=1)
        shares = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return shares.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        slopes = x + softplus(-2 * x) - math.log(2.0)  # -0.5 * log(1 - tanh(x)**2)
        return 0.5 * left.log().sum(-1) - 2 * slopes.sum(-1)

    def forward_shape(self, shape: Any) -> Size:
        check_dims(shape, 1)
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Size:
        check_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))
