"""``torch.utils._pytree``: trees of dicts, lists, tuples and registered classes.

Example:
    >>> from tinytorch.utils._pytree import tree_map
    >>> tree_map(lambda x: x + 1, {"a": 1, "b": [2, (3,)]})
    {'a': 2, 'b': [3, (4,)]}

A tree is a nested container; values that are not containers are leaves. Classes of containers are
registered by ``register_pytree_node``. Structures can be written as JSON in PyTorch's format.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, NamedTuple, TypeAlias

from ..func._tree_keys import GetAttrKey, MappingKey, SequenceKey, mapping_keys
from ..func._trees import (
    _CONTAINERS, LEAF, Container, Tree, _container, flatten, register, broadcast_prefix, unflatten,
    flatten_with_paths,
)  # fmt: skip
from ..func._trees import is_namedtuple_class as is_namedtuple_class

_PROTOCOL = 1


class _TypeName(NamedTuple):
    """Entry of a type of container in the registry of names for JSON.

    Attributes:
        kind: The type.
        name: Its name in JSON.
        write: Function from the context of a container to a value that JSON can represent.
        read: The inverse of ``write``.
    """

    kind: Any
    name: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


#: Entries by type, and types by name.
_NAMES: dict[Any, _TypeName] = {}
_KINDS: dict[str, Any] = {}


def register_type_name(kind: Any, name: str, write: Any = None, read: Any = None) -> None:
    """Register the name of a type of container in JSON.

    Args:
        kind: The type.
        name: Its name in JSON.
        write: Function from the context of a container to a value that JSON can represent.
            Default: ``json.dumps``.
        read: The inverse. Default: ``json.loads``.
    """
    _NAMES[kind] = _TypeName(kind, name, write or json.dumps, read or json.loads)
    _KINDS[name] = kind


def _find_type_name(kind: Any) -> _TypeName:
    """Registered entry of a type; raise a ``NotImplementedError`` if it has no name."""
    if kind not in _NAMES:
        raise NotImplementedError(f"Serializing {kind} in pytree is not registered.")
    return _NAMES[kind]


def _find_type(name: str) -> Any:
    """Type with a registered name; raise a ``NotImplementedError`` if there is none."""
    if name not in _KINDS:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    return _KINDS[name]


def _write_defaults(context: Any) -> dict[str, Any]:
    """Convert the context of a defaultdict, a pair of its factory and its keys, for JSON."""
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _read_defaults(written: dict[str, Any]) -> list[Any]:
    """Inverse of ``_write_defaults``: import the factory by its name."""
    module = importlib.import_module(written["default_factory_module"])
    return [getattr(module, written["default_factory_name"]), written["dict_context"]]


for _type in (tuple, list, dict):
    register_type_name(_type, f"builtins.{_type.__name__}")
for _other in (OrderedDict, deque):
    register_type_name(_other, f"collections.{_other.__name__}")
register_type_name(defaultdict, "collections.defaultdict", _write_defaults, _read_defaults)
register_type_name(
    namedtuple, "collections.namedtuple", lambda kind: _find_type_name(kind).name, _find_type
)


def _to_json(spec: Tree) -> dict[str, Any]:
    """A structure as nested dicts for JSON."""
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    entry = _find_type_name(spec.type)
    children = [_to_json(child) for child in spec.children()]
    return {"type": entry.name, "context": entry.write(spec.context), "children_spec": children}


def _from_json(written: dict[str, Any]) -> Tree:
    """Inverse of ``_to_json``."""
    if written["type"] is None:
        return LEAF
    entry = _find_type_name(_find_type(written["type"]))
    children = [_from_json(child) for child in written["children_spec"]]
    return Tree(entry.kind, entry.read(written["context"]), children)


def treespec_dumps(treespec: Tree, protocol: int | None = None) -> str:
    """Write a structure as JSON.

    Raises:
        ValueError: If ``protocol`` is not 1 or None.
        NotImplementedError: If a container's class has no name; see ``register_pytree_node``.
    """
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    return json.dumps((_PROTOCOL, _to_json(treespec)))


def treespec_loads(serialized: str) -> Tree:
    """Read a structure from the JSON of ``treespec_dumps``.

    Raises:
        ValueError: If the protocol is not 1.
        NotImplementedError: If a name of a class is unknown.
    """
    protocol, written = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    return _from_json(written)


#: Classes that are registered as constants, whose instances have no leaves.
CONSTANT_NODES: set[type] = set()


class NodeDef(NamedTuple):
    """PyTorch's functions that flatten and unflatten a type of container."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None


