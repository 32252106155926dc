"""Arguments and results that are dicts, lists and tuples of tensors: *trees*, and their leaves.

What is none of the containers below is a leaf, None included, as in ``torch.utils._pytree``.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.tensor import Holder, Tensor
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
_CONTAINERS[namedtuple] = _NAMED_TUPLE
#: An array of NumPy's dialect, whose leaf is the Tensor that it holds.
_HOLDER = Container(
    lambda tree: [tree._tensor], type,
    lambda kind, children: kind.around(children[0]) if isinstance(children[0], Tensor)
    else children[0], of_sequence,
)  # fmt: skip
_DICTS = frozenset((dict, OrderedDict, defaultdict))


def is_namedtuple_class(cls: Any) -> bool:
    """Whether it is a class of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def _container(tree: Any) -> tuple[Any, Container | None]:
    kind: Any = type(tree)
    if is_namedtuple_class(kind):
        return namedtuple, _NAMED_TUPLE
    if isinstance(tree, Holder):
        return kind, _HOLDER
    return kind, _CONTAINERS.get(kind)


class Tree:
    """The structure of a tree, without its leaves; equal to another of the same structure.

    Args:
        type: The type of the container, None for a leaf; of named tuples ``namedtuple``.
        context: What it holds beside its children: a dict's keys.
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
        return self._written(0)

    def _written(self, indent: int) -> str:
        """As PyTorch writes a ``TreeSpec``."""
        if self.type is None:
            return "*"
        name = getattr(self.type, "__name__", self.type)
        separator = ",\n" + " " * (indent + 2)
        inner = separator.join(child._written(indent + 2) for child in self._children)
        return f"TreeSpec({name}, {self.context}, [{inner}])"

    def pretty(self) -> str:
        """The tree itself, with stars for leaves."""
        return repr(self.filled(iter(_Star, None)))

    def is_leaf(self) -> bool:
        """Whether this is the structure of a leaf."""
        return self.type is None

    def children(self) -> list[Tree]:
        """The structures of its children."""
        return self._children.copy()

    @property
    def children_specs(self) -> list[Tree]:
        """The same, by the name of old."""
        return self._children

    def child(self, index: int) -> Tree:
        """The structure of one child."""
        return self._children[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree with these leaves.

        Raises:
            ValueError: If there are more or fewer leaves.
        """
        found = list(leaves)
        if len(found) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(found)} but the spec refers "
                f"to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self.filled(iter(found))

    def filled(self, leaves: Iterator[Any]) -> Any:
        """A tree of this structure with the next of ``leaves``."""
        if self.type is None:
            return next(leaves)
        return self.container.rebuild(self.context, [c.filled(leaves) for c in self._children])

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What stands where this structure has leaves, in a tree that may go deeper there.

        Raises:
            ValueError: If the tree has another structure above that.
        """
        if self.type is None:
            return [tree]
        parts = zip(self._children, self._parts(tree), strict=True)
        return [part for child, below in parts for part in child.flatten_up_to(below)]

    def _parts(self, tree: Any) -> list[Any]:
        kind, container = _container(tree)
        dicts = kind in _DICTS and self.type in _DICTS  # of which each stands for the others
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
        return [prefix] * structure.num_leaves
    if kind is not structure.type:
        return None
    if kind is not deque and container.context(prefix) != structure.context:
        return None
    found: list[Any] = []
    children = container.children(prefix)
    if len(children) != structure.num_children:
        return None
    for child, below in zip(children, structure.children(), strict=True):
        part = spread(child, below)
        if part is None:
            return None
        found.extend(part)
    return found
