"""Parametrizations: modules that compute a parameter, for example a symmetric matrix.

Example:
    >>> from tinytorch.nn.utils import parametrize
    >>> class Symmetric(tt.nn.Module):
    ...     def forward(self, x: tt.Tensor) -> tt.Tensor:
    ...         return x.triu() + x.triu(1).mT
    >>> layer = parametrize.register_parametrization(tt.nn.Linear(3, 3), "weight", Symmetric())
    >>> tt.equal(layer.weight, layer.weight.mT)
    True
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...state import no_grad
from ...state.bindings import contextmanager
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
    """Computed tensors of the contexts ``cached()`` that are active in this thread."""

    def __init__(self) -> None:
        self.depth = 0
        self.values: dict[tuple[int, str], Any] = {}


_CACHE = _Caches()


@contextmanager
def cached() -> Iterator[None]:
    """Context in which each parametrized tensor is computed once, then read from a cache.

    Example:
        >>> layer = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 2))
        >>> with tt.nn.utils.parametrize.cached():
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
    """Parametrizations of one tensor, in the order of application, and their original tensors.

    The input of the first is ``original``; if its ``right_inverse`` returns several tensors, they
    are ``original0``, ``original1`` and so on. Calling the list computes the tensor.

    Args:
        modules: The parametrizations, at least one.
        original: The parameter or buffer that is parametrized.
        unsafe: Whether shape and dtype may change. Default: False.

    Raises:
        ValueError: If ``modules`` is empty, or shape, dtype or type of a result is wrong.

    Example:
        >>> from tinytorch.nn.utils import parametrize
        >>> layer = tt.nn.Linear(2, 1)
        >>> layer = parametrize.register_parametrization(layer, "weight", tt.nn.Tanh(), unsafe=True)
        >>> layer.parametrizations.weight
        ParametrizationList(
          (0): Tanh()
        )
    """

    #: The original tensor, if there is only one.
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
                    new = _apply_right_inverse(module, new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        before = original.detach()  # the data of ``original`` is replaced below
        self.is_tensor: bool = isinstance(new, Tensor)
        self.ntensors: int = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            self._register_one(original, new)
        else:
            self._register_several(original, new)
        if not unsafe:
            _check_same("forward", before, self())

    def _register_one(self, original: Tensor, new: Tensor) -> None:
        """Register ``original`` with the data of ``new``, the result of ``right_inverse``."""
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        # Register the same object: an optimizer may refer to it.
        original.data = new.detach()
        _register(self, "original", original)

    def _register_several(self, original: Tensor, new: Sequence[Any]) -> None:
        """Register copies of several results of ``right_inverse`` as ``original0`` and so on."""
        for place, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors. Got element "
                    f"{place} of the sequence with type {type(tensor).__name__}."
                )
            copied = tensor.detach().clone()
            if isinstance(original, Parameter):
                copied = Parameter(copied, original.requires_grad)
            _register(self, f"original{place}", copied)

    def _originals(self) -> list[Tensor]:
        """Return the original tensors."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{place}") for place in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the original tensors so that the list computes ``value``.

        Args:
            value: New value of the parametrized tensor.

        Raises:
            RuntimeError: If a parametrization has no ``right_inverse``.
            ValueError: If the result of a ``right_inverse`` does not match the original tensors.

        Example:
            >>> class Doubled(tt.nn.Module):
            ...     def forward(self, x):
            ...         return 2 * x
            ...     def right_inverse(self, y):
            ...         return y / 2
            >>> layer = tt.nn.Linear(1, 1)
            >>> layer = tt.nn.utils.parametrize.register_parametrization(layer, "weight", Doubled())
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
            tensors = [new] if self.is_tensor else list(new)
            if len(tensors) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}."
                    f" Got a sequence of length {len(tensors)}."
                )
            for original, tensor in zip(self._originals(), tensors, strict=True):
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
        """Compute the parametrized tensor."""
        first, *rest = list(self)
        x: Tensor = first(*self._originals())
        for module in rest:
            x = module(x)
        return x


@short
def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Replace a parameter or buffer by a property that ``parametrization`` computes.

    ``module.parametrizations[tensor_name]`` contains the original tensor. Assigning to
    ``module.<tensor_name>`` sets it through the parametrization's ``right_inverse``, if it has
    one. Several parametrizations of one tensor are applied one after the other.

    Args:
        module: The module; its class is replaced by a subclass.
        tensor_name: Name of the parameter or buffer.
        parametrization: Called with the original tensor.
        unsafe: Whether shape and dtype may change. Default: False.

    Returns:
        The module.

    Raises:
        ValueError: If there is no tensor of that name, or shape or dtype change without ``unsafe``.

    Example:
        >>> class Positive(tt.nn.Module):
        ...     def forward(self, x: tt.Tensor) -> tt.Tensor:
        ...         return x.exp()
        >>> layer = tt.nn.Linear(2, 1)
        >>> _ = tt.nn.utils.parametrize.register_parametrization(layer, "weight", Positive())
        >>> bool((layer.weight > 0).all())
        True
    """
    # Its output can depend on the mode, and it is called below.
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _add(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original: Any = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        _lists(module)[tensor_name] = parametrizations
        _set_class(module)
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _add(module: Module, tensor_name: str, parametrization: Module, unsafe: bool) -> None:
    """Append a parametrization to those of a parametrized tensor.

    Unless ``unsafe``, check first that it changes neither shape nor dtype.
    """
    parametrizations = _lists(module)[tensor_name]
    if unsafe:
        parametrizations.unsafe = True
    else:
        with no_grad():
            before = getattr(module, tensor_name)
            after = parametrization(before)
            _check_same("forward", before, after)
            if hasattr(parametrization, "right_inverse"):
                inverse = _apply_right_inverse(parametrization, after)
                _check_same("right_inverse", before, inverse)
    parametrizations.append(parametrization)


@short
def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrized tensor.

    Args:
        module: The module.
        tensor_name: Name of the tensor. Default: any tensor.

    Example:
        >>> layer = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 2))
        >>> tt.nn.utils.parametrize.is_parametrized(layer, "bias")
        False
    """
    lists = module._modules.get("parametrizations")
    if not isinstance(lists, ModuleDict):
        return False
    return len(lists) > 0 if tensor_name is None else tensor_name in lists


@short
def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a parametrized tensor an ordinary one again.

    Args:
        module: The module.
        tensor_name: Name of the parametrized tensor.
        leave_parametrized: Whether its value is the computed one instead of the original one.
            Default: True.

    Returns:
        The module.

    Raises:
        ValueError: If the tensor is not parametrized, or ``leave_parametrized`` is False and there
            are several original tensors.

    Example:
        >>> layer = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 2))
        >>> tt.nn.utils.parametrize.remove_parametrizations(layer, "weight")
        Linear(in_features=2, out_features=2, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = _lists(module)[tensor_name]
    value: Tensor = getattr(module, tensor_name)
    if parametrizations.is_tensor:
        tensor = parametrizations.original
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
    """Return the class that a module had before it was parametrized.

    Example:
        >>> layer = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 2))
        >>> tt.nn.utils.parametrize.type_before_parametrizations(layer).__name__
        'Linear'
    """
    kind = type(module)
    return kind.__bases__[0] if kind.__dict__.get("__getstate__") is _raise_on_pickle else kind


@short
def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give one module the parametrized tensors of another.

    Both then share the parametrizations and the original tensors.

    Args:
        from_module: The module with the parametrizations; without any, nothing is changed.
        to_module: The module that gets them; if it lacks a tensor, a parameter is registered.
        tensor_name: Name of the tensor. Default: all parametrized tensors.

    Returns:
        ``to_module``.

    Raises:
        KeyError, AttributeError: If ``tensor_name`` is not parametrized.
        ValueError: If a tensor of ``to_module`` has not the shape or dtype of the computed one.

    Example:
        >>> layer = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 2))
        >>> other = tt.nn.Linear(2, 2)
        >>> _ = tt.nn.utils.parametrize.transfer_parametrizations_and_params(layer, other)
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
    """Return the ``ModuleDict`` of a module's ParametrizationLists by tensor name, or add one."""
    lists = module._modules.get("parametrizations")
    if not isinstance(lists, ModuleDict):
        lists = ModuleDict()
        module.add_module("parametrizations", lists)
    return lists


