"""Trees: dicts, lists and tuples with other values for leaves, as ``torch.utils._pytree``.

Example:
    >>> from tinytorch.utils._pytree import tree_map
    >>> tree_map(lambda x: x + 1, {"a": 1, "b": [2, (3,)]})
    {'a': 2, 'b': [3, (4,)]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from ..func._tree_keys import GetAttrKey, MappingKey, SequenceKey, of_mapping
from ..func._trees import (
    _CONTAINERS,
    LEAF,
    Container,
    Tree,
    _container,
    container_of,
    flatten,
    register,
    unflatten,
    with_paths,
)

__all__ = [
    "GetAttrKey", "KeyPath", "LeafSpec", "MappingKey", "PyTree", "SequenceKey", "TreeSpec",
    "arg_tree_leaves", "key_get", "keystr", "register_pytree_node", "tree_all", "tree_any",
    "tree_flatten", "tree_flatten_with_path", "tree_iter", "tree_leaves", "tree_leaves_with_path",
    "tree_map", "tree_map_", "tree_map_only", "tree_map_with_path", "tree_structure",
    "tree_unflatten",
]  # fmt: skip

PyTree = Context = Any
TreeSpec = Tree
KeyPath: TypeAlias = tuple[Any, ...]


class NodeDef(NamedTuple):
    """How a kind of container is taken apart and put together, in PyTorch's words."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]


class _Nodes(Mapping[Any, NodeDef]):
    """The kinds of containers, ``"namedtuple"`` for named tuples, as they are at present."""

    def __getitem__(self, kind: Any) -> NodeDef:
        container: Container = container_of(kind)
        if container is None:
            raise KeyError(kind)
        return NodeDef(
            kind, lambda tree: (container.children(tree), container.context(tree)),
            lambda children, context: container.rebuild(context, list(children)),
        )  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        return iter([*_CONTAINERS, "namedtuple"])

    def __len__(self) -> int:
        return len(_CONTAINERS) + 1


SUPPORTED_NODES = _Nodes()


def _dict_flatten(tree: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """What libraries register for classes that derive from dict: values and keys."""
    return [*tree.values()], [*tree]


def _dict_unflatten(values: Iterable[Any], context: list[Any]) -> dict[Any, Any]:
    """The dict of these values and keys."""
    return dict(zip(context, values, strict=True))


def _get_node_type(tree: Any) -> Any:
    """The kind of a container, its class but for named tuples; the class of anything else."""
    return _container(tree)[0]


def LeafSpec() -> Tree:
    """The structure of a leaf."""
    return LEAF


def register_pytree_node(
    cls: type, flatten_fn: Callable[[Any], Any], unflatten_fn: Callable[[Any, Any], Any],
    *, flatten_with_keys_fn: Callable[[Any], Any] | None = None, **options: Any,
) -> None:  # fmt: skip
    """Make the values of a class trees.

    Args:
        cls: The class.
        flatten_fn: Function of a value that gives its children and what else it holds.
        unflatten_fn: Function of the children and that, which makes the value.
        flatten_with_keys_fn: As ``flatten_fn``, with pairs of a key and a child.
        **options: Names for saved structures, which there are none of.

    Raises:
        ValueError: If the class is known already.
    """
    register(cls, Container(
        lambda tree: list(flatten_fn(tree)[0]), lambda tree: flatten_fn(tree)[1],
        lambda context, children: unflatten_fn(children, context),
        flatten_with_keys_fn and (lambda tree: [key for key, _ in flatten_with_keys_fn(tree)[0]]),
    ))  # fmt: skip


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
    found = list(leaves)
    if len(found) != treespec.count():
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(found)} but the spec "
            f"refers to a pytree that holds {treespec.count()} items ({treespec})."
        )
    return unflatten(treespec, found)


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
        *rests: Other trees of the same structure.
        is_leaf: As for ``tree_flatten``.

    Raises:
        ValueError: If another tree has another structure.

    Example:
        >>> from tinytorch.utils._pytree import tree_map
        >>> tree_map(lambda x, y: x + y, (1, [2]), (10, [20]))
        (11, [22])
    """
    leaves, structure = tree_flatten(tree, is_leaf)
    others = [leaves]
    for rest in rests:
        found, own = tree_flatten(rest, is_leaf)
        if own != structure:
            raise ValueError(f"Node arity mismatch; expected {structure}, but got {own}.")
        others.append(found)
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
    plain = isinstance(type_or_types, (type, tuple))
    chosen = (lambda x: isinstance(x, type_or_types)) if plain else type_or_types
    return tree_map(lambda x: func(x) if chosen(x) else x, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether something holds of every leaf."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether something holds of a leaf."""
    return any(map(pred, tree_leaves(tree)))


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
    paths = [path for path, _ in tree_leaves_with_path(tree, is_leaf)]
    where = unflatten(tree_structure(tree, is_leaf), [_Path(path) for path in paths])
    return tree_map(
        lambda leaf, path, *others: func(path.keys, leaf, *others), tree, where, *rests,
        is_leaf=is_leaf,
    )  # fmt: skip


class _Path:
    """A path as a leaf."""

    def __init__(self, keys: KeyPath) -> None:
        self.keys = keys


def keystr(kp: KeyPath) -> str:
    """The keys as Python would write them: ``['a'][0].x``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What the keys lead to."""
    for key in kp:
        obj = key.get(obj)
    return obj
