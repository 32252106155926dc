"""Spectral normalization by a hook, the older way; see ``parametrizations.spectral_norm``."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.nn.normalization import normalize
from ...state import no_grad
from ...state.tracebacks import short
from ..module import Module
from ..parameter import is_lazy
from ._weight_hooks import check_none, replace_parts, taken_off
from .parametrizations import as_matrix, check_iterations, default_dim

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook that divides a weight by its largest singular value before each call.

    Args:
        name: The parameter.
        n_power_iterations: Iterations of the estimate in a call. Default: 1.
        dim: The dimension that becomes the rows of the matrix. Default: 0.
        eps: The least norm to divide by. Default: 1e-12.

    Raises:
        ValueError: If there are no iterations.

    Example:
        >>> from tinytorch import nn
        >>> from tinytorch.nn.utils.spectral_norm import SpectralNorm
        >>> layer = nn.utils.spectral_norm(nn.Linear(4, 2))
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
        """Replace the parameter by its original and the two vectors of the estimate.

        Example:
            >>> from tinytorch import nn
            >>> from tinytorch.nn.utils.spectral_norm import SpectralNorm
            >>> layer = nn.Linear(4, 2)
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
        """Weight as a matrix with ``dim`` first; ``compute_weight`` calls it.

        Args:
            weight: The weight.

        Example:
            >>> from tinytorch.nn.utils.spectral_norm import SpectralNorm
            >>> SpectralNorm(dim=1).reshape_weight_to_matrix(tt.zeros(2, 3, 4)).shape
            tinytorch.Size([3, 8])
        """
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight over its largest singular value, estimated anew if wanted.

        Example:
            >>> from tinytorch import nn
            >>> from tinytorch.nn.utils.spectral_norm import SpectralNorm
            >>> layer, hook = nn.Linear(4, 2), SpectralNorm(n_power_iterations=20)
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
                u, v = u.clone(), v.clone()  # the next call writes over them
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
        module: The module; ``<name>_orig`` takes the parameter's place.
        name: The parameter. Default: ``"weight"``.
        n_power_iterations: Iterations of the estimate in a call. Default: 1.
        eps: The least norm to divide by. Default: 1e-12.
        dim: The dimension that becomes the rows of the matrix. Default: 1 for transposed
            convolutions, else 0.

    Returns:
        The module.

    Raises:
        RuntimeError: If the parameter is normalised already.
        ValueError: If there are no iterations, or the parameter is None.

    Example:
        >>> from tinytorch import nn
        >>> list(nn.utils.spectral_norm(nn.Linear(4, 2)).state_dict())
        ['bias', 'weight_orig', 'weight_u', 'weight_v']

    Reference:
        Miyato et al.: Spectral Normalization for GANs, arXiv:1802.05957.
    """
    check_none(module, SpectralNorm, "spectral_norm", name)
    SpectralNorm(name, n_power_iterations, default_dim(module, dim), eps).attach(module)
    return module


@short
def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a normalised weight an ordinary parameter again.

    Args:
        module: The module.
        name: The parameter. Default: ``"weight"``.

    Returns:
        The module.

    Raises:
        ValueError: If the parameter is not normalised.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.spectral_norm(nn.Linear(4, 2))
        >>> list(nn.utils.remove_spectral_norm(layer).state_dict())
        ['bias', 'weight']
    """
    hook = taken_off(module, SpectralNorm, "spectral_norm", name)
    with no_grad():
        weight = hook.compute_weight(module, do_power_iteration=False)
    return replace_parts(module, name, ("u", "v", "orig"), weight)