def _raise_on_pickle(module: Module) -> Any:
    """``__getstate__`` of parametrized modules."""
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict()."
    )


def _deepcopy(module: Module, memo: dict[int, Any]) -> Module:
    """``__deepcopy__`` of parametrized modules."""
    replica = type(module).__new__(type(module))
    memo[id(module)] = replica
    # The class itself has a __getstate__ that raises.
    base: Any = type_before_parametrizations(module)
    state = base.__getstate__(module)
    replica.__setstate__(copy.deepcopy(state, memo))
    return replica


def _set_class(module: Module) -> None:
    """Set the class of a module to one with properties for its parametrized tensors, if any."""
    base = type_before_parametrizations(module)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = base
        return
    body = {"__module__": __name__, "__getstate__": _raise_on_pickle, "__deepcopy__": _deepcopy}
    properties = {name: _parametrized_property(name) for name in _lists(module)}
    name = f"Parametrized{base.__name__}"
    module.__class__ = type(name, (base,), {**body, **properties})


def _parametrized_property(name: str) -> property:
    """Return a property that computes a parametrized tensor, and sets it by ``right_inverse``."""

    def compute_tensor(module: Any) -> Tensor:
        """Compute the tensor, or return it from the cache inside ``cached()``."""
        compute: Any = module.parametrizations[name]
        if not _CACHE.depth:
            return compute()  # type: ignore[no-any-return]
        key = (id(module), name)
        if key not in _CACHE.values:
            _CACHE.values[key] = compute()
        return _CACHE.values[key]  # type: ignore[no-any-return]

    def set_original(module: Any, value: Tensor) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(compute_tensor, set_original)


def _apply_right_inverse(module: Any, value: Tensor) -> Any:
    """Call ``right_inverse``; return ``value`` if it raises NotImplementedError."""
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


def _check_same(method: str, before: Tensor, after: Any) -> None:
    """Raise ValueError if ``after`` is not a tensor of the shape and dtype of ``before``.

    ``method``, ``"forward"`` or ``"right_inverse"``, is the one that returned ``after``.
    """
    if not isinstance(after, Tensor):
        function = "A parametrization" if method == "forward" else method
        raise ValueError(f"{function} must return a tensor. Got {type(after).__name__}.")
    for name in ("dtype", "shape"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            raise ValueError(
                _UNSAFE.format(what=name, before=old, after=new)
                + ("" if method == "forward" else f"\n(in {method})")
            )


def _register(module: Module, name: str, tensor: Tensor) -> None:
    """Register a tensor as a parameter if it is one, else as a buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)
