"""Hooks of the optimizers: around ``step``, ``state_dict`` and ``load_state_dict``."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeVar, cast

from ..graph.hooks import RemovableHandle, add_hook
from ..state.recorder import RECORDER
from ..state.tracebacks import ShortTracebacks

__all__ = [
    "HookTables",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]

Step = TypeVar("Step", bound=Callable[..., Any])

_global_pre_hooks: dict[int, Callable[..., Any]] = OrderedDict()
_global_post_hooks: dict[int, Callable[..., Any]] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before ``step`` of every optimizer.

    Args:
        hook: Returns None, or the ``(args, kwargs)`` with which ``step`` is called instead.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from tinytorch.optim.optimizer import register_optimizer_step_pre_hook
        >>> register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: None).remove()
    """
    return add_hook(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after ``step`` of every optimizer.

    Args:
        hook: Its result is ignored.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from tinytorch.optim.optimizer import register_optimizer_step_post_hook
        >>> register_optimizer_step_post_hook(lambda optimizer, args, kwargs: None).remove()
    """
    return add_hook(_global_post_hooks, hook)


class HookTables(ShortTracebacks):
    """The part of ``Optimizer`` that stores hooks and runs the hooks around ``step``."""

    step: Any
    #: Whether ``step`` was called. Schedulers read it, to warn of a wrong order.
    _opt_called = False
    #: A class that wraps another optimizer need not call ``Optimizer.__init__``; it has no hooks.
    _optimizer_step_pre_hooks = cast("dict[int, Any]", MappingProxyType({}))
    _optimizer_step_post_hooks = cast("dict[int, Any]", MappingProxyType({}))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _wrap_with_hooks(cls.__dict__["step"])

    @staticmethod
    def profile_hook_step(func: Step) -> Step:
        """Return a ``step`` method with the step hooks and a profiler's range around it."""
        return _wrap_with_hooks(func)

    def _make_hook_tables(self) -> None:
        """Create the tables of hooks, which map an id to a hook, in the order of the calls."""
        self._optimizer_step_pre_hooks = OrderedDict()
        self._optimizer_step_post_hooks = OrderedDict()
        self._optimizer_state_dict_pre_hooks: dict[int, Any] = OrderedDict()
        self._optimizer_state_dict_post_hooks: dict[int, Any] = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: dict[int, Any] = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: dict[int, Any] = OrderedDict()

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before every ``step``.

        Args:
            hook: Returns None, or the ``(args, kwargs)`` with which ``step`` is called instead
                (``args[0]`` is the optimizer).

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)])
            >>> hook = optimizer.register_step_pre_hook(lambda *args: print("stepping"))
            >>> optimizer.step()
            stepping
        """
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after every ``step``.

        Args:
            hook: Its result is ignored.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)])
            >>> hook = optimizer.register_step_post_hook(lambda *args: print("stepped"))
            >>> optimizer.step()
            stepped
        """
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[[Any], None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before ``state_dict`` collects the state.

        Args:
            hook: May change the optimizer.
            prepend: Run the hook before those registered already.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)])
            >>> hook = optimizer.register_state_dict_pre_hook(lambda optimizer: print("saving"))
            >>> state = optimizer.state_dict()
            saving
        """
        return _add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[[Any, dict[str, Any]], dict[str, Any] | None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before ``state_dict`` returns its result.

        Args:
            hook: Changes the dict in place or returns another one.
            prepend: Run the hook before those registered already.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)])
            >>> hook = optimizer.register_state_dict_post_hook(
            ...     lambda optimizer, state_dict: {**state_dict, "note": "first run"})
            >>> optimizer.state_dict()["note"]
            'first run'
        """
        return _add_hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[[Any, dict[str, Any]], dict[str, Any] | None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before a state dict is loaded.

        Args:
            hook: Changes the dict, which is a shallow copy, in place or returns another one.
            prepend: Run the hook before those registered already.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)])
            >>> hook = optimizer.register_load_state_dict_pre_hook(
            ...     lambda optimizer, state_dict: print(sorted(state_dict)))
            >>> optimizer.load_state_dict(optimizer.state_dict())
            ['param_groups', 'state']
        """
        return _add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[[Any], None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after a state dict was loaded.

        Args:
            hook: May change the optimizer.
            prepend: Run the hook before those registered already.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)])
            >>> hook = optimizer.register_load_state_dict_post_hook(
            ...     lambda optimizer: print("loaded"))
            >>> optimizer.load_state_dict(optimizer.state_dict())
            loaded
        """
        return _add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _add_hook(hooks: dict[int, Any], hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
    """Add ``hook`` to the table ``hooks``, at its end or, if ``prepend``, at its beginning.

    Returns:
        A handle whose ``remove()`` removes the hook.
    """
    handle = add_hook(hooks, hook)
    if prepend:
        cast("OrderedDict[int, Any]", hooks).move_to_end(handle.id, last=False)
    return handle


def _wrap_with_hooks(step: Step) -> Step:
    """Wrap ``step`` so that it runs the step hooks and the profiler's range."""
    if getattr(step, "hooked", False):
        return step

    @functools.wraps(step)
    def profiled_step(self: HookTables, *args: Any, **kwargs: Any) -> Any:
        recorder = RECORDER.get()
        if recorder is None:
            return step_with_hooks(self, *args, **kwargs)
        with recorder.part(f"Optimizer.step#{type(self).__name__}.step"):
            return step_with_hooks(self, *args, **kwargs)

    def step_with_hooks(self: HookTables, *args: Any, **kwargs: Any) -> Any:
        """Call the pre-hooks, the optimizer's ``step`` and the post-hooks."""
        self._opt_called = True
        if not (self._optimizer_step_pre_hooks or _global_pre_hooks):
            result = step(self, *args, **kwargs)
        else:
            call = _run_pre_hooks(self, step, (self, *args), kwargs)
            args, kwargs = call[0][1:], call[1]
            result = step(self, *args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()):
            hook(self, (self, *args), kwargs)
        return result

    profiled_step.hooked = True  # type: ignore[attr-defined]
    return cast(Step, profiled_step)


def _run_pre_hooks(
    self: HookTables, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Call the pre-hooks of all optimizers, then those of ``self``.

    Args:
        self: The optimizer.
        step: The method ``step``, for the error.
        args: The positional arguments of ``step``, with ``self`` first.
        kwargs: The keyword arguments of ``step``.

    Returns:
        The arguments for ``step``: a hook may return ``(args, kwargs)`` to replace the given ones.
    """
    for hook in (*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
        result = hook(self, args, kwargs)
        if result is None:
            continue
        if not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(
                f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}."
            )
        args, kwargs = result
    return args, kwargs
