"""Pruning: parameters multiplied by masks of zeros and ones.

A pruned parameter ``weight`` becomes ``weight_orig``, with the buffer ``weight_mask`` beside it,
and ``weight`` is their product, computed before each call of the module.

Example:
    >>> from tinytorch import nn
    >>> from tinytorch.nn.utils import prune
    >>> layer = prune.l1_unstructured(nn.Linear(4, 2), "weight", amount=0.5)
    >>> int((layer.weight == 0).sum()), list(layer.state_dict())
    (4, ['bias', 'weight_orig', 'weight_mask'])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.factories import ones_like
from ...ops.shape.joining import cat
from ...state.tracebacks import short
from ..module import Module
from ._pruning_methods import BasePruningMethod as BasePruningMethod
from ._pruning_methods import CustomFromMask as CustomFromMask
from ._pruning_methods import Identity as Identity
from ._pruning_methods import L1Unstructured as L1Unstructured
from ._pruning_methods import LnStructured as LnStructured
from ._pruning_methods import PruningContainer as PruningContainer
from ._pruning_methods import RandomStructured as RandomStructured
from ._pruning_methods import RandomUnstructured as RandomUnstructured
from ._pruning_methods import hook_of

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


@short
def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask of ones.

    Args:
        module: The module; it is returned.
        name: The parameter.

    Example:
        >>> from tinytorch import nn
        >>> nn.utils.prune.is_pruned(nn.utils.prune.identity(nn.Linear(2, 1), "weight"))
        True
    """
    Identity.apply(module, name)
    return module


@short
def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements of a parameter at random.

    Args:
        module: The module; it is returned.
        name: The parameter.
        amount: How many, an int, or which part of those that are left, a float.

    Raises:
        TypeError: If ``amount`` is no number.
        ValueError: If it is negative or too large.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.prune.random_unstructured(nn.Linear(4, 2), "weight", amount=3)
        >>> int(layer.weight_mask.sum())
        5
    """
    RandomUnstructured.apply(module, name, amount)
    return module


@short
def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements of a parameter that are nearest to 0.

    Args:
        module: The module; it is returned.
        name: The parameter.
        amount: How many, an int, or which part of those that are left, a float.
        importance_scores: Numbers to go by instead of the parameter's. Default: none.

    Raises:
        TypeError: If ``amount`` is no number.
        ValueError: If it is negative or too large.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(4, 2), "weight", amount=0.25)
        >>> int(layer.weight_mask.sum())
        6
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


@short
def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune channels of a parameter at random.

    Args:
        module: The module; it is returned.
        name: The parameter, of at least 2 dimensions.
        amount: How many, an int, or which part of those that are left, a float.
        dim: Along which dimension.

    Raises:
        TypeError: If ``amount`` is no number.
        ValueError: If it is negative or too large, or the parameter has too few dimensions.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.prune.random_structured(nn.Linear(4, 2), "weight", 1, dim=0)
        >>> int(layer.weight_mask.sum())
        4
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


@short
def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: float,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune the channels of a parameter that have the smallest norms.

    Args:
        module: The module; it is returned.
        name: The parameter, of at least 2 dimensions.
        amount: How many, an int, or which part of those that are left, a float.
        n: Which norm.
        dim: Along which dimension.
        importance_scores: Numbers to go by instead of the parameter's. Default: none.

    Raises:
        TypeError: If ``amount`` is no number.
        ValueError: If it is negative or too large, or the parameter has too few dimensions.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.prune.ln_structured(nn.Linear(4, 2), "weight", 0.5, n=2, dim=0)
        >>> int(layer.weight_mask.sum())
        4
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


@short
def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter by a given mask.

    Args:
        module: The module; it is returned.
        name: The parameter.
        mask: Zeros and ones, of the parameter's shape.

    Example:
        >>> from tinytorch.nn.utils import prune
        >>> layer = prune.custom_from_mask(tt.nn.Linear(1, 2), "bias", tt.tensor([0, 1]))
        >>> (layer.bias == 0).tolist()
        [True, False]
    """
    CustomFromMask.apply(module, name, mask)
    return module


@short
def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune elements of several parameters, as if they were one.

    Args:
        parameters: Pairs of a module and a name.
        pruning_method: Such as ``L1Unstructured``.
        importance_scores: Numbers to go by, for some of the pairs. Default: none.
        **kwargs: The method's arguments.

    Raises:
        TypeError: If ``parameters`` cannot be iterated over, the scores are no dictionary, or the
            method prunes no single elements.

    Example:
        >>> from tinytorch import nn
        >>> from tinytorch.nn.utils import prune
        >>> a, b = nn.Linear(4, 2), nn.Linear(2, 1)
        >>> weights = [(a, "weight"), (b, "weight")]
        >>> prune.global_unstructured(weights, prune.L1Unstructured, amount=5)
        >>> int(a.weight_mask.sum() + b.weight_mask.sum())
        5
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is not None and not isinstance(importance_scores, Mapping):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    if pruning_method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {pruning_method.PRUNING_TYPE}"
        )
    pairs = list(parameters)
    given = importance_scores or {}
    values: list[Any] = [given.get(pair, getattr(*pair)).detach() for pair in pairs]
    masks: list[Any] = [
        getattr(module, f"{name}_mask", ones_like(value))
        for (module, name), value in zip(pairs, values, strict=True)
    ]
    first = Identity()
    first._tensor_name = "joined"
    joined = PruningContainer(first)
    method = pruning_method(**kwargs)
    method._tensor_name = "joined"
    joined.add_pruning_method(method)
    final: Any = joined.compute_mask(
        cat([v.reshape(-1) for v in values]), cat([m.reshape(-1) for m in masks])
    )
    parts = final.split([value.numel() for value in values])
    for (module, name), value, part in zip(pairs, values, parts, strict=True):
        custom_from_mask(module, name, part.reshape(value.shape))


@short
def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter an ordinary one, with zeros where it is pruned.

    Args:
        module: The module; it is returned.
        name: The parameter.

    Raises:
        ValueError: If the parameter is not pruned.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(4, 2), "weight", amount=3)
        >>> list(nn.utils.prune.remove(layer, "weight").state_dict())
        ['bias', 'weight']
    """
    key, method = hook_of(module, name)
    if key is None or method is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


@short
def is_pruned(module: Module) -> bool:
    """Whether a module, or one in it, has a pruned parameter.

    Args:
        module: The module.

    Example:
        >>> from tinytorch import nn
        >>> nn.utils.prune.is_pruned(nn.Linear(4, 2))
        False
    """
    hooks = (hook for each in module.modules() for hook in each._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
