"""Hooks in the backward pass of a module."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...autograd import Function
from ...core.tensor import Tensor
from ...graph.hooks import call_hook
from ...state import is_grad_enabled
from ...warnings import warn

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

    Its inputs and outputs pass through an identity each. The backward of the second tells the
    gradients of the outputs, that of the first the gradients of the inputs.

    Args:
        module: What the hooks get as their first argument.
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
        return _watched(args, self.input_places, self._on_grad_inputs)

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
        outputs = _watched(
            outputs, places, lambda grads: self._on_grad_outputs(grads, places, size)
        )
        return outputs if isinstance(result, tuple) else outputs[0]

    def _on_grad_outputs(self, grads: Grads, places: list[int], size: int) -> Grads:
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

    def _on_grad_inputs(self, grads: Grads) -> Grads:
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
