"""State dicts whose keys do not depend on wrappers: ``torch.distributed.checkpoint.state_dict``.

Keys are canonical names: a parameter's name in the model without ``DistributedDataParallel``.
State dicts of optimizers have these names instead of indices, so that they can be loaded with
another number of ranks, or without ``DistributedDataParallel``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...core.tensor import Tensor
from ...nn.module import Module
from ...nn.module.state_dict import _IncompatibleKeys
from ...nn.parallel.distributed import DistributedDataParallel
from ...ops.create.factories import zeros_like
from ...optim.optimizer import Optimizer
from ...state import no_grad
from ...warnings import warn
from ..group_queries import get_rank
from ..object_collectives import broadcast_object_list
from ..process_group import is_initialized

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict",
    "set_model_state_dict", "set_optimizer_state_dict", "set_state_dict",
]  # fmt: skip

FQNS_T: TypeAlias = set[str]
PrimitiveType: TypeAlias = Tensor | int | float | str
ValueType: TypeAlias = Any  # PrimitiveType, or lists, tuples and dicts of it
DictValueType: TypeAlias = dict[str, ValueType]
ListDictValueType: TypeAlias = list[DictValueType]
OptimizerStateType: TypeAlias = dict[str, Any]
_Optimizers: TypeAlias = "Optimizer | Iterable[Optimizer]"

#: Part of a name that is added by a module which wraps another one for ``utils.checkpoint``.
_WRAPPER = "_checkpoint_wrapped_module"


@dataclass
class StateDictOptions:
    """Options of the functions of this module.

    Attributes:
        full_state_dict: Whether tensors are whole on each rank, which they always are. Has an
            effect with ``cpu_offload`` and ``broadcast_from_rank0`` alone. Default: False.
        cpu_offload: Whether tensors are copied to the CPU; with ``full_state_dict``, ranks other
            than 0 get empty state dicts. Default: False.
        ignore_frozen_params: Whether parameters without ``requires_grad`` are left out. Default:
            False.
        keep_submodule_prefixes: Whether the entries of ``submodules`` keep the names that they have
            in the model. Default: True.
        strict: Whether a missing entry is an error when state is set. Default: True.
        broadcast_from_rank0: Whether all ranks load the state dict of rank 0. Default: False.
        flatten_optimizer_state_dict: Whether state dicts of optimizers are flat:
            ``"state.NAME.step"``. Default: False.
        dsd_fqn_modifiers: Without effect.

    Example:
        >>> from tinytorch.distributed.checkpoint.state_dict import StateDictOptions
        >>> StateDictOptions(cpu_offload=True).strict
        True
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def get_model_state_dict(
    model: Module, *, submodules: set[Module] | None = None, options: StateDictOptions | None = None
) -> dict[str, ValueType]:
    """State dict of a model, with canonical names.

    Args:
        model: The model.
        submodules: Modules to whose entries the state dict is limited; deprecated. Default: None.
        options: The options. Default: ``StateDictOptions()``.

    Raises:
        RuntimeError: If the state dict is empty.

    Example:
        >>> from tinytorch.distributed.checkpoint.state_dict import get_model_state_dict
        >>> list(get_model_state_dict(tt.nn.Linear(2, 1)))
        ['weight', 'bias']
    """
    chosen = _check_options(options)
    state = _read_model(model, _prefixes(model, submodules), chosen)
    if not submodules and not chosen.ignore_frozen_params:
        _check_model_state(state, chosen)
    return state


