"""Trees: nested dicts, lists and tuples, whose leaves are tensors or other values.

A value that is not one of the containers below is a leaf, None too, as in ``torch.utils._pytree``.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.tensor import Holder, Tensor
from ._tree_keys import mapping_keys, named_tuple_keys, sequence_keys


class Container(NamedTuple):
    """Functions that flatten and rebuild the containers of a class.

    Attributes:
        children: Returns the children of a container.
        context: Returns the rest of a container: the keys of a dict.
        rebuild: Makes a container from a context and children.
        keys: Returns the keys of the children; None for a class registered without it.
    """

    children: Callable[[Any], list[Any]]
    context: Callable[[Any], Any]
    rebuild: Callable[[Any, list[Any]], Any]
    keys: Callable[[Any], list[Any]] | None = None


_CONTAINERS: dict[Any, Container] = {
    tuple: Container(
        list, lambda tree: None, lambda context, children: tuple(children), sequence_keys
    ),
    list: Container(list, lambda tree: None, lambda context, children: children, sequence_keys),
    dict: Container(
        lambda tree: [*tree.values()], list,
        lambda keys, children: dict(zip(keys, children, strict=True)), mapping_keys,
    ),
    OrderedDict: Container(
        lambda tree: [*tree.values()], list,
        lambda keys, children: OrderedDict(zip(keys, children, strict=True)), mapping_keys,
    ),
    defaultdict: Container(
        lambda tree: [*tree.values()], lambda tree: [tree.default_factory, [*tree]],
        lambda context, children: defaultdict(
            context[0], zip(context[1], children, strict=True)
        ), mapping_keys,
    ),
    deque: Container(
        list, lambda tree: tree.maxlen, lambda maxlen, children: deque(children, maxlen),
        sequence_keys,
    ),
}  # fmt: skip
_NAMED_TUPLE = Container(list, type, lambda kind, children: kind(*children), named_tuple_keys)
_CONTAINERS[namedtuple] = _NAMED_TUPLE
#: An array of ``tinytorch.numpy``, whose child is the Tensor that it wraps.
_HOLDER = Container(
    lambda tree: [tree._tensor], type,
    lambda kind, children: kind.around(children[0]) if isinstance(children[0], Tensor)
    else children[0], sequence_keys,
)  # fmt: skip
_DICTS = frozenset((dict, OrderedDict, defaultdict))


def is_namedtuple_class(cls: Any) -> bool:
    """Whether ``cls`` is a class of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def _container(tree: Any) -> tuple[Any, Container | None]:
    """Return the type of a value as ``Tree`` has it, and its ``Container``; None for a leaf."""
    kind: Any = type(tree)
    if is_namedtuple_class(kind):
        return namedtuple, _NAMED_TUPLE
    if isinstance(tree, Holder):
        return kind, _HOLDER
    return kind, _CONTAINERS.get(kind)


