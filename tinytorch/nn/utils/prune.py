"""Pruning: multiplication of parameters by masks of zeros and ones.

A pruned parameter ``weight`` is renamed to ``weight_orig``, and a buffer ``weight_mask`` is added.
``weight`` is their product, which is computed before each call of the module.

Example:
    >>> from tinytorch.nn.utils import prune
    >>> layer = prune.l1_unstructured(tt.nn.Linear(4, 2), "weight", amount=0.5)
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
from ._pruning_methods import find_hook

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


@short
def identity(module: Module, name: str) -> Module:
    """Prune a parameter by a mask of ones, which prunes nothing.

    Args:
        module: The module; it is returned.
        name: Name of the parameter.

    Example:
        >>> tt.nn.utils.prune.is_pruned(tt.nn.utils.prune.identity(tt.nn.Linear(2, 1), "weight"))
        True
    """
    Identity.apply(module, name)
    return module


@short
def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune random elements of a parameter.

    Args:
        module: The module; it is returned.
        name: Name of the parameter.
        amount: Number to prune, an int, or fraction of the unpruned ones, a float.

    Raises:
        TypeError: If ``amount`` is not a number.
        ValueError: If it is negative or too large.

    Example:
        >>> layer = tt.nn.utils.prune.random_unstructured(tt.nn.Linear(4, 2), "weight", amount=3)
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
        name: Name of the parameter.
        amount: Number to prune, an int, or fraction of the unpruned ones, a float.
        importance_scores: Scores used instead of the parameter. Default: none.

    Raises:
        TypeError: If ``amount`` is not a number.
        ValueError: If it is negative or too large.

    Example:
        >>> layer = tt.nn.utils.prune.l1_unstructured(tt.nn.Linear(4, 2), "weight", amount=0.25)
        >>> int(layer.weight_mask.sum())
        6
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


@short
def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune random channels of a parameter.

    Args:
        module: The module; it is returned.
        name: Name of the parameter, which has at least 2 dimensions.
        amount: Number to prune, an int, or fraction of the unpruned ones, a float.
        dim: Dimension of the channels.

    Raises:
        TypeError: If ``amount`` is not a number.
        ValueError: If it is negative or too large, or the parameter has too few dimensions.

    Example:
        >>> layer = tt.nn.utils.prune.random_structured(tt.nn.Linear(4, 2), "weight", 1, dim=0)
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
        name: Name of the parameter, which has at least 2 dimensions.
        amount: Number to prune, an int, or fraction of the unpruned ones, a float.
        n: Order of the norm.
        dim: Dimension of the channels.
        importance_scores: Scores used instead of the parameter. Default: none.

    Raises:
        TypeError: If ``amount`` is not a number.
        ValueError: If it is negative or too large, or the parameter has too few dimensions.

    Example:
        >>> layer = tt.nn.utils.prune.ln_structured(tt.nn.Linear(4, 2), "weight", 0.5, n=2, dim=0)
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
        name: Name of the parameter.
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
    """Prune elements of several parameters, taken together as one.

    Args:
        parameters: Pairs of a module and the name of a parameter.
        pruning_method: Class of an unstructured method, for example ``L1Unstructured``.
        importance_scores: Scores used instead of the parameter, for some pairs. Default: none.
        **kwargs: Arguments of ``pruning_method``.

    Raises:
        TypeError: If ``parameters`` is not iterable, the scores are not a mapping, or the method is
            not unstructured.

    Example:
        >>> from tinytorch.nn.utils import prune
        >>> a, b = tt.nn.Linear(4, 2), tt.nn.Linear(2, 1)
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
    scores = importance_scores or {}
    values: list[Any] = [scores.get(pair, getattr(*pair)).detach() for pair in pairs]
    masks: list[Any] = [
        getattr(module, f"{name}_mask", ones_like(value))
        for (module, name), value in zip(pairs, values, strict=True)
    ]
    identity_method, method = Identity(), pruning_method(**kwargs)
    identity_method._tensor_name = method._tensor_name = "joined"
    container = PruningContainer(identity_method)
    container.add_pruning_method(method)
    mask: Any = container.compute_mask(
        cat([v.reshape(-1) for v in values]), cat([m.reshape(-1) for m in masks])
    )
    parts = mask.split([value.numel() for value in values])
    for (module, name), value, part in zip(pairs, values, parts, strict=True):
        custom_from_mask(module, name, part.reshape(value.shape))


@short
def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter an ordinary one, with zeros at the pruned elements.

    Args:
        module: The module; it is returned.
        name: Name of the parameter.

    Raises:
        ValueError: If the parameter is not pruned.

    Example:
        >>> layer = tt.nn.utils.prune.l1_unstructured(tt.nn.Linear(4, 2), "weight", amount=3)
        >>> list(tt.nn.utils.prune.remove(layer, "weight").state_dict())
        ['bias', 'weight']
    """
    key, method = find_hook(module, name)
    if key is None or method is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


@short
def is_pruned(module: Module) -> bool:
    """Whether a module or one of its submodules has a pruned parameter.

    Args:
        module: The module.

    Example:
        >>> tt.nn.utils.prune.is_pruned(tt.nn.Linear(4, 2))
        False
    """
    hooks = (hook for each in module.modules() for hook in each._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