def get_optimizer_state_dict(
    model: Module, optimizers: _Optimizers, *, submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> OptimizerStateType:  # fmt: skip
    """State dict of all optimizers of a model, with canonical names instead of indices.

    An optimizer without state first takes a step with zero gradients and a learning rate of 0.

    Args:
        model: The model.
        optimizers: One or several optimizers.
        submodules: Without effect on optimizers; deprecated.
        options: The options. Default: ``StateDictOptions()``.

    Raises:
        RuntimeError: If there are no optimizers.
        KeyError: If a parameter of an optimizer is not in the model.

    Example:
        >>> from tinytorch.distributed.checkpoint.state_dict import get_optimizer_state_dict
        >>> model = tt.nn.Linear(2, 1)
        >>> state = get_optimizer_state_dict(model, tt.optim.Adam(model.parameters()))
        >>> list(state["state"]), state["param_groups"][0]["params"]
        (['weight', 'bias'], ['weight', 'bias'])
    """
    _prefixes(model, submodules)
    found = _check_optimizers(optimizers)
    return _read_optimizers(model, found, _check_options(options))


def get_state_dict(
    model: Module, optimizers: _Optimizers, *, submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, ValueType], OptimizerStateType]:  # fmt: skip
    """State dicts of a model and of its optimizers, with canonical names.

    Args:
        model: The model.
        optimizers: One or several optimizers.
        submodules: Modules to whose entries the state dict is limited; deprecated. Default: None.
        options: The options. Default: ``StateDictOptions()``.

    Example:
        >>> from tinytorch.distributed.checkpoint.state_dict import get_state_dict
        >>> model = tt.nn.Linear(2, 1)
        >>> weights, state = get_state_dict(model, tt.optim.SGD(model.parameters(), 0.1))
        >>> list(weights), state["param_groups"][0]["lr"]
        (['weight', 'bias'], 0.1)
    """
    weights = get_model_state_dict(model, submodules=submodules, options=options)
    found = _as_tuple(optimizers)
    return weights, _read_optimizers(model, found, _check_options(options)) if found else {}


def set_model_state_dict(
    model: Module,
    model_state_dict: dict[str, ValueType],
    *,
    options: StateDictOptions | None = None,
) -> _IncompatibleKeys:
    """Load a state dict with canonical names into a model.

    Args:
        model: The model.
        model_state_dict: The state dict.
        options: The options. Default: ``StateDictOptions()``.

    Returns:
        The missing and the unexpected keys, as ``load_state_dict``.

    Raises:
        RuntimeError: With ``strict``, if keys are missing or unexpected.

    Example:
        >>> from tinytorch.distributed.checkpoint.state_dict import set_model_state_dict
        >>> model = tt.nn.Linear(1, 1, bias=False)
        >>> set_model_state_dict(model, {"weight": tt.tensor([[3.0]])})
        <All keys matched successfully>
        >>> model.weight.item()
        3.0
    """
    chosen = _check_options(options)
    state = _join_submodules(model, model_state_dict)
    _check_model_state(state, chosen)
    return _write_model(model, state, chosen)


def set_optimizer_state_dict(
    model: Module, optimizers: _Optimizers, optim_state_dict: OptimizerStateType, *,
    options: StateDictOptions | None = None,
) -> None:  # fmt: skip
    """Load a state dict with canonical names into optimizers.

    Args:
        model: The model.
        optimizers: One or several optimizers.
        optim_state_dict: The state dict, flat or not.
        options: The options. Default: ``StateDictOptions()``.

    Raises:
        RuntimeError: With ``strict``, if the state of a parameter is missing.

    Example:
        >>> from tinytorch.distributed.checkpoint import state_dict
        >>> model = tt.nn.Linear(1, 1)
        >>> first = tt.optim.SGD(model.parameters(), 0.1)
        >>> second = tt.optim.SGD(model.parameters(), 0.2)
        >>> saved = state_dict.get_optimizer_state_dict(model, first)
        >>> state_dict.set_optimizer_state_dict(model, second, saved)
        >>> second.param_groups[0]["lr"]
        0.1
    """
    chosen = _check_options(options)
    _write_optimizers(model, _check_optimizers(optimizers), optim_state_dict, chosen)


def set_state_dict(
    model: Module, optimizers: _Optimizers, *, model_state_dict: dict[str, ValueType],
    optim_state_dict: OptimizerStateType, options: StateDictOptions | None = None,
) -> _IncompatibleKeys:  # fmt: skip
    """Load state dicts with canonical names into a model and its optimizers.

    Args:
        model: The model.
        optimizers: One or several optimizers.
        model_state_dict: The model's state dict; an empty one leaves the model unchanged.
        optim_state_dict: The state dict of the optimizers.
        options: The options. Default: ``StateDictOptions()``.

    Returns:
        The missing and the unexpected keys of the model, as ``load_state_dict``.

    Example:
        >>> from tinytorch.distributed.checkpoint import state_dict
        >>> model = tt.nn.Linear(1, 1)
        >>> optimizer = tt.optim.Adam(model.parameters())
        >>> weights, state = state_dict.get_state_dict(model, optimizer)
        >>> state_dict.set_state_dict(
        ...     model, optimizer, model_state_dict=weights, optim_state_dict=state
        ... )
        <All keys matched successfully>
    """
    chosen = _check_options(options)
    found = _as_tuple(optimizers) if model_state_dict else _check_optimizers(optimizers)
    if found:
        _write_optimizers(model, found, optim_state_dict, chosen)
    return _write_model(model, _join_submodules(model, model_state_dict), chosen)