class _SupportedNodes(Mapping[Any, NodeDef]):
    """Live mapping of registered types to ``NodeDef``; ``namedtuple`` is that of named tuples."""

    def __getitem__(self, kind: Any) -> NodeDef:
        container: Container = _CONTAINERS[kind]
        keys = container.keys
        return NodeDef(
            kind, lambda tree: (container.children(tree), container.context(tree)),
            lambda children, context: container.rebuild(context, list(children)),
            None if keys is None else (
                lambda tree: (_keys_and_children(container, tree), container.context(tree))
            ),
        )  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        return iter(_CONTAINERS)

    def __len__(self) -> int:
        return len(_CONTAINERS)


SUPPORTED_NODES = _SupportedNodes()


def _keys_and_children(container: Container, tree: Any) -> list[tuple[Any, Any]]:
    """Pairs of key and child of a container."""
    assert container.keys is not None
    return [*zip(container.keys(tree), container.children(tree), strict=True)]


def register_pytree_node(
    cls: type, flatten_fn: Callable[[Any], Any], unflatten_fn: Callable[[Any, Any], Any],
    *, serialized_type_name: str | None = None, to_dumpable_context: Any = None,
    from_dumpable_context: Any = None, flatten_with_keys_fn: Callable[[Any], Any] | None = None,
) -> None:  # fmt: skip
    """Register a class of containers.

    Args:
        cls: The class.
        flatten_fn: Function from an instance to a list of its children and the context, which is
            the rest of its contents.
        unflatten_fn: Function from the children and the context to the instance.
        serialized_type_name: Name of the class for ``treespec_dumps``.
        to_dumpable_context: Function from the context to JSON text.
        from_dumpable_context: The inverse.
        flatten_with_keys_fn: As ``flatten_fn``, with pairs of key and child instead of children.

    Raises:
        ValueError: If the class is registered already.
    """
    register(cls, Container(
        lambda tree: list(flatten_fn(tree)[0]), lambda tree: flatten_fn(tree)[1],
        lambda context, children: unflatten_fn(children, context),
        flatten_with_keys_fn and (lambda tree: [key for key, _ in flatten_with_keys_fn(tree)[0]]),
    ))  # fmt: skip
    if serialized_type_name is not None:
        register_type_name(cls, serialized_type_name, to_dumpable_context, from_dumpable_context)


