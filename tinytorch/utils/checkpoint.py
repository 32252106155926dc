"""``utils.checkpoint``: memory for time; what a function computes is computed again in backward.

Example:
    >>> from tinytorch.utils.checkpoint import checkpoint
    >>> x = tt.ones(2, requires_grad=True)
    >>> y = checkpoint(lambda x: (x * x).exp(), x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([5.4366, 5.4366])
"""

from __future__ import annotations

import contextlib
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
from ..state import Variable, enable_grad, grad_enabled, no_grad
from ..state.tracebacks import short
from ..warnings import warn
from ._recomputation import NOTHING, CheckpointError, Region

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "check_backward_validity",
    "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts",
    "detach_variable", "get_device_states", "noop_context_fn", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


@short
def noop_context_fn() -> Contexts:
    """Two contexts that do nothing: the default of ``context_fn``.

    Example:
        >>> len(tt.utils.checkpoint.noop_context_fn())
        2
    """
    return NOTHING, NOTHING


class CheckpointPolicy(enum.Enum):
    """What is to be done with an operation's result: see ``create_selective_checkpoint_contexts``.

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
    """Contexts for ``checkpoint(context_fn=)`` that in PyTorch keep some operations' results.

    A policy trades memory for time and changes no result; here everything is computed again,
    whatever it says.

    Args:
        policy_fn_or_list: A function that says what is to be done with an operation's result, or
            the operations whose results are to be kept.
        allow_cache_entry_mutation: Accepted: nothing is kept that could be changed.

    Returns:
        A context for the first call and one for the second.

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
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, of which nothing is saved but the arguments.

    The backward pass calls it again to have what it needs.

    Args:
        function: What to call. It must do the same both times.
        *args: Its arguments.
        use_reentrant: False: intermediate values are made again one by one, when asked for. True:
            the function is recorded in a backward pass of its own, which ``grad`` and
            ``inputs=`` do not work with. None is True with a warning, as in torch.
        context_fn: Gives two context managers, for the first call and the second one.
        determinism_check: ``"default"``: shapes and dtypes must be the same both times;
            ``"none"``.
        debug: Accepted.
        early_stop: Stop the second call as soon as everything needed is there; default True.
        **kwargs: Its keyword arguments, and ``preserve_rng_state``: whether both calls draw the
            same random numbers; default True.

    Raises:
        ValueError: For arguments that ``use_reentrant=True`` does not have.
        CheckpointError: In the backward pass, if the second call differs.

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
    chosen = _EARLY.get()
    if chosen is not None:
        early_stop = chosen
    region = Region(function, args, kwargs, preserve, second)
    return region.call(first, early_stop, determinism_check == "default")


@short
def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]] | Module,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Functions one after the other, in segments of which all but the last are checkpointed.

    Args:
        functions: An ``nn.Sequential``, or functions of one argument.
        segments: How many segments.
        input: What the first function takes.
        use_reentrant: As for ``checkpoint``.
        **kwargs: ``preserve_rng_state`` alone.

    Raises:
        ValueError: For other keyword arguments, or more segments than functions.

    Example:
        >>> net = [tt.sin, tt.exp, tt.cos]
        >>> x = tt.zeros(1, requires_grad=True)
        >>> tt.utils.checkpoint.checkpoint_sequential(net, 3, x, use_reentrant=False)
        tensor([0.5403], grad_fn=<CosBackward0>)
    """
    if use_reentrant is None:
        _warn_of_default(
            "checkpoint_sequential",
            "we will raise an exception if use_reentrant is not passed",
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
            _chain(steps[start : start + size]), input, use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )  # fmt: skip
    return _chain(steps[size * (segments - 1) :])(input)


def _chain(steps: list[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(input: Any) -> Any:
        for step in steps:
            input = step(input)
        return input

    return run


def _warn_of_default(name: str, change: str) -> None:
    place = "checkpoint" if name == "checkpoint" else f"checkpoint.{name}"
    warn(
        f"tinytorch.utils.{place}: the use_reentrant parameter should be passed explicitly. In "
        f"PyTorch, from version 2.9 on, {change}. use_reentrant=False is recommended, but if you "
        "need to preserve the current default behavior, you can pass use_reentrant=True.",
    )


#: What the innermost block of ``set_checkpoint_early_stop`` says here; None: nothing.
_EARLY: Variable[bool | None] = Variable("early_stop", None)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Say for a ``with`` block whether second calls stop as soon as they may.

    Example:
        >>> x = tt.ones(1, requires_grad=True)
        >>> with tt.utils.checkpoint.set_checkpoint_early_stop(False):
        ...     y = tt.utils.checkpoint.checkpoint(tt.exp, x, use_reentrant=False)
    """
    token = _EARLY.set(enable)
    try:
        yield
    finally:
        _EARLY.reset(token)


# -- devices ---------------------------------------------------------------------------------------


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Numbers of the GPUs that tensors are on, and the states of their generators.

    Args:
        *args: Tensors, or containers of such.

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
    """Give the generators of GPUs the states that ``get_device_states`` found.

    Args:
        devices: Their numbers.
        states: The states.
        device_type: Accepted for compatibility.

    Example:
        >>> from tinytorch.utils.checkpoint import get_device_states, set_device_states
        >>> set_device_states(*get_device_states(tt.ones(1)))
    """
    cuda = importlib.import_module("tinytorch.cuda")
    for device, state in zip(devices, states, strict=False):
        cuda.set_rng_state(state, device)


# -- with one --------------------------------------------------------------------------------------


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, tensors among them cut off from the graph and as ready for gradients as before.

    Raises:
        RuntimeError: If ``inputs`` is no tuple.

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
    """What ``checkpoint`` records with ``use_reentrant=True``.

    Example:
        >>> x = tt.ones(1, requires_grad=True)
        >>> tt.utils.checkpoint.CheckpointFunction.apply(tt.exp, True, x)
        tensor([2.7183], grad_fn=<CheckpointFunctionBackward>)
    """

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """The function's result; only the arguments are kept."""
        Recording.needs_current = True
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.states = random._states() if preserve_rng_state else []
        ctx.autocast = autocast_state()
        ctx.inputs = [None if isinstance(a, Tensor) else a for a in args]
        ctx.at = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.at))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Gradients by a pass of its own over the function called again."""
        task = CURRENT.get()
        if task is not None and task.capturing:
            raise RuntimeError(
                "When use_reentrant=True, tinytorch.utils.checkpoint is incompatible with .grad() "
                "or passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the "
                "`inputs` argument."
            )
        given = list(ctx.inputs)
        for i, tensor in zip(ctx.at, ctx.saved_tensors, strict=True):
            given[i] = tensor
        inputs = detach_variable(tuple(given))
        with (
            random.fork_rng(enabled=bool(ctx.states)), enable_grad(), AutocastState(ctx.autocast)
        ):  # fmt: skip
            random._restore(ctx.states)
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
