"""Parametrizations: weight normalization, spectral normalization, orthogonal matrices."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dtypes import finfo
from ...ops.create.factories import eye
from ...ops.linalg.matrix_functions import matrix_exp
from ...ops.linalg.qr import geqrf, householder_product
from ...ops.linalg.solve import solve
from ...ops.nn.normalization import normalize
from ...ops.pointwise.comparison import allclose
from ...ops.random.sampling import randn
from ...ops.shape.joining import cat
from ...ops.shape.sizes import normalize_dim
from ...state import no_grad
from ...state.tracebacks import short
from ..conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_MAPS = ("matrix_exp", "cayley", "householder")


@short
def norm_except(weight: Tensor, dim: int | None) -> Tensor:
    """Return the 2-norm over all dimensions but ``dim``, with the others of size 1.

    If ``dim`` is None or -1, it is the norm of all elements, 0-d.
    """
    x: Any = weight
    if dim is None or dim == -1:
        return x.norm()  # type: ignore[no-any-return]
    dim = normalize_dim("weight_norm", dim, x.ndim)
    others = [d for d in range(x.ndim) if d != dim]
    return x.norm(2, others, True) if others else x.abs()  # type: ignore[no-any-return]


@short
def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """Return ``weight`` as a matrix with a row for each index of ``dim``."""
    x: Any = weight
    rows = x.movedim(dim, 0)
    return rows.reshape(rows.shape[0], -1)  # type: ignore[no-any-return]


@short
def check_iterations(n_power_iterations: int) -> None:
    """Raise ValueError if the number of iterations is not positive."""
    if n_power_iterations <= 0:
        raise ValueError(
            "Expected n_power_iterations to be positive, but got "
            f"n_power_iterations={n_power_iterations}"
        )


class _WeightNorm(Module):
    """Parametrization ``g * v / |v|``; see ``weight_norm``."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """Compute the weight from length and direction."""
        v: Any = weight_v
        return v * (weight_g / norm_except(v, self.dim))  # type: ignore[no-any-return]

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return length and direction of a weight."""
        return norm_except(weight, self.dim), weight


