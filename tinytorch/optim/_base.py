"""Base class of the optimizers whose update is one kernel call over many arrays.

``RecordedArrays`` takes the place of ``xp`` in a step over tensors, which is a step that autograd
records or one whose learning rate is a tensor on a device. ``document_functional`` and
``run_functional`` build the functional forms, such as ``optim.adam.adam``: one step over lists of
tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, TypeAlias, TypeVar

from .. import backends
from ..backends.base import Backend
from ..core.tensor import Tensor, wrap
from ..graph.late_bound import LATE_BOUND
from ..state import default_dtype, enable_grad, no_grad
from ._kernels import update
from .optimizer import Optimizer, ParamGroup

__all__ = [
    "ArrayOptimizer",
    "Bucket",
    "RecordedArrays",
    "check",
    "check_adam_arguments",
    "check_betas",
    "check_lr",
    "document_functional",
    "to_number",
    "has_device_scalars",
    "run_functional",
]


class RecordedArrays:
    """Stand-in for a backend's ``xp`` whose functions operate on tensors.

    An ``out=`` that is a parameter or a state changes in place, by a recorded ``copy_``. An
    ``out=`` that is an intermediate result is left unchanged, because the graph may have saved
    it. For the same reason operations receive clones of the tensors that will change.

    Args:
        tensors: The parameters and their state.
    """

    block_elements = None

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self.updated_ids = {id(tensor) for tensor in tensors}

    def add_scaled(
        self, target: Tensor, array: Tensor, scale: Any, keep: Any = 1.0, buffer: Any = None
    ) -> None:
        """Compute ``target = keep * target + scale * array`` in place, as a backend does.

        A tensor as a factor is always multiplied: a comparison with 1 would read its value.
        ``buffer`` is not used.
        """
        if isinstance(keep, Tensor) or keep != 1.0:
            self.multiply(target, keep, out=target)
        if isinstance(scale, Tensor) or scale != 1.0:
            array = self.multiply(array, scale)
        self.add(target, array, out=target)

    def kernel(self, name: str) -> None:
        """Return None, since a fused kernel would not be recorded."""

    def __getattr__(self, name: str) -> Any:
        """Return a function that runs the operation ``name`` on tensors, recorded by autograd.

        Like a backend's function, the returned one accepts ``out``.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(LATE_BOUND.graph_namespace(), name)

        def record(*args: Any, out: Tensor | None = None) -> Any:
            """Call the operation with clones of what changes later; copy the result to ``out``."""
            result = function(*(a.clone() if self._is_updated_in_place(a) else a for a in args))
            return out.copy_(result) if self._is_updated_in_place(out) else result  # type: ignore[union-attr]

        return record

    def _is_updated_in_place(self, value: Any) -> bool:
        """Whether ``value`` is a parameter or state that this step updates, or a view of one."""
        # The views in a kernel are the real and imaginary parts of parameters and state.
        return isinstance(value, Tensor) and (id(value) in self.updated_ids or value._is_view())


# fmt: skip

Closure: TypeAlias = Callable[[], Any]


class Bucket:
    """Parameters that one kernel call updates: same backend, same device, same key.

    Attributes:
        xp: The backend of the parameters; None for a step over tensors.
        key: A value that all parameters share, such as the step count.
        names: Names of the state that the kernel takes; None for a column that stays empty.
        rows: For each parameter the tensor, its gradient and its state.
    """

    __slots__ = ("xp", "key", "names", "rows")

    def __init__(self, xp: Backend | None, key: Any, names: Sequence[str | None]) -> None:
        self.xp = xp
        self.key = key
        self.names = names
        self.rows: list[tuple[Any, ...]] = []

    def run(self, kernel: str, **numbers: Any) -> None:
        """Update the parameters and the state of the bucket in place.

        Args:
            kernel: Name of the update, a key of ``_kernels.KERNELS``.
            **numbers: The hyperparameters of the update.
        """
        tensors = zip(*self.rows, strict=True)
        if self.xp is None:
            recorded: Any = RecordedArrays(tensor for row in self.rows for tensor in row)
            update(recorded, kernel, *self._fill_columns(tensors), **numbers)
            return
        arrays = ([tensor._data for tensor in column] for column in tensors)
        update(self.xp, kernel, *self._fill_columns(arrays), **numbers)
        for row in self.rows:
            row[0]._bump()

    def _fill_columns(self, columns: Iterator[Any]) -> Iterator[Any]:
        """Yield the columns of parameters and gradients, then one for each entry of ``names``.

        The column of an entry None is an empty tuple. ``columns`` has no column for such an entry.
        """
        yield next(columns)
        yield next(columns)
        for name in self.names:
            yield next(columns) if name else ()


