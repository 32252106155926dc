"""Parameters that are computed from others: symmetric, orthogonal, normalised weights.

Example:
    >>> from tinytorch import nn
    >>> from tinytorch.nn.utils import parametrize
    >>> class Symmetric(nn.Module):
    ...     def forward(self, x: tt.Tensor) -> tt.Tensor:
    ...         return x.triu() + x.triu(1).mT
    >>> layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    >>> tt.equal(layer.weight, layer.weight.mT)
    True
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.tensor import Tensor
from ...state import no_grad
from ...state.tracebacks import short
from ..container import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]  # fmt: skip

_UNSAFE = (
    "Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag "
    "is enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
)


class _Caches(threading.local):
    """Computed tensors, while a ``cached()`` block of this thread is open."""

    def __init__(self) -> None:
        self.depth = 0
        self.values: dict[tuple[int, str], Any] = {}


_CACHE = _Caches()


@contextmanager
def cached() -> Iterator[None]:
    """Within the block every parametrized tensor is computed once, and then looked up.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> with nn.utils.parametrize.cached():
        ...     layer.weight is layer.weight
        True
    """
    _CACHE.depth += 1
    try:
        yield
    finally:
        _CACHE.depth -= 1
        if not _CACHE.depth:
            _CACHE.values = {}


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in the order they are applied, and what they start from.

    That is ``original``, or ``original0``, ``original1``, ... if the first one's
    ``right_inverse`` gives several tensors. Calling the list computes the tensor.

    Args:
        modules: The parametrizations, at least one.
        original: The parameter or buffer that is parametrized.
        unsafe: Whether shape and dtype may change. Default: False.

    Raises:
        ValueError: If there is no module, or shape, dtype or type of a result are wrong.

    Example:
        >>> from tinytorch import nn
        >>> from tinytorch.nn.utils import parametrize
        >>> layer = nn.Linear(2, 1)
        >>> layer = parametrize.register_parametrization(layer, "weight", nn.Tanh(), unsafe=True)
        >>> layer.parametrizations.weight
        ParametrizationList(
          (0): Tanh()
        )
    """

    #: The one tensor it starts from, where it is one.
    original: Tensor

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            new: Any = original
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    new = _inverse_if_there_is_one(module, new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        before = original.detach()  # for the original gets what it is computed from
        self.is_tensor: bool = isinstance(new, Tensor)
        self.ntensors: int = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            _check_same("forward", before, self())

    def _keep_one(self, original: Tensor, new: Tensor) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        # The same object stays, for an optimizer may hold it already.
        original.data = new.detach()
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, new: Sequence[Any]) -> None:
        for place, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors. Got element "
                    f"{place} of the sequence with type {type(tensor).__name__}."
                )
            kept = tensor.detach().clone()
            if isinstance(original, Parameter):
                kept = Parameter(kept, original.requires_grad)
            _register(self, f"original{place}", kept)

    def _originals(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{place}") for place in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals such that the list computes ``value``.

        Args:
            value: What the parametrized tensor is to be.

        Raises:
            RuntimeError: If one of the parametrizations has no ``right_inverse``.
            ValueError: If what it gives does not fit the originals.

        Example:
            >>> from tinytorch import nn
            >>> class Doubled(nn.Module):
            ...     def forward(self, x):
            ...         return 2 * x
            ...     def right_inverse(self, y):
            ...         return y / 2
            >>> layer = nn.Linear(1, 1)
            >>> layer = nn.utils.parametrize.register_parametrization(layer, "weight", Doubled())
            >>> layer.parametrizations.weight.right_inverse(tt.tensor([[6.0]]))
            >>> layer.weight.item()
            6.0
        """
        with no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                new = module.right_inverse(new)
            given = [new] if self.is_tensor else list(new)
            if len(given) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}."
                    f" Got a sequence of length {len(given)}."
                )
            for original, tensor in zip(self._originals(), given, strict=True):
                if not isinstance(tensor, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(tensor).__name__}"
                    )
                if tensor.dtype != original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {tensor.dtype} while "
                        f"`original` has dtype {original.dtype}"
                    )
                original.data = tensor.detach()

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        first, *rest = list(self)
        x: Tensor = first(*self._originals())
        for module in rest:
            x = module(x)
        return x


@short
def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let ``parametrization`` compute a module's parameter or buffer from now on.

    ``module.parametrizations[tensor_name]`` holds the tensor it starts from. Assigning to
    ``module.<tensor_name>`` sets that through the parametrization's ``right_inverse``, if it has
    one. Several parametrizations of one tensor are applied one after the other.

    Args:
        module: The module; its class becomes a subclass of its own.
        tensor_name: The parameter or buffer.
        parametrization: Called with the original tensor.
        unsafe: Whether shape and dtype may change. Default: False.

    Returns:
        The module.

    Raises:
        ValueError: If there is no such tensor, or shape or dtype change without ``unsafe``.

    Example:
        >>> from tinytorch import nn
        >>> class Positive(nn.Module):
        ...     def forward(self, x: tt.Tensor) -> tt.Tensor:
        ...         return x.exp()
        >>> layer = nn.Linear(2, 1)
        >>> _ = nn.utils.parametrize.register_parametrization(layer, "weight", Positive())
        >>> bool((layer.weight > 0).all())
        True
    """
    # What it computes depends on the mode from the start.
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _add(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original: Any = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        _lists(module)[tensor_name] = made
        _set_class(module)
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _add(module: Module, tensor_name: str, parametrization: Module, unsafe: bool) -> None:
    """Put one more parametrization behind those of a tensor."""
    held = _lists(module)[tensor_name]
    if unsafe:
        held.unsafe = True
    else:
        with no_grad():
            before = getattr(module, tensor_name)
            after = parametrization(before)
            _check_same("forward", before, after)
            if hasattr(parametrization, "right_inverse"):
                inverse = _inverse_if_there_is_one(parametrization, after)
                _check_same("right_inverse", before, inverse)
    held.append(parametrization)


@short
def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrized tensor, or this one is.

    Args:
        module: The module.
        tensor_name: A parameter or buffer. Default: any.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> nn.utils.parametrize.is_parametrized(layer, "bias")
        False
    """
    held = module._modules.get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


@short
def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a parametrized tensor an ordinary one again.

    Args:
        module: The module.
        tensor_name: The parametrized tensor.
        leave_parametrized: Whether it keeps the value that was computed, instead of the
            original's. Default: True.

    Returns:
        The module.

    Raises:
        ValueError: If the tensor is not parametrized, or there are several originals to go back
            to.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> nn.utils.parametrize.remove_parametrizations(layer, "weight")
        Linear(in_features=2, out_features=2, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = _lists(module)[tensor_name]
    value: Tensor = getattr(module, tensor_name)
    if held.is_tensor:
        tensor = held.original
        if leave_parametrized:
            tensor.data = value.detach()
    elif leave_parametrized:
        tensor = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    del _lists(module)[tensor_name]
    _set_class(module)
    _register(module, tensor_name, tensor)
    return module


@short
def type_before_parametrizations(module: Module) -> type:
    """A module's class, without what parametrizing made of it.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> nn.utils.parametrize.type_before_parametrizations(layer).__name__
        'Linear'
    """
    kind = type(module)
    return kind.__bases__[0] if kind.__dict__.get("__getstate__") is _no_state else kind


@short
def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give one module the parametrized tensors of another.

    Both then share the parametrizations and the tensors that these start from.

    Args:
        from_module: Whose parametrizations are shared; without any, nothing happens.
        to_module: The module that gets them; a tensor it has not is made.
        tensor_name: Which tensor's. Default: all that are parametrized.

    Returns:
        ``to_module``.

    Raises:
        KeyError, AttributeError: If another tensor than ``tensor_name`` is parametrized.
        ValueError: If a tensor of ``to_module`` has another shape or dtype than is computed.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> other = nn.Linear(2, 2)
        >>> _ = nn.utils.parametrize.transfer_parametrizations_and_params(layer, other)
        >>> (other.weight == layer.weight).all()
        tensor(True)
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(_lists(from_module)) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            _register(to_module, name, Parameter(getattr(from_module, name).detach()))
        source = _lists(from_module)[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = _lists(to_module)[name]
        for key, tensor in [*source._parameters.items(), *source._buffers.items()]:
            setattr(target, key, tensor)
    return to_module


def _lists(module: Module) -> Any:
    """The parametrizations of a module by the names of its tensors."""
    held = module._modules.get("parametrizations")
    if not isinstance(held, ModuleDict):
        held = ModuleDict()
        module.add_module("parametrizations", held)
    return held


def _no_state(module: Module) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict()."
    )


def _deepcopy(module: Module, memo: dict[int, Any]) -> Module:
    replica = type(module).__new__(type(module))
    memo[id(module)] = replica
    # Its class refuses to be pickled; a copy is made of what the class before would save.
    base: Any = type_before_parametrizations(module)
    state = base.__getstate__(module)
    replica.__setstate__(copy.deepcopy(state, memo))
    return replica


def _set_class(module: Module) -> None:
    """Give a module the class whose properties are its parametrized tensors, or its own back."""
    base = type_before_parametrizations(module)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = base
        return
    body = {"__module__": __name__, "__getstate__": _no_state, "__deepcopy__": _deepcopy}
    properties = {name: _computed(name) for name in _lists(module)}
    made = type(f"Parametrized{base.__name__}", (base,), {**body, **properties})
    module.__class__ = made


def _computed(name: str) -> property:
    """A property that computes the parametrized tensor ``name``, and sets what it comes from."""

    def get(module: Any) -> Tensor:
        made: Any = module.parametrizations[name]
        if not _CACHE.depth:
            return made()  # type: ignore[no-any-return]
        key = (id(module), name)
        if key not in _CACHE.values:
            _CACHE.values[key] = made()
        return _CACHE.values[key]  # type: ignore[no-any-return]

    def set_(module: Any, value: Tensor) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, set_)


def _inverse_if_there_is_one(module: Any, value: Tensor) -> Any:
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


def _check_same(method: str, before: Tensor, after: Any) -> None:
    """ValueError unless ``after`` is a tensor of the shape and dtype of ``before``."""
    if not isinstance(after, Tensor):
        what = "A parametrization" if method == "forward" else method
        raise ValueError(f"{what} must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(before, what) != getattr(after, what):
            raise ValueError(
                _UNSAFE.format(what=what, before=getattr(before, what), after=getattr(after, what))
                + ("" if method == "forward" else f"\n(in {method})")
            )


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)
