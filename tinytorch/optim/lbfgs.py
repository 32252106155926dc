"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import find
from ..state import enable_grad, no_grad
from ._base import check_lr, to_number
from ._line_search import strong_wolfe
from .optimizer import Optimizer, ParamsT

__all__ = ["LBFGS"]

#: Curvature up to which a step is not stored in the history.
_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    r"""L-BFGS: a quasi-Newton method that estimates the curvature from the last steps.

    One ``step`` makes up to ``max_iter`` iterations and calls ``closure`` once for each, or more
    often with a line search. The state has ``2 * history_size`` vectors, each as long as all
    parameters together. Only one parameter group is supported.

    Args:
        params: Tensors or ``(name, tensor)`` pairs.
        lr: Step length; with a line search, its first trial. Default: 1.
        max_iter: Largest number of iterations per step. Default: 20.
        max_eval: Largest number of evaluations of ``closure`` per step, including those of a line
            search, which may exceed it. Default: ``max_iter * 5 // 4``.
        tolerance_grad: Stop if no gradient is larger. Default: 1e-7.
        tolerance_change: Stop if the loss or the parameters change by less. Default: 1e-9.
        history_size: Number of steps that are stored. Default: 100.
        line_search_fn: ``"strong_wolfe"`` or None. Default: None.

    Raises:
        ValueError: If the learning rate is negative, or if there are several groups.

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.LBFGS([w], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = ((w - 3) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> optimizer.step(closure).item()
        29.0
        >>> [round(value, 3) for value in w.tolist()]
        [3.0, 3.0]

    Reference:
        J. Nocedal, S. J. Wright, "Numerical Optimization", 2nd edition, 2006, algorithms
        7.4 and 7.5.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Iterate until ``max_iter``, ``max_eval`` or a tolerance is reached.

        Args:
            closure: Function that clears the gradients, computes the loss, calls ``backward`` and
                returns the loss. Required.

        Returns:
            The loss at the first evaluation.

        Raises:
            TypeError: If ``closure`` is missing.
            RuntimeError: If ``line_search_fn`` is unknown.
        """
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        group = self.param_groups[0]
        evaluate = enable_grad()(closure)
        first_loss = evaluate()
        state = self.state[group["params"][0]]
        state["func_evals"] = state.get("func_evals", 0) + 1
        state.setdefault("n_iter", 0)
        gradient = self._gather_flat_grad()
        if float(gradient.abs().max()) > group["tolerance_grad"]:
            search = _Iterations(self, evaluate, state, float(first_loss), gradient)
            search.run()
            search.save()
        return first_loss

    # -- the parameters as one vector -----------------------------------------------------

    _numel_cache: int | None = None

    def _numel(self) -> int:
        """Number of elements of the flat vector; a complex element counts twice."""
        if self._numel_cache is None:
            self._numel_cache = sum(_as_real(p).numel() for p in self._params)
        return self._numel_cache

    def _gather_flat_grad(self) -> Tensor:
        """Concatenate all gradients as one vector, with zeros for a parameter without gradient."""
        parts = [
            _as_real(p.new_zeros(p.shape) if p.grad is None else p.grad.to_dense()).reshape(-1)
            for p in self._params
        ]
        return find("", "cat")(parts, 0)  # type: ignore[no-any-return]

    def _add_grad(self, step_size: float, update: Any) -> None:
        """Add ``step_size * update`` to the parameters."""
        start = 0
        for p in self._params:
            target = _as_real(p)
            part = update[start : start + target.numel()]
            target.add_(part.reshape(target.shape), alpha=step_size)
            start += target.numel()
        if start != self._numel():
            raise AssertionError(f"Expected offset {start} to equal {self._numel()}")

    def _clone_param(self) -> list[Tensor]:
        return [p.clone() for p in self._params]

    def _set_param(self, params_data: list[Tensor]) -> None:
        for p, data in zip(self._params, params_data, strict=True):
            p.copy_(data)

    def _directional_evaluate(
        self, closure: Callable[[], Any], x: list[Tensor], t: float, d: Any
    ) -> tuple[float, Tensor]:
        """Loss and gradient at ``x + t * d``; the parameters are set to ``x`` again."""
        self._add_grad(t, d)
        loss = float(closure())
        gradient = self._gather_flat_grad()
        self._set_param(x)
        return loss, gradient


def _as_real(tensor: Tensor) -> Any:
    """View a complex tensor as a real one with a last dimension of size 2."""
    return find("", "view_as_real")(tensor) if tensor.is_complex() else tensor


