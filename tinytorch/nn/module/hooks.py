"""Hooks of one module."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from . import global_hooks
from .global_hooks import Hook, Hooks, RemovableHandle, add_hook
from .state_dict import StateDict

HOOKS = (
    "_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_hooks_always_called",
    "_forward_hooks_with_kwargs", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
    "_load_state_dict_post_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks_with_module", "_state_dict_hooks", "_state_dict_post_hooks",
    "_state_dict_pre_hooks",
)  # fmt: skip


class Hooked(StateDict):
    """Registration of the hooks of ``forward`` and of its backward."""

    _backward_hooks: Hooks
    _backward_pre_hooks: Hooks
    _forward_hooks: Hooks
    _forward_hooks_always_called: Hooks
    _forward_hooks_with_kwargs: Hooks
    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: Hooks
    _is_full_backward_hook: bool | None

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update({hooks: OrderedDict() for hooks in HOOKS})
        self.__dict__["_is_full_backward_hook"] = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for hooks in HOOKS:
            self.__dict__.setdefault(hooks, OrderedDict())

    def _get_backward_hooks(self) -> tuple[list[Hook], list[Hook]]:
        """Return the full and the non-full backward hooks, those of all modules first."""
        full = global_hooks.hooks_of_kind("full_backward")
        non_full = global_hooks.hooks_of_kind("backward")
        (full if self._is_full_backward_hook else non_full).update(self._backward_hooks)
        return list(full.values()), list(non_full.values())

    def _get_backward_pre_hooks(self) -> list[Hook]:
        """Return the backward pre-hooks, those of all modules first."""
        own = self._backward_pre_hooks
        return list((global_hooks.hooks_of_kind("backward_pre") | own).values())

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``.

        Args:
            hook: May return new arguments, one value or a tuple; with ``with_kwargs`` a pair
                ``(args, kwargs)``.
            prepend: Whether to call it before the other hooks of this module. Default: False.
            with_kwargs: Whether to call ``hook(module, args, kwargs)`` instead. Default: False.

        Returns:
            A handle that removes the hook.

        Example:
            >>> act = tt.nn.ReLU()
            >>> handle = act.register_forward_pre_hook(lambda module, args: -args[0])
            >>> act(tt.tensor([-2.0, 3.0]))
            tensor([2., 0.])
        """
        options = (self._forward_pre_hooks_with_kwargs,) * with_kwargs
        return add_hook(self._forward_pre_hooks, hook, prepend=prepend, options=options)

    def register_forward_hook(
        self,
        hook: Hook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``.

        Args:
            hook: May return another output.
            prepend: Whether to call it before the other hooks of this module. Default: False.
            with_kwargs: Whether to call ``hook(module, args, kwargs, output)`` instead.
                Default: False.
            always_call: Whether to call it even if ``forward`` or another hook raises.
                Default: False.

        Returns:
            A handle that removes the hook.

        Example:
            >>> act = tt.nn.ReLU()
            >>> seen = []
            >>> handle = act.register_forward_hook(lambda module, args, out: seen.append(out))
            >>> _ = act(tt.ones(2))
            >>> seen
            [tensor([1., 1.])]
        """
        options = (self._forward_hooks_with_kwargs,) * with_kwargs
        options += (self._forward_hooks_always_called,) * always_call
        return add_hook(self._forward_hooks, hook, prepend=prepend, options=options)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the gradient of the module is computed.

        Args:
            hook: May return a tuple of new gradients in place of ``grad_output``.
            prepend: Whether to call it before the other hooks of this module. Default: False.

        Returns:
            A handle that removes the hook.

        Example:
            >>> act = tt.nn.ReLU()
            >>> handle = act.register_full_backward_pre_hook(lambda m, grads: (3 * grads[0],))
            >>> x = tt.ones(2, requires_grad=True)
            >>> act(x).sum().backward()
            >>> x.grad
            tensor([3., 3.])
        """
        return add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` after the module's gradients are computed.

        Both are tuples with one element for each argument and for each output; it is None for
        one that is not a Tensor or needs no gradient.

        Args:
            hook: May return a tuple of new gradients in place of ``grad_input``.
            prepend: Whether to call it before the other hooks of this module. Default: False.

        Returns:
            A handle that removes the hook.

        Raises:
            RuntimeError: If the module has hooks of ``register_backward_hook``.

        Example:
            >>> act = tt.nn.ReLU()
            >>> handle = act.register_full_backward_hook(lambda m, given, out: print(given))
            >>> act(tt.ones(2, requires_grad=True)).sum().backward()
            (tensor([1., 1.]),)
        """
        return self._add_backward_hook(hook, full=True, prepend=prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in the backward of the last operation.

        As in PyTorch, it gets the gradients of the last operation of ``forward`` only; prefer
        ``register_full_backward_hook``.

        Args:
            hook: May return new gradients in place of ``grad_input``.

        Returns:
            A handle that removes the hook.

        Raises:
            RuntimeError: If the module has hooks of ``register_full_backward_hook``.

        Example:
            >>> act = tt.nn.ReLU()
            >>> handle = act.register_backward_hook(lambda m, given, out: print(out))
            >>> act(2 * tt.ones(2, requires_grad=True)).sum().backward()
            (tensor([1., 1.]),)
        """
        return self._add_backward_hook(hook, full=False)

    def _add_backward_hook(
        self, hook: Hook, *, full: bool, prepend: bool = False
    ) -> RemovableHandle:
        """Add a backward hook; a module cannot have full and non-full hooks at once."""
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(global_hooks.MIXED.format("on a single Module"))
        self._is_full_backward_hook = full
        return add_hook(self._backward_hooks, hook, prepend=prepend)
