"""``torch.__future__``: how ``Module.to`` and ``load_state_dict`` give parameters new contents."""

from __future__ import annotations

from ..nn.module.conversion import FUTURE

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]  # fmt: skip


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Say whether conversions of a module make new parameters instead of changing those it has.

    Args:
        value: Whether they do.

    Example:
        >>> import tinytorch as tt
        >>> tt.__future__.set_overwrite_module_params_on_conversion(False)
    """
    FUTURE["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions of a module make new parameters; False unless set.

    Example:
        >>> import tinytorch as tt
        >>> tt.__future__.get_overwrite_module_params_on_conversion()
        False
    """
    return FUTURE["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Say whether conversions and ``load_state_dict`` swap parameters with their new contents.

    Args:
        value: Whether they do; see ``utils.swap_tensors``.

    Example:
        >>> import tinytorch as tt
        >>> tt.__future__.set_swap_module_params_on_conversion(False)
    """
    FUTURE["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether parameters are swapped with their new contents; False unless set.

    Example:
        >>> import tinytorch as tt
        >>> tt.__future__.get_swap_module_params_on_conversion()
        False
    """
    return FUTURE["swap"]
