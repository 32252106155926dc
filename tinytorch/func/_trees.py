"""Arguments and results that are dicts, lists and tuples of tensors: *trees*, and their leaves.

What is none of the containers below is a leaf, None included, as in ``torch.utils._pytree``.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ._tree_keys import of_mapping, of_named_tuple, of_sequence


class Container(NamedTuple):
    """How a kind of container is taken apart and put together."""

    children: Callable[[Any], list[Any]]
    context: Callable[[Any], Any]
    rebuild: Callable[[Any, list[Any]], Any]
    #: Where each child is; None for a class that was registered without a word of it.
    keys: Callable[[Any], list[Any]] | None = None


_CONTAINERS: dict[Any, Container] = {
    tuple: Container(
        list, lambda tree: None, lambda context, children: tuple(children), of_sequence
    ),
    list: Container(list, lambda tree: None, lambda context, children: children, of_sequence),
    dict: Container(
        lambda tree: [*tree.values()], list,
        lambda keys, children: dict(zip(keys, children, strict=True)), of_mapping,
    ),
    OrderedDict: Container(
        lambda tree: [*tree.values()], list,
        lambda keys, children: OrderedDict(zip(keys, children, strict=True)), of_mapping,
    ),
    defaultdict: Container(
        lambda tree: [*tree.values()], lambda tree: [tree.default_factory, [*tree]],
        lambda context, children: defaultdict(
            context[0], zip(context[1], children, strict=True)
        ), of_mapping,
    ),
    deque: Container(
        list, lambda tree: tree.maxlen, lambda maxlen, children: deque(children, maxlen),
        of_sequence,
    ),
}  # fmt: skip
_NAMED_TUPLE = Container(list, type, lambda kind, children: kind(*children), of_named_tuple)


def container_of(kind: Any) -> Any:
    """How the containers of a kind, are taken apart."""
    return _NAMED_TUPLE if kind == "namedtuple" else _CONTAINERS.get(kind)


def _container(tree: Any) -> tuple[Any, Container | None]:
    kind = type(tree)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return "namedtuple", _NAMED_TUPLE
    return kind, _CONTAINERS.get(kind)


class Tree:
    """The structure of a tree, without its leaves; equal to another of the same structure.

    Attributes:
        kind: The type of the container, None for a leaf.
        context: What it holds beside its children: a dict's keys.
        children: The structures of its children.
    """

    __slots__ = ("kind", "context", "children", "container")

    def __init__(
        self, kind: Any, context: Any, children: Sequence[Tree], container: Any = None
    ) -> None:
        self.kind = kind
        self.container: Container = container or container_of(kind)
        self.context = context
        self.children = tuple(children)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and (
            (self.kind, self.context, self.children) == (other.kind, other.context, other.children)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self._written(0)

    def _written(self, indent: int) -> str:
        """As PyTorch writes a ``TreeSpec``."""
        if self.kind is None:
            return "*"
        name = getattr(self.kind, "__name__", self.kind)
        separator = ",\n" + " " * (indent + 2)
        inner = separator.join(child._written(indent + 2) for child in self.children)
        return f"TreeSpec({name}, {self.context}, [{inner}])"

    def pretty(self) -> str:
        """The tree itself, with stars for leaves."""
        return repr(self.filled(iter(_Star, None)))

    @property
    def num_leaves(self) -> int:
        """The number of leaves, as PyTorch's ``TreeSpec`` has it."""
        return self.count()

    def is_leaf(self) -> bool:
        """Whether this is the structure of a leaf."""
        return self.kind is None

    def count(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.count() for child in self.children)

    def filled(self, leaves: Iterator[Any]) -> Any:
        """A tree of this structure with the next of ``leaves``."""
        if self.kind is None:
            return next(leaves)
        return self.container.rebuild(self.context, [c.filled(leaves) for c in self.children])


class _Star:
    def __repr__(self) -> str:
        return "*"


LEAF = Tree(None, None, ())


def register(kind: type, container: Container) -> None:
    """Take the values of a class for trees; ValueError if they are already."""
    if kind in _CONTAINERS:
        raise ValueError(f"{kind} is already registered as pytree node.")
    _CONTAINERS[kind] = container


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Tree]:
    """The leaves of a tree from left to right, and its structure."""
    leaves: list[Any] = []
    return leaves, _taken_apart(tree, leaves, is_leaf)


def _taken_apart(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> Tree:
    kind, container = _container(tree)
    if container is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LEAF
    children = [_taken_apart(child, leaves, is_leaf) for child in container.children(tree)]
    return Tree(kind, container.context(tree), children, container)


def with_paths(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None, above: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The leaves of a tree, each behind the keys that lead to it."""
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
        yield from with_paths(child, is_leaf, (*above, key))


def unflatten(structure: Tree, leaves: Sequence[Any]) -> Any:
    """The tree of a structure with these leaves."""
    return structure.filled(iter(leaves))


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with ``function`` applied to each leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def spread(prefix: Any, structure: Tree) -> list[Any] | None:
    """What ``prefix`` says of each leaf of a structure; None if it does not fit.

    A leaf of the prefix stands for everything below it.
    """
    kind, container = _container(prefix)
    if container is None:
        return [prefix] * structure.count()
    if kind != structure.kind or container.context(prefix) != structure.context:
        return None
    found: list[Any] = []
    children = container.children(prefix)
    if len(children) != len(structure.children):
        return None
    for child, below in zip(children, structure.children, strict=True):
        part = spread(child, below)
        if part is None:
            return None
        found.extend(part)
    return found