class ArrayOptimizer(Optimizer):
    """An optimizer whose update is a kernel over arrays."""

    #: Names of the state that ``_init_group`` lists, in the order of its arguments.
    _listed_state: tuple[str, ...] = ()
    #: The library's ``_init_group``, to detect an override in a user's subclass.
    _own_init_group: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_listed_state" in vars(cls):
            cls._own_init_group = cls._init_group

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters once, from their gradients; skip parameters without one.

        Args:
            closure: Function that clears the gradients, computes the loss, calls ``backward``
                and returns the loss. Default: None, which uses the present gradients.

        Returns:
            The result of ``closure``, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._step_group(group)
        return loss

    def _step_group(self, group: ParamGroup) -> None:
        """Update the parameters of one group."""
        params = group["params"]
        if params and params[0]._xp.recorded is not None:
            group = params[0]._xp.trace_group(group)
        # A step whose learning rate is on a device operates on tensors; do not record it.
        with no_grad() if has_device_scalars(group) else nullcontext():
            # An override of ``_init_group`` in a user's subclass selects the parameters.
            if type(self)._init_group is not type(self)._own_init_group:
                group = self._collect(group)
            self._update(group)

    def _collect(self, group: ParamGroup) -> ParamGroup:
        """Copy of the group with the parameters and gradients that ``_init_group`` lists."""
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
            params: List to which the parameters are appended.
            grads: List to which their gradients are appended.
            *states: A list for each name in ``_listed_state``, to which the state is appended.

        Returns:
            Whether a parameter is complex.
        """
        has_complex = False
        for p, grad in params_and_grads(group):
            if grad is None:
                continue
            has_complex |= p.is_complex()
            if p._xp.traces:
                p._xp.check_state(p._data)
            params.append(p)
            grads.append(grad)
            state = self.state[p]
            if not state:
                state.update(self._initial_state(p, group))
            for name, column in zip(self._listed_state, states, strict=True):
                if name in state:
                    column.append(state[name])
        return has_complex

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        """The state of a parameter before its first step."""
        raise NotImplementedError

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> Any:
        """Count one step in a parameter's state; return its bucket's key, here the step count.

        ``fresh`` is True if the state was created in this step.
        """
        return increase(state["step"], 1.0)

    def _update_sparse(self, p: Tensor, grad: Any, group: ParamGroup) -> None:
        """Update one parameter from a sparse gradient, which few optimizers support.

        Raises:
            RuntimeError: If this optimizer does not.
        """
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def _buckets(self, group: ParamGroup, names: Sequence[str | None]) -> Iterable[Bucket]:
        """Group the parameters that have a gradient into buckets, with their state.

        Args:
            group: The parameter group.
            names: Names of the state that the kernel takes, in its order; None leaves a column
                empty.

        Returns:
            The buckets: one for each combination of backend, device and key of ``_advance``.
        """
        over_tensors = group.get("differentiable", False) or has_device_scalars(group)
        used = [name for name in names if name]
        found: dict[Any, Bucket] = {}
        for p, grad in params_and_grads(group):
            if grad is None:
                continue
            if grad.__class__ is not Tensor and grad.is_sparse:
                with no_grad():
                    self._update_sparse(p, grad, group)
                continue
            key, row = None, (p, grad)
            if used:
                state, key = self._prepare_state(p, group)
                row = (p, grad, *[state[name] for name in used])
            xp = None if over_tensors else p._xp
            bucket_key = (xp, xp and xp.device_index(p._data), key)
            bucket = found.get(bucket_key)
            if bucket is None:
                bucket = found[bucket_key] = Bucket(xp, key, names)
            bucket.rows.append(row)
        return found.values()

    def _prepare_state(self, p: Tensor, group: ParamGroup) -> tuple[dict[str, Any], Any]:
        """Create the state of a parameter if it has none, and count this step in it.

        Returns:
            The state, and the key that ``_advance`` returned for the parameter's bucket.
        """
        if p._xp.traces:
            p._xp.check_state(p._data)
        state = self.state[p]
        fresh = not state
        if fresh:
            state.update(self._initial_state(p, group))
            if p._xp.recorded is not None:
                p._xp.note_once("the state of an optimizer is created")
        return state, self._advance(state, group, fresh)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for entry in self.state.values():
            # Checkpoints of old PyTorch releases store Python scalars here.
            if isinstance(entry, dict) and not isinstance(entry.get("step", None), Tensor | None):
                entry["step"] = scalar_state(float(entry["step"]))


def params_and_grads(group: ParamGroup) -> Iterable[tuple[Tensor, Tensor | None]]:
    """Pairs of parameters and gradients; a functional form passes the gradients itself."""
    if "grads" in group:
        return zip(group["params"], group["grads"], strict=True)
    return ((p, p.grad) for p in group["params"])


def state_like(p: Tensor, value: complex = 0.0) -> Tensor:
    """Create state with the shape and dtype of a parameter, filled with ``value``."""
    xp = p._xp
    return wrap(xp.full_like(p._data, value) if value else xp.zeros_like(p._data), xp)


def scalar_state(value: float = 0.0) -> Tensor:
    """Create scalar state, such as the step count: a 0-d tensor, always on the CPU.

    Its dtype is float64 where that is the default dtype, else float32, as in PyTorch.
    """
    xp = backends.load("numpy")
    name = "float64" if default_dtype().name == "float64" else "float32"
    return wrap(xp.full((), value, dtype=name), xp)


def increase(number: Tensor, by: float) -> float:
    """Add to scalar state and return the sum; faster than arithmetic on a 0-d array."""
    return number._xp.increase(number._data, by)  # type: ignore[no-any-return]


def to_number(value: Any, group: ParamGroup | None = None) -> Any:
    """Convert a hyperparameter, which may be a one-element tensor, to a Python number.

    In a differentiable ``group`` a tensor is returned unchanged, so that gradients flow to it. In a
    capturable or fused group a tensor on a device stays there, so that the host does not wait.
    """
    if not isinstance(value, Tensor) or (group is not None and group["differentiable"]):
        return value
    if group is not None and _is_device_scalar(value, group):
        return value.reshape(())
    return value._xp.scalar(value._data)


def has_device_scalars(group: ParamGroup) -> bool:
    """Whether a step uses the learning rate or other hyperparameters as tensors on a device."""
    if not (group.get("capturable") or group.get("fused")) or group.get("differentiable"):
        return False
    numbers = group["lr"], group.get("weight_decay"), *group.get("betas", ())
    return any(_is_device_scalar(value, group) for value in numbers)


def _is_device_scalar(value: Any, group: ParamGroup) -> bool:
    """Whether a hyperparameter is a tensor that is used on its device, not read by the host."""
    if not isinstance(value, Tensor) or value.is_cpu:
        return False
    return bool(group.get("capturable") or group.get("fused"))


def check(valid: bool, description: str, value: object) -> None:
    """Raise ``ValueError("Invalid <description>: <value>")`` unless ``valid``."""
    if not valid:
        raise ValueError(f"Invalid {description}: {value}")


def check_lr(lr: Any) -> None:
    """Raise for a negative learning rate, or a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check(0.0 <= to_number(lr), "learning rate", lr)


