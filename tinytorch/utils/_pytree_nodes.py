"""Which values are trees: ``register_pytree_node`` and its kin."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..func._tree_keys import GetAttrKey
from ..func._trees import _CONTAINERS, Container, register
from ..func._trees import is_namedtuple_class as is_namedtuple_class
from ._pytree_json import name_type

#: The classes whose values are no trees though they have been registered.
CONSTANT_NODES: set[type] = set()


class NodeDef(NamedTuple):
    """How a kind of container is taken apart and put together, in PyTorch's words."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None


class _Nodes(Mapping[Any, NodeDef]):
    """The kinds of containers, ``namedtuple`` for named tuples, as they are at present."""

    def __getitem__(self, kind: Any) -> NodeDef:
        container: Container = _CONTAINERS[kind]
        keys = container.keys
        return NodeDef(
            kind, lambda tree: (container.children(tree), container.context(tree)),
            lambda children, context: container.rebuild(context, list(children)),
            None if keys is None else (
                lambda tree: (_pairs(container, tree), container.context(tree))
            ),
        )  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        return iter(_CONTAINERS)

    def __len__(self) -> int:
        return len(_CONTAINERS)


SUPPORTED_NODES = _Nodes()


def _pairs(container: Container, tree: Any) -> list[tuple[Any, Any]]:
    assert container.keys is not None
    return [*zip(container.keys(tree), container.children(tree), strict=True)]


def register_pytree_node(
    cls: type, flatten_fn: Callable[[Any], Any], unflatten_fn: Callable[[Any, Any], Any],
    *, serialized_type_name: str | None = None, to_dumpable_context: Any = None,
    from_dumpable_context: Any = None, flatten_with_keys_fn: Callable[[Any], Any] | None = None,
) -> None:  # fmt: skip
    """Make the values of a class trees.

    Args:
        cls: The class.
        flatten_fn: Function of a value that gives its children and what else it holds.
        unflatten_fn: Function of the children and that, which makes the value.
        serialized_type_name: What ``treespec_dumps`` calls the class.
        to_dumpable_context: Function of what else it holds, which makes it fit for JSON.
        from_dumpable_context: The inverse.
        flatten_with_keys_fn: As ``flatten_fn``, with pairs of a key and a child.

    Raises:
        ValueError: If the class is known already.
    """
    register(cls, Container(
        lambda tree: list(flatten_fn(tree)[0]), lambda tree: flatten_fn(tree)[1],
        lambda context, children: unflatten_fn(children, context),
        flatten_with_keys_fn and (lambda tree: [key for key, _ in flatten_with_keys_fn(tree)[0]]),
    ))  # fmt: skip
    if serialized_type_name is not None:
        name_type(cls, serialized_type_name, to_dumpable_context, from_dumpable_context)


def _register_pytree_node(*args: Any, **options: Any) -> None:
    """``register_pytree_node``, by the name of old."""
    register_pytree_node(*args[:3], **options)


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Say what ``treespec_dumps`` calls a class of named tuples."""
    name_type(cls, serialized_type_name)


def register_dataclass(
    cls: type, *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:  # fmt: skip
    """Make the values of a dataclass trees, of which fields that are None are no leaves.

    Args:
        cls: The class.
        field_names: The fields that it is made of. Default: all.
        drop_field_names: Those that are left out.
        serialized_type_name: What ``treespec_dumps`` calls the class.

    Raises:
        ValueError: If not every field is told of, or ``cls`` is no dataclass and no field is.
    """
    names = _fields_of(cls, field_names, drop_field_names or [])

    def flatten_fn(value: Any) -> tuple[list[Any], Any]:
        found = {name: getattr(value, name) for name in names}
        given = {name: field for name, field in found.items() if field is not None}
        return [*given.values()], [[*given], [name for name in names if name not in given]]

    def unflatten_fn(children: Iterable[Any], context: Any) -> Any:
        given, missing = context
        return cls(**dict(zip(given, children, strict=True)), **dict.fromkeys(missing))

    def with_keys(value: Any) -> tuple[list[Any], Any]:
        children, context = flatten_fn(value)
        return [*zip(map(GetAttrKey, context[0]), children, strict=True)], context

    register_pytree_node(
        cls, flatten_fn, unflatten_fn, serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=with_keys,
    )  # fmt: skip


def _fields_of(cls: Any, names: list[str] | None, dropped: list[str]) -> list[str]:
    if not dataclasses.is_dataclass(cls):
        if names is None:
            raise ValueError(
                "field_names must be specified with a list of all fields used to initialize "
                f"{cls}, as it is not a dataclass."
            )
        return names
    own = [field.name for field in dataclasses.fields(cls) if field.init]
    if names is None:
        return own
    own = [name for name in own if name not in dropped]
    if set(names) != set(own):
        raise ValueError(
            "field_names does not include all dataclass fields, or others: expected "
            f"{own}, got {names}. Add what is to be left out to `drop_field_names`."
        )
    return names


@dataclasses.dataclass(frozen=True, slots=True)
class ConstantNode:
    """What a structure holds of a constant."""

    value: Any


def register_constant(cls: type) -> None:
    """Make the values of a class parts of structures, without leaves.

    Raises:
        TypeError: If they cannot be compared or hashed.
    """
    own: Any = cls.__eq__
    if own is object.__eq__ or cls.__hash__ is None:
        raise TypeError(
            "register_constant(cls) expects `cls` to have a non-default `__eq__` and `__hash__` "
            f"implementation, got {cls}."
        )
    register_pytree_node(
        cls, lambda value: ([], ConstantNode(value)), lambda _, context: context.value,
        flatten_with_keys_fn=lambda value: ([], ConstantNode(value)),
    )  # fmt: skip
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: Any) -> bool:
    """Whether a class has been registered as one of constants."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether it is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Whether it is a named tuple or a class of such."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Whether it is a class as that of ``time.gmtime()``."""
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return (
        isinstance(cls, type) and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, name, None), int) for name in counts)
    )  # fmt: skip


def is_structseq_instance(obj: Any) -> bool:
    """Whether it is what ``time.gmtime()`` gives, or the like."""
    return is_structseq_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Whether it is one of these or a class of such."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))
