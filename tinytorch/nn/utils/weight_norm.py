"""Weight normalization by a hook, the older way; see ``parametrizations.weight_norm``."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...state.tracebacks import short
from ...warnings import warn
from ..module import Module
from ..parameter import Parameter, is_lazy
from ._weight_hooks import check_none, replace_parts, taken_off
from .parametrizations import norm_except

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes ``g * v / |v|`` before each call.

    Args:
        name: The parameter.
        dim: The dimension with a length for every index; None or -1 for one length in all.

    Example:
        >>> import warnings
        >>> from tinytorch import nn
        >>> from tinytorch.nn.utils.weight_norm import WeightNorm
        >>> with warnings.catch_warnings(action="ignore"):
        ...     layer = nn.utils.weight_norm(nn.Linear(4, 2))
        >>> any(isinstance(hook, WeightNorm) for hook in layer._forward_pre_hooks.values())
        True
    """

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight from the module's two parts of it.

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
    """Learn a weight's length and direction apart, computed before each call.

    Args:
        module: The module; ``<name>_g`` and ``<name>_v`` take the parameter's place.
        name: The parameter. Default: ``"weight"``.
        dim: The dimension with a length for every index; None for one length in all.
            Default: 0.

    Returns:
        The module.

    Raises:
        RuntimeError: If the parameter is normalised already.

    Warns:
        FutureWarning: That ``nn.utils.parametrizations.weight_norm`` is the way now.

    Example:
        >>> import warnings
        >>> from tinytorch import nn
        >>> with warnings.catch_warnings(action="ignore"):
        ...     list(nn.utils.weight_norm(nn.Linear(4, 2)).state_dict())
        ['bias', 'weight_g', 'weight_v']

    Reference:
        Salimans, Kingma: Weight Normalization, arXiv:1602.07868.
    """
    warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    check_none(module, WeightNorm, "weight_norm", name)
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
    """Make a normalised weight an ordinary parameter again.

    Args:
        module: The module.
        name: The parameter. Default: ``"weight"``.

    Returns:
        The module.

    Raises:
        ValueError: If the parameter is not normalised.

    Example:
        >>> import warnings
        >>> from tinytorch import nn
        >>> with warnings.catch_warnings(action="ignore"):
        ...     layer = nn.utils.weight_norm(nn.Linear(4, 2))
        >>> list(nn.utils.remove_weight_norm(layer).state_dict())
        ['bias', 'weight']
    """
    hook = taken_off(module, WeightNorm, "weight_norm", name)
    return replace_parts(module, name, ("g", "v"), hook.compute_weight(module))
