"""Base class of the optimizers: parameter groups, state, hooks and serialization."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import deepcopy
from functools import wraps
from itertools import chain
from typing import Any, ClassVar, TypeAlias

from ..core.tensor import Tensor
from ..cuda.streams import is_current_stream_capturing
from ..dispatch.creation import typename
from ..dispatch.registry import find
from ..graph.engine import zero_in_place
from ..state import set_grad_enabled
from ..utils._foreach_utils import _group_tensors_by_device_and_dtype
from ..warnings import warn
from ._hooks import (
    HookTables,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

__all__ = [
    "Optimizer",
    "ParamsT",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]

#: Type of ``params``: tensors, groups, or ``(name, tensor)`` pairs. The union is inside of
#: ``Iterable`` because type checkers would otherwise infer a list of objects for groups of
#: different values. ``Iterable[Tensor]`` is listed too, because type checkers infer from it the
#: argument of the function that is passed to ``filter``.
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[Tensor | dict[str, Any] | tuple[str, Tensor]]
_params_t: TypeAlias = ParamsT
ParamGroup: TypeAlias = dict[str, Any]
StateDict: TypeAlias = dict[str, Any]


class _RequiredParameter:
    """Marker of a default that every parameter group must set itself."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: _RequiredParameter = _RequiredParameter()