# -- arguments -----------------------------------------------------------------------------------


def _check_options(options: StateDictOptions | None) -> StateDictOptions:
    """Return the options, by default new ones; raise a ``ValueError`` if they contradict."""
    chosen = options or StateDictOptions()
    if chosen.broadcast_from_rank0 and not chosen.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return chosen


def _as_tuple(optimizers: _Optimizers) -> tuple[Optimizer, ...]:
    return (optimizers,) if isinstance(optimizers, Optimizer) else tuple(optimizers)


def _check_optimizers(optimizers: _Optimizers) -> tuple[Optimizer, ...]:
    """Return one or several optimizers as a tuple; raise a ``RuntimeError`` if it is empty."""
    found = _as_tuple(optimizers)
    if not found:
        raise RuntimeError("Optimizers are not passed in but optim_only is set to True.")
    return found


def _check_model_state(state: dict[str, Any], options: StateDictOptions) -> None:
    """Raise if a model's state dict is empty, unless the options permit that.

    With ``broadcast_from_rank0``, or a full state dict that is offloaded, only rank 0 has one.
    """
    may_be_empty = options.broadcast_from_rank0 or (options.cpu_offload and options.full_state_dict)
    if not state and options.strict and not may_be_empty:
        raise RuntimeError(
            "The option indicates that model state_dict is required to save or load, but model "
            "state_dict is empty."
        )


def _prefixes(model: Module, submodules: set[Module] | None) -> tuple[str, ...]:
    """Prefixes of the submodules' keys: their canonical names, each followed by a dot.

    Without submodules the result is empty, and all keys are selected.
    """
    if not submodules:
        return ()
    warn(
        "Getting submodules only model/optim state_dict is deprecated and will be removed in 2.5. "
        "This feature can be achieved by manually filtering out the state_dict returned from "
        "get_state_dict.", FutureWarning,
    )  # fmt: skip
    named = model.named_modules()
    return tuple(f"{_canonical(model, name)}." for name, each in named if each in submodules)


def _join_submodules(model: Module, state: dict[Any, Any]) -> dict[str, Any]:
    """Convert a dict of submodules and their state dicts to a state dict of the whole model.

    A state dict of the model is returned as it is.
    """
    if not state or not isinstance(next(iter(state)), Module):
        return state
    warn(
        "Passing model_state_dict as a ``Dict[nn.Module, Dict[str, Any]]``is deprecated and will "
        "be removed in 2.5.", FutureWarning,
    )  # fmt: skip
    names = {module: _canonical(model, name) for name, module in model.named_modules()}
    return {
        f"{names[module]}.{key}": value
        for module, module_state in state.items()
        for key, value in module_state.items()
    }


# -- models --------------------------------------------------------------------------------------


def _canonical(model: Module, name: str) -> str:
    """Canonical name of a parameter or module: its name without the parts that wrappers add.

    For example, ``"module.weight"`` of a ``DistributedDataParallel`` becomes ``"weight"``.
    """
    parts = []
    module: Any = model
    for part in name.split("."):
        if not isinstance(module, DistributedDataParallel) and part != _WRAPPER:
            parts.append(part)
        module = getattr(module, part, None)
    return ".".join(parts)


@no_grad()
def _read_model(
    model: Module, prefixes: tuple[str, ...], options: StateDictOptions
) -> dict[str, Any]:
    """State dict of a model with canonical names.

    Args:
        model: The model.
        prefixes: Only keys with one of these prefixes are included; all keys if empty.
        options: Options such as ``ignore_frozen_params`` and ``cpu_offload``, which are applied.
    """
    state: dict[str, Any] = model.state_dict()
    for key in list(state):
        state[_canonical(model, key)] = state.pop(key)
    if prefixes:
        removes_prefix = not options.keep_submodule_prefixes
        state = {
            key[len(prefix) :] if removes_prefix else key: value
            for key, value in state.items()
            for prefix in prefixes
            if key.startswith(prefix)
        }
    if options.ignore_frozen_params:
        for name, param in model.named_parameters():
            if not param.requires_grad:
                state.pop(_canonical(model, name), None)
    offloaded: dict[str, Any] = _offload(state, options)
    return offloaded


