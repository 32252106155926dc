"""Modules that learn the size of their input from the first one they see."""

from __future__ import annotations

from itertools import chain
from typing import Any, cast

from ..core.tensor import Tensor
from .linear import Linear
from .module import Module
from .parameter import Uninitialized, UninitializedParameter, is_lazy

__all__ = ["LazyLinear", "LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a module lazy: its parameters get their shapes in the first call.

    A subclass lists it before the module's class, makes UninitializedParameters in ``__init__``
    and gives them their shapes in ``initialize_parameters``, which gets what ``forward`` gets.

    Attributes:
        cls_to_become: The class of the module once it is initialised; None leaves it as it is.

    Example:
        >>> import tinytorch as tt
        >>> layer = tt.nn.LazyLinear(3)
        >>> layer(tt.ones(2, 5)).shape
        tinytorch.Size([2, 3])
        >>> layer
        Linear(in_features=5, out_features=3, bias=True)
    """

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module = cast(Any, self)
        self._load_hook = module._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = module.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes; to be overridden.

        Args:
            *args: What ``forward`` gets.
            **kwargs: Likewise.

        Raises:
            NotImplementedError: Unless overridden.
        """
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet.

        Example:
            >>> from tinytorch import nn
            >>> nn.LazyLinear(3).has_uninitialized_params()
            True
        """
        return any(is_lazy(member) for member in self._members().values())

    def _members(self) -> dict[str, Any]:
        module = cast(Any, self)
        return dict(chain(module._parameters.items(), module._buffers.items()))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any) -> None:
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        module = cast(Any, self)
        for name, member in module._own_state().items():
            kept = keep_vars or is_lazy(member)
            destination[prefix + name] = member if kept else member.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Before loading: take the shapes from what is loaded."""
        for name, member in self._members().items():
            given = state_dict.get(prefix + name)
            if isinstance(member, Uninitialized) and given is not None and not is_lazy(given):
                member.materialize(given.shape)


def materialize(member: Any, shape: tuple[int, ...]) -> None:
    """Give a parameter or buffer its shape, if it has none yet."""
    if isinstance(member, Uninitialized):
        member.materialize(shape)


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes ``in_features`` from its first input.

    Args:
        out_features: Size of the output's last dimension.
        bias: Whether there is a bias. Default: True.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LazyLinear(3)(tt.ones(2, 5)).shape
        tinytorch.Size([2, 3])
    """

    cls_to_become: type[Module] | None = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters the shapes that fit ``input``."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            materialize(self.weight, (self.out_features, self.in_features))
            materialize(self.bias, (self.out_features,))
            self.reset_parameters()
        # Loaded parameters have their shapes already.
        self.in_features = self.weight.shape[-1]