def _register_pytree_node(*args: Any, **options: Any) -> None:
    """Register a class of containers; former name of ``register_pytree_node``."""
    register_pytree_node(*args[:3], **options)


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Register the name of a class of named tuples for ``treespec_dumps``."""
    register_type_name(cls, serialized_type_name)


def register_dataclass(
    cls: type, *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:  # fmt: skip
    """Register a dataclass as a container of its fields; fields that are None are not leaves.

    Args:
        cls: The class.
        field_names: Names of the fields. Default: all.
        drop_field_names: Names of fields to ignore.
        serialized_type_name: Name of the class for ``treespec_dumps``.

    Raises:
        ValueError: If the names are not those of all fields, or ``cls`` is not a dataclass and
            ``field_names`` is None.
    """
    names = _field_names(cls, field_names, drop_field_names or [])

    def flatten_fn(value: Any) -> tuple[list[Any], Any]:
        fields = {name: getattr(value, name) for name in names}
        present = {name: field for name, field in fields.items() if field is not None}
        return [*present.values()], [[*present], [name for name in names if name not in present]]

    def unflatten_fn(children: Iterable[Any], context: Any) -> Any:
        given, missing = context
        return cls(**dict(zip(given, children, strict=True)), **dict.fromkeys(missing))

    def flatten_with_keys(value: Any) -> tuple[list[Any], Any]:
        children, context = flatten_fn(value)
        return [*zip(map(GetAttrKey, context[0]), children, strict=True)], context

    register_pytree_node(
        cls, flatten_fn, unflatten_fn, serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )  # fmt: skip


def _field_names(cls: Any, names: list[str] | None, dropped: list[str]) -> list[str]:
    """Names of the fields of a class that ``register_dataclass`` uses.

    Args:
        cls: The class.
        names: The given names, which are required for a class that is not a dataclass; None for
            all fields.
        dropped: Names of fields that ``names`` may lack.

    Raises:
        ValueError: If names are missing, or are not those of all other fields.
    """
    if not dataclasses.is_dataclass(cls):
        if names is None:
            raise ValueError(
                "field_names must be specified with a list of all fields used to initialize "
                f"{cls}, as it is not a dataclass."
            )
        return names
    init_names = [field.name for field in dataclasses.fields(cls) if field.init]
    if names is None:
        return init_names
    expected = [name for name in init_names if name not in dropped]
    if set(names) != set(expected):
        raise ValueError(
            "field_names does not include all dataclass fields, or others: expected "
            f"{expected}, got {names}. Add what is to be left out to `drop_field_names`."
        )
    return names


@dataclasses.dataclass(frozen=True, slots=True)
class ConstantNode:
    """Context of a constant in a structure."""

    value: Any


def register_constant(cls: type) -> None:
    """Register a class whose instances are part of structures, without leaves.

    Raises:
        TypeError: If the class does not define ``__eq__`` and ``__hash__``.
    """
    equals: Any = cls.__eq__
    if equals is object.__eq__ or cls.__hash__ is None:
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
    """Whether a class has been registered by ``register_constant``."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Whether an object is a named tuple or a class of named tuples."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Whether an object is a class of C struct sequences, such as ``time.struct_time``."""
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return (
        isinstance(cls, type) and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, name, None), int) for name in counts)
    )  # fmt: skip


def is_structseq_instance(obj: Any) -> bool:
    """Whether an object is a C struct sequence, such as the result of ``time.gmtime()``."""
    return is_structseq_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Whether an object is a C struct sequence or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


__all__ = [
    "Context", "GetAttrKey", "KeyPath", "LeafSpec", "MappingKey", "PyTree", "PyTreeSpec",
    "SequenceKey", "TreeSpec", "arg_tree_leaves", "is_namedtuple", "is_namedtuple_class",
    "is_namedtuple_instance", "is_structseq", "is_structseq_class", "is_structseq_instance",
    "key_get", "keystr", "register_constant", "register_dataclass", "register_pytree_node",
    "tree_all", "tree_all_only", "tree_any", "tree_any_only", "tree_flatten",
    "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves", "tree_leaves_with_path",
    "tree_map", "tree_map_", "tree_map_only", "tree_map_only_", "tree_map_with_path",
    "tree_structure", "tree_unflatten", "treespec_dict", "treespec_dumps", "treespec_leaf",
    "treespec_loads", "treespec_pprint", "treespec_tuple",
]  # fmt: skip

PyTree = Context = DumpableContext = Any
FlattenFn = FlattenFunc = Callable[[Any], tuple[list[Any], Any]]
UnflattenFn = UnflattenFunc = Callable[[Iterable[Any], Any], Any]
ToDumpableContextFn = FromDumpableContextFn = Callable[[Any], Any]
TreeSpec = PyTreeSpec = Tree
KeyPath: TypeAlias = tuple[Any, ...]
STANDARD_DICT_TYPES = frozenset((dict, OrderedDict, defaultdict))
BUILTIN_TYPES = STANDARD_DICT_TYPES | {tuple, list, deque, namedtuple}


def _dict_flatten(tree: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Values and keys of a dict; libraries register it for subclasses of dict."""
    return [*tree.values()], [*tree]


def _dict_unflatten(values: Iterable[Any], context: list[Any]) -> dict[Any, Any]:
    """Dict of some values and keys."""
    return dict(zip(context, values, strict=True))


def _list_flatten(tree: list[Any]) -> tuple[list[Any], None]:
    """Elements of a list, and no context."""
    return tree, None


def _list_unflatten(values: Iterable[Any], context: Any) -> list[Any]:
    """List of some elements."""
    return list(values)


def _tuple_flatten(tree: tuple[Any, ...]) -> tuple[list[Any], None]:
    """Elements of a tuple, and no context."""
    return list(tree), None


def _tuple_unflatten(values: Iterable[Any], context: Any) -> tuple[Any, ...]:
    """Tuple of some elements."""
    return tuple(values)


def _namedtuple_flatten(tree: Any) -> tuple[list[Any], Any]:
    """Fields of a named tuple, and its class."""
    return list(tree), type(tree)


def _namedtuple_unflatten(values: Iterable[Any], context: Any) -> Any:
    """Named tuple of the class ``context``."""
    return context(*values)