class _Iterations:
    """The iterations of one step.

    The state has PyTorch's names, so that its checkpoints can be loaded: ``old_dirs`` are the
    changes of the gradient, ``old_stps`` the changes of the parameters, and ``ro`` the
    reciprocals of their products.
    """

    def __init__(
        self,
        optimizer: LBFGS,
        evaluate: Callable[[], Any],
        state: dict[str, Any],
        loss: float,
        gradient: Tensor,
    ) -> None:
        self.optimizer = optimizer
        self.evaluate = evaluate
        self.state = state
        self.group = optimizer.param_groups[0]
        self.lr = to_number(self.group["lr"])
        self.loss = loss
        self.gradient: Any = gradient
        self.evals = 1
        self.d: Any = state.get("d")
        self.t: Any = state.get("t")
        self.old_dirs: list[Any] = state.get("old_dirs", [])
        self.old_stps: list[Any] = state.get("old_stps", [])
        self.ro: list[Any] = state.get("ro", [])
        self.al: list[Any] | None = state.get("al")
        self.scale: Any = state.get("H_diag")
        self.previous_gradient: Any = state.get("prev_flat_grad")
        self.previous_loss: Any = state.get("prev_loss")

    def save(self) -> None:
        """Store in the optimizer's state the values from which the next step continues."""
        if self.al is not None:
            self.state["al"] = self.al
        self.state["d"] = self.d
        self.state["t"] = self.t
        self.state["old_dirs"] = self.old_dirs
        self.state["old_stps"] = self.old_stps
        self.state["ro"] = self.ro
        self.state["H_diag"] = self.scale
        self.state["prev_flat_grad"] = self.previous_gradient
        self.state["prev_loss"] = self.previous_loss

    def run(self) -> None:
        """Iterate until a limit or a tolerance is reached."""
        for iteration in range(1, self.group["max_iter"] + 1):
            self.state["n_iter"] += 1
            if self.state["n_iter"] == 1:
                self.d, self.scale = self.gradient.neg(), 1
                self.old_dirs, self.old_stps, self.ro = [], [], []
                total = float(self.gradient.abs().sum())
                self.t = (1.0 / total if total > 1.0 else 1.0) * self.lr
            else:
                self._store_step()
                self.d = self._direction()
                self.t = self.lr
            self.previous_gradient = self.gradient.clone()
            self.previous_loss = self.loss
            slope = self.gradient.dot(self.d)
            if float(slope) > -self.group["tolerance_change"]:
                return
            last = iteration == self.group["max_iter"]
            self._move(slope, last)
            if last or self._is_done():
                return

    def _store_step(self) -> None:
        """Store the last step in the history, unless its curvature is too small."""
        y = self.gradient.sub(self.previous_gradient)
        s = self.d.mul(self.t)
        curvature = y.dot(s)
        if float(curvature) <= _LEAST_CURVATURE:
            return
        if len(self.old_dirs) == self.group["history_size"]:
            for memory in (self.old_dirs, self.old_stps, self.ro):
                memory.pop(0)
        self.old_dirs.append(y)
        self.old_stps.append(s)
        self.ro.append(1.0 / curvature)
        self.scale = curvature / y.dot(y)

    def _direction(self) -> Any:
        """Direction of descent: minus the estimated inverse Hessian times the gradient."""
        count = len(self.old_dirs)
        if self.al is None:
            self.al = [None] * self.group["history_size"]
        q = self.gradient.neg()
        for i in reversed(range(count)):
            self.al[i] = self.old_stps[i].dot(q) * self.ro[i]
            q.sub_(self.old_dirs[i] * self.al[i])
        q = q.mul(self.scale)
        for i in range(count):
            weight = self.al[i] - self.old_dirs[i].dot(q) * self.ro[i]
            q.add_(self.old_stps[i] * weight)
        return q

    def _move(self, slope: Any, last: bool) -> None:
        """Move the parameters along the direction ``d``, and update loss and gradient.

        Args:
            slope: Product of the gradient with the direction.
            last: Whether this is the last iteration of the step.
        """
        name = self.group["line_search_fn"]
        if name is None:
            self.optimizer._add_grad(self.t, self.d)
            if not last:
                # After the last iteration the loss is not used.
                self.loss = float(self.evaluate())
                self.gradient = self.optimizer._gather_flat_grad()
                self._count_evals(1)
            return
        if name != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = self.optimizer._clone_param()
        found = strong_wolfe(
            lambda t: self.optimizer._directional_evaluate(self.evaluate, start, t, self.d),
            self.t, self.d, self.loss, self.gradient, slope,
            tolerance_change=self.group["tolerance_change"],
            max_ls=self.group["max_eval"] - self.evals,
        )  # fmt: skip
        self.t, self.loss, self.gradient = found.t, found.loss, found.gradient
        self.optimizer._add_grad(self.t, self.d)
        self._count_evals(found.evals)

    def _count_evals(self, evals: int) -> None:
        """Add to the numbers of evaluations of this step and of all steps."""
        self.evals += evals
        self.state["func_evals"] += evals

    def _is_done(self) -> bool:
        """Whether the limit of evaluations or a tolerance is reached."""
        smallest: float = self.group["tolerance_change"]
        return bool(
            self.evals >= self.group["max_eval"]
            or float(self.gradient.abs().max()) <= self.group["tolerance_grad"]
            or float(self.d.mul(self.t).abs().max()) <= smallest
            or abs(self.loss - self.previous_loss) < smallest
        )
