"""``GradScaler``: a loss scale that prevents the underflow of gradients in half precision."""

from __future__ import annotations

import enum
from collections import defaultdict
from typing import TYPE_CHECKING, Any, overload

from .. import dtypes
from ..core.tensor import Tensor
from ..dispatch.autocast import has_gpu
from ..ops.create.factories import tensor
from ..state import no_grad
from ..warnings import warn


class OptState(enum.Enum):
    """Stage of an optimizer in an iteration, with PyTorch's numbers.

    Example:
        >>> from tinytorch.amp.grad_scaler import OptState
        >>> OptState(1)
        <OptState.UNSCALED: 1>
    """

    READY = 0
    UNSCALED = 1
    STEPPED = 2


if TYPE_CHECKING:
    from ..optim import Optimizer

__all__ = ["GradScaler", "OptState"]


def _initial_state() -> dict[str, Any]:
    """State of an optimizer whose gradients were not unscaled since the last ``update``."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


def _check_new_scale(value: Any) -> float:
    """The argument of ``update`` as a float; AssertionError for an unsuitable tensor."""
    if isinstance(value, Tensor) and (value.numel() != 1 or value.requires_grad):
        raise AssertionError(
            "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
            "torch.FloatTensor with requires_grad=False."
        )
    return float(value)


def _all_finite(tensors: list[Tensor]) -> bool:
    """Whether no element of the tensors is infinite or NaN.

    The results are combined per device first, so the host waits for a device once, not per tensor.
    """
    by_device: dict[Any, list[Any]] = {}
    for each in tensors:
        xp = each._xp
        by_device.setdefault(xp, []).append(xp.isfinite(each._data).all())
    return all([xp.item(xp.asarray(xp.stack(results).all())) for xp, results in by_device.items()])  # noqa: C419


class GradScaler:
    """Dynamic scale of a loss, so that gradients in half precision do not underflow.

    ``scale`` multiplies the loss by the scale; ``step`` divides the gradients by it, and skips the
    optimizer's step if one is infinite or NaN; ``update`` adapts it.

    Args:
        device: The device type of the model. Without a GPU, ``"cuda"`` disables the scaler, as in
            PyTorch. Default: ``"cuda"``.
        init_scale: The initial scale. Default: 65536.
        growth_factor: Factor of the scale after ``growth_interval`` finite steps. Default: 2.
        backoff_factor: Factor of the scale after infinite gradients. Default: 0.5.
        growth_interval: The number of consecutive finite steps before the scale grows. Default:
            2000.
        enabled: Whether the scaler is enabled. Default: True.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> optimizer = tt.optim.SGD([x], lr=0.5)
        >>> scaler = tt.amp.GradScaler("cpu")
        >>> scaler.scale(x.sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> x
        tensor([0.5000, 0.5000], requires_grad=True)
    """

    __module__ = "tinytorch.amp"

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and device == "cuda" and not has_gpu():
            warn("GradScaler is enabled, but CUDA is not available.  Disabling.", UserWarning)
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError(f"The growth factor must be > 1.0. Got {growth_factor}")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError(f"The backoff factor must be < 1.0. Got {backoff_factor}")
        self._enabled = enabled
        self._device = device
        self._init_scale, self._init_growth_tracker = init_scale, 0
        #: 0-d tensors that the first call of ``scale`` creates: the scale, float32, and the number
        #: of finite steps since it changed, int32.
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        # By the optimizer's id: its stage, and whether its gradients had an infinity or NaN.
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_initial_state)

    @overload
    def scale(self, outputs: Tensor) -> Tensor: ...
    @overload
    def scale(self, outputs: Any) -> Any: ...
    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or the tensors of a list, tuple or dictionary, by the scale.

        Args:
            outputs: A loss, or several.

        Example:
            >>> tt.amp.GradScaler("cpu", init_scale=8.0).scale(tt.tensor([0.5, 2.0]))
            tensor([ 4., 16.])
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return self._scale_tensor(outputs)
        if isinstance(outputs, dict):
            return {key: self.scale(value) for key, value in outputs.items()}
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(value) for value in outputs])
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _lazy_init_scale_growth_tracker(self, dev: Any) -> None:
        """Create the tensors of the scale and of the number of finite steps.

        ``scale`` calls it the first time. The tensors are on the host, whatever ``dev`` is: here
        each step reads them, for which the host would wait for a GPU; PyTorch's kernels read them.
        """
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = tensor(self._init_scale, dtype=dtypes.float32, backend="numpy")
        number = self._init_growth_tracker
        self._growth_tracker = tensor(number, dtype=dtypes.int32, backend="numpy")

    def _scale_tensor(self, outputs: Any) -> Any:
        """A tensor times the scale; a 0-d loss in half precision becomes float32."""
        scale = self.get_scale()
        if outputs.dtype.itemsize > 2:
            return outputs * scale
        # The scale exceeds float16, so multiply in float32 as PyTorch does.
        scaled = outputs.float() * scale
        return scaled.to(outputs.dtype) if outputs.ndim else scaled

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        """The scale and the number of finite steps; AssertionError before the first ``scale``."""
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(
                f"Attempted {funcname} but _scale is None.  This may indicate your script did not "
                "use scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale, self._growth_tracker

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer by the scale, so that they can be clipped.

        Raises:
            RuntimeError: If they were unscaled since the last ``update``.
            AssertionError: Before the first call of ``scale``.
            ValueError: If a gradient is in float16.

        Example:
            >>> model = tt.nn.Linear(1, 1, bias=False)
            >>> optimizer = tt.optim.SGD(model.parameters(), lr=0.1)
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.scale(model(tt.ones(1)).sum()).backward()
            >>> scaler.unscale_(optimizer)
            >>> model.weight.grad
            tensor([[1.]])
        """
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inv_scale = scale.double().reciprocal().float()
        found_inf = tensor(0.0, dtype=dtypes.float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inv_scale, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _unscale_grads_(
        self, optimizer: Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[Any, Tensor]:
        """Multiply the gradients by ``inv_scale``; ``unscale_`` calls it.

        Returns:
            ``{device: 1 if a gradient is infinite or NaN, else found_inf}``.
        """
        each = (p.grad for group in optimizer.param_groups for p in group["params"])
        grads = [grad for grad in each if grad is not None]
        if not allow_fp16 and any(grad.dtype is dtypes.float16 for grad in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        if not grads:
            return {}
        factor = inv_scale.item()
        with no_grad():
            finite = _all_finite(grads)
            if factor != 1.0:
                for grad in grads:
                    grad.mul_(factor)
        return {grads[0].device: found_inf if finite else tensor(1.0)}

    def _check_inf_per_device(self, optimizer: Optimizer) -> dict[Any, Tensor]:
        """Check for infinite gradients without unscaling them."""
        self._check_scale_growth_tracker("_check_inf_per_device")
        found = self._unscale_grads_(optimizer, tensor(1.0), tensor(0.0), True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: Optimizer) -> dict[Any, Tensor]:
        found: dict[Any, Tensor] = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        return found

    def _maybe_opt_step(
        self, optimizer: Optimizer, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Call ``optimizer.step`` if all gradients are finite; ``step`` calls it."""
        if any(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients, and call ``optimizer.step(...)`` if all of them are finite.

        Returns:
            The result of ``optimizer.step``, or None if it was not called.

        Raises:
            RuntimeError: If it was called since the last ``update``.
            AssertionError: If there are no gradients, or before the first call of ``scale``.
            ValueError: If a gradient is in float16.

        Example:
            >>> model = tt.nn.Linear(1, 1, bias=False)
            >>> optimizer = tt.optim.SGD(model.parameters(), lr=0.1)
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.scale(model(tt.ones(1)).sum()).backward()
            >>> before = model.weight.item()
            >>> scaler.step(optimizer)
            >>> round(before - model.weight.item(), 4)
            0.1
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """Adapt the scale: lower it after infinite gradients, raise it after many finite steps.

        Args:
            new_scale: The next scale, a number or a tensor of one element. Default: adapt it.

        Raises:
            AssertionError: Before the first call of ``scale``, if no optimizer stepped since the
                last call, or if ``new_scale`` is another tensor.

        Example:
            >>> model = tt.nn.Linear(1, 1, bias=False)
            >>> optimizer = tt.optim.SGD(model.parameters(), lr=0.1)
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.scale(model(tt.ones(1)).sum()).backward()
            >>> scaler.step(optimizer)
            >>> scaler.update()
            >>> scaler.get_scale()
            8.0
        """
        if not self._enabled:
            return
        scale, growth_tracker = self._check_scale_growth_tracker("update")
        found = [
            value.item()
            for state in self._per_optimizer_states.values()
            for value in state["found_inf_per_device"].values()
        ]
        if new_scale is not None:
            scale.fill_(_check_new_scale(new_scale))
        elif not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(found):
            scale.mul_(self._backoff_factor)
            growth_tracker.zero_()
        elif growth_tracker.item() + 1 != self._growth_interval:
            growth_tracker.add_(1)
        else:
            growth_tracker.zero_()
            # A scale beyond the range of float32 would make every later step infinite.
            if scale.item() * self._growth_factor <= dtypes.finfo(dtypes.float32).max:
                scale.mul_(self._growth_factor)
        self._per_optimizer_states = defaultdict(_initial_state)

    def is_enabled(self) -> bool:
        """Whether the scaler is enabled.

        Example:
            >>> tt.amp.GradScaler("cpu", enabled=False).is_enabled()
            False
        """
        return self._enabled

    def get_scale(self) -> float:
        """The scale; 1 if the scaler is disabled.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.get_scale()
            8.0
        """
        if not self._enabled:
            return 1.0
        scale = self._get_scale_async()
        return float(self._init_scale) if scale is None else float(scale)

    def _get_scale_async(self) -> Tensor | None:
        """The scale as a tensor; None before the first call of ``scale``."""
        return self._scale

    def _get_growth_tracker(self) -> int:
        """The number of finite steps since the scale changed; 0 if the scaler is disabled."""
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker.item())

    def get_growth_factor(self) -> float:
        """The factor of the scale after ``growth_interval`` finite steps.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.get_growth_factor()
            2.0
        """
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor of the scale after ``growth_interval`` finite steps.

        Args:
            new_factor: The factor.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.set_growth_factor(4.0)
            >>> scaler.get_growth_factor()
            4.0
        """
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor of the scale after infinite gradients.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.get_backoff_factor()
            0.5
        """
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor of the scale after infinite gradients.

        Args:
            new_factor: The factor.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.set_backoff_factor(0.25)
            >>> scaler.get_backoff_factor()
            0.25
        """
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of consecutive finite steps after which the scale grows.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.get_growth_interval()
            2000
        """
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of consecutive finite steps after which the scale grows.

        Args:
            new_interval: The number of steps.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.set_growth_interval(100)
            >>> scaler.get_growth_interval()
            100
        """
        self._growth_interval = new_interval

    def __getstate__(self) -> dict[str, Any]:
        if self._per_optimizer_states:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at "
                "the end after scaler.update()."
            )
        state = self.__dict__.copy()
        if self._enabled:
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def state_dict(self) -> dict[str, Any]:
        """The scale and its settings, with PyTorch's keys; empty if the scaler is disabled.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.state_dict()["scale"]
            8.0
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state that ``state_dict`` returned, here or in PyTorch.

        Raises:
            RuntimeError: If it is empty.

        Example:
            >>> scaler = tt.amp.GradScaler("cpu", init_scale=8.0)
            >>> other = tt.amp.GradScaler("cpu")
            >>> other.load_state_dict(scaler.state_dict())
            >>> other.get_scale()
            8.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        for name in ("growth_factor", "backoff_factor", "growth_interval"):
            setattr(self, f"_{name}", state_dict[name])
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(self._init_growth_tracker)
