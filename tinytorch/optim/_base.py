"""How the optimizers get from parameter groups to one kernel call over many arrays.

The kernels' ``xp`` of a step over tensors: one that is recorded, or whose rate is a tensor.

The functional forms of the optimizers: one step over lists of tensors, ``optim.adam.adam``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, TypeAlias, TypeVar

from .. import backends
from ..backends.base import Backend
from ..core.tensor import Tensor, wrap
from ..graph.late_bound import ABOVE
from ..state import default_dtype, enable_grad, no_grad
from ._kernels import update
from .optimizer import Optimizer, ParamGroup

__all__ = [
    "ArrayOptimizer",
    "Bucket",
    "RecordedArrays",
    "check",
    "check_averages",
    "check_betas",
    "check_lr",
    "functional",
    "number",
    "numbers_stay",
    "run",
]


class RecordedArrays:
    """NumPy's names over tensors.

    Parameters and state are changed in place, as ``out=`` says, by a copy that is recorded;
    what the kernels use for intermediate results is left alone, for the graph may have
    saved it. For the same reason operations see clones of what will be changed.

    Args:
        tensors: The parameters and their state.
    """

    block_elements = None

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self.kept = {id(tensor) for tensor in tensors}

    def add_scaled(
        self, target: Tensor, array: Tensor, scale: Any, keep: Any = 1.0, buffer: Any = None
    ) -> None:
        """``Backend.add_scaled``; a factor that is a tensor is not looked at."""
        if isinstance(keep, Tensor) or keep != 1.0:
            self.multiply(target, keep, out=target)
        if isinstance(scale, Tensor) or scale != 1.0:
            array = self.multiply(array, scale)
        self.add(target, array, out=target)

    def kernel(self, name: str) -> None:
        """A fused kernel records nothing: use the shared twin."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(ABOVE.graph_namespace(), name)

        def record(*args: Any, out: Tensor | None = None) -> Any:
            result = function(*(a.clone() if self._is_kept(a) else a for a in args))
            return out.copy_(result) if self._is_kept(out) else result  # type: ignore[union-attr]

        return record

    def _is_kept(self, value: Any) -> bool:
        # A kernel's views are views of what is kept: parts of complex tensors.
        return isinstance(value, Tensor) and (id(value) in self.kept or value._is_view())


# fmt: skip

Closure: TypeAlias = Callable[[], Any]


class Bucket:
    """Parameters that one kernel call updates: same backend, same device, same key.

    Attributes:
        xp: Their backend; None where the step is over tensors.
        key: What the optimizer wanted to be the same, such as the step count.
        names: The state that the kernel takes; None for a column that stays empty.
        rows: Per parameter the tensor, its gradient and its state.
    """

    __slots__ = ("xp", "key", "names", "rows")

    def __init__(self, xp: Backend | None, key: Any, names: Sequence[str | None]) -> None:
        self.xp = xp
        self.key = key
        self.names = names
        self.rows: list[tuple[Any, ...]] = []

    def run(self, kernel: str, **numbers: Any) -> None:
        """Update the parameters and the state in place."""
        tensors = zip(*self.rows, strict=True)
        if self.xp is None:
            recorded: Any = RecordedArrays(tensor for row in self.rows for tensor in row)
            update(recorded, kernel, *self._with_gaps(tensors), **numbers)
            return
        arrays = ([tensor._data for tensor in column] for column in tensors)
        update(self.xp, kernel, *self._with_gaps(arrays), **numbers)
        for row in self.rows:
            row[0]._bump()

    def _with_gaps(self, columns: Iterator[Any]) -> Iterator[Any]:
        yield next(columns)
        yield next(columns)
        for name in self.names:
            yield next(columns) if name else ()