@no_grad()
def _write_model(
    model: Module, state: dict[str, Any], options: StateDictOptions
) -> _IncompatibleKeys:
    """Load a state dict with canonical names into a model; return the keys that do not match."""
    state = _broadcast(state, options)
    if not state:
        return _IncompatibleKeys([], [])
    current = model.state_dict()
    names = {_canonical(model, key): key for key in current}
    given: OrderedDict[str, Any] = OrderedDict()
    for name, value in state.items():
        given[names.get(name, name)] = value
    if hasattr(state, "_metadata"):
        vars(given)["_metadata"] = state._metadata
    # Tensors on the meta device have no memory to copy into, so they are replaced.
    has_meta = any(isinstance(v, Tensor) and v.device.type == "meta" for v in current.values())
    assign = has_meta and (options.full_state_dict or options.broadcast_from_rank0)
    return model.load_state_dict(given, strict=options.strict, assign=assign)


# -- optimizers ----------------------------------------------------------------------------------


def _params(optimizer: Optimizer) -> list[Any]:
    return [param for group in optimizer.param_groups for param in group["params"]]


def _names(model: Module) -> dict[Any, list[str]]:
    """Canonical names of each parameter; a shared parameter has several."""
    names: dict[Any, list[str]] = {}
    for name, param in model.named_parameters(remove_duplicate=False):
        names.setdefault(param, []).append(_canonical(model, name))
    return names


def _init_state(optimizer: Optimizer) -> None:
    """Create the state of an optimizer without one, by a step that changes no parameter."""
    params = _params(optimizer)
    if optimizer.state or any(param.grad is not None for param in params):
        return
    for param in params:
        if param.requires_grad:
            param.grad = zeros_like(param)
    groups = [group for group in optimizer.param_groups if "lr" in group]
    rates = [group["lr"] for group in groups]
    for group, rate in zip(groups, rates, strict=True):
        group["lr"] = zeros_like(rate) if isinstance(rate, Tensor) else 0.0
    optimizer.step()
    for group, rate in zip(groups, rates, strict=True):
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


@no_grad()
def _read_optimizers(
    model: Module, optimizers: tuple[Optimizer, ...], options: StateDictOptions
) -> OptimizerStateType:
    """One state dict of all optimizers, in which canonical names replace parameters' numbers.

    Args:
        model: The model whose parameters the optimizers update.
        optimizers: The optimizers.
        options: Options, of which ``flatten_optimizer_state_dict`` and ``cpu_offload`` are applied.

    Raises:
        KeyError: If an optimizer has a parameter that is not the model's.
    """
    names = _names(model)
    joined: OptimizerStateType = {"state": {}, "param_groups": []}
    for optimizer in optimizers:
        _init_state(optimizer)
        saved = optimizer.state_dict()
        params = _params(optimizer)
        if unknown := [number for number, param in enumerate(params) if param not in names]:
            raise KeyError(
                f"parameters {unknown} of {type(optimizer).__name__} are not the model's"
            )
        for number, state in saved["state"].items():
            joined["state"][names[params[number]][0]] = state
        for group in saved["param_groups"]:
            group_names = [names[params[number]][0] for number in group["params"]]
            joined["param_groups"].append({**group, "params": group_names})
    whole = _flatten(joined) if options.flatten_optimizer_state_dict else joined
    offloaded: dict[str, Any] = _offload(whole, options)
    return offloaded


@no_grad()
def _write_optimizers(
    model: Module,
    optimizers: tuple[Optimizer, ...],
    state: OptimizerStateType,
    options: StateDictOptions,
) -> None:
    """Load a state dict with canonical names, flat or not, into optimizers."""
    state = _broadcast(state, options)
    if not state and not (options.cpu_offload and options.full_state_dict):
        raise RuntimeError(
            "The option indicates that model state_dict is required to save, or load but optim "
            f"state_dict is empty. {state}"
        )
    names = _names(model)
    for optimizer in optimizers if state else ():
        _init_state(optimizer)
        whole = state if "state" in state else _unflatten(state)
        optimizer.load_state_dict(_select(optimizer, whole, names, options.strict))


