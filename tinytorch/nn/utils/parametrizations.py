"""Ready parametrizations: weights that are normalised, spectrally normalised or orthogonal."""

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
    """The 2-norm over all dimensions but ``dim``, which stays; over all of them for None or -1."""
    x: Any = weight
    if dim is None or dim == -1:
        return x.norm()  # type: ignore[no-any-return]
    kept = normalize_dim("weight_norm", dim, x.ndim)
    others = [d for d in range(x.ndim) if d != kept]
    return x.norm(2, others, True) if others else x.abs()  # type: ignore[no-any-return]


@short
def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """``weight`` with one row for each index of ``dim``."""
    x: Any = weight
    rows = x.movedim(dim, 0)
    return rows.reshape(rows.shape[0], -1)  # type: ignore[no-any-return]


@short
def check_iterations(n_power_iterations: int) -> None:
    """ValueError unless there is one at least."""
    if n_power_iterations <= 0:
        raise ValueError(
            "Expected n_power_iterations to be positive, but got "
            f"n_power_iterations={n_power_iterations}"
        )


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        v: Any = weight_v
        return v * (weight_g / norm_except(v, self.dim))  # type: ignore[no-any-return]

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


@short
def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn a weight's length and direction apart: ``w = g * v / |v|``.

    Args:
        module: The module; ``parametrizations.<name>.original0`` becomes g, ``original1`` v.
        name: The parameter. Default: ``"weight"``.
        dim: The dimension with a length for every index; None for one length in all.
            Default: 0.

    Returns:
        The module.

    Raises:
        ValueError: If the module has no such parameter.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 2))
        >>> layer.parametrizations.weight.original0.shape
        tinytorch.Size([2, 1])

    Reference:
        Salimans, Kingma: Weight Normalization, arXiv:1602.07868.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(module: Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        """Take the names that ``nn.utils.weight_norm`` gives the two parts."""
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for place, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{place}"
                state_dict[new] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
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
        """Matrix with one row for each index of ``dim``; ``forward`` calls it."""
        return as_matrix(weight, self.dim)

    def _power_method(self, weight_mat: Any, n_power_iterations: int) -> None:
        """Move ``_u`` and ``_v`` towards the first singular vectors; ``forward`` calls it."""
        with no_grad():
            for _ in range(n_power_iterations):
                self._u = normalize(weight_mat.mv(self._v), dim=0, eps=self.eps, out=self._u)
                self._v = normalize(weight_mat.mH.mv(self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        w: Any = weight
        if w.ndim == 1:
            return normalize(w, dim=0, eps=self.eps)
        matrix: Any = self._reshape_weight_to_matrix(w)
        if self.training:
            self._power_method(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call writes over them
        return w / u.vdot(matrix.mv(v))  # type: ignore[no-any-return]

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


@short
def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value, as it is estimated by power iteration.

    Each call in training mode makes the estimate better.

    Args:
        module: The module.
        name: The parameter. Default: ``"weight"``.
        n_power_iterations: Iterations in a call. Default: 1.
        eps: The least norm to divide by. Default: 1e-12.
        dim: The dimension that becomes the rows of the matrix. Default: 1 for transposed
            convolutions, else 0.

    Returns:
        The module.

    Raises:
        ValueError: If the module has no such parameter, or there are no iterations.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(8, 4))
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
    made = _SpectralNorm(weight, n_power_iterations, default_dim(module, dim), eps)
    return register_parametrization(module, name, made)


@short
def default_dim(module: Module, dim: int | None) -> int:
    """The dimension of the outputs in a module's weight, unless one is given."""
    if dim is not None:
        return dim
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


class _Orthogonal(Module):
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
        x: Any = X
        wide = x.shape[-2] < x.shape[-1]
        x = x.mT if wide else x
        q: Any = _reflected(x) if self.orthogonal_map == "householder" else self._rotation(x)
        if self.trivial and self.base is not None:
            q = self.base @ q
        return q.mT if wide else q  # type: ignore[no-any-return]

    def _rotation(self, x: Any) -> Any:
        """The exponential, or Cayley's map, of a skew-symmetric matrix."""
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
            original = self._start_from(q)
        return original.mT if wide else original  # type: ignore[no-any-return]

    def _reflections(self, q: Any) -> Any:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        factors, tau = geqrf(q)
        reflections: Any = factors
        diagonal: Any = reflections.diagonal(dim1=-2, dim2=-1)
        # A reflection along nothing leaves its column as it is; the sign says so.
        diagonal.copy_(diagonal.sign() * (1 - 2 * (tau == 0).to(diagonal.dtype)))
        return reflections

    def _start_from(self, q: Any) -> Any:
        """Make ``q`` the ``base``, and return the original from which the identity follows."""
        rows, columns = q.shape[-2:]
        if rows == columns:
            self.base = q.clone() if _is_orthogonal(q) else _made_orthogonal(q)
        else:
            rest = randn(*q.shape[:-2], rows, rows - columns, dtype=q.dtype, device=q.device)
            self.base = _made_orthogonal(cat([q, rest], -1))
        # A column of zeros reflects its own axis, which a sign of -1 on the diagonal undoes.
        original = q.new_zeros(q.shape)
        original.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return original


def _reflected(x: Any) -> Any:
    """The product of the reflections along the columns of ``x`` below its diagonal."""
    along = x.tril(-1)
    tau = 2.0 / (1.0 + (along * along).sum(-2))
    signs = x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
    return householder_product(along, tau) * signs


def _made_orthogonal(x: Tensor) -> Tensor:
    reflections, tau = geqrf(x)
    q: Any = householder_product(reflections, tau)
    signs: Any = reflections.diagonal(dim1=-2, dim2=-1)
    return q * signs.sgn().unsqueeze(-2)  # type: ignore[no-any-return]


def _is_orthogonal(q: Any) -> bool:
    rows, columns = q.shape[-2:]
    identity = eye(columns, dtype=q.dtype, device=q.device)
    close = 10 * rows * finfo(q.dtype).eps
    return math.prod(q.shape) == 0 or bool(allclose(q.mH @ q, identity, atol=close))


@short
def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a weight orthogonal: its rows, or its columns if they are fewer, orthonormal.

    Args:
        module: The module.
        name: A matrix among its parameters, or a batch of them. Default: ``"weight"``.
        orthogonal_map: How it is made, ``"matrix_exp"``, ``"cayley"`` or ``"householder"``.
            Default: the first for square matrices, else the last.
        use_trivialization: Whether the weight can be assigned, and starts from what it is.
            Default: True.

    Returns:
        The module.

    Raises:
        ValueError: If the module has no such parameter, or it is no matrix, or there is no such
            map.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 2))
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
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
