"""``utils.checkpoint``: saves memory by recomputing intermediate values in the backward pass.

Example:
    >>> from tinytorch.utils.checkpoint import checkpoint
    >>> x = tt.ones(2, requires_grad=True)
    >>> y = checkpoint(lambda x: (x * x).exp(), x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([5.4366, 5.4366])
"""

from __future__ import annotations

import enum
import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .. import random
from ..autograd import Function, backward
from ..core.tensor import Tensor
from ..dispatch.autocast import AutocastState, autocast_state
from ..func._trees import flatten
from ..graph.engine import CURRENT
from ..graph.saved_tensors import Recording
from ..nn import Module, Sequential
from ..state import Variable, bind, enable_grad, grad_enabled, no_grad
from ..state.tracebacks import short
from ..warnings import warn
from ._recomputation import NOTHING, CheckpointError, Region
from ..state.bindings import contextmanager

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "check_backward_validity",
    "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts",
    "detach_variable", "get_device_states", "noop_context_fn", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


@short
def noop_context_fn() -> Contexts:
    """Default of ``context_fn``: two context managers that do nothing.

    Example:
        >>> len(tt.utils.checkpoint.noop_context_fn())
        2
    """
    return NOTHING, NOTHING


class CheckpointPolicy(enum.Enum):
    """Policy for the result of an operation: see ``create_selective_checkpoint_contexts``.

    Example:
        >>> from tinytorch.utils.checkpoint import CheckpointPolicy
        >>> CheckpointPolicy.MUST_SAVE.value
        0
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


@short
def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | list[Any], allow_cache_entry_mutation: bool = False
) -> Contexts:
    """Context managers for ``checkpoint(context_fn=)`` that in PyTorch save some results.

    A policy trades memory for time and does not change results. Here it is ignored: everything is
    recomputed.

    Args:
        policy_fn_or_list: A function that returns a ``CheckpointPolicy`` for an operation, or a
            list of the operations whose results are saved.
        allow_cache_entry_mutation: Accepted and ignored: there is no cache.

    Returns:
        A context manager for the first call and one for the second.

    Raises:
        TypeError: If ``policy_fn_or_list`` is neither a function nor a list.

    Example:
        >>> import functools
        >>> from tinytorch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
        >>> x = tt.ones(1, requires_grad=True)
        >>> keep = functools.partial(create_selective_checkpoint_contexts, [tt.ops.aten.mm])
        >>> checkpoint(tt.exp, x, use_reentrant=False, context_fn=keep)
        tensor([2.7183], grad_fn=<ExpBackward0>)
    """
    if not (isinstance(policy_fn_or_list, list) or callable(policy_fn_or_list)):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return noop_context_fn()


@short
def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn, determinism_check: str = "default",
    debug: bool = False, early_stop: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Call a function without saving intermediate values for the backward pass.

    Only the arguments are saved. The backward pass calls the function again to recompute the
    intermediate values.

    Args:
        function: The function, which must do the same in both calls.
        *args: Its positional arguments.
        use_reentrant: False: saved tensors are recomputed when the backward pass needs them. True:
            the function has a nested backward pass of its own, with which ``grad`` and
            ``inputs=`` do not work. None is True with a warning, as in PyTorch.
        context_fn: Function that returns two context managers, for the first and the second call.
        determinism_check: ``"default"`` to check that shapes and dtypes are the same in both
            calls, or ``"none"``.
        debug: Accepted and ignored.
        early_stop: Whether to stop the second call once everything is recomputed. Default: True.
        **kwargs: Keyword arguments of the function, and ``preserve_rng_state``: whether both calls
            draw the same random numbers. Default: True.

    Raises:
        ValueError: For arguments that ``use_reentrant=True`` does not support.
        CheckpointError: In the backward pass, if the second call differs from the first.

    Example:
        >>> x = tt.ones(1, requires_grad=True)
        >>> tt.utils.checkpoint.checkpoint(tt.exp, x, use_reentrant=False).backward()
        >>> x.grad
        tensor([2.7183])
    """
    if use_reentrant is None:
        _warn_of_default("checkpoint", "calling checkpoint without use_reentrant will raise an "
                         "exception")  # fmt: skip
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    first, second = context_fn()
    if not grad_enabled():
        return function(*args, **kwargs)
    chosen = _EARLY_STOP.get()
    if chosen is not None:
        early_stop = chosen
    region = Region(function, args, kwargs, preserve, second)
    return region.call(first, early_stop, determinism_check == "default")


