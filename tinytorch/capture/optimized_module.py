"""``OptimizedModule``, the result of ``compile`` for a module, and functions that stay eager."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sized
from typing import Any

from ..nn.module import Module
from .compiled import Compiled
from .recorder import current_recorder
from .settings import CompileOptions, make_options

#: Attributes of an ``OptimizedModule`` that are not the original module's.
_OWN = frozenset((
    "_orig_mod", "dynamo_ctx", "_torchdynamo_orig_callable", "get_compiler_config", "forward",
    "_forward", "__dict__",
))  # fmt: skip


class Disabled:
    """Function that is never recorded: a call of it in a recording makes that call run eagerly.

    Args:
        function: The function.
        reason: Text for the message of the break, or None.
    """

    def __init__(self, function: Callable[..., Any], reason: str | None = None) -> None:
        self.function: Callable[..., Any] = function
        self.reason: str | None = reason

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = current_recorder()
        if recorder is not None:
            name = getattr(self.function, "__name__", type(self.function).__name__)
            why = f" ({self.reason})" if self.reason else ""
            recorder.note_break(f"a call of {name}, which compiler.disable excludes{why},")
        return self.function(*args, **kwargs)


class DisableContext:
    """``dynamo_ctx`` of a module that ``compiler.disable`` excludes.

    Args:
        reason: Text for the message of the break, or None.
    """

    def __init__(self, reason: str | None = None) -> None:
        self.reason = reason


class OptimizedModule(Module):
    """A module whose calls are recorded and replayed.

    Attributes that it does not have itself are the original module's, and setting one sets it
    there. The names in its ``state_dict`` begin with ``_orig_mod.``, as in PyTorch.

    Args:
        mod: The original module, which stays as it is.
        dynamo_ctx: The options of ``compile``, or a ``DisableContext``.

    Attributes:
        dynamo_ctx: The options.

    Example:
        >>> net = tt.nn.Linear(2, 1)
        >>> compiled = tt.compile(net)
        >>> list(compiled.state_dict()), compiled.weight is net.weight
        (['_orig_mod.weight', '_orig_mod.bias'], True)
    """

    def __init__(self, mod: Module, dynamo_ctx: CompileOptions | DisableContext) -> None:
        vars(self)["_orig_mod"] = mod
        super().__init__()
        del vars(self)["_orig_mod"]
        self._modules["_orig_mod"] = mod
        vars(self)["dynamo_ctx"] = dynamo_ctx
        self._initialize()

    def _initialize(self) -> None:
        """Set ``forward``."""
        call, context = self._orig_mod.__call__, self.dynamo_ctx
        vars(self)["forward"] = (
            Disabled(call, context.reason) if isinstance(context, DisableContext)
            else Compiled(call, context)
        )  # fmt: skip

    def __len__(self) -> int:
        original = self._orig_mod
        if isinstance(original, Sized):
            return len(original)
        raise TypeError(f"{type(original).__name__} does not support len()")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._orig_mod, self.dynamo_ctx)

    @property
    def training(self) -> bool:
        """Whether the original module is in training mode."""
        return bool(self._orig_mod.training)

    @training.setter
    def training(self, value: bool) -> None:
        self._orig_mod.training = value

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return vars(self)["_modules"]["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or hasattr(type(self), name):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in _OWN or hasattr(type(self), name):
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return [*{*dir(self._orig_mod), *super().__dir__()}]


def compile_callable(model: Any, options: CompileOptions) -> Any:
    """Return ``model``, a function or a module, compiled."""
    if isinstance(model, OptimizedModule):
        model = model._orig_mod
    if isinstance(model, Module):
        return OptimizedModule(model, options)
    if isinstance(model, type):
        return model
    return as_function(original(model), Compiled(original(model), options))


def disable_callable(model: Any, reason: str | None) -> Any:
    """Return ``model``, a function or a module, so that it is not recorded."""
    if isinstance(model, Module):
        plain = model._orig_mod if isinstance(model, OptimizedModule) else model
        return OptimizedModule(plain, DisableContext(reason))
    if isinstance(model, type):
        return model
    made = as_function(original(model), Disabled(original(model), reason))
    made._torchdynamo_disable = True
    return made


def original(function: Any) -> Any:
    """Return the function from which ``compile`` or ``disable`` made ``function``, or itself."""
    return getattr(function, "_torchdynamo_orig_callable", function)


def as_function(function: Any, called: Callable[..., Any]) -> Any:
    """Return a function that calls ``called`` and looks like ``function``; it binds as a method."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return called(*args, **kwargs)

    names = [name for name in functools.WRAPPER_ASSIGNMENTS if hasattr(function, name)]
    functools.update_wrapper(wrapper, function, names)
    wrapper._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    wrapper._compiled = called  # type: ignore[attr-defined]
    return wrapper


def optimize(*args: Any, **kwargs: Any) -> Any:
    """Return a decorator that compiles a function or module; the older name of ``compile``.

    Args:
        *args: The backend, see ``compile``.
        **kwargs: ``nopython`` is ``fullgraph`` of ``compile``; ``disable`` as there.

    Example:
        >>> tt._dynamo.optimize("inductor")(lambda x: x + 1)(tt.zeros(1))
        tensor([1.])
    """
    options = make_options(
        backend=args[0] if args else None, fullgraph=bool(kwargs.get("nopython"))
    )

    def decorate(function: Any) -> Any:
        return function if kwargs.get("disable") else compile_callable(function, options)

    return decorate


def graph_break(msg: str = "") -> None:
    """Make a call of a compiled function that is being recorded run eagerly from then on.

    Args:
        msg: Text for the warning.

    Example:
        >>> tt._dynamo.graph_break()
    """
    recorder = current_recorder()
    if recorder is not None:
        recorder.note_break(f"graph_break({msg!r})")
