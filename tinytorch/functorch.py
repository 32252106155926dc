"""``functorch``, the older package of ``tinytorch.func``'s functions, and its older functions.

Example:
    >>> from tinytorch.functorch import grad, make_functional
    >>> model, params = make_functional(tt.nn.Linear(1, 1, bias=False))
    >>> [g.item() for g in grad(lambda params: model(params, tt.ones(1)).sum())(params)]
    [1.0]
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .core.tensor import Tensor
from .facade.packages import publish
from .facade.unsupported import absent
from .func import (
    functional_call, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp,
    stack_module_state, vjp, vmap,
)  # fmt: skip
from .nn.module import Module

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble",
    "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "make_functional", "make_functional_with_buffers", "make_fx", "vjp", "vmap",
]  # fmt: skip


class FunctionalModuleWithBuffers(Module):
    """Module that receives its parameters and buffers as arguments of the call.

    Args:
        model: The module.

    Example:
        >>> from tinytorch.functorch import FunctionalModuleWithBuffers
        >>> model = FunctionalModuleWithBuffers(tt.nn.Linear(1, 1, bias=False))
        >>> model((tt.full((1, 1), 3.0),), (), tt.ones(1))
        tensor([3.])
    """

    def __init__(self, model: Module) -> None:
        super().__init__()
        self.stateless_model: Module = copy.deepcopy(model).to("meta")
        self.param_names: tuple[str, ...] = tuple(name for name, _ in model.named_parameters())
        self.buffer_names: tuple[str, ...] = tuple(name for name, _ in model.named_buffers())

    def forward(
        self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any
    ) -> Any:
        """Result of the module with these parameters and buffers."""
        state = dict(zip(self.param_names, params, strict=True))
        state |= dict(zip(self.buffer_names, buffers, strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """Module without buffers that receives its parameters as an argument of the call.

    Args:
        model: The module.

    Example:
        >>> from tinytorch.functorch import FunctionalModule
        >>> FunctionalModule(tt.nn.Linear(1, 1, bias=False))((tt.full((1, 1), 3.0),), tt.ones(1))
        tensor([3.])
    """

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Result of the module with these parameters."""
        return super().forward(params, (), *args, **kwargs)


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """Return a module as a function of its parameters, and copies of the parameters.

    ``func.functional_call`` is the newer function.

    Args:
        model: The module, which is not changed.
        disable_autograd_tracking: Whether the copies do not require grad. Default: False.

    Raises:
        RuntimeError: If the module has buffers.

    Example:
        >>> from tinytorch.functorch import make_functional
        >>> model, params = make_functional(tt.nn.Linear(2, 3))
        >>> model(params, tt.ones(2)).shape
        tinytorch.Size([3])
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    return FunctionalModule(model), _copy_parameters(model, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return a module as a function of its parameters and buffers, and copies of both.

    Args:
        model: The module, which is not changed.
        disable_autograd_tracking: Whether the copies of the parameters do not require grad.
            Default: False.

    Example:
        >>> from tinytorch.functorch import make_functional_with_buffers
        >>> model, params, buffers = make_functional_with_buffers(tt.nn.BatchNorm1d(2))
        >>> len(params), len(buffers)
        (2, 3)
    """
    buffers = tuple(copy.deepcopy([*model.buffers()]))
    params = _copy_parameters(model, disable_autograd_tracking)
    return FunctionalModuleWithBuffers(model), params, buffers


def _copy_parameters(model: Module, detach: bool) -> tuple[Tensor, ...]:
    """Copies of a module's parameters, which do not require grad if ``detach``."""
    params: list[Tensor] = copy.deepcopy([*model.parameters()])
    return tuple(p.detach() if detach else p for p in params)


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return modules of one class as one function, with stacked parameters and buffers.

    ``vmap`` of the function over the parameters and buffers computes all models at once.

    Args:
        models: The modules.

    Raises:
        RuntimeError: If ``models`` is empty, or they differ in class or mode.

    Example:
        >>> from tinytorch.functorch import combine_state_for_ensemble, vmap
        >>> models = [tt.nn.Linear(2, 3) for _ in range(4)]
        >>> model, params, buffers = combine_state_for_ensemble(models)
        >>> vmap(model, (0, 0, None))(params, buffers, tt.ones(2)).shape
        tinytorch.Size([4, 3])
    """
    params, buffers = stack_module_state([*models])
    return FunctionalModuleWithBuffers(models[0]), (*params.values(),), (*buffers.values(),)


make_fx: Callable[..., NoReturn] = absent("functorch.make_fx", "tinytorch does not trace programs")
publish(__name__, "experimental")
