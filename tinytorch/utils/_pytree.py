"""Trees: dicts, lists and tuples with other values for leaves, as ``torch.utils._pytree``.

Example:
    >>> from tinytorch.utils._pytree import tree_map
    >>> tree_map(lambda x: x + 1, {"a": 1, "b": [2, (3,)]})
    {'a': 2, 'b': [3, (4,)]}

Structures of trees as JSON, in PyTorch's form.

Which values are trees: ``register_pytree_node`` and its kin.
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
    _CONTAINERS,
    LEAF,
    Container,
    Tree,
    _container,
    flatten,
    register,
    broadcast_prefix,
    unflatten,
    flatten_with_paths,
)
from ..func._trees import is_namedtuple_class as is_namedtuple_class

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
    """What libraries register for classes that derive from dict: values and keys."""
    return [*tree.values()], [*tree]


def _dict_unflatten(values: Iterable[Any], context: list[Any]) -> dict[Any, Any]:
    """The dict of these values and keys."""
    return dict(zip(context, values, strict=True))


def _list_flatten(tree: list[Any]) -> tuple[list[Any], None]:
    """Elements of a list, and no context."""
    return tree, None


def _list_unflatten(values: Iterable[Any], context: Any) -> list[Any]:
    """List of these elements."""
    return list(values)


def _tuple_flatten(tree: tuple[Any, ...]) -> tuple[list[Any], None]:
    """Elements of a tuple, and no context."""
    return list(tree), None


def _tuple_unflatten(values: Iterable[Any], context: Any) -> tuple[Any, ...]:
    """Tuple of these elements."""
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
    """OrderedDict of these values and keys."""
    return OrderedDict(zip(context, values, strict=True))


def _deque_flatten(tree: deque[Any]) -> tuple[list[Any], int | None]:
    """Elements of a deque, and its maximal length."""
    return list(tree), tree.maxlen


def _deque_unflatten(values: Iterable[Any], context: int | None) -> deque[Any]:
    """Deque of these elements and this maximal length."""
    return deque(values, maxlen=context)


def _get_node_type(tree: Any) -> Any:
    """The kind of a container, its class but for named tuples; the class of anything else."""
    return _container(tree)[0]


def treespec_leaf() -> Tree:
    """The structure of a leaf."""
    return LEAF


class _Leaves(type):
    def __instancecheck__(cls, spec: object) -> bool:
        return isinstance(spec, Tree) and spec.is_leaf()


class LeafSpec(metaclass=_Leaves):
    """What libraries call for the structure of a leaf, and ask whether a structure is one."""

    def __new__(cls) -> Any:
        return LEAF


def treespec_tuple(iterable: Iterable[Tree] = (), /) -> Tree:
    """The structure of a tuple of trees of these structures."""
    return Tree(tuple, None, _checked_specs(list(iterable)))


def treespec_dict(mapping: Any = (), /, **kwargs: Tree) -> Tree:
    """The structure of a dict of trees of these structures."""
    found = dict(mapping, **kwargs)
    return Tree(dict, [*found], _checked_specs([*found.values()]))


def _checked_specs(specs: list[Any]) -> list[Tree]:
    if not all(isinstance(spec, Tree) for spec in specs):
        raise ValueError(f"Expected TreeSpec values, got: {specs!r}.")
    return specs


def treespec_pprint(treespec: Tree) -> str:
    """A structure as the tree itself, with stars for leaves."""
    return treespec.pretty()


# -- taking apart and putting together --------------------------------------------------------


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a tree is a leaf."""
    return bool(is_leaf is not None and is_leaf(tree)) or _container(tree)[1] is None


def _dict_flatten_with_keys(tree: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """What libraries register for classes that derive from dict."""
    return [*zip(mapping_keys(tree), tree.values(), strict=True)], [*tree]


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Tree]:
    """The leaves of a tree from left to right, and its structure.

    Args:
        tree: The tree.
        is_leaf: Tells what counts as a leaf though it could be taken apart.

    Example:
        >>> from tinytorch.utils._pytree import tree_flatten
        >>> tree_flatten({"a": 1, "b": [2, 3]})[0]
        [1, 2, 3]
    """
    return flatten(tree, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: Tree) -> Any:
    """The tree of a structure with these leaves.

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
    """The leaves of a tree from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of the arguments of a call, those of keywords last."""
    return [leaf for tree in (*args, *kwargs.values()) for leaf in tree_leaves(tree)]


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterable[Any]:
    """An iterator over the leaves of a tree."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Tree:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: Any, *rests: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """The tree with a function applied to each leaf.

    Args:
        func: Function of a leaf, and of those in the same place of the other trees.
        tree: The tree.
        *rests: Other trees of the same structure, which may go deeper where the first has leaves.
        is_leaf: As for ``tree_flatten``.

    Raises:
        ValueError: If another tree has another structure.

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
    """Call a function with each leaf, as ``tree_map`` does, and return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(
    type_or_types: Any, func: Callable[[Any], Any], tree: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """The tree with a function applied to the leaves of a type.

    Args:
        type_or_types: A type, a tuple of types, or a function that tells which leaves.
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
    """Decorator of functions of a leaf that leave leaves of other types as they are.

    Raises:
        TypeError: If it is neither a type, nor types, nor a function that tells which leaves.
    """
    chosen = _chooser(type_or_types)
    return lambda func: lambda leaf: func(leaf) if chosen(leaf) else leaf


def _chooser(type_or_types: Any) -> Callable[[Any], bool]:
    if isinstance(type_or_types, (type, tuple, UnionType)):
        return lambda leaf: isinstance(leaf, type_or_types)
    if not callable(type_or_types):
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")
    return type_or_types  # type: ignore[no-any-return]


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether something holds of every leaf."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether something holds of a leaf."""
    return any(map(pred, tree_leaves(tree)))


def tree_all_only(type_or_types: Any, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether something holds of every leaf of a type."""
    chosen = _chooser(type_or_types)
    return all(pred(leaf) for leaf in tree_leaves(tree) if chosen(leaf))


def tree_any_only(type_or_types: Any, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether something holds of a leaf of a type."""
    chosen = _chooser(type_or_types)
    return any(pred(leaf) for leaf in tree_leaves(tree) if chosen(leaf))


def _broadcast_to_and_flatten(tree: Any, treespec: Tree, is_leaf: Any = None) -> list[Any] | None:
    """What a tree says of each leaf of a structure that goes deeper; None if it does not fit."""
    return broadcast_prefix(tree, treespec)


# -- leaves and where they are ----------------------------------------------------------------


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], Tree]:
    """The leaves of a tree, each behind the keys that lead to it, and its structure.

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
    """The leaves of a tree from left to right, each behind the keys that lead to it."""
    return [*flatten_with_paths(tree, is_leaf)]


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """The tree with a function applied to each leaf and the keys that lead to it.

    Args:
        func: Function of the keys, the leaf, and those in the same place of the other trees.
        tree: The tree.
        *rests: Other trees of the same structure.
        is_leaf: As for ``tree_flatten``.

    Raises:
        ValueError: If another tree has another structure.

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
    """The keys as Python would write them: ``['a'][0].x``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What the keys lead to."""
    for key in kp:
        obj = key.get(obj)
    return obj
