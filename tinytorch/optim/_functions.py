"""The functional forms of the optimizers: one step over lists of tensors, ``optim.adam.adam``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ..core.tensor import Tensor
from ._base import ArrayOptimizer

__all__ = ["functional", "run"]

_F = TypeVar("_F", bound=Callable[..., None])
#: What the classes call an entry of the state whose lists have another name than its plural.
_STATE = {
    "momentum_buffer_list": "momentum_buffer", "state_sums": "sum", "state_steps": "step",
    "etas": "eta", "mus": "mu",
}  # fmt: skip
#: What is accepted, for it selects or says nothing here.
_IGNORED = ("foreach", "has_complex", "has_sparse_grad")
_MEANINGS = {
    "params": "The parameters; they change in place.",
    "grads": "Their gradients.",
    "d_p_list": "Their gradients.",
    "momentum_buffer_list": "Their velocities; None before the first step, and written then.",
    "max_exp_avg_sqs": "The largest of these; empty without ``amsgrad``.",
    "grad_avgs": "Averages of the gradients; empty unless ``centered``.",
    "state_steps": "Steps so far, tensors of one number each.",
    "grad_scale": "None.",
    "found_inf": "None.",
    "differentiable": "Record the step, so that gradients flow through it.",
    **dict.fromkeys(_IGNORED, "Accepted; selects nothing."),
    "fused": "Accepted, and ``capturable``: see the class.",
    "capturable": "See the class.",
    "beta1": "The first of the class's ``betas``.",
    "beta2": "The second of the class's ``betas``.",
}


def functional(kind: type[ArrayOptimizer], example: str) -> Callable[[_F], _F]:
    """Give a functional form its docstring.

    Args:
        kind: The optimizer.
        example: The arguments of an example, behind parameters and gradients.
    """

    def decorate(form: _F) -> _F:
        module, name = form.__module__.removeprefix("tinytorch."), form.__name__
        meant = "".join(
            f"    {p}: {_meaning(kind, p)}\n" for p in inspect.signature(form).parameters
        )
        form.__doc__ = (
            f"One step of ``{kind.__name__}`` over lists of tensors, which change in place.\n\n"
            f"Args:\n{meant}\nRaises:\n    RuntimeError: If a count of steps is no tensor.\n"
            "    NotImplementedError: For ``grad_scale`` or ``found_inf``.\n\nExample:\n"
            f"    >>> import tinytorch as tt\n    >>> w, g = tt.zeros(2), tt.tensor([1.0, -2.0])\n"
            f"    >>> tt.{module}.{name}([w], [g], {example})\n"
            "    >>> w.sign()\n    tensor([-1.,  1.])\n"
        )
        return form

    return decorate


def _meaning(kind: type[ArrayOptimizer], parameter: str) -> str:
    if parameter in _MEANINGS:
        return _MEANINGS[parameter]
    listed = parameter.endswith("s") and parameter not in ("eps", "weight_decays")
    what = "State" if listed else "Hyper-parameter"
    return f"{what} of ``{kind.__name__}``."


def run(
    kind: type[ArrayOptimizer], params: list[Tensor], grads: list[Tensor], given: dict[str, Any],
    **more: Any,
) -> None:  # fmt: skip
    """Update parameters as an optimizer of a class does.

    Args:
        kind: The class.
        params: The parameters.
        grads: Their gradients.
        given: All arguments of the form, by name: lists are state, an empty one is not kept.
        **more: Hyper-parameters that the class's groups have by another name.
    """
    for name in ("grad_scale", "found_inf"):
        if given.get(name) is not None:
            raise NotImplementedError(f"{kind.__name__}: {name} is not supported; use GradScaler")
    if not all(isinstance(step, Tensor) for step in given.get("state_steps", ())):
        raise RuntimeError("`state_steps` argument must contain a list of singleton tensors")
    columns = {
        _STATE.get(name, name.removesuffix("s")): column
        for name, column in given.items()
        if isinstance(column, list) and column and column is not params and column is not grads
    }
    optimizer: Any = object.__new__(kind)
    optimizer.state = {
        p: {name: column[at] for name, column in columns.items() if column[at] is not None}
        for at, p in enumerate(params)
    }
    group = {"capturable": False, "differentiable": False, **given, **more}
    optimizer._step_group({**group, "params": params, "grads": grads})
    for name, column in columns.items():
        column[:] = [optimizer.state[p].get(name) for p in params]
