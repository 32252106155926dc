"""Calls of a module with hooks, and the module's backward hooks."""

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
    """Identity on several tensors, whose backward passes their gradients through a function."""

    @staticmethod
    def forward(ctx: Any, hook: Callable[[Grads], Grads], *tensors: Tensor) -> Any:
        ctx.hook = hook
        ctx.set_materialize_grads(False)
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, *ctx.hook(grads)


class BackwardHook:
    """Backward hooks of one call of a module.

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
        self.input_indices: list[int] = []
        self.input_count: int = 0

    def wrap_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments with those that require grad passed through the identity."""
        self.input_count = len(args)
        self.input_indices = _indices_requiring_grad(args)
        return _apply_identity(args, self.input_indices, self._run_hooks)

    def wrap_outputs(self, result: Any) -> Any:
        """Return the result with the tensors in it passed through the identity."""
        if not isinstance(result, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple "
                f"of Tensors but received {type(result)}"
            )
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        indices, size = _indices_requiring_grad(outputs), len(outputs)
        # The closure must not refer to the outputs: their grad_fn refers to the closure.
        outputs = _apply_identity(
            outputs, indices, lambda grads: self._run_pre_hooks(grads, indices, size)
        )
        return outputs if isinstance(result, tuple) else outputs[0]

    def _run_pre_hooks(self, grads: Grads, indices: list[int], size: int) -> Grads:
        """Call the pre-hooks with the gradients of all outputs, None for those without gradient.

        Args:
            grads: The gradients of the outputs that require grad.
            indices: The indices of these outputs.
            size: The number of outputs.

        Returns:
            The gradients at ``indices``, which the pre-hooks may have replaced.
        """
        grad_outputs = _scatter(grads, indices, size)
        for hook in self.pre_hooks:
            changed = call_hook(hook, self._describe_hook("pre-hook"), self.module, grad_outputs)
            if changed is not None:
                grad_outputs = _check_count(changed, size, "pre hook", "grad_output")
        if self.input_indices:
            self.grad_outputs = grad_outputs
        else:
            self._run_without_inputs(grad_outputs)
        return tuple(grad_outputs[index] for index in indices)

    def _describe_hook(self, kind: str) -> str:
        """Return the description of a hook that errors show."""
        return f"full backward {kind} of {type(self.module).__name__}"

    def _call(self, hook: Any, grad_inputs: Grads, grad_outputs: Grads) -> Any:
        """Call one full backward hook."""
        return call_hook(hook, self._describe_hook("hook"), self.module, grad_inputs, grad_outputs)

    def _run_hooks(self, grads: Grads) -> Grads:
        """Call the hooks with the gradients of all inputs and outputs.

        Args:
            grads: The gradients of the inputs at ``input_indices``.

        Returns:
            These gradients, which the hooks may have replaced.
        """
        if self.grad_outputs is None:
            # In a double backward, gradients can reach the inputs without passing the outputs.
            return grads
        grad_inputs = _scatter(grads, self.input_indices, self.input_count)
        for hook in self.hooks:
            changed = self._call(hook, grad_inputs, self.grad_outputs)
            if changed is not None:
                grad_inputs = _check_count(changed, self.input_count, "hook", "grad_input")
        self.grad_outputs = None
        return tuple(grad_inputs[index] for index in self.input_indices)

    def _run_without_inputs(self, grad_outputs: Grads) -> None:
        """Call the hooks of a call of which no input requires grad."""
        if not self.hooks:
            return
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients."
        )
        for hook in self.hooks:
            changed = self._call(hook, (None,) * self.input_count, grad_outputs)
            if changed is not None and any(grad is not None for grad in changed):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )


def register_on_last_operation(
    module: Module, hooks: Sequence[Any], args: tuple[Any, ...], output: Any
) -> None:
    """Register non-full backward hooks with the grad_fn of the first tensor of an output."""
    result = output
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next(value for value in result.values() if isinstance(value, Tensor))
        else:
            result = result[0]
    if result.grad_fn is not None:
        for hook in hooks:
            result.grad_fn.register_hook(_bind_module(hook, module))
        missing = _missing_gradients(args, output, result.grad_fn)
        if missing:
            warn(
                f"Using a non-full backward hook when {missing}. Please use "
                "register_full_backward_hook to get the documented behavior.",
                FutureWarning,
            )


def _missing_gradients(args: tuple[Any, ...], result: Any, node: Any) -> str:
    """Return why a non-full backward hook misses gradients, as the middle of PyTorch's warning.

    Args:
        args: The inputs of the module.
        result: Its output.
        node: The grad_fn of the output's first tensor, with which the hook is registered.

    Returns:
        The text; "" if the hook gets all gradients.
    """
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


def _bind_module(hook: Any, module: Module) -> Callable[[Grads, Grads], Any]:
    """Return the hook of a node that calls ``hook`` with the module as its first argument."""

    def node_hook(grad_inputs: Grads, grad_outputs: Grads) -> Any:
        return hook(module, grad_inputs, grad_outputs)

    return functools.update_wrapper(node_hook, hook)