def _select(
    optimizer: Optimizer, saved: OptimizerStateType, names: dict[Any, list[str]], strict: bool
) -> OptimizerStateType:
    """Select the state of one optimizer from the joined state dict of several.

    Args:
        optimizer: The optimizer, whose parameter groups determine the groups of the result.
        saved: State dict with canonical names; one with numbers instead is returned as it is.
        names: Canonical names of each parameter; see ``_names``.
        strict: Whether to raise if a parameter's group or state is missing.

    Returns:
        A state dict with canonical names.

    Raises:
        RuntimeError: With ``strict``, if the state of a parameter is missing.
    """
    if saved["state"] and all(isinstance(key, int) for key in saved["state"]):
        return saved
    group_of = {name: group for group in saved["param_groups"] for name in group["params"]}
    empty = [group for group in saved["param_groups"] if not group["params"]]
    found: OptimizerStateType = {"state": {}, "param_groups": []}
    for group in optimizer.param_groups:
        group_names = []
        for param in group["params"]:
            name = next((each for each in names[param] if each in group_of), names[param][0])
            group_names.append(name)
            if param.requires_grad and name in saved["state"]:
                found["state"][name] = saved["state"][name]
            absent = optimizer.state.get(param) and name not in saved["state"]
            if strict and (name not in group_of or (param.requires_grad and absent)):
                raise RuntimeError(
                    f"Missing optimizer state for parameter '{name}' in checkpoint. To load "
                    "anyway, use StateDictOptions(strict=False)."
                )
        options = next((group_of[name] for name in group_names if name in group_of), None)
        options = options or (empty[0] if empty and not group_names else group)
        found["param_groups"].append({**options, "params": group_names})
    return found


def _flatten(saved: OptimizerStateType) -> dict[str, Any]:
    """Flat state dict, with keys such as ``state.NAME.step`` and ``param_groups.NAME.lr``."""
    flat: dict[str, Any] = {}

    def add(path: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                add(f"{path}.{key}", each)
        elif isinstance(value, Tensor | int | float):
            flat[path] = value
        else:
            raise NotImplementedError(
                "Flattening optimizer state_dict only supports tensor, int, float, dict states "
                f"now. Type is {type(value)}."
            )

    add("state", saved["state"])
    for group in saved["param_groups"]:
        for name in group["params"]:
            options = {key: value for key, value in group.items() if key != "params"}
            flat.update({f"param_groups.{name}.{key}": value for key, value in options.items()})
    return flat


def _unflatten(flat: dict[str, Any]) -> OptimizerStateType:
    """Inverse of ``_flatten``, except that each parameter gets a parameter group of its own.

    A key is ``"state.NAME.KEY..."`` or ``"param_groups.NAME.OPTION"``, where NAME may contain dots.
    """
    found: OptimizerStateType = {"state": {}, "param_groups": []}
    groups: dict[str, dict[str, Any]] = {}
    for key, value in flat.items():
        kind, path = key.split(".", 1)
        if kind == "param_groups":
            name, option = path.rsplit(".", 1)
            groups.setdefault(name, {"params": [name]})[option] = value
    found["param_groups"] = list(groups.values())
    for name in groups:
        prefix = f"state.{name}."
        param_state: dict[str, Any] = {}
        for key, value in flat.items():
            if key.startswith(prefix):
                parts = key[len(prefix) :].split(".")
                inner = param_state
                for part in parts[:-1]:
                    inner = inner.setdefault(part, {})
                inner[parts[-1]] = value
        if param_state:
            found["state"][name] = param_state
    return found


# -- ranks ---------------------------------------------------------------------------------------


def _offload(state: Any, options: StateDictOptions) -> Any:
    """Apply ``cpu_offload``: copy tensors to the CPU, or return ``{}`` on ranks other than 0."""
    if not options.cpu_offload:
        return state
    if options.full_state_dict and is_initialized() and get_rank() != 0:
        return {}
    return _to_cpu(state)


def _to_cpu(value: Any) -> Any:
    """Copy the tensors in nested containers to the CPU."""
    if isinstance(value, Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {key: _to_cpu(each) for key, each in value.items()}
    return type(value)(map(_to_cpu, value)) if type(value) in (list, tuple) else value


def _broadcast(state: dict[str, Any], options: StateDictOptions) -> dict[str, Any]:
    """Apply ``broadcast_from_rank0``: return the state dict of rank 0."""
    if not options.broadcast_from_rank0:
        return state
    sent = [state]
    broadcast_object_list(sent, src=0)
    return sent[0]