@short
def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]] | Module, segments: int, input: Any,
    use_reentrant: bool | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """Call functions one after the other, in segments; all but the last are checkpointed.

    Args:
        functions: An ``nn.Sequential``, or functions of one argument.
        segments: Number of segments.
        input: Argument of the first function.
        use_reentrant: As for ``checkpoint``.
        **kwargs: ``preserve_rng_state``, as for ``checkpoint``.

    Raises:
        ValueError: For other keyword arguments, or if there are more segments than functions.

    Example:
        >>> net = [tt.sin, tt.exp, tt.cos]
        >>> x = tt.zeros(1, requires_grad=True)
        >>> tt.utils.checkpoint.checkpoint_sequential(net, 3, x, use_reentrant=False)
        tensor([0.5403], grad_fn=<CosBackward0>)
    """
    if use_reentrant is None:
        _warn_of_default(
            "checkpoint_sequential", "we will raise an exception if use_reentrant is not passed"
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    layers: Any = functions
    steps = list(layers.children() if isinstance(functions, Sequential) else layers)
    size = len(steps) // segments
    cuts = [*range(0, size * (segments - 1), size)]
    for start in cuts:
        input = checkpoint(
            _compose(steps[start : start + size]), input, use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )  # fmt: skip
    return _compose(steps[size * (segments - 1) :])(input)


def _compose(steps: list[Callable[..., Any]]) -> Callable[[Any], Any]:
    """Composition of functions of one argument, of which each is called with the last result."""

    def call_steps(input: Any) -> Any:
        for step in steps:
            input = step(input)
        return input

    return call_steps


def _warn_of_default(name: str, change: str) -> None:
    """Warn that ``use_reentrant`` is missing.

    Args:
        name: Name of the called function: ``"checkpoint"`` or ``"checkpoint_sequential"``.
        change: Clause that describes the change of the default in PyTorch.
    """
    path = "checkpoint" if name == "checkpoint" else f"checkpoint.{name}"
    warn(
        f"tinytorch.utils.{path}: the use_reentrant parameter should be passed explicitly. In "
        f"PyTorch, from version 2.9 on, {change}. use_reentrant=False is recommended, but if you "
        "need to preserve the current default behavior, you can pass use_reentrant=True.",
    )


#: Value of the innermost block of ``set_checkpoint_early_stop``; None outside of blocks.
_EARLY_STOP: Variable[bool | None] = Variable("early_stop", None)


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Set ``early_stop`` of all ``checkpoint`` calls in a ``with`` block.

    Example:
        >>> x = tt.ones(1, requires_grad=True)
        >>> with tt.utils.checkpoint.set_checkpoint_early_stop(False):
        ...     y = tt.utils.checkpoint.checkpoint(tt.exp, x, use_reentrant=False)
    """
    with bind(_EARLY_STOP, enable):
        yield


# -- devices ---------------------------------------------------------------------------------------


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Indices of the GPUs of tensors, and the states of their generators.

    Args:
        *args: Tensors, or containers of tensors.

    Example:
        >>> tt.utils.checkpoint.get_device_states(tt.ones(1, device="cpu"))
        ([], [])
    """
    found = dict.fromkeys(x.get_device() for x in flatten(args)[0] if isinstance(x, Tensor))
    devices = [number for number in found if number >= 0]
    cuda = importlib.import_module("tinytorch.cuda")
    return devices, [cuda.get_rng_state(number) for number in devices]


def set_device_states(
    devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None
) -> None:
    """Set the states of the generators of GPUs, from ``get_device_states``.

    Args:
        devices: Indices of the GPUs.
        states: The states.
        device_type: Accepted and ignored.

    Example:
        >>> from tinytorch.utils.checkpoint import get_device_states, set_device_states
        >>> set_device_states(*get_device_states(tt.ones(1)))
    """
    cuda = importlib.import_module("tinytorch.cuda")
    for device, state in zip(devices, states, strict=False):
        cuda.set_rng_state(state, device)


# -- use_reentrant=True ----------------------------------------------------------------------------


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Detach the tensors in a tuple from the graph; their ``requires_grad`` is kept.

    Raises:
        RuntimeError: If ``inputs`` is not a tuple.

    Example:
        >>> tt.utils.checkpoint.detach_variable((tt.ones(1), 3))
        (tensor([1.]), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(
        t.detach().requires_grad_(t.requires_grad) if isinstance(t, Tensor) else t for t in inputs
    )


def check_backward_validity(inputs: Any) -> None:
    """Warn if no tensor among ``inputs`` requires grad.

    Example:
        >>> tt.utils.checkpoint.check_backward_validity([tt.ones(1, requires_grad=True)])
    """
    if not any(isinstance(t, Tensor) and t.requires_grad for t in inputs):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


class CheckpointFunction(Function):
    """Autograd function of ``checkpoint`` with ``use_reentrant=True``.

    Example:
        >>> x = tt.ones(1, requires_grad=True)
        >>> tt.utils.checkpoint.CheckpointFunction.apply(tt.exp, True, x)
        tensor([2.7183], grad_fn=<CheckpointFunctionBackward>)
    """

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Call the function without recording; save the arguments alone."""
        Recording.needs_current = True
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.states = random._save_states() if preserve_rng_state else []
        ctx.autocast = autocast_state()
        ctx.inputs = [None if isinstance(a, Tensor) else a for a in args]
        ctx.tensor_indices = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.tensor_indices))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Call the function again, and compute the gradients by a nested backward pass."""
        task = CURRENT.get()
        if task is not None and task.capturing:
            raise RuntimeError(
                "When use_reentrant=True, tinytorch.utils.checkpoint is incompatible with .grad() "
                "or passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the "
                "`inputs` argument."
            )
        args = list(ctx.inputs)
        for i, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            args[i] = tensor
        inputs = detach_variable(tuple(args))
        with (
            random.fork_rng(enabled=bool(ctx.states)), enable_grad(), AutocastState(ctx.autocast)
        ):  # fmt: skip
            random._restore_states(ctx.states)
            outputs = ctx.run_function(*inputs)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [
            (out, g) for out, g in zip(outputs, grads, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]  # fmt: skip
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        roots, weights = zip(*pairs, strict=True)
        backward(roots, weights)
        return None, None, *(t.grad if isinstance(t, Tensor) else None for t in inputs)
