"""Hooks of all modules, and the registration of hooks with their options."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...graph.hooks import RemovableHandle as RemovableHandle

Hook = Callable[..., Any]
Hooks = OrderedDict[int, Any]


class ModuleHandle(RemovableHandle):
    """Handle that removes a hook and its options.

    Args:
        hooks: The hooks, by id, that contain the new one.
        options: For each option that is set, the dictionary of the ids of its hooks.
    """

    def __init__(self, hooks: Hooks, options: tuple[Hooks, ...]) -> None:
        super().__init__(hooks)
        self.options = options

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        super().remove()
        for option in self.options:
            option.pop(self.id, None)


def add_hook(
    hooks: Hooks, hook: Any, *, prepend: bool = False, options: tuple[Hooks, ...] = ()
) -> RemovableHandle:
    """Add ``hook`` to ``hooks``, at the end or the front, and its id to each of ``options``."""
    handle = ModuleHandle(hooks, options)
    hooks[handle.id] = hook
    for option in options:
        option[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


__all__ = [
    "register_module_backward_hook", "register_module_buffer_registration_hook",
    "register_module_forward_hook", "register_module_forward_pre_hook",
    "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip

# Hooks of all calls by id; the kind of each; the ids of those with the two options.
CALLS: Hooks = OrderedDict()
KINDS: Hooks = OrderedDict()
WITH_KWARGS: Hooks = OrderedDict()
ALWAYS: Hooks = OrderedDict()

BUFFER: Hooks = OrderedDict()
MODULE: Hooks = OrderedDict()
PARAMETER: Hooks = OrderedDict()

MIXED = (
    "Cannot use both regular backward hooks and full backward hooks {}. "
    "Please use only one of them."
)


def hooks_of_kind(kind: str) -> Hooks:
    """Return the hooks of all modules of one kind.

    Args:
        kind: ``"forward_pre"``, ``"forward"``, ``"backward_pre"``, ``"full_backward"`` or
            ``"backward"``.
    """
    return OrderedDict((key, hook) for key, hook in CALLS.items() if KINDS[key] == kind)


def _add_call_hook(kind: str, hook: Hook, *options: Hooks) -> RemovableHandle:
    """Register a hook of one kind for all modules."""
    handle = add_hook(CALLS, hook, options=(KINDS, *options))
    KINDS[handle.id] = kind
    return handle


def run_registration_hooks(hooks: Hooks, module: object, name: str, member: Any) -> Any:
    """Call the hooks before ``member`` becomes ``module.<name>``; return it or its replacement."""
    for hook in hooks.values():
        output = hook(module, name, member)
        if output is not None:
            member = output
    return member


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, args)`` before the ``forward`` of every module.

    Args:
        hook: May return new arguments: one value, or a tuple of them.

    Returns:
        A handle that removes the hook.

    Example:
        >>> from tinytorch.nn.module import register_module_forward_pre_hook
        >>> with register_module_forward_pre_hook(lambda module, args: print(module)):
        ...     _ = tt.nn.ReLU()(tt.ones(2))
        ReLU()
    """
    return _add_call_hook("forward_pre", hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the ``forward`` of every module.

    Args:
        hook: May return another output.
        with_kwargs: Whether to call ``hook(module, args, kwargs, output)`` instead.
            Default: False.
        always_call: Whether to call it even if ``forward`` or another hook raises.
            Default: False.

    Returns:
        A handle that removes the hook.

    Example:
        >>> from tinytorch.nn.module import register_module_forward_hook
        >>> with register_module_forward_hook(lambda module, args, output: output + 1):
        ...     tt.nn.ReLU()(tt.zeros(2))
        tensor([1., 1.])
    """
    options = (WITH_KWARGS,) * with_kwargs + (ALWAYS,) * always_call
    return _add_call_hook("forward", hook, *options)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` in the backward of every module.

    As in PyTorch, it gets the gradients of the last operation of ``forward`` only; prefer
    ``register_module_full_backward_hook``.

    Args:
        hook: May return new gradients in place of ``grad_input``.

    Returns:
        A handle that removes the hook.

    Raises:
        RuntimeError: If full backward hooks are registered.

    Example:
        >>> from tinytorch.nn.module import register_module_backward_hook
        >>> x = 2 * tt.ones(2, requires_grad=True)
        >>> with register_module_backward_hook(lambda module, given, output: print(output)):
        ...     tt.nn.ReLU()(x).sum().backward()
        (tensor([1., 1.]),)
    """
    if hooks_of_kind("full_backward"):
        raise RuntimeError(MIXED.format("as a global Module hook"))
    return _add_call_hook("backward", hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` in the backward of every module.

    Args:
        hook: May return a tuple of new gradients in place of ``grad_input``.

    Returns:
        A handle that removes the hook.

    Raises:
        RuntimeError: If hooks of ``register_module_backward_hook`` are registered.

    Example:
        >>> from tinytorch.nn.module import register_module_full_backward_hook
        >>> x = tt.ones(2, requires_grad=True)
        >>> with register_module_full_backward_hook(lambda module, given, output: print(given)):
        ...     tt.nn.ReLU()(x).sum().backward()
        (tensor([1., 1.]),)
    """
    if hooks_of_kind("backward"):
        raise RuntimeError(MIXED.format("as a global Module hook"))
    return _add_call_hook("full_backward", hook)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward of every module.

    Args:
        hook: May return a tuple of new gradients in place of ``grad_output``.

    Returns:
        A handle that removes the hook.

    Example:
        >>> from tinytorch.nn.module import register_module_full_backward_pre_hook
        >>> x = tt.ones(2, requires_grad=True)
        >>> with register_module_full_backward_pre_hook(lambda module, grads: (2 * grads[0],)):
        ...     tt.nn.ReLU()(x).sum().backward()
        >>> x.grad
        tensor([2., 2.])
    """
    return _add_call_hook("backward_pre", hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` whenever a module registers a buffer.

    Args:
        hook: May return another buffer to register instead.

    Returns:
        A handle that removes the hook.

    Example:
        >>> from tinytorch.nn.module import register_module_buffer_registration_hook
        >>> with register_module_buffer_registration_hook(lambda m, name, x: print(name)):
        ...     tt.nn.Module().register_buffer("mean", None)
        mean
    """
    return add_hook(BUFFER, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` whenever a module registers a child.

    Args:
        hook: May return another module to register instead.

    Returns:
        A handle that removes the hook.

    Example:
        >>> from tinytorch.nn.module import register_module_module_registration_hook
        >>> with register_module_module_registration_hook(lambda m, name, child: print(name)):
        ...     _ = tt.nn.Sequential(tt.nn.ReLU())
        0
    """
    return add_hook(MODULE, hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` whenever a module registers a parameter.

    Args:
        hook: May return another parameter to register instead.

    Returns:
        A handle that removes the hook.

    Example:
        >>> from tinytorch.nn.module import register_module_parameter_registration_hook
        >>> with register_module_parameter_registration_hook(lambda m, name, p: print(name)):
        ...     _ = tt.nn.Linear(2, 3)
        weight
        bias
    """
    return add_hook(PARAMETER, hook)
