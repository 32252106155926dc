"""Calls of a module that has hooks, and its hooks in the backward pass."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...autograd import Function
from ...core.tensor import Tensor
from ...graph.hooks import call_hook
from ...state import is_grad_enabled
from ...warnings import warn
from . import global_hooks
from .global_hooks import Hook, Hooks

if TYPE_CHECKING:
    from . import Module

Grads = tuple[Any, ...]


class BackwardHookFunction(Function):
    """The identity on several tensors, whose backward shows their gradients to a function."""

    @staticmethod
    def forward(ctx: Any, show: Callable[[Grads], Grads], *tensors: Tensor) -> Any:
        ctx.show = show
        ctx.set_materialize_grads(False)
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, *ctx.show(grads)


class BackwardHook:
    """The backward hooks of one call of a module.

    Inputs and outputs each pass through an identity function. The backward pass of the second
    calls ``pre_hooks`` with the gradients of the outputs, that of the first calls ``hooks`` with
    the gradients of the inputs.

    Args:
        module: First argument of the hooks.
        hooks: Called with ``(module, grad_input, grad_output)``.
        pre_hooks: Called with ``(module, grad_output)``.
    """

    def __init__(self, module: Module, hooks: Sequence[Any], pre_hooks: Sequence[Any]) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: Grads | None = None
        self.input_places: list[int] = []
        self.inputs: int = 0

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments with those that require grad passed through the identity."""
        self.inputs = len(args)
        self.input_places = _places(args)
        return _watched(args, self.input_places, self._run_hooks)

    def watch_outputs(self, result: Any) -> Any:
        """Return the result with the tensors in it passed through the identity."""
        if not isinstance(result, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple "
                f"of Tensors but received {type(result)}",
            )
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        places, size = _places(outputs), len(outputs)  # not the outputs, whose node holds this
        outputs = _watched(outputs, places, lambda grads: self._run_pre_hooks(grads, places, size))
        return outputs if isinstance(result, tuple) else outputs[0]

    def _run_pre_hooks(self, grads: Grads, places: list[int], size: int) -> Grads:
        grad_outputs = _spread(grads, places, size)
        for hook in self.pre_hooks:
            changed = call_hook(hook, self._kind("pre-hook"), self.module, grad_outputs)
            if changed is not None:
                grad_outputs = _same_number(changed, size, "pre hook", "grad_output")
        if self.input_places:
            self.grad_outputs = grad_outputs
        else:
            self._run_without_inputs(grad_outputs)
        return tuple(grad_outputs[place] for place in places)

    def _kind(self, kind: str) -> str:
        return f"full backward {kind} of {type(self.module).__name__}"

    def _call(self, hook: Any, grad_inputs: Grads, grad_outputs: Grads) -> Any:
        return call_hook(hook, self._kind("hook"), self.module, grad_inputs, grad_outputs)

    def _run_hooks(self, grads: Grads) -> Grads:
        if self.grad_outputs is None:
            # In a double backward a gradient can reach the inputs past the outputs.
            return grads
        grad_inputs = _spread(grads, self.input_places, self.inputs)
        for hook in self.hooks:
            changed = self._call(hook, grad_inputs, self.grad_outputs)
            if changed is not None:
                grad_inputs = _same_number(changed, self.inputs, "hook", "grad_input")
        self.grad_outputs = None
        return tuple(grad_inputs[place] for place in self.input_places)

    def _run_without_inputs(self, grad_outputs: Grads) -> None:
        if not self.hooks:
            return
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients.",
        )
        for hook in self.hooks:
            changed = self._call(hook, (None,) * self.inputs, grad_outputs)
            if changed is not None and any(grad is not None for grad in changed):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )


def register_on_last_operation(
    module: Module, hooks: Sequence[Any], args: tuple[Any, ...], whole: Any
) -> None:
    """Call ``hooks`` in the backward of the operation that made the first tensor of a result."""
    result = whole
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next(value for value in result.values() if isinstance(value, Tensor))
        else:
            result = result[0]
    if result.grad_fn is not None:
        for hook in hooks:
            result.grad_fn.register_hook(_with_module(hook, module))
        missing = _what_is_missed(args, whole, result.grad_fn)
        if missing:
            warn(
                f"Using a non-full backward hook when {missing}. Please use "
                "register_full_backward_hook to get the documented behavior.",
                FutureWarning,
            )


def _what_is_missed(args: tuple[Any, ...], result: Any, node: Any) -> str:
    """Why hooks of the last operation do not see what goes into and out of the whole module."""
    outputs = (result,) if isinstance(result, Tensor) else result
    forward = "the forward of a Module does not"
    for verb, values in (("return", outputs), ("take as input", args)):
        if not (isinstance(values, tuple) and all(isinstance(v, Tensor) for v in values)):
            return (
                f"{forward} {verb} a single Tensor or a tuple of Tensors is deprecated and will be "
                f"removed in future versions. This hook will be missing some gradients"
            )
    if any(output.grad_fn not in (None, node) for output in outputs):
        return (
            "outputs are generated by different autograd Nodes is deprecated and will be removed "
            "in future versions. This hook will be missing some grad_output"
        )
    before = {arg.grad_fn for arg in args} - {None}
    if before != {edge for edge, _ in node.next_functions}:
        return (
            "the forward contains multiple autograd Nodes is deprecated and will be removed in "
            "future versions. This hook will be missing some grad_input"
        )
    return ""


def _with_module(hook: Any, module: Module) -> Callable[[Grads, Grads], Any]:
    def call(grad_inputs: Grads, grad_outputs: Grads) -> Any:
        return hook(module, grad_inputs, grad_outputs)

    return functools.update_wrapper(call, hook)


def _places(values: tuple[Any, ...]) -> list[int]:
    if not is_grad_enabled():
        return []
    return [
        place
        for place, value in enumerate(values)
        if isinstance(value, Tensor) and value.requires_grad
    ]


def _watched(
    values: tuple[Any, ...], places: list[int], show: Callable[[Grads], Grads]
) -> tuple[Any, ...]:
    if not places:
        return values
    shown = BackwardHookFunction.apply(show, *(values[place] for place in places))
    watched = dict(zip(places, shown))
    changed = [watched.get(place, value) for place, value in enumerate(values)]
    # A named tuple takes its fields one by one.
    return tuple(changed) if type(values) is tuple else type(values)(*changed)


def _spread(grads: Grads, places: list[int], size: int) -> Grads:
    spread = [None] * size
    for place, grad in zip(places, grads):
        spread[place] = grad
    return tuple(spread)


def _same_number(changed: Any, expected: int, kind: str, what: str) -> Grads:
    if isinstance(changed, Tensor):
        changed = (changed,)
    if len(changed) != expected:
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, got {len(changed)}, "
            f"but expected {expected}"
        )
    return tuple(changed)


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