class Tree:
    """Structure of a tree, without its leaves: PyTorch's ``TreeSpec``.

    Args:
        type: The type of the container; ``namedtuple`` for any named tuple, None for a leaf.
        context: The container's data besides its children, such as the keys of a dict.
        children_specs: The structures of its children.

    Attributes:
        num_nodes: The number of containers and leaves.
        num_leaves: The number of leaves.
        num_children: The number of children.
    """

    num_nodes: int
    num_leaves: int
    __slots__ = (
        "type", "context", "_children", "container", "num_nodes", "num_leaves", "num_children",
    )  # fmt: skip

    def __init__(
        self, type: Any, context: Any, children_specs: Iterable[Tree], container: Any = None
    ) -> None:
        self.type: Any = type
        self.container: Any = container or _CONTAINERS.get(type)
        self.context: Any = context
        self._children = list(children_specs)
        self.num_children: int = len(self._children)
        self.num_nodes = 1 + sum(child.num_nodes for child in self._children)
        self.num_leaves = int(type is None) + sum(child.num_leaves for child in self._children)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and (
            (self.type, self.context, self._children)
            == (other.type, other.context, other._children)
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_nodes, *self._children))

    def __repr__(self) -> str:
        return self._format(0)

    def _format(self, indent: int) -> str:
        """Return PyTorch's text of a ``TreeSpec``, at an indentation."""
        if self.type is None:
            return "*"
        name = getattr(self.type, "__name__", self.type)
        separator = ",\n" + " " * (indent + 2)
        inner = separator.join(child._format(indent + 2) for child in self._children)
        return f"TreeSpec({name}, {self.context}, [{inner}])"

    def pretty(self) -> str:
        """Return the text of a tree of this structure with stars for leaves."""
        return repr(self.build(iter(_Star, None)))

    def is_leaf(self) -> bool:
        """Whether this is the structure of a leaf."""
        return self.type is None

    def children(self) -> list[Tree]:
        """Return the structures of the children."""
        return self._children.copy()

    @property
    def children_specs(self) -> list[Tree]:
        """The structures of the children; the former name of ``children``."""
        return self._children

    def child(self, index: int) -> Tree:
        """Return the structure of one child."""
        return self._children[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return the tree of this structure with ``leaves``.

        Raises:
            ValueError: If the number of leaves is wrong.
        """
        found = list(leaves)
        if len(found) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(found)} but the spec refers "
                f"to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self.build(iter(found))

    def build(self, leaves: Iterator[Any]) -> Any:
        """Return a tree of this structure, whose leaves are taken from an iterator."""
        if self.type is None:
            return next(leaves)
        return self.container.rebuild(self.context, [c.build(leaves) for c in self._children])

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Return the subtrees of a tree at the leaves of this structure.

        Raises:
            ValueError: If the tree has another structure above these leaves.
        """
        if self.type is None:
            return [tree]
        pairs = zip(self._children, self._children_of(tree), strict=True)
        return [leaf for child, subtree in pairs for leaf in child.flatten_up_to(subtree)]

    def _children_of(self, tree: Any) -> list[Any]:
        """Return the children of a tree, in the order of this structure; the tree must match it."""
        kind, container = _container(tree)
        dicts = kind in _DICTS and self.type in _DICTS  # all kinds of dicts match each other
        if container is None or (kind is not self.type and not dicts):
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        children = container.children(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(children)}."
            )
        if dicts:
            keys = self.context[1] if self.type is defaultdict else self.context
            if tree.keys() != set(keys):
                raise ValueError(f"Node keys mismatch; expected {keys}, but got {[*tree]}.")
            return [tree[key] for key in keys]
        if kind is not deque and container.context(tree) != self.context:
            raise ValueError(
                f"Node context mismatch for node type {self.type!r}; expected {self.context!r}, "
                f"but got {container.context(tree)!r}."
            )
        return children


class _Star:
    """Leaf that is printed as a star."""

    def __repr__(self) -> str:
        return "*"


LEAF = Tree(None, None, ())


def register(kind: type, container: Container) -> None:
    """Register a class as a container; ValueError if it is registered already."""
    if kind in _CONTAINERS:
        raise ValueError(f"{kind} is already registered as pytree node.")
    _CONTAINERS[kind] = container


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Tree]:
    """Return the leaves of a tree from left to right, and its structure.

    ``is_leaf`` makes a leaf of each container for which it returns true.
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> Tree:
    """Append the leaves of a tree to ``leaves``; returns its structure."""
    kind, container = _container(tree)
    if container is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LEAF
    children = [_flatten(child, leaves, is_leaf) for child in container.children(tree)]
    return Tree(kind, container.context(tree), children, container)


def flatten_with_paths(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None, above: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield ``(keys, leaf)`` for each leaf of a tree; ``above`` are the keys of the tree itself."""
    kind, container = _container(tree)
    if container is None or (is_leaf is not None and is_leaf(tree)):
        yield above, tree
        return
    if container.keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, child in zip(container.keys(tree), container.children(tree), strict=True):
        yield from flatten_with_paths(child, is_leaf, (*above, key))


def unflatten(structure: Tree, leaves: Sequence[Any]) -> Any:
    """Return the tree of a structure with these leaves."""
    return structure.build(iter(leaves))


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return the tree with ``function`` applied to each leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def broadcast_prefix(prefix: Any, structure: Tree) -> list[Any] | None:
    """Return the leaf of ``prefix`` for each leaf of a structure; None if they do not match.

    A leaf of the prefix applies to the whole subtree at its position.
    """
    kind, container = _container(prefix)
    if container is None:
        return [prefix] * structure.num_leaves
    if kind is not structure.type:
        return None
    if kind is not deque and container.context(prefix) != structure.context:
        return None
    found: list[Any] = []
    children = container.children(prefix)
    if len(children) != structure.num_children:
        return None
    for child, substructure in zip(children, structure.children(), strict=True):
        values = broadcast_prefix(child, substructure)
        if values is None:
            return None
        found.extend(values)
    return found