class ArrayOptimizer(Optimizer):
    """An optimizer whose update is a kernel over arrays."""

    #: State that ``_init_group`` lists, in the order of its arguments.
    _listed_state: tuple[str, ...] = ()
    #: ``_init_group`` of the optimizer that wrote it, and not of a user's subclass.
    _own_init_group: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_listed_state" in vars(cls):
            cls._own_init_group = cls._init_group

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters once, from their gradients; those without are skipped.

        Args:
            closure: Computes the loss anew and returns it: clears the gradients and calls
                ``backward`` itself. Default: none, use the gradients that are there.

        Returns:
            What ``closure`` returned, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._step_group(group)
        return loss

    def _step_group(self, group: ParamGroup) -> None:
        with no_grad() if numbers_stay(group) else nullcontext():
            if type(self)._init_group is not type(self)._own_init_group:
                group = self._collect(group)
            self._update(group)

    def _collect(self, group: ParamGroup) -> ParamGroup:
        """The group with the parameters and gradients that an override of ``_init_group`` lists."""
        params: list[Tensor] = []
        grads: list[Tensor] = []
        self._init_group(group, params, grads, *([] for _ in self._listed_state))
        return {**group, "params": params, "grads": grads}

    def _update(self, group: ParamGroup) -> None:
        """Update the parameters of one group."""
        raise NotImplementedError

    def _init_group(
        self, group: ParamGroup, params: list[Tensor], grads: list[Tensor], *states: list[Any]
    ) -> Any:
        """List the parameters that have a gradient, their gradients and their state.

        Args:
            group: The parameter group.
            params: List that the parameters are appended to.
            grads: List that their gradients are appended to.
            *states: A list for each name in ``_listed_state``.

        Returns:
            Whether a parameter is complex.
        """
        has_complex = False
        for p, grad in with_gradients(group):
            if grad is None:
                continue
            has_complex |= p.is_complex()
            params.append(p)
            grads.append(grad)
            state = self.state[p]
            if not state:
                state.update(self._start(p, group))
            for name, column in zip(self._listed_state, states, strict=True):
                if name in state:
                    column.append(state[name])
        return has_complex

    def _start(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        """The state of a parameter before its first step."""
        raise NotImplementedError

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> Any:
        """Count one step in the state of a parameter; its bucket's key, here the count.

        ``fresh`` says that the state was made just now.
        """
        return increase(state["step"], 1.0)

    def _buckets(self, group: ParamGroup, names: Sequence[str | None]) -> Iterable[Bucket]:
        """The parameters of ``group`` that have a gradient, with their state.

        Args:
            group: The parameter group.
            names: The state that the kernel takes, in its order; None leaves a column empty.
        """
        over_tensors = group.get("differentiable", False) or numbers_stay(group)
        kept = [name for name in names if name]
        found: dict[Any, Bucket] = {}
        for p, grad in with_gradients(group):
            if grad is None:
                continue
            key, row = None, (p, grad)
            if kept:
                state, key = self._enter(p, group)
                row = (p, grad, *[state[name] for name in kept])
            xp = None if over_tensors else p._xp
            place = (xp, xp and xp.device_index(p._data), key)
            bucket = found.get(place)
            if bucket is None:
                bucket = found[place] = Bucket(xp, key, names)
            bucket.rows.append(row)
        return found.values()

    def _enter(self, p: Tensor, group: ParamGroup) -> tuple[dict[str, Any], Any]:
        state = self.state[p]
        fresh = not state
        if fresh:
            state.update(self._start(p, group))
        return state, self._advance(state, group, fresh)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for entry in self.state.values():
            # Checkpoints of old PyTorch releases hold plain numbers here.
            if isinstance(entry, dict) and not isinstance(entry.get("step", None), Tensor | None):
                entry["step"] = scalar_state(float(entry["step"]))


def with_gradients(group: ParamGroup) -> Iterable[tuple[Tensor, Tensor | None]]:
    """The parameters with their gradients, or with those that a functional form was given."""
    if "grads" in group:
        return zip(group["params"], group["grads"], strict=True)
    return ((p, p.grad) for p in group["params"])


def like(p: Tensor, value: complex = 0.0) -> Tensor:
    """State of a parameter's shape and dtype, filled with ``value``."""
    xp = p._xp
    return wrap(xp.full_like(p._data, value) if value else xp.zeros_like(p._data), xp)


def scalar_state(value: float = 0.0) -> Tensor:
    """A number of the state, such as the step count: a 0-d tensor, always on the CPU.

    It is float64 where that is the default dtype, else float32, as in PyTorch.
    """
    xp = backends.load("numpy")
    name = "float64" if default_dtype().name == "float64" else "float32"
    return wrap(xp.full((), value, dtype=name), xp)


def increase(number: Tensor, by: float) -> float:
    """Add to a number of the state; the sum. Faster than arithmetic on a 0-d array."""
    data = number._data
    data[...] = data.item() + by
    return float(data.item())


def number(value: Any, group: ParamGroup | None = None) -> Any:
    """A hyper-parameter as a Python number; one-element tensors are accepted everywhere.

    In a differentiable ``group`` it stays what it is: gradients flow to it too. So does one
    that is on a device in a capturable or fused one: the host does not wait for it.
    """
    if not isinstance(value, Tensor) or (group is not None and group["differentiable"]):
        return value
    if group is not None and _stays(value, group):
        return value.reshape(())
    return value.item()


def numbers_stay(group: ParamGroup) -> bool:
    """Whether a step takes the learning rate or other numbers as the tensors that they are."""
    if not (group.get("capturable") or group.get("fused")) or group.get("differentiable"):
        return False
    numbers = group["lr"], group.get("weight_decay"), *group.get("betas", ())
    return any(_stays(value, group) for value in numbers)


def _stays(value: Any, group: ParamGroup) -> bool:
    if not isinstance(value, Tensor) or value.is_cpu:
        return False
    return bool(group.get("capturable") or group.get("fused"))


def check(valid: bool, what: str, value: object) -> None:
    """Raise ``ValueError("Invalid <what>: <value>")`` unless ``valid``."""
    if not valid:
        raise ValueError(f"Invalid {what}: {value}")


def check_lr(lr: Any) -> None:
    """Refuse a negative learning rate and a tensor of several."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check(0.0 <= number(lr), "learning rate", lr)


def check_betas(betas: Sequence[Any]) -> None:
    """Refuse decay rates outside [0, 1)."""
    for index, beta in enumerate(betas):
        check(0.0 <= number(beta) < 1.0, f"beta parameter at index {index}", beta)


def check_averages(lr: Any, betas: Sequence[Any], eps: float, weight_decay: float) -> None:
    """Refuse what Adam and its relatives refuse."""
    check_lr(lr)
    check(0.0 <= eps, "epsilon value", eps)
    check_betas(betas)
    check(0.0 <= weight_decay, "weight_decay value", weight_decay)


def check_implementation(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Refuse the combinations of implementation switches that PyTorch refuses.

    ``foreach`` selects nothing here: the backend's one kernel, which works on all tensors at
    once, is always used. ``fused`` says that numbers on a device are to stay there.
    """
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


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
