"""Saving a module's state in a dictionary and loading it back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...core.relocation import swap_tensors
from ...core.tensor import Tensor
from ...state import no_grad
from ...warnings import warn
from ..parameter import Parameter, is_lazy
from .conversion import FUTURE, Conversion
from .global_hooks import Hook, Hooks, RemovableHandle, add_hook

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """Result of ``load_state_dict``: the keys that do not match.

    Attributes:
        missing_keys: Keys of the module that are not in the dictionary.
        unexpected_keys: Keys of the dictionary that are not in the module.
    """

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        missing, unexpected = self
        if not missing and not unexpected:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


class StateDict(Conversion):
    """``state_dict``, ``load_state_dict`` and their hooks."""

    #: Saved with the state; ``_load_from_state_dict`` recognizes older versions by it.
    _version: int = 1

    _state_dict_hooks: Hooks
    _state_dict_post_hooks: Hooks
    _state_dict_pre_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_pre_hooks_with_module: Hooks
    _load_state_dict_post_hooks: Hooks

    def get_extra_state(self) -> Any:
        """Return additional state for ``state_dict``; a subclass that has some overrides it.

        Example:
            >>> class Counter(tt.nn.Module):
            ...     def get_extra_state(self):
            ...         return {"steps": 3}
            >>> Counter().state_dict()["_extra_state"]
            {'steps': 3}
        """
        raise NotImplementedError(f"{type(self).__name__} has no get_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """Restore the additional state; a subclass that has some overrides it.

        Args:
            state: The value that ``get_extra_state`` returned.
        """
        raise NotImplementedError(f"{type(self).__name__} has no set_extra_state()")

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Any]:
        """Return the parameters and persistent buffers by dotted name.

        The tensors share their memory with the module's.

        Args:
            destination: Dictionary to which the state is added. Default: a new one.
            prefix: Prefix of every name, without a dot added. Default: ``""``.
            keep_vars: Whether the values are the parameters themselves instead of detached
                tensors. Default: False.

        Returns:
            An OrderedDict, whose ``_metadata`` has the version of each submodule.

        Example:
            >>> list(tt.nn.Sequential(tt.nn.Linear(2, 3), tt.nn.ReLU()).state_dict())
            ['0.weight', '0.bias']
        """
        if args:
            destination, prefix, keep_vars = _parse_positional(args, destination, prefix, keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        return self._run_state_dict_hooks(destination, prefix, metadata)

    def _run_state_dict_hooks(
        self, destination: Any, prefix: str, metadata: Any
    ) -> OrderedDict[str, Any]:
        """Call the hooks after saving; those that are not post-hooks may return another dict."""
        for hook_id, hook in self._state_dict_hooks.items():
            result = hook(self, destination, prefix, metadata)
            if result is not None and hook_id in self._state_dict_post_hooks:
                raise RuntimeError("state_dict post-hook must return None")
            destination = destination if result is None else result
        return destination  # type: ignore[no-any-return]

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Save this module's own tensors, not its submodules'."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _own_state(self) -> dict[str, Tensor]:
        """Return the module's own parameters and persistent buffers by name, without None."""
        persistent = {
            name: buffer
            for name, buffer in self._buffers.items()
            if name not in self._non_persistent_buffers_set
        }
        members = {**self._parameters, **persistent}
        return {name: tensor for name, tensor in members.items() if tensor is not None}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy the tensors of a ``state_dict`` into the module.

        Args:
            state_dict: Tensors by dotted name.
            strict: Whether the names must be exactly those of the module. Default: True.
            assign: Whether the given tensors, with their dtype and device, become the module's
                instead of being copied into its tensors. Default: False.

        Returns:
            A named tuple ``(missing_keys, unexpected_keys)``.

        Raises:
            RuntimeError: If names are missing or unexpected under ``strict``, or a shape
                differs; the message lists all of them.
            TypeError: If ``state_dict`` is not a mapping.

        Example:
            >>> net = tt.nn.Linear(2, 3)
            >>> net.load_state_dict(tt.nn.Linear(2, 3).state_dict())
            <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None) or {}
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        self._load_tree(OrderedDict(state_dict), "", metadata, assign, keys, errors)
        if strict:
            errors[:0] = _key_errors(keys)
        if errors:
            details = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{details}"
            )
        return keys

    def _load_tree(
        self,
        state_dict: OrderedDict[str, Any],
        prefix: str,
        metadata: Mapping[str, Any],
        assign: bool,
        keys: _IncompatibleKeys,
        errors: list[str],
    ) -> None:
        """Load this module, then each child from the part of ``state_dict`` below its name.

        Args:
            state_dict: The entries of this module and its descendants.
            prefix: The module's path in the root module, with a dot at the end; "" for the root.
            metadata: For each path without that dot, a dict with the saved version.
            assign: Whether tensors are assigned, not copied.
            keys: The missing and the unexpected keys, to which keys are appended.
            errors: The error messages, to which messages are appended.
        """
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = True
        self._load_from_state_dict(state_dict, prefix, local, True, *keys, errors)
        for name, child in self._modules.items():
            if child is not None:
                path = f"{prefix}{name}."
                part = OrderedDict(kv for kv in state_dict.items() if kv[0].startswith(path))
                child._load_tree(part, path, metadata, assign, keys, errors)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "a hook of register_load_state_dict_post_hook returned a value; "
                    "it may change the lists of incompatible_keys in place"
                )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own tensors, not its submodules'.

        A subclass overrides it to load the state of its older versions.
        """
        report = (missing_keys, unexpected_keys, error_msgs)
        for hook_id, hook in self._load_state_dict_pre_hooks.items():
            module = (self,) if hook_id in self._load_state_dict_pre_hooks_with_module else ()
            hook(*module, state_dict, prefix, local_metadata, strict, *report)
        assign = local_metadata.get("assign_to_params_buffers", False)
        state = self._own_state()
        for name, member in state.items():
            key = prefix + name
            if key in state_dict:
                error = self._load_member(name, member, key, state_dict[key], assign)
                error_msgs.extend(error)
            elif strict:
                missing_keys.append(key)
        extra = self._load_extra_state(state_dict, prefix)
        if strict:
            missing_keys.extend(extra)
            unexpected_keys.extend(self._unexpected_keys(state_dict, prefix, state))

    def _load_member(
        self, name: str, member: Tensor, key: str, given: Any, assign: bool
    ) -> list[str]:
        """Load one tensor of this module.

        Args:
            name: Its attribute's name.
            member: The present tensor.
            key: Its key in the state dict.
            given: The value there.
            assign: Whether to assign the value instead of copying it.

        Returns:
            A list of the error message, empty if there is no error.
        """
        if not isinstance(given, Tensor):
            return [
                f'While copying the parameter named "{key}", expected tinytorch.Tensor or '
                f"Tensor-like object from checkpoint but received {type(given)}"
            ]
        if not is_lazy(member):
            if member.ndim == 0 and given.shape == (1,):
                given = given[0]
            if member.shape != given.shape:
                return [
                    f"size mismatch for {key}: copying a param with shape {given.shape} from "
                    f"checkpoint, the shape in current model is {member.shape}."
                ]
            if member.is_meta and not given.is_meta and not assign:
                warn(
                    f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                    "parameter in the current model, which is a no-op. (Did you mean to pass "
                    "`assign=True` to assign items in the state dictionary to their corresponding "
                    "key in the module instead of copying them in place?)"
                )
        try:
            self._copy_or_assign(name, member, given, assign)
        except Exception as error:
            return [
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{member.shape} and whose dimensions in the checkpoint are {given.shape}, "
                f"an exception occurred : {error.args}."
            ]
        return []

    def _copy_or_assign(self, name: str, member: Tensor, given: Tensor, assign: bool) -> None:
        """Load the tensor ``given``, which fits, into the attribute ``name``, now ``member``.

        It is copied, assigned if ``assign``, or swapped if ``torch.__future__`` is set so.
        """
        with no_grad():
            if FUTURE["swap"] and not is_lazy(member):
                _swap(member, given, assign)
                return
            if not assign:
                member.copy_(given)
                return
            if isinstance(member, Parameter):
                if isinstance(given, Parameter):
                    given.requires_grad_(member.requires_grad)
                else:
                    given = Parameter(given, requires_grad=member.requires_grad)
            setattr(self, name, given)

    def _load_extra_state(self, state_dict: Any, prefix: str) -> list[str]:
        """Load the extra state, if the class has one; return its key in a list if it is missing."""
        key = prefix + EXTRA_STATE
        if type(self).set_extra_state is StateDict.set_extra_state:
            return []
        if key not in state_dict:
            return [key]
        self.set_extra_state(state_dict[key])
        return []

    def _unexpected_keys(self, state_dict: Any, prefix: str, state: dict[str, Tensor]) -> list[str]:
        """Return the keys below ``prefix`` that belong neither to this module nor to a child.

        ``state`` has the module's own tensors by name.
        """
        known = set(state)
        if type(self).set_extra_state is not StateDict.set_extra_state:
            known.add(EXTRA_STATE)
        unexpected = []
        for key in state_dict:
            if key.startswith(prefix):
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._modules if dot else known):
                    unexpected.append(key)
        return unexpected

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the module's state is saved.

        Returns:
            A handle that removes the hook.

        Example:
            >>> net = tt.nn.ReLU()
            >>> handle = net.register_state_dict_pre_hook(lambda *args: print(args))
            >>> _ = net.state_dict(prefix="act.")
            (ReLU(), 'act.', False)
        """
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after the state is saved.

        Args:
            hook: May change ``state_dict`` in place; it must return None.

        Returns:
            A handle that removes the hook.

        Example:
            >>> net = tt.nn.Linear(2, 3)
            >>> handle = net.register_state_dict_post_hook(lambda m, state, *_: state.clear())
            >>> len(net.state_dict())
            0
        """
        return add_hook(self._state_dict_hooks, hook, options=(self._state_dict_post_hooks,))

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """Like ``register_state_dict_post_hook``, but the hook may return another dict."""
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook`` before the module's own tensors are loaded.

        Args:
            hook: Called with ``(module, state_dict, prefix, local_metadata, strict,
                missing_keys, unexpected_keys, error_msgs)``; may rename keys of ``state_dict``
                in place.

        Returns:
            A handle that removes the hook.

        Example:
            >>> net = tt.nn.Linear(1, 1, bias=False)
            >>> def rename(module, state_dict, prefix, *rest):
            ...     state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            >>> handle = net.register_load_state_dict_pre_hook(rename)
            >>> net.load_state_dict({"kernel": tt.ones(1, 1)})
            <All keys matched successfully>
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        """Register a hook that is called before loading.

        If ``with_module``, its first argument is the module.
        """
        options = (self._load_state_dict_pre_hooks_with_module,) * with_module
        return add_hook(self._load_state_dict_pre_hooks, hook, options=options)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after the module and its children are loaded.

        Args:
            hook: May change the two lists of keys in place; ``strict`` reports the result.

        Returns:
            A handle that removes the hook.

        Example:
            >>> net = tt.nn.Linear(2, 3)
            >>> def forgive(module, incompatible_keys):
            ...     incompatible_keys.missing_keys.clear()
            >>> handle = net.register_load_state_dict_post_hook(forgive)
            >>> net.load_state_dict({})
            <All keys matched successfully>
        """
        return add_hook(self._load_state_dict_post_hooks, hook)


