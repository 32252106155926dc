"""Calls of a module with other tensors in place of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...core.tensor import Tensor
from ...state.tracebacks import short
from ..module import Module

__all__ = ["functional_call"]


@short
def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of its parameters and buffers.

    The module's own tensors do not change; gradients flow to the given ones. If the module assigns
    a new tensor to a buffer, it is put into the mapping.

    Args:
        module: The module.
        parameters_and_buffers: Tensors by the names of ``named_parameters`` and
            ``named_buffers``.
        args: Tuple of positional arguments, or a single one that is not a tuple. Default: none.
        kwargs: Keyword arguments. Default: none.
        tie_weights: Whether a tensor that the module has under several names is replaced under
            all of them. Default: True.
        strict: Whether to raise for missing or unknown names. Default: False.

    Returns:
        The output of the module.

    Raises:
        RuntimeError: If ``strict``, for missing or unknown names.
        ValueError: If different tensors are given for two names of the same tensor.

    Example:
        >>> new = {"weight": 2 * tt.ones(1, 1), "bias": tt.ones(1)}
        >>> tt.nn.utils.stateless.functional_call(tt.nn.Linear(1, 1), new, tt.tensor([3.0]))
        tensor([7.])
    """
    given = dict(parameters_and_buffers)
    names = _names(module)
    if strict:
        _check_names(module, given, set(names))
    if tie_weights:
        given = _add_tied_names(given, names)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    replaced: list[tuple[Any, str, Any, str]] = []
    try:
        for name, tensor in given.items():
            registry, last = _find_registry(module, name)
            if registry is not None:
                replaced.append((registry, last, registry[last], name))
                registry[last] = tensor
        return module(*arguments, **(kwargs or {}))
    finally:
        assigned: dict[str, Any] = {}
        for registry, last, own, name in reversed(replaced):
            now = registry.get(last, given[name])
            if now is not given[name] and name in parameters_and_buffers:
                assigned[name] = now
            registry[last] = own
        if assigned:
            cast(dict[str, Any], parameters_and_buffers).update(assigned)  # as in PyTorch


def _names(module: Module) -> dict[str, Any]:
    """Return the module's parameters and buffers under all their names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _check_names(module: Module, given: Mapping[str, Tensor], known: set[str]) -> None:
    """Raise RuntimeError if ``given`` does not have exactly the names ``known``."""
    problems = {
        "Unexpected key(s)": sorted(set(given) - known),
        "Missing key(s)": sorted(known - set(given)),
    }
    lines = [f"{kind}: {', '.join(map(repr, names))}." for kind, names in problems.items() if names]
    if lines:
        heading = f"Error(s) in reparametrizing for {type(module).__name__}:"
        raise RuntimeError("\n\t".join([heading, *lines]))


def _add_tied_names(given: dict[str, Tensor], names: Mapping[str, Any]) -> dict[str, Tensor]:
    """Add each tensor in ``given`` under the other names of the tensor that it replaces.

    Args:
        given: Tensors by name.
        names: The module's tensors under all their names; tied ones are there several times.
    """
    shared: dict[int, list[str]] = {}
    for name, tensor in names.items():
        shared.setdefault(id(tensor), []).append(name)
    tied = dict(given)
    for tied_names in shared.values():
        keys = [name for name in tied_names if name in given]
        if len({id(given[name]) for name in keys}) > 1:
            raise ValueError(f"functional_call got multiple values for keys {keys}")
        if keys:
            tied.update(dict.fromkeys(tied_names, given[keys[0]]))
    return tied


def _find_registry(module: Module, name: str) -> tuple[Any, str]:
    """Find the registry that contains a tensor of a module or a submodule.

    Args:
        module: The module.
        name: The tensor's dotted name.

    Returns:
        The dict of parameters or of buffers, or None for another attribute, and the tensor's key.
    """
    path, _, last = name.rpartition(".")
    if not last:
        raise KeyError('tensor name can\'t be empty string ""')
    owner = _submodule(module, path)
    for registry in (owner._parameters, owner._buffers):
        if last in registry:
            return registry, last
    value = getattr(owner, last, None)
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(f"attribute `{last}`: {value} is not an instance of torch.Tensor")
    return None, last


def _submodule(module: Module, path: str) -> Module:
    """Return the submodule at a path; AttributeError or TypeError if there is none."""
    owner: Any = module
    for name in path.split(".") if path else ():
        if not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        owner = getattr(owner, name)
        if not isinstance(owner, Module):
            raise TypeError(f"submodule `{path}`: {owner} is not an instance of torch.nn.Module")
    return owner  # type: ignore[no-any-return]
