"""How the optimizers get from parameter groups to one kernel call over many arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from .. import _state, backends
from .._tensor import Tensor, wrap
from ._differentiable import RecordedArrays
from ._kernels import update
from .optimizer import Optimizer, ParamGroup

__all__ = ["ArrayOptimizer", "Bucket", "check", "check_betas", "check_lr", "number"]

Closure: TypeAlias = Callable[[], Any]


class Bucket:
    """Parameters that one kernel call updates: same backend, same device, same key.

    Attributes:
        xp: Their backend; what records operations where the step is differentiable.
        key: What the optimizer wanted to be the same, such as the step count.
        params: The parameters.
        columns: Parallel lists of raw arrays: parameters, gradients, then the state.
    """

    __slots__ = ("xp", "key", "params", "columns")

    def __init__(self, xp: Any, key: Any, width: int) -> None:
        self.xp = xp
        self.key = key
        self.params: list[Tensor] = []
        self.columns: tuple[list[Any], ...] = tuple([] for _ in range(2 + width))

    def run(self, kernel: str, **numbers: Any) -> None:
        """Update the parameters and the state in place."""
        update(self.xp, kernel, *self.columns, **numbers)
        if self.xp is not RecordedArrays:
            for p in self.params:
                p._bump()


class ArrayOptimizer(Optimizer):
    """An optimizer whose update is a kernel over arrays."""

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
            with _state.enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group: ParamGroup) -> None:
        """Update the parameters of one group."""
        raise NotImplementedError

    def _start(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        """The state of a parameter before its first step."""
        raise NotImplementedError

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> Any:
        """Count one step in the state of a parameter; its bucket's key, here the count.

        ``fresh`` says that the state was made just now.
        """
        step = state["step"]
        step._data += 1
        return step.item()

    def _buckets(self, group: ParamGroup, names: Sequence[str | None]) -> Iterable[Bucket]:
        """The parameters of ``group`` that have a gradient, with their state.

        Args:
            group: The parameter group.
            names: The state that the kernel takes, in its order; None leaves a column empty.
        """
        recorded = group.get("differentiable", False)
        found: dict[Any, Bucket] = {}
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            xp, data = (RecordedArrays, p) if recorded else (p._xp, p._data)
            state, key = self._enter(p, group) if any(names) else ({}, None)
            place = (xp, None if recorded else xp.device_index(data), key)
            bucket = found.get(place)
            if bucket is None:
                bucket = found[place] = Bucket(xp, key, len(names))
            bucket.params.append(p)
            _append(bucket.columns, data, grad, [name and state[name] for name in names])
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


def _append(
    columns: tuple[list[Any], ...], data: Any, grad: Tensor, state: list[Any]
) -> None:
    raw = not isinstance(data, Tensor)
    columns[0].append(data)
    for column, tensor in zip(columns[1:], [grad, *state], strict=True):
        if tensor is not None:
            column.append(tensor._data if raw else tensor)


def like(p: Tensor, value: complex = 0.0) -> Tensor:
    """State of a parameter's shape and dtype, filled with ``value``."""
    xp = p._xp
    return wrap(xp.full_like(p._data, value) if value else xp.zeros_like(p._data), xp)


def scalar_state(value: float = 0.0) -> Tensor:
    """A number of the state, such as the step count: a 0-d tensor, always on the CPU.

    It is float64 where that is the default dtype, else float32, as in PyTorch.
    """
    xp = backends.load("numpy")
    name = "float64" if _state.default_dtype().name == "float64" else "float32"
    return wrap(xp.full((), value, dtype=name), xp)


def number(value: Any, group: ParamGroup | None = None) -> Any:
    """A hyper-parameter as a Python number; one-element tensors are accepted everywhere.

    In a differentiable ``group`` it stays what it is: gradients flow to it too.
    """
    if not isinstance(value, Tensor) or (group is not None and group["differentiable"]):
        return value
    return value.item()


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


def check_implementation(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Refuse the combinations of implementation switches that PyTorch refuses.

    ``foreach`` and ``fused`` select nothing here: the backend's one kernel, which works on
    all tensors at once, is always used.
    """
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