@short
def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn the length and the direction of a weight separately: ``w = g * v / |v|``.

    Args:
        module: The module; g is ``parametrizations.<name>.original0``, v is ``original1``.
        name: Name of the parameter. Default: ``"weight"``.
        dim: Dimension with a length for each index; None for one length of the whole weight.
            Default: 0.

    Returns:
        The module.

    Raises:
        ValueError: If the module has no parameter ``name``.

    Example:
        >>> layer = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(4, 2))
        >>> layer.parametrizations.weight.original0.shape
        tinytorch.Size([2, 1])

    Reference:
        Salimans, Kingma: Weight Normalization, arXiv:1602.07868.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(module: Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        """Rename the parts in a state dict that was saved with ``nn.utils.weight_norm``."""
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for place, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{place}"
                state_dict[new] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """Parametrization that divides by the largest singular value; see ``spectral_norm``."""

    _u: Any
    _v: Any

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        w: Any = weight
        if not -w.ndim <= dim < w.ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{w.ndim}, {w.ndim - 1}] but got {dim})"
            )
        check_iterations(n_power_iterations)
        self.dim, self.eps, self.n_power_iterations = dim % w.ndim, eps, n_power_iterations
        if w.ndim > 1:
            with no_grad():
                matrix: Any = self._reshape_weight_to_matrix(w)
                u, v = (matrix.new_empty(n).normal_(0, 1) for n in matrix.shape)
                self.register_buffer("_u", normalize(u, dim=0, eps=eps))
                self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Any:
        """Return a matrix with a row for each index of ``dim``; ``forward`` calls it."""
        return as_matrix(weight, self.dim)

    def _power_method(self, weight_mat: Any, n_power_iterations: int) -> None:
        """Improve the estimated singular vectors ``_u`` and ``_v``; ``forward`` calls it."""
        with no_grad():
            for _ in range(n_power_iterations):
                self._u = normalize(weight_mat.mv(self._v), dim=0, eps=self.eps, out=self._u)
                self._v = normalize(weight_mat.mH.mv(self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        """Divide the weight by its largest singular value; a vector by its norm."""
        w: Any = weight
        if w.ndim == 1:
            return normalize(w, dim=0, eps=self.eps)
        matrix: Any = self._reshape_weight_to_matrix(w)
        if self.training:
            self._power_method(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call overwrites them
        return w / u.vdot(matrix.mv(v))  # type: ignore[no-any-return]

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the assigned value itself, which ``forward`` normalizes."""
        return value


@short
def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value, which is estimated by power iteration.

    Each call in training mode improves the estimate.

    Args:
        module: The module.
        name: Name of the parameter. Default: ``"weight"``.
        n_power_iterations: Number of power iterations in each call. Default: 1.
        eps: Lower bound of norms that are divided by. Default: 1e-12.
        dim: The dimension that becomes the rows of the matrix. Default: 1 for transposed
            convolutions, else 0.

    Returns:
        The module.

    Raises:
        ValueError: If the module has no parameter ``name``, or ``n_power_iterations`` is not
            positive.

    Example:
        >>> layer = tt.nn.utils.parametrizations.spectral_norm(tt.nn.Linear(8, 4))
        >>> for _ in range(50):
        ...     _ = layer.weight
        >>> round(tt.linalg.matrix_norm(layer.weight, 2).item(), 2)
        1.0

    Reference:
        Miyato et al.: Spectral Normalization for GANs, arXiv:1802.05957.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    spectral = _SpectralNorm(weight, n_power_iterations, default_dim(module, dim), eps)
    return register_parametrization(module, name, spectral)


@short
def default_dim(module: Module, dim: int | None) -> int:
    """Return ``dim``; if it is None, the dimension of the outputs in the module's weight."""
    if dim is not None:
        return dim
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


class _Orthogonal(Module):
    """Parametrization of orthogonal matrices; see ``orthogonal``."""

    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        self.trivial = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """Map a matrix, or a batch of matrices, to orthogonal ones."""
        x: Any = X
        wide = x.shape[-2] < x.shape[-1]
        x = x.mT if wide else x
        q: Any = (
            _multiply_reflections(x) if self.orthogonal_map == "householder" else self._rotation(x)
        )
        if self.trivial and self.base is not None:
            q = self.base @ q
        return q.mT if wide else q  # type: ignore[no-any-return]

    def _rotation(self, x: Any) -> Any:
        """Return the matrix exponential, or the Cayley map, of ``x`` made skew-symmetric."""
        rows, columns = x.shape[-2:]
        lower = x.tril()
        if rows != columns:
            zeros = x.new_zeros(rows, rows - columns).expand(*x.shape[:-2], -1, -1)
            lower = cat([lower, zeros], -1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            return matrix_exp(skew)[..., :columns]
        identity: Any = eye(rows, dtype=skew.dtype, device=skew.device)
        return solve(identity - 0.5 * skew, identity + 0.5 * skew)[..., :columns]

    def right_inverse(self, Q: Tensor) -> Tensor:
        """Return a matrix that ``forward`` maps to ``Q``; trivializations set ``base`` for it."""
        q: Any = Q
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {q.shape}."
            )
        wide = q.shape[-2] < q.shape[-1]
        q = q.mT if wide else q
        if not self.trivial:
            original = self._reflections(q)
        else:
            original = self._set_base(q)
        return original.mT if wide else original  # type: ignore[no-any-return]

    def _reflections(self, q: Any) -> Any:
        """Return the Householder vectors and signs from which ``forward`` computes ``q``."""
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        factors, tau = geqrf(q)
        reflections: Any = factors
        diagonal: Any = reflections.diagonal(dim1=-2, dim2=-1)
        # tau = 0 means no reflection, but forward always reflects: the sign undoes that.
        diagonal.copy_(diagonal.sign() * (1 - 2 * (tau == 0).to(diagonal.dtype)))
        return reflections

    def _set_base(self, q: Any) -> Any:
        """Set ``base`` to ``q``, and return the original for which the map is the identity."""
        rows, columns = q.shape[-2:]
        if rows == columns:
            self.base = q.clone() if _is_orthogonal(q) else _orthogonalize(q)
        else:
            rest = randn(*q.shape[:-2], rows, rows - columns, dtype=q.dtype, device=q.device)
            self.base = _orthogonalize(cat([q, rest], -1))
        # A zero column means a reflection of the column's axis; the sign -1 undoes it.
        original = q.new_zeros(q.shape)
        original.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return original


def _multiply_reflections(x: Any) -> Any:
    """Return the product of the Householder reflections along the columns of the lower triangle.

    The signs of the diagonal of ``x`` multiply the columns of the product.
    """
    vectors = x.tril(-1)
    tau = 2.0 / (1.0 + (vectors * vectors).sum(-2))
    signs = x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
    return householder_product(vectors, tau) * signs


def _orthogonalize(x: Tensor) -> Tensor:
    """Return Q of the QR decomposition whose R has a positive diagonal."""
    reflections, tau = geqrf(x)
    q: Any = householder_product(reflections, tau)
    signs: Any = reflections.diagonal(dim1=-2, dim2=-1)
    return q * signs.sgn().unsqueeze(-2)  # type: ignore[no-any-return]


def _is_orthogonal(q: Any) -> bool:
    """Whether the columns are orthonormal, up to rounding errors."""
    rows, columns = q.shape[-2:]
    identity = eye(columns, dtype=q.dtype, device=q.device)
    tolerance = 10 * rows * finfo(q.dtype).eps
    return math.prod(q.shape) == 0 or bool(allclose(q.mH @ q, identity, atol=tolerance))


@short
def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a weight orthogonal: its rows, or its columns if there are fewer, are orthonormal.

    Args:
        module: The module.
        name: Name of the parameter, a matrix or a batch of matrices. Default: ``"weight"``.
        orthogonal_map: Map to orthogonal matrices: ``"matrix_exp"``, ``"cayley"`` or
            ``"householder"``. Default: ``"matrix_exp"`` for square or complex matrices, else
            ``"householder"``.
        use_trivialization: Whether the map starts from the current weight, and a weight can be
            assigned. Default: True.

    Returns:
        The module.

    Raises:
        ValueError: If the module has no parameter ``name``, if it is not a matrix or a batch of
            matrices, or if ``orthogonal_map`` is unknown.

    Example:
        >>> layer = tt.nn.utils.parametrizations.orthogonal(tt.nn.Linear(3, 2))
        >>> tt.allclose(layer.weight @ layer.weight.mT, tt.eye(2), atol=1e-5)
        True

    Reference:
        Lezcano-Casado: Trivializations for Gradient-Based Optimization on Manifolds,
        arXiv:1909.09501.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    orthogonal = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, orthogonal, unsafe=True)