def _indices_requiring_grad(values: tuple[Any, ...]) -> list[int]:
    """Return the indices of the tensors that require grad; none if autograd is off."""
    if not is_grad_enabled():
        return []
    return [
        i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad
    ]


def _apply_identity(
    values: tuple[Any, ...], indices: list[int], hook: Callable[[Grads], Grads]
) -> tuple[Any, ...]:
    """Pass the values at ``indices`` through a BackwardHookFunction, which calls ``hook``."""
    if not indices:
        return values
    outputs = BackwardHookFunction.apply(hook, *(values[index] for index in indices))
    by_index = dict(zip(indices, outputs))
    new = [by_index.get(index, value) for index, value in enumerate(values)]
    # The constructor of a named tuple accepts the fields one by one.
    return tuple(new) if type(values) is tuple else type(values)(*new)


def _scatter(grads: Grads, indices: list[int], size: int) -> Grads:
    """Return a tuple of ``size`` elements with the gradients at ``indices`` and None elsewhere."""
    scattered = [None] * size
    for index, grad in zip(indices, grads):
        scattered[index] = grad
    return tuple(scattered)


def _check_count(changed: Any, expected: int, kind: str, gradient_name: str) -> Grads:
    """Return the gradients that a backward hook returned as a tuple; check their number.

    Args:
        changed: The result of the hook: a tensor or a sequence of gradients.
        expected: The number of gradients.
        kind: ``"hook"`` or ``"pre hook"``, for the error.
        gradient_name: ``"grad_input"`` or ``"grad_output"``, for the error.
    """
    if isinstance(changed, Tensor):
        changed = (changed,)
    if len(changed) != expected:
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {gradient_name}, got {len(changed)}, "
            f"but expected {expected}"
        )
    return tuple(changed)


class HookedCall:
    """Call of a module with its own hooks and the hooks of all modules.

    Args:
        module: The module.
        args: Positional arguments of the call; pre-hooks can replace them.
        kwargs: Keyword arguments of the call; pre-hooks can replace them.
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
        """Call the hooks and ``forward``; after an error, ``run`` calls the remaining hooks."""
        module = self.module
        forward = module.forward  # before the pre-hooks: that of a lazy module changes its class
        self._run_pre_hooks()
        backward_hook, non_full_hooks = _backward_hooks(module)
        if backward_hook is not None:
            self.args = backward_hook.wrap_inputs(self.args)
        self.result = forward(*self.args, **self.kwargs)
        for key, hook in self._forward_hooks().items():
            self.called.add(key)
            self._run_hook(key, hook)
        if backward_hook is not None:
            self.result = backward_hook.wrap_outputs(self.result)
        if non_full_hooks:
            register_on_last_operation(module, non_full_hooks, self.args, self.result)
        return self.result

    def _run_pre_hooks(self) -> None:
        """Call the forward pre-hooks, which can replace ``args`` and ``kwargs``."""
        module = self.module
        description = f"forward pre-hook of {type(module).__name__}"
        for key, hook in _merge_hooks("forward_pre", module._forward_pre_hooks).items():
            if key in module._forward_pre_hooks_with_kwargs:
                changed = call_hook(hook, description, module, self.args, self.kwargs)
                if changed is not None:
                    self.args, self.kwargs = _pair(changed)
            else:
                changed = call_hook(hook, description, module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)

    def _forward_hooks(self) -> Hooks:
        """Return the forward hooks by id, those of all modules first."""
        return _merge_hooks("forward", self.module._forward_hooks)

    def _run_hook(self, key: int, hook: Hook) -> None:
        """Call one forward hook, which can replace the result."""
        with_kwargs = (
            key in self.module._forward_hooks_with_kwargs or key in global_hooks.WITH_KWARGS
        )
        arguments = (self.args, self.kwargs) if with_kwargs else (self.args,)
        description = f"forward hook of {type(self.module).__name__}"
        changed = call_hook(hook, description, self.module, *arguments, self.result)
        if changed is not None:
            self.result = changed

    def _run_remaining_hooks(self) -> None:
        """Call the hooks with ``always_call`` that an error prevented from being called."""
        always = {*self.module._forward_hooks_always_called, *global_hooks.ALWAYS}
        for key, hook in self._forward_hooks().items():
            if key not in always or key in self.called:
                continue
            try:
                self._run_hook(key, hook)
            except Exception as error:
                warn(
                    "module forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {error}"
                )


def _merge_hooks(kind: str, own: Hooks) -> Hooks:
    """Return the hooks of one kind: those of all modules first, then the module's ``own``."""
    merged = global_hooks.hooks_of_kind(kind)
    merged.update(own)
    return merged


def _backward_hooks(module: Module) -> tuple[BackwardHook | None, list[Hook]]:
    """Return the BackwardHook of a call, None without full hooks, and the non-full hooks."""
    pre = module._get_backward_pre_hooks()
    full, non_full = module._get_backward_hooks()
    return BackwardHook(module, full, pre) if full or pre else None, non_full


def _pair(changed: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return ``(args, kwargs)``, the result of a pre-hook with ``with_kwargs``, after a check."""
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise RuntimeError(
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
            f"but got {changed}."
        )
    return changed
