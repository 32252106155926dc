"""Trees: dicts, lists and tuples with other values for leaves, as ``torch.utils._pytree``.

Example:
    >>> from tinytorch.utils._pytree import tree_map
    >>> tree_map(lambda x: x + 1, {"a": 1, "b": [2, (3,)]})
    {'a': 2, 'b': [3, (4,)]}
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Any, TypeAlias

from ..func._tree_keys import GetAttrKey, MappingKey, SequenceKey, of_mapping
from ..func._trees import LEAF, Tree, _container, flatten, spread, unflatten, with_paths
from ._pytree_json import treespec_dumps as treespec_dumps
from ._pytree_json import treespec_loads as treespec_loads
from ._pytree_nodes import CONSTANT_NODES as CONSTANT_NODES
from ._pytree_nodes import SUPPORTED_NODES as SUPPORTED_NODES
from ._pytree_nodes import ConstantNode as ConstantNode
from ._pytree_nodes import NodeDef as NodeDef
from ._pytree_nodes import _register_namedtuple as _register_namedtuple
from ._pytree_nodes import _register_pytree_node as _register_pytree_node
from ._pytree_nodes import is_constant_class as is_constant_class
from ._pytree_nodes import is_namedtuple as is_namedtuple
from ._pytree_nodes import is_namedtuple_class as is_namedtuple_class
from ._pytree_nodes import is_namedtuple_instance as is_namedtuple_instance
from ._pytree_nodes import is_structseq as is_structseq
from ._pytree_nodes import is_structseq_class as is_structseq_class
from ._pytree_nodes import is_structseq_instance as is_structseq_instance
from ._pytree_nodes import register_constant as register_constant
from ._pytree_nodes import register_dataclass as register_dataclass
from ._pytree_nodes import register_pytree_node as register_pytree_node

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
    return [*zip(of_mapping(tree), tree.values(), strict=True)], [*tree]


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
    return spread(tree, treespec)


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
    return [*with_paths(tree, is_leaf)]


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
