"""Calling a module that has hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...graph.hooks import call_hook
from ...warnings import warn
from . import global_hooks
from .backward_hook import BackwardHook, register_on_last_operation
from .handle import Hook, Hooks

if TYPE_CHECKING:
    from . import Module


class HookedCall:
    """One call of ``module`` with its hooks and those of every module.

    Args:
        module: The module.
        args: Its positional arguments, as the hooks see them and pre-hooks change them.
        kwargs: Its keyword arguments, likewise.
    """

    def __init__(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        """Call the hooks and ``forward``, and return the result."""
        try:
            return self._run()
        except Exception:
            self._run_remaining_hooks()
            raise

    def _run(self) -> Any:
        module = self.module
        forward = module.forward  # a lazy module's pre-hook changes its class
        self._run_pre_hooks()
        around, last_operation = _watch(module)
        if around is not None:
            self.args = around.watch_inputs(self.args)
        self.result = forward(*self.args, **self.kwargs)
        for key, hook in self._forward_hooks().items():
            self.called.add(key)
            self._run_hook(key, hook)
        if around is not None:
            self.result = around.watch_outputs(self.result)
        if last_operation:
            register_on_last_operation(module, last_operation, self.args, self.result)
        return self.result

    def _run_pre_hooks(self) -> None:
        module = self.module
        of = f"forward pre-hook of {type(module).__name__}"
        for key, hook in _merged("forward_pre", module._forward_pre_hooks).items():
            if key in module._forward_pre_hooks_with_kwargs:
                changed = call_hook(hook, of, module, self.args, self.kwargs)
                if changed is not None:
                    self.args, self.kwargs = _pair(changed)
            else:
                changed = call_hook(hook, of, module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)

    def _forward_hooks(self) -> Hooks:
        return _merged("forward", self.module._forward_hooks)

    def _run_hook(self, key: int, hook: Hook) -> None:
        with_kwargs = (
            key in self.module._forward_hooks_with_kwargs or key in global_hooks.WITH_KWARGS
        )
        arguments = (self.args, self.kwargs) if with_kwargs else (self.args,)
        of = f"forward hook of {type(self.module).__name__}"
        changed = call_hook(hook, of, self.module, *arguments, self.result)
        if changed is not None:
            self.result = changed

    def _run_remaining_hooks(self) -> None:
        """After an error: run the hooks that are always called and have not been."""
        always = {*self.module._forward_hooks_always_called, *global_hooks.ALWAYS}
        for key, hook in self._forward_hooks().items():
            if key not in always or key in self.called:
                continue
            try:
                self._run_hook(key, hook)
            except Exception as error:
                warn(
                    "module forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {error}",
                )


def _merged(kind: str, own: Hooks) -> Hooks:
    """The hooks of one kind: those of every module first, then the module's ``own``."""
    merged = global_hooks.of_kind(kind)
    merged.update(own)
    return merged


def _watch(module: Module) -> tuple[BackwardHook | None, list[Hook]]:
    """Node around the whole module, if a hook needs one, and the hooks of its last operation."""
    pre = module._get_backward_pre_hooks()
    full, last_operation = module._get_backward_hooks()
    around = BackwardHook(module, full, pre) if full or pre else None
    return around, last_operation


def _pair(changed: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise RuntimeError(
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
            f"but got {changed}."
        )
    return changed
