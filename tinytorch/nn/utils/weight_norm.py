"""Weight normalization by a hook, the deprecated API; see ``parametrizations.weight_norm``."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...state.tracebacks import short
from ...warnings import warn
from ..module import Module
from ..parameter import Parameter, is_lazy
from ._weight_hooks import check_no_hook, replace_parts, pop_hook
from .parametrizations import norm_except

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """Hook that computes ``g * v / |v|`` before each call.

    Args:
        name: Name of the parameter.
        dim: Dimension with a length for each index; None or -1 for one length of the whole weight.

    Example:
        >>> import warnings
        >>> from tinytorch.nn.utils.weight_norm import WeightNorm
        >>> with warnings.catch_warnings(action="ignore"):
        ...     layer = tt.nn.utils.weight_norm(tt.nn.Linear(4, 2))
        >>> any(isinstance(hook, WeightNorm) for hook in layer._forward_pre_hooks.values())
        True
    """

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """Return the weight, computed from ``<name>_g`` and ``<name>_v`` of the module.

        Example:
            >>> import warnings
            >>> from tinytorch.nn.utils.weight_norm import WeightNorm
            >>> with warnings.catch_warnings(action="ignore"):
            ...     layer = tt.nn.utils.weight_norm(tt.nn.Linear(4, 2))
            >>> tt.equal(WeightNorm("weight", 0).compute_weight(layer), layer.weight)
            True
        """
        g: Any = getattr(module, f"{self.name}_g")
        v: Any = getattr(module, f"{self.name}_v")
        return v * (g / norm_except(v, self.dim))  # type: ignore[no-any-return]

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


@short
def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn the length and the direction of a weight separately; computed before each call.

    Args:
        module: The module; ``<name>_g`` and ``<name>_v`` replace the parameter.
        name: Name of the parameter. Default: ``"weight"``.
        dim: Dimension with a length for each index; None for one length of the whole weight.
            Default: 0.

    Returns:
        The module.

    Raises:
        RuntimeError: If the parameter is normalized already.

    Warns:
        FutureWarning: Always; use ``nn.utils.parametrizations.weight_norm`` instead.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     list(tt.nn.utils.weight_norm(tt.nn.Linear(4, 2)).state_dict())
        ['bias', 'weight_g', 'weight_v']

    Reference:
        Salimans, Kingma: Weight Normalization, arXiv:1602.07868.
    """
    warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    check_no_hook(module, WeightNorm, "weight_norm", name)
    hook = WeightNorm(name, dim)
    weight: Tensor = getattr(module, name)
    if is_lazy(weight):
        raise ValueError(
            "weight_norm: The module passed to `WeightNorm` can't have uninitialized parameters. "
            "Call it once before"
        )
    delattr(module, name)
    g = Parameter(norm_except(weight.detach(), hook.dim))
    module.register_parameter(f"{name}_g", g)
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


@short
def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make a normalized weight an ordinary parameter again.

    Args:
        module: The module.
        name: Name of the parameter. Default: ``"weight"``.

    Returns:
        The module.

    Raises:
        ValueError: If the parameter is not normalized.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     layer = tt.nn.utils.weight_norm(tt.nn.Linear(4, 2))
        >>> list(tt.nn.utils.remove_weight_norm(layer).state_dict())
        ['bias', 'weight']
    """
    hook = pop_hook(module, WeightNorm, "weight_norm", name)
    return replace_parts(module, name, ("g", "v"), hook.compute_weight(module))