class Optimizer(HookTables):
    """Base class of the optimizers: parameter groups, state and state dicts.

    A subclass passes its hyperparameters to ``__init__`` and defines ``step``.

    Args:
        params: The tensors to optimize, as an ordered iterable of tensors, of
            ``(name, tensor)`` pairs, or of dicts. A dict is a *parameter group*: its
            ``"params"`` are the tensors, and its other keys override the defaults for them.
        defaults: Hyperparameters by name, for groups that do not set their own.

    Attributes:
        defaults: The argument ``defaults``.
        param_groups: The groups: dicts of ``params`` and every hyperparameter. Schedulers
            and programs change hyperparameters here.
        state: Dict from each parameter to a dict of its state.

    Raises:
        TypeError: If ``params`` is a tensor instead of an iterable, or contains something other
            than tensors.
        ValueError: If there are no parameters, a parameter is in two groups, or a tensor is not a
            leaf.

    Example:
        >>> class Descent(tt.optim.Optimizer):
        ...     def __init__(self, params, lr=0.1):
        ...         super().__init__(params, {"lr": lr})
        ...
        ...     @tt.no_grad()
        ...     def step(self):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p -= group["lr"] * p.grad
        >>> w = tt.tensor([1.0, 2.0], requires_grad=True)
        >>> (w * w).sum().backward()
        >>> Descent([w]).step()
        >>> w
        tensor([0.8000, 1.6000], requires_grad=True)
    """

    OptimizerPreHook: TypeAlias = Callable[[Any, Any, Any], tuple[Any, dict[str, Any]] | None]
    OptimizerPostHook: TypeAlias = Callable[[Any, Any, Any], None]

    #: Whether ``step`` has warned of capturable groups outside of a CUDA graph; always False.
    _warned_capturable_if_run_uncaptured = True
    #: State whose dtype ``load_state_dict`` does not convert to that of the parameter.
    _keeps_dtype: ClassVar[frozenset[str]] = frozenset({"step"})

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors "
                f"or dicts, but got {typename(params)}"
            )
        self.defaults = defaults
        self._make_hook_tables()
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[ParamGroup] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        self._patch_step_function()

    def _accelerator_graph_capture_health_check(self) -> None:
        """Raise if a CUDA graph is captured and a group is not capturable.

        Optimizers outside of the library call it in ``step``.
        """
        if is_current_stream_capturing() and not all(
            group.get("capturable", False) for group in self.param_groups
        ):
            raise RuntimeError(
                f"Attempting CUDA graph capture of step() for an instance of "
                f"{type(self).__name__} but param_groups' capturable is False."
            )

    _cuda_graph_capture_health_check = _accelerator_graph_capture_health_check

    def _optimizer_step_code(self) -> None:
        """Entry point for profilers: an empty function, as in PyTorch."""

    @staticmethod
    def _group_tensors_by_device_and_dtype(
        tensorlistlist: list[list[Tensor | None]], with_indices: bool = False
    ) -> dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]]:
        """Group parallel lists of tensors by the device and dtype of the first list's tensors."""
        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def _patch_step_function(self) -> None:
        """Set the names of the profiler's ranges; called by ``__init__`` and in unpickling.

        PyTorch also wraps ``step`` here. In tinytorch ``__init_subclass__`` wraps it, once for
        the class.
        """
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._make_hook_tables()
        self._patch_step_function()
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for index, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {index}"][index == 0 :]
            lines += [f"    {k}: {_to_scalar(group[k])}" for k in sorted(group) if k != "params"]
        return "\n".join([*lines, ")"])

    # -- stepping -----------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once, from their gradients.

        Args:
            closure: Function that clears the gradients, computes the loss, calls ``backward`` and
                returns the loss. Optional for most optimizers.

        Returns:
            The result of ``closure``, or None.

        Raises:
            NotImplementedError: Always, in the base class; a subclass overrides the method.
        """
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters.

        Args:
            set_to_none: True sets ``grad`` to None, so that ``step`` skips a parameter that
                receives no gradient. False fills the gradients with zeros in place.

        Example:
            >>> w = tt.ones(2, requires_grad=True)
            >>> w.sum().backward()
            >>> tt.optim.SGD([w]).zero_grad()
            >>> w.grad is None
            True
        """
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none or p.grad is None:
                    p.grad = None
                else:
                    zero_in_place(p.grad)

    # -- parameter groups ---------------------------------------------------------------

    def add_param_group(self, param_group: ParamGroup) -> None:
        """Add a parameter group, for example layers that are unfrozen during training.

        Args:
            param_group: A dict with ``"params"``, a tensor or an ordered iterable of
                tensors or ``(name, tensor)`` pairs. Other keys override the defaults.

        Raises:
            TypeError: If ``param_group`` is not a dict, or ``"params"`` contains something other
                than tensors.
            ValueError: If a tensor is not a leaf, if another group has a parameter already, or if
                only some parameters have names.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=0.1)
            >>> optimizer.add_param_group({"params": tt.ones(1, requires_grad=True), "lr": 1})
            >>> [group["lr"] for group in optimizer.param_groups]
            [0.1, 1]
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _normalize(param_group)
        self._check_members(param_group["params"])
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
            param_group.setdefault(name, default)
        self._check_against_groups(param_group)
        self.param_groups.append(param_group)

    def _check_members(self, params: list[Any]) -> None:
        """Check that the parameters of a new group are tensors, and leaves of the graph."""
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is " + typename(p)
                )
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")

    def _check_against_groups(self, param_group: ParamGroup) -> None:
        """Check that no parameter is in two groups, and that all groups have names or none has."""
        params = param_group["params"]
        if len(params) != len(set(params)):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, "
                "this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
            )
        taken = {p for group in self.param_groups for p in group["params"]}
        if not taken.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        named = "param_names" in param_group
        if any(("param_names" in group) != named for group in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param "
                f"group {'with' if named else 'without'} names to the optimizer"
            )

    # -- state dicts ----------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """The optimizer's state and parameter groups, with parameters replaced by their positions.

        Returns:
            ``{"state": {position: {name: value}}, "param_groups": [...]}``, where a group's
            ``"params"`` are positions counted over all groups. The tensors are shared with the
            optimizer: deepcopy the dict to preserve it while training continues.

        Example:
            >>> w = tt.ones(2, requires_grad=True)
            >>> w.sum().backward()
            >>> optimizer = tt.optim.SGD([w], momentum=0.9)
            >>> optimizer.step()
            >>> optimizer.state_dict()["state"]
            {0: {'momentum_buffer': tensor([1., 1.])}}
        """
        for pre_hook in self._optimizer_state_dict_pre_hooks.values():
            pre_hook(self)
        # A parameter that is listed twice has its last position, as in PyTorch.
        position = {p: place for place, p in enumerate(_parameters(self.param_groups))}
        result: StateDict = {
            "state": {position.get(p, p): value for p, value in self.state.items()},
            "param_groups": [
                {
                    **{key: value for key, value in group.items() if key != "params"},
                    "params": [position[p] for p in group["params"]],
                }
                for group in self.param_groups
            ],
        }
        for post_hook in self._optimizer_state_dict_post_hooks.values():
            changed = post_hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Restore the state that ``state_dict`` returned, possibly in another program.

        The state is copied to the dtype and device of its parameter. State is assigned to
        parameters by their order; names are not compared.

        Args:
            state_dict: A dict that ``state_dict()`` returned. It is not changed.

        Raises:
            ValueError: If the number of groups, or of parameters in a group, differs.

        Example:
            >>> w = tt.ones(2, requires_grad=True)
            >>> saved = tt.optim.SGD([w], lr=0.3).state_dict()
            >>> optimizer = tt.optim.SGD([w], lr=1.0)
            >>> optimizer.load_state_dict(saved)
            >>> optimizer.param_groups[0]["lr"]
            0.3
        """
        state_dict = state_dict.copy()
        for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = pre_hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = deepcopy(state_dict["param_groups"])
        self._check_saved_groups(saved)
        positions = chain.from_iterable(group["params"] for group in saved)
        owner = dict(zip(positions, _parameters(self.param_groups), strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            p = owner.get(key)
            state[key if p is None else p] = value if p is None else self._convert_state(p, value)
        groups = [_merge(group, mine) for group, mine in zip(saved, self.param_groups, strict=True)]
        self.__setstate__({"state": state, "param_groups": groups})
        for post_hook in self._optimizer_load_state_dict_post_hooks.values():
            post_hook(self)

    def _check_saved_groups(self, saved: list[ParamGroup]) -> None:
        """Check that a state dict has as many groups as the optimizer, of the same sizes."""
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        sizes = ((len(a["params"]), len(b["params"])) for a, b in zip(saved, self.param_groups))
        if any(a != b for a, b in sizes):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size "
                "of optimizer's group"
            )

    def _convert_state(self, p: Tensor, value: Any, key: Hashable = None) -> Any:
        """Copy ``value`` to the dtype and device of its parameter."""
        if isinstance(value, Tensor):
            converted = value
            if key not in self._keeps_dtype:
                dtype = p.dtype if p.is_floating_point() else value.dtype
                converted = value.to(dtype=dtype, device=p.device, backend=p.backend)
            # A step changes state in place, which must not change the loaded dict.
            return value.clone() if converted is value else converted
        if isinstance(value, dict):
            return {name: self._convert_state(p, item, name) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._convert_state(p, item, key) for item in value)
        return value


def _parameters(groups: list[ParamGroup]) -> Iterator[Any]:
    return chain.from_iterable(group["params"] for group in groups)


def _merge(saved: ParamGroup, mine: ParamGroup) -> ParamGroup:
    """Combine the saved hyperparameters with the optimizer's own parameters and names."""
    saved["params"] = mine["params"]
    if "param_names" in mine:
        saved["param_names"] = mine["param_names"]
    else:
        saved.pop("param_names", None)
    return saved


def _normalize(group: ParamGroup) -> None:
    """Make ``group["params"]`` a list of tensors and move their names to another key."""
    params = group["params"]
    if isinstance(params, Tensor):
        params = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the "
            "ordering of tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    named = [p for p in params if isinstance(p, tuple)]
    if named and len(named) != len(params):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    if named:
        group["param_names"] = [name for name, _ in named]
        params = [p for _, p in named]
    group["params"] = params


def _to_scalar(value: Any) -> Any:
    """Convert a 0-d tensor to a Python scalar, for ``repr``."""
    return value.item() if isinstance(value, Tensor) and not value.ndim else value


# -- private names that optimizers of other libraries import --------------------------------------


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``step``: it is recorded if the option ``differentiable`` is set, else not.

    Args:
        func: The method.
    """

    @wraps(func)
    def step(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(bool(self.defaults["differentiable"])):
            return func(self, *args, **kwargs)

    return step


def _get_value(x: Any) -> Any:
    """Python scalar of a step count."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """Return ``x``: nothing is compiled by PyTorch's compiler."""
    return x


def _disable_dynamo_if_unsupported(
    single_tensor_fn: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that returns its function unchanged."""
    return lambda func: func


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Replace complex tensors in lists, where the parameter is complex, by real views of them."""
    as_real: Any = find("", "view_as_real")
    for at, parameter in enumerate(params):
        if parameter.is_complex():
            for tensors in (params, *state_and_grads):
                tensors[at] = as_real(tensors[at])


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return False twice: steps are neither fused nor over lists unless the program says so."""
    return False, False
