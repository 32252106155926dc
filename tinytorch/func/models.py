"""Modules as functions of their parameters: ``functional_call`` and ``stack_module_state``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.op import NAMESPACES
from ..nn.batchnorm import BatchNorm
from ..nn.module import Module
from ..nn.utils import stateless


def functional_call(
    module: Module, parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None, kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True,
    strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other tensors in the place of its parameters and buffers.

    The module is unchanged afterwards; gradients flow to the given tensors. If the module assigns a
    new tensor to a buffer, that tensor is put into the dict.

    Args:
        module: The module.
        parameter_and_buffer_dicts: Tensors by the names of ``named_parameters`` and
            ``named_buffers``: one dict, or several without a name in common.
        args: The positional arguments: a tuple, or a single argument. Default: none.
        kwargs: The keyword arguments. Default: none.
        tie_weights: Whether a tensor that the module has under several names is replaced under
            all of them. Default: True.
        strict: Whether a missing or unknown name is an error. Default: False.

    Returns:
        The result of the module.

    Raises:
        ValueError: For values that are not dicts, a name in several dicts, or different tensors for
            two names of one parameter.
        RuntimeError: For missing or unknown names under ``strict``.

    Example:
        >>> model = tt.nn.Linear(1, 1)
        >>> new = {"weight": 2 * tt.ones(1, 1), "bias": tt.ones(1)}
        >>> tt.func.functional_call(model, new, tt.tensor([3.0]))
        tensor([7.])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.functional_call.html
    """
    return stateless.functional_call(
        module, _merge_dicts(parameter_and_buffer_dicts), args, kwargs, tie_weights=tie_weights,
        strict=strict,
    )  # fmt: skip


def _merge_dicts(dicts: Any) -> dict[str, Tensor]:
    """Return one dict with the items of several, which may have no key in common."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(each, dict) for each in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    count = Counter(name for each in dicts for name in each)
    repeated = [name for name, times in count.items() if times > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous"
        )
    return {name: tensor for each in dicts for name, tensor in each.items()}


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stack the parameters and the buffers of several modules, for ``vmap`` over an ensemble.

    Args:
        models: Modules of one class, all in training or all in evaluation.

    Returns:
        Two dicts by name: parameters and buffers of shape ``(len(models), *)``. Parameters that
        require grad are new leaves, which an optimizer can update.

    Raises:
        RuntimeError: If there are no models, or they differ in class, mode or ``requires_grad``.

    Example:
        >>> from tinytorch.func import functional_call, stack_module_state
        >>> models = [tt.nn.Linear(3, 2) for _ in range(5)]
        >>> params, buffers = stack_module_state(models)
        >>> def call(params, buffers, x):
        ...     return functional_call(models[0], (params, buffers), x)
        >>> tt.vmap(call, in_dims=(0, 0, None))(params, buffers, tt.ones(4, 3)).shape
        tinytorch.Size([5, 4, 2])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.stack_module_state.html
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stack_states([dict(model.named_parameters()) for model in models]),
        _stack_states([dict(model.named_buffers()) for model in models]),
    )


def _stack_states(states: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: _stack(name, [state[name] for state in states]) for name in states[0]}


def _stack(name: str, tensors: list[Any]) -> Any:
    """Stack the parameters, or buffers, that several modules have under a name."""
    requires_grad = {t.requires_grad for t in tensors}
    if len(requires_grad) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    stacked = NAMESPACES[""]["stack"](tensors)
    return stacked.detach().requires_grad_() if requires_grad == {True} else stacked


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Remove the running statistics of all batch normalizations in a module; returns the module.

    They are updated in place, which ``vmap`` cannot do for each example.

    Args:
        root: The module, which is changed in place.

    Example:
        >>> net = tt.nn.Sequential(tt.nn.BatchNorm1d(2))
        >>> tt.func.replace_all_batch_norm_modules_(net)[0].running_mean is None
        True

    Reference: https://pytorch.org/docs/stable/func.batch_norm.html
    """
    for module in root.modules():
        if isinstance(module, BatchNorm):
            norm: Any = module
            norm.running_mean = norm.running_var = norm.num_batches_tracked = None
            norm.track_running_stats = False
    return root