def check_betas(betas: Sequence[Any]) -> None:
    """Raise for decay rates outside [0, 1)."""
    for index, beta in enumerate(betas):
        check(0.0 <= to_number(beta) < 1.0, f"beta parameter at index {index}", beta)


def check_adam_arguments(lr: Any, betas: Sequence[Any], eps: float, weight_decay: float) -> None:
    """Check the hyperparameters that Adam, Adamax, NAdam and RAdam share."""
    check_lr(lr)
    check(0.0 <= eps, "epsilon value", eps)
    check_betas(betas)
    check(0.0 <= weight_decay, "weight_decay value", weight_decay)


def check_implementation(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Raise for the combinations of ``fused``, ``foreach`` and ``differentiable`` as PyTorch does.

    ``foreach`` has no effect, since the backend's one kernel works on all tensors at once.
    ``fused`` means that hyperparameters on a device stay there.
    """
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


_F = TypeVar("_F", bound=Callable[..., None])
#: Name of the state for each list argument whose name is not the plural of the state's name.
_STATE_NAMES = {
    "momentum_buffer_list": "momentum_buffer", "state_sums": "sum", "state_steps": "step",
    "etas": "eta", "mus": "mu",
}  # fmt: skip
#: Arguments that are accepted and have no effect.
_IGNORED = ("foreach", "has_complex", "has_sparse_grad")
_PARAMETER_DOCS = {
    "params": "The parameters, which change in place.",
    "grads": "The gradients of the parameters.",
    "d_p_list": "The gradients of the parameters.",
    "momentum_buffer_list": "The velocities. None before the first step, which fills them in.",
    "max_exp_avg_sqs": "Largest ``exp_avg_sqs`` so far; empty without ``amsgrad``.",
    "grad_avgs": "Averages of the gradients; empty unless ``centered``.",
    "state_steps": "Number of steps so far, as tensors of one element each.",
    "grad_scale": "Must be None.",
    "found_inf": "Must be None.",
    "differentiable": "Record the step for autograd, so that gradients flow through it.",
    **dict.fromkeys(_IGNORED, "Accepted and ignored."),
    "fused": "See the class.",
    "capturable": "See the class.",
    "beta1": "The first of the class's ``betas``.",
    "beta2": "The second of the class's ``betas``.",
}


def document_functional(kind: type[ArrayOptimizer], example: str) -> Callable[[_F], _F]:
    """Write the docstring of a functional form.

    Args:
        kind: The optimizer.
        example: The arguments of an example that follow parameters and gradients.
    """

    def set_docstring(form: _F) -> _F:
        module, name = form.__module__.removeprefix("tinytorch."), form.__name__
        entries = "".join(
            f"    {p}: {_describe_parameter(kind, p)}\n" for p in inspect.signature(form).parameters
        )
        form.__doc__ = (
            f"One step of ``{kind.__name__}`` over lists of tensors, which change in place.\n\n"
            f"Args:\n{entries}\nRaises:\n    RuntimeError: If a step count is not a tensor.\n"
            "    NotImplementedError: If ``grad_scale`` or ``found_inf`` is passed.\n\nExample:\n"
            f"    >>> import tinytorch as tt\n    >>> w, g = tt.zeros(2), tt.tensor([1.0, -2.0])\n"
            f"    >>> tt.{module}.{name}([w], [g], {example})\n"
            "    >>> w.sign()\n    tensor([-1.,  1.])\n"
        )
        return form

    return set_docstring


def _describe_parameter(kind: type[ArrayOptimizer], parameter: str) -> str:
    """Return the description of a parameter of the functional form of ``kind``, for its docstring.

    A name in the plural, such as ``exp_avgs``, is a list of state.
    """
    if parameter in _PARAMETER_DOCS:
        return _PARAMETER_DOCS[parameter]
    is_plural = parameter.endswith("s") and parameter not in ("eps", "weight_decays")
    role = "State" if is_plural else "Hyperparameter"
    return f"{role} of ``{kind.__name__}``."


def run_functional(
    kind: type[ArrayOptimizer], params: list[Tensor], grads: list[Tensor], given: dict[str, Any],
    **more: Any,
) -> None:  # fmt: skip
    """Run one step of an optimizer class over lists of tensors.

    Args:
        kind: The optimizer class.
        params: The parameters.
        grads: The gradients of the parameters.
        given: All arguments of the functional form, by name. Lists are state; an empty list means
            that this state is not used.
        **more: Hyperparameters that have another name in the class's groups.
    """
    for name in ("grad_scale", "found_inf"):
        if given.get(name) is not None:
            raise NotImplementedError(f"{kind.__name__}: {name} is not supported; use GradScaler")
    if not all(isinstance(step, Tensor) for step in given.get("state_steps", ())):
        raise RuntimeError("`state_steps` argument must contain a list of singleton tensors")
    columns = {
        _STATE_NAMES.get(name, name.removesuffix("s")): column
        for name, column in given.items()
        if isinstance(column, list) and column and column is not params and column is not grads
    }
    # Without __init__, which would check and copy the arguments.
    optimizer: Any = object.__new__(kind)
    optimizer.state = {
        p: {name: column[at] for name, column in columns.items() if column[at] is not None}
        for at, p in enumerate(params)
    }
    group = {"capturable": False, "differentiable": False, **given, **more}
    optimizer._step_group({**group, "params": params, "grads": grads})
    for name, column in columns.items():
        column[:] = [optimizer.state[p].get(name) for p in params]