def _key_errors(keys: _IncompatibleKeys) -> list[str]:
    """Return the error messages for missing and for unexpected keys."""
    kinds = {"Missing": keys.missing_keys, "Unexpected": keys.unexpected_keys}
    quoted = {kind: ", ".join(f'"{name}"' for name in names) for kind, names in kinds.items()}
    return [f"{kind} key(s) in state_dict: {names}. " for kind, names in quoted.items() if names]


def _parse_positional(
    args: tuple[Any, ...], destination: Any, prefix: str, keep_vars: bool
) -> tuple[Any, str, bool]:
    """Return ``destination``, ``prefix`` and ``keep_vars`` of ``state_dict``, with a warning.

    ``args`` are the ones that are passed by position; they replace the values passed by keyword.
    """
    warn(
        "Positional args are being deprecated, use kwargs instead: "
        "state_dict(destination=, prefix=, keep_vars=)",
        FutureWarning,
    )
    values: list[Any] = [destination, prefix, keep_vars]
    values[: len(args)] = args
    return values[0], values[1], values[2]


def _swap(member: Tensor, given: Tensor, assign: bool) -> None:
    """Load a tensor by swapping ``member`` with the result of ``member.module_load(given)``.

    ``assign`` is passed on to ``module_load``.
    """
    loaded = member.module_load(given, assign=assign)
    if loaded is member or loaded is given:
        raise RuntimeError("module_load must return a tensor of its own")
    if isinstance(member, Parameter) and not isinstance(loaded, Parameter):
        loaded = Parameter(loaded, requires_grad=member.requires_grad)
    swap_tensors(member, loaded)