def _ordereddict_flatten(tree: OrderedDict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Values and keys of an OrderedDict."""
    return [*tree.values()], [*tree]


def _ordereddict_unflatten(values: Iterable[Any], context: list[Any]) -> OrderedDict[Any, Any]:
    """OrderedDict of some values and keys."""
    return OrderedDict(zip(context, values, strict=True))


def _deque_flatten(tree: deque[Any]) -> tuple[list[Any], int | None]:
    """Elements of a deque, and its maximal length."""
    return list(tree), tree.maxlen


def _deque_unflatten(values: Iterable[Any], context: int | None) -> deque[Any]:
    """Deque of some elements, with a maximal length."""
    return deque(values, maxlen=context)


def _get_node_type(tree: Any) -> Any:
    """Type of an object: ``namedtuple`` for named tuples, otherwise its class."""
    return _container(tree)[0]


def treespec_leaf() -> Tree:
    """Structure of a leaf."""
    return LEAF


class _LeafSpecMeta(type):
    def __instancecheck__(cls, spec: object) -> bool:
        return isinstance(spec, Tree) and spec.is_leaf()


class LeafSpec(metaclass=_LeafSpecMeta):
    """The structure of a leaf: ``LeafSpec()`` returns it, and ``isinstance`` recognizes it."""

    def __new__(cls) -> Any:
        return LEAF


def treespec_tuple(iterable: Iterable[Tree] = (), /) -> Tree:
    """Structure of a tuple of trees, from their structures."""
    return Tree(tuple, None, _check_specs(list(iterable)))


def treespec_dict(mapping: Any = (), /, **kwargs: Tree) -> Tree:
    """Structure of a dict of trees, from their structures."""
    specs = dict(mapping, **kwargs)
    return Tree(dict, [*specs], _check_specs([*specs.values()]))


def _check_specs(specs: list[Any]) -> list[Tree]:
    """Return structures; raise if an item is not one."""
    if not all(isinstance(spec, Tree) for spec in specs):
        raise ValueError(f"Expected TreeSpec values, got: {specs!r}.")
    return specs


def treespec_pprint(treespec: Tree) -> str:
    """Text of a structure: a tree with stars as leaves."""
    return treespec.pretty()


# -- flatten and unflatten --------------------------------------------------------------------


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a tree is a leaf."""
    return bool(is_leaf is not None and is_leaf(tree)) or _container(tree)[1] is None


def _dict_flatten_with_keys(tree: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Pairs of key and value, and keys, of a dict; libraries register it for subclasses."""
    return [*zip(mapping_keys(tree), tree.values(), strict=True)], [*tree]


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Tree]:
    """Flatten a tree: its leaves from left to right, and its structure.

    Args:
        tree: The tree.
        is_leaf: Function that returns whether a container is treated as a leaf.

    Example:
        >>> from tinytorch.utils._pytree import tree_flatten
        >>> tree_flatten({"a": 1, "b": [2, 3]})[0]
        [1, 2, 3]
    """
    return flatten(tree, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: Tree) -> Any:
    """Build a tree from its leaves and its structure.

    Args:
        leaves: The leaves.
        treespec: The structure.

    Raises:
        ValueError: If there are more or fewer leaves.
    """
    if not isinstance(treespec, Tree):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Leaves of a tree from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """Leaves of positional and keyword arguments."""
    return [leaf for tree in (*args, *kwargs.values()) for leaf in tree_leaves(tree)]


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterable[Any]:
    """Iterator over the leaves of a tree."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Tree:
    """Structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: Any, *rests: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """Apply a function to each leaf, and return a tree of the results.

    Args:
        func: Function of a leaf and the corresponding subtrees of the other trees.
        tree: The tree.
        *rests: Other trees of the same structure, which may have subtrees where the first has
            leaves.
        is_leaf: As for ``tree_flatten``.

    Raises:
        ValueError: If the structure of another tree differs.

    Example:
        >>> from tinytorch.utils._pytree import tree_map
        >>> tree_map(lambda x, y: x + y, (1, [2]), (10, [20]))
        (11, [22])
    """
    leaves, structure = tree_flatten(tree, is_leaf)
    others = [leaves, *(structure.flatten_up_to(rest) for rest in rests)]
    return unflatten(structure, [func(*each) for each in zip(*others, strict=True)])


def tree_map_(
    func: Callable[..., Any], tree: Any, *rests: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """Call a function with each leaf, as ``tree_map``, and return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(
    type_or_types: Any, func: Callable[[Any], Any], tree: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """Apply a function to the leaves of a type, and return the tree with the results.

    Args:
        type_or_types: A type, a tuple of types, or a function that returns whether to apply
            ``func`` to a leaf.
        func: Function of a leaf.
        tree: The tree.
        is_leaf: As for ``tree_flatten``.

    Example:
        >>> from tinytorch.utils._pytree import tree_map_only
        >>> tree_map_only(int, lambda x: -x, [1, "a"])
        [-1, 'a']
    """
    return tree_map(map_only(type_or_types)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types: Any, func: Callable[[Any], Any], tree: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """Call a function with each leaf of a type, and return the tree itself."""
    return tree_map_(map_only(type_or_types)(func), tree, is_leaf=is_leaf)


def map_only(type_or_types: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Decorator for a function of a leaf, so that it returns leaves of other types unchanged.

    Raises:
        TypeError: If the argument is neither a type, nor a tuple of types, nor a function.
    """
    matches = _as_filter(type_or_types)
    return lambda func: lambda leaf: func(leaf) if matches(leaf) else leaf


def _as_filter(type_or_types: Any) -> Callable[[Any], bool]:
    """Predicate of leaves: whether a leaf is of a type, or of one of a tuple of types.

    A function is returned as it is.
    """
    if isinstance(type_or_types, (type, tuple, UnionType)):
        return lambda leaf: isinstance(leaf, type_or_types)
    if not callable(type_or_types):
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")
    return type_or_types  # type: ignore[no-any-return]


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether a predicate is true for every leaf."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether a predicate is true for any leaf."""
    return any(map(pred, tree_leaves(tree)))


def tree_all_only(type_or_types: Any, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether a predicate is true for every leaf of a type."""
    matches = _as_filter(type_or_types)
    return all(pred(leaf) for leaf in tree_leaves(tree) if matches(leaf))


def tree_any_only(type_or_types: Any, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether a predicate is true for any leaf of a type."""
    matches = _as_filter(type_or_types)
    return any(pred(leaf) for leaf in tree_leaves(tree) if matches(leaf))


def _broadcast_to_and_flatten(tree: Any, treespec: Tree, is_leaf: Any = None) -> list[Any] | None:
    """Repeat each leaf of a tree for the leaves of a deeper structure; None if it does not fit."""
    return broadcast_prefix(tree, treespec)


# -- key paths --------------------------------------------------------------------------------


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], Tree]:
    """Flatten a tree: pairs of key path and leaf, and its structure.

    Args:
        tree: The tree.
        is_leaf: As for ``tree_flatten``.

    Raises:
        ValueError: If a class was registered without a ``flatten_with_keys_fn``.

    Example:
        >>> from tinytorch.utils._pytree import tree_flatten_with_path
        >>> tree_flatten_with_path({"a": [1]})[0]
        [((MappingKey(key='a'), SequenceKey(idx=0)), 1)]
    """
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> list[tuple[KeyPath, Any]]:
    """Pairs of key path and leaf of a tree from left to right."""
    return [*flatten_with_paths(tree, is_leaf)]


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """Apply a function to each leaf and its key path, and return a tree of the results.

    Args:
        func: Function of the key path, the leaf, and the corresponding leaves of the other trees.
        tree: The tree.
        *rests: Other trees of the same structure.
        is_leaf: As for ``tree_flatten``.

    Raises:
        ValueError: If the structure of another tree differs.

    Example:
        >>> from tinytorch.utils._pytree import keystr, tree_map_with_path
        >>> tree_map_with_path(lambda path, x: keystr(path) + str(x), {"a": [1]})
        {'a': ["['a'][0]1"]}
    """
    pairs, structure = tree_flatten_with_path(tree, is_leaf)
    others = [structure.flatten_up_to(rest) for rest in rests]
    each = zip(*zip(*pairs, strict=True), *others, strict=True) if pairs else ()
    return unflatten(structure, [func(*values) for values in each])


def keystr(kp: KeyPath) -> str:
    """Key path in Python's syntax: ``['a'][0].x``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Value at a key path of an object."""
    for key in kp:
        obj = key.get(obj)
    return obj
