"""Trees of arguments and results: containers, dataclasses and dicts of a class of the program's.

A dataclass or a dict of a subclass is a container if it holds a tensor, as the outputs of models
do. Without one it is an object like others, such as a configuration.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Collection, Iterator
from typing import Any

from ..core.tensor import Tensor
from ..func._trees import Container, _container
from .python_values import instance_dict

#: Levels of containers that are searched for a tensor.
_DEPTH = 4


def _children(tree: Any) -> list[Any]:
    """Return the items of a dict, and the attributes of it or of a dataclass."""
    items = dict.values(tree) if isinstance(tree, dict) else ()
    return [*items, *(instance_dict(tree) or {}).values()]


def _context(tree: Any) -> Any:
    """Return the class, the keys of the items, and the names of the attributes."""
    keys = list(tree) if isinstance(tree, dict) else []
    return type(tree), keys, list(instance_dict(tree) or ())


def _rebuild(context: Any, children: list[Any]) -> Any:
    """Make an object of a class without a call of its code."""
    kind, keys, names = context
    made = kind.__new__(kind)
    if isinstance(made, dict):
        insert = next(vars(cls)["__setitem__"] for cls in _BUILDERS if isinstance(made, cls))
        for key, child in zip(keys, children, strict=False):
            insert(made, key, child)
    if names:
        vars(made).update(zip(names, children[len(keys) :], strict=True))
    return made


OBJECT = Container(_children, _context, _rebuild)
#: Classes with a ``__setitem__`` that stores an item.
_BUILDERS = [OrderedDict, dict]


def find_container(tree: Any) -> Container | None:
    """Return the functions that flatten and rebuild a container; None for a leaf."""
    found = _container(tree)[1]
    if found is not None or isinstance(tree, (Tensor, type)):
        return found
    if isinstance(tree, dict) or dataclasses.is_dataclass(tree):
        return OBJECT if holds_tensor(tree, _DEPTH) else None
    return None


def holds_tensor(tree: Any, depth: int) -> bool:
    """Whether a tensor is in a tree, at most at a depth."""
    if isinstance(tree, Tensor):
        return True
    if not depth or not (isinstance(tree, (dict, list, tuple)) or dataclasses.is_dataclass(tree)):
        return False
    items = tree if isinstance(tree, (list, tuple)) else _children(tree)
    return any(holds_tensor(item, depth - 1) for item in items)


def flatten_tree(tree: Any, leaves: list[Any], whole: Collection[int] = ()) -> Any:
    """Return the structure of a tree for ``rebuild_tree``, and append its leaves to a list.

    Containers that can change and whose ids are in ``whole`` are leaves.
    """
    container = find_container(tree)
    if container is None or id(tree) in whole and not isinstance(tree, tuple):
        leaves.append(tree)
        return None
    children = [flatten_tree(child, leaves, whole) for child in container.children(tree)]
    return container.rebuild, container.context(tree), children


def rebuild_tree(structure: Any, leaves: Iterator[Any]) -> Any:
    """Return a tree of a structure with other leaves."""
    if structure is None:
        return next(leaves)
    rebuild, context, children = structure
    return rebuild(context, [rebuild_tree(child, leaves) for child in children])


def tensors_in(tree: Any) -> list[Any]:
    """Return the tensors of a tree, in order."""
    leaves: list[Any] = []
    flatten_tree(tree, leaves)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]
