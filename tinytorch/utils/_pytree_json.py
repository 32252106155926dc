"""Structures of trees as JSON, in PyTorch's form."""

from __future__ import annotations

import importlib
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

from ..func._trees import LEAF, Tree

_PROTOCOL = 1


class _Named(NamedTuple):
    """A kind of container, its name, and how what it holds beside its children is written."""

    kind: Any
    name: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


_NAMES: dict[Any, _Named] = {}
_KINDS: dict[str, Any] = {}


def name_type(kind: Any, name: str, write: Any = None, read: Any = None) -> None:
    """Say what a kind of container is called."""
    _NAMES[kind] = _Named(kind, name, write or json.dumps, read or json.loads)
    _KINDS[name] = kind


def _named(kind: Any) -> _Named:
    if kind not in _NAMES:
        raise NotImplementedError(f"Serializing {kind} in pytree is not registered.")
    return _NAMES[kind]


def _kind(name: str) -> Any:
    if name not in _KINDS:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    return _KINDS[name]


def _write_defaults(context: Any) -> dict[str, Any]:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _read_defaults(written: dict[str, Any]) -> list[Any]:
    module = importlib.import_module(written["default_factory_module"])
    return [getattr(module, written["default_factory_name"]), written["dict_context"]]


for _type in (tuple, list, dict):
    name_type(_type, f"builtins.{_type.__name__}")
for _other in (OrderedDict, deque):
    name_type(_other, f"collections.{_other.__name__}")
name_type(defaultdict, "collections.defaultdict", _write_defaults, _read_defaults)
name_type(namedtuple, "collections.namedtuple", lambda kind: _named(kind).name, _kind)


def _written(spec: Tree) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    named = _named(spec.type)
    children = [_written(child) for child in spec.children()]
    return {"type": named.name, "context": named.write(spec.context), "children_spec": children}


def _read(written: dict[str, Any]) -> Tree:
    if written["type"] is None:
        return LEAF
    named = _named(_kind(written["type"]))
    children = [_read(child) for child in written["children_spec"]]
    return Tree(named.kind, named.read(written["context"]), children)


def treespec_dumps(treespec: Tree, protocol: int | None = None) -> str:
    """A structure as JSON.

    Raises:
        ValueError: For another protocol than 1.
        NotImplementedError: If a container's class has no name; see ``register_pytree_node``.
    """
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    return json.dumps((_PROTOCOL, _written(treespec)))


def treespec_loads(serialized: str) -> Tree:
    """The structure that ``treespec_dumps`` wrote.

    Raises:
        ValueError: For another protocol than 1.
        NotImplementedError: If a name is unknown.
    """
    protocol, written = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    return _read(written)
