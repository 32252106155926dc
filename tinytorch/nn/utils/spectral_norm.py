"""Spectral normalization by a hook, the deprecated API; see ``parametrizations.spectral_norm``."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.nn.normalization import normalize
from ...state import no_grad
from ...state.tracebacks import short
from ..module import Module
from ..parameter import is_lazy
from ._weight_hooks import check_no_hook, replace_parts, pop_hook
from .parametrizations import as_matrix, check_iterations, default_dim

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """Hook that divides a weight by its largest singular value before each call.

    Args:
        name: Name of the parameter.
        n_power_iterations: Number of power iterations in each call. Default: 1.
        dim: The dimension that becomes the rows of the matrix. Default: 0.
        eps: Lower bound of norms that are divided by. Default: 1e-12.

    Raises:
        ValueError: If ``n_power_iterations`` is not positive.

    Example:
        >>> from tinytorch.nn.utils.spectral_norm import SpectralNorm
        >>> layer = tt.nn.utils.spectral_norm(tt.nn.Linear(4, 2))
        >>> any(isinstance(hook, SpectralNorm) for hook in layer._forward_pre_hooks.values())
        True
    """

    name: str
    dim: int
    eps: float

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        check_iterations(n_power_iterations)
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def attach(self, module: Module) -> None:
        """Replace the parameter by ``<name>_orig`` and two singular vectors; register this hook.

        Example:
            >>> from tinytorch.nn.utils.spectral_norm import SpectralNorm
            >>> layer = tt.nn.Linear(4, 2)
            >>> SpectralNorm().attach(layer)
            >>> list(layer.state_dict())
            ['bias', 'weight_orig', 'weight_u', 'weight_v']
        """
        weight: Any = module._parameters[self.name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{self.name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "spectral_norm: The module passed to `SpectralNorm` can't have uninitialized "
                "parameters. Call it once before"
            )
        with no_grad():
            matrix: Any = self.reshape_weight_to_matrix(weight)
            u, v = (
                normalize(matrix.new_empty(n).normal_(0, 1), dim=0, eps=self.eps)
                for n in matrix.shape
            )
        delattr(module, self.name)
        module.register_parameter(f"{self.name}_orig", weight)
        setattr(module, self.name, weight.data)
        module.register_buffer(f"{self.name}_u", u)
        module.register_buffer(f"{self.name}_v", v)
        module.register_forward_pre_hook(self)

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """Return the weight as a matrix with a row for each index of ``dim``.

        Args:
            weight: The weight.

        Example:
            >>> from tinytorch.nn.utils.spectral_norm import SpectralNorm
            >>> SpectralNorm(dim=1).reshape_weight_to_matrix(tt.zeros(2, 3, 4)).shape
            tinytorch.Size([3, 8])
        """
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """Return the weight divided by its largest singular value.

        Args:
            module: The module.
            do_power_iteration: Whether to improve the estimate of the singular value first.

        Example:
            >>> from tinytorch.nn.utils.spectral_norm import SpectralNorm
            >>> layer, hook = tt.nn.Linear(4, 2), SpectralNorm(n_power_iterations=20)
            >>> hook.attach(layer)
            >>> hook.compute_weight(layer, do_power_iteration=True).shape
            tinytorch.Size([2, 4])
        """
        weight: Any = getattr(module, f"{self.name}_orig")
        u: Any = getattr(module, f"{self.name}_u")
        v: Any = getattr(module, f"{self.name}_v")
        matrix: Any = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    normalize(matrix.mT.mv(u), dim=0, eps=self.eps, out=v)
                    normalize(matrix.mv(v), dim=0, eps=self.eps, out=u)
                u, v = u.clone(), v.clone()  # the next call overwrites them
        return weight / u.dot(matrix.mv(v))  # type: ignore[no-any-return]

    def __call__(self, module: Module, inputs: Any) -> None:
        weight = self.compute_weight(module, do_power_iteration=module.training)
        setattr(module, self.name, weight)


@short
def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value before each call.

    Args:
        module: The module; ``<name>_orig`` replaces the parameter.
        name: Name of the parameter. Default: ``"weight"``.
        n_power_iterations: Number of power iterations in each call. Default: 1.
        eps: Lower bound of norms that are divided by. Default: 1e-12.
        dim: The dimension that becomes the rows of the matrix. Default: 1 for transposed
            convolutions, else 0.

    Returns:
        The module.

    Raises:
        RuntimeError: If the parameter is normalized already.
        ValueError: If ``n_power_iterations`` is not positive, or the parameter is None.

    Example:
        >>> list(tt.nn.utils.spectral_norm(tt.nn.Linear(4, 2)).state_dict())
        ['bias', 'weight_orig', 'weight_u', 'weight_v']

    Reference:
        Miyato et al.: Spectral Normalization for GANs, arXiv:1802.05957.
    """
    check_no_hook(module, SpectralNorm, "spectral_norm", name)
    SpectralNorm(name, n_power_iterations, default_dim(module, dim), eps).attach(module)
    return module


@short
def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a normalized weight an ordinary parameter again.

    Args:
        module: The module.
        name: Name of the parameter. Default: ``"weight"``.

    Returns:
        The module.

    Raises:
        ValueError: If the parameter is not normalized.

    Example:
        >>> layer = tt.nn.utils.spectral_norm(tt.nn.Linear(4, 2))
        >>> list(tt.nn.utils.remove_spectral_norm(layer).state_dict())
        ['bias', 'weight']
    """
    hook = pop_hook(module, SpectralNorm, "spectral_norm", name)
    with no_grad():
        weight = hook.compute_weight(module, do_power_iteration=False)
    return replace_parts(module, name, ("u", "v", "orig"), weight)
