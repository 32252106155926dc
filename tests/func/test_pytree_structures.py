"""The structures of trees, and functions of several trees, as in ``torch.utils._pytree``."""

from __future__ import annotations

import dataclasses
import time
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest

from tests.oracles import import_both

pytestmark = pytest.mark.torch

Point = namedtuple("Point", "x y")
#: Trees, and others that go deeper where they have leaves.
DEEPER: list[tuple[Any, Any]] = [
    (1, (2, 3)), ([1, 2], [[3], {"a": 4}]), ({"a": 1}, {"a": (1, 2)}), (None, [None]),
    ((1, [2]), ((3, 4), [{}])), (Point(1, 2), Point([1], (2,))), (deque([1]), deque([[1]], 3)),
    ({"a": 1, "b": 2}, OrderedDict(b=[1], a=[2])), (OrderedDict(a=1), {"a": [2]}),
    (defaultdict(list, a=1), {"a": [2]}), ({"a": 1}, defaultdict(int, a=[1])), ((), ()),
]  # fmt: skip
#: Trees of which the second has another structure.
OTHERS: list[tuple[Any, Any]] = [
    ([1, 2], [1]), ([1], (1,)), ([[1]], [1]), ({"a": 1}, {"b": 1}), ({"a": 1}, [1]),
    (Point(1, 2), (1, 2)), ((1, (2,)), (1, 2)), ({"a": 1}, {"a": 1, "b": 2}),
]  # fmt: skip
TREES = [tree for pair in DEEPER for tree in pair]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_properties_of_tree_structures_are_pytorchs(tree: Any) -> None:
    answers = []
    for tools in import_both("utils._pytree"):
        structure = tools.tree_structure(tree)
        answers.append([
            structure.num_nodes, structure.num_leaves, structure.num_children, structure.type,
            structure.context, structure.is_leaf(), repr(structure),
            [repr(child) for child in structure.children()],
            [repr(structure.child(i)) for i in range(structure.num_children)],
            structure.unflatten(range(structure.num_leaves)), tools.treespec_pprint(structure),
            tools._get_node_type(tree), tools.tree_is_leaf(tree),
            tools.tree_is_leaf(tree, is_leaf=lambda x: isinstance(x, (list, dict))),
            hash(structure) == hash(tools.tree_structure(tree)),
        ])  # fmt: skip
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("tree", "deeper"), DEEPER, ids=repr)
def test_tree_map_and_flatten_up_to_accept_deeper_trees(tree: Any, deeper: Any) -> None:
    def answer(tools: Any) -> list[Any]:
        alike = type(tree) is type(deeper)
        return [
            tools.tree_map(lambda x, y: (x, y), tree, deeper),
            tools.tree_map(lambda x, y, z: (x, y, z), tree, deeper, tree),
            tools.tree_structure(tree).flatten_up_to(deeper),
            tools.tree_map_with_path(
                lambda path, x, y: (tools.keystr(path), x, y), tree, deeper
            ),
            alike and tools._broadcast_to_and_flatten(tree, tools.tree_structure(deeper)),
        ]  # fmt: skip

    ours, theirs = map(answer, import_both("utils._pytree"))
    assert ours == theirs


@pytest.mark.parametrize(("tree", "other"), OTHERS, ids=repr)
def test_tree_map_refuses_other_structures(tree: Any, other: Any) -> None:
    for tools in import_both("utils._pytree"):
        for call in (tools.tree_map, tools.tree_map_):
            with pytest.raises(ValueError, match="mismatch"):
                call(lambda x, y: x, tree, other)
        with pytest.raises(ValueError, match="mismatch"):
            tools.tree_map_with_path(lambda path, x, y: x, tree, other)
        with pytest.raises(ValueError, match="has length"):
            tools.tree_structure(tree).unflatten([1] * 9)


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_tree_structures_are_dumped_to_and_loaded_from_json(tree: Any) -> None:
    texts = []
    for tools in import_both("utils._pytree"):
        if tools.tree_any(lambda x: False, tree) or "Point" in repr(tree):
            with pytest.raises(NotImplementedError):
                tools.treespec_dumps(tools.tree_structure(tree))
            return
        structure = tools.tree_structure(tree)
        texts.append(tools.treespec_dumps(structure))
        assert tools.treespec_loads(texts[-1]) == structure
    assert texts[0] == texts[1]


def test_structures_built_by_treespec_functions_equal_those_of_trees() -> None:
    for tools in import_both("utils._pytree"):
        leaf = tools.treespec_leaf()
        made = tools.treespec_dict(a=tools.treespec_tuple([leaf, leaf]), b=leaf)
        assert made == tools.tree_structure({"a": (1, 2), "b": 3})
        assert made == tools.TreeSpec(dict, ["a", "b"], [tools.treespec_tuple([leaf, leaf]), leaf])
        with pytest.raises(ValueError, match="Expected"):
            tools.treespec_tuple([1])
        with pytest.raises(ValueError, match="Unknown protocol 7"):
            tools.treespec_dumps(made, 7)


def test_is_namedtuple_and_is_structseq_are_pytorchs() -> None:
    moment = time.gmtime(0)
    values = [Point(1, 2), Point, (1,), tuple, moment, type(moment), 3]
    names = ["is_namedtuple", "is_namedtuple_class", "is_namedtuple_instance", "is_structseq",
             "is_structseq_class", "is_structseq_instance"]  # fmt: skip
    answers = [
        [[getattr(tools, name)(value) for value in values] for name in names]
        for tools in import_both("utils._pytree")
    ]
    assert answers[0] == answers[1]


def test_registered_dataclasses_are_flattened() -> None:
    @dataclasses.dataclass
    class Batch:
        x: Any
        y: Any = None
        size: int = 3

    for tools in import_both("utils._pytree"):
        tools.register_dataclass(Batch, field_names=["x", "y"], drop_field_names=["size"])
        leaves, structure = tools.tree_flatten([Batch((1, 2)), 4])
        assert leaves == [1, 2, 4] and tools.tree_map(lambda x: -x, Batch(1, 2)) == Batch(-1, -2)
        assert structure.unflatten([5, 6, 7]) == [Batch((5, 6)), 7]
        paths = tools.tree_flatten_with_path(Batch((1, 2)))[0]
        assert [tools.keystr(path) for path, _ in paths] == [".x[0]", ".x[1]"]
        with pytest.raises(ValueError, match="field_names"):
            tools.register_dataclass(Batch, field_names=["x"])
        with pytest.raises(ValueError, match="not a dataclass"):
            tools.register_dataclass(int)


def test_registered_constants_have_no_leaves() -> None:
    @dataclasses.dataclass(frozen=True)
    class Setting:
        value: int

    for tools in import_both("utils._pytree"):
        tools.register_constant(Setting)
        leaves, structure = tools.tree_flatten([Setting(3), 4])
        assert leaves == [4] and structure.unflatten([5]) == [Setting(3), 5]
        assert tools.is_constant_class(Setting) and not tools.is_constant_class(int)
        with pytest.raises(TypeError, match="non-default"):
            tools.register_constant(type("Plain", (), {}))


def test_functions_for_leaves_of_one_type_skip_other_leaves() -> None:
    for tools in import_both("utils._pytree"):
        tree = [1, "a", {"b": 2.5}]
        assert tools.tree_all_only(int, lambda x: x == 1, tree)
        assert not tools.tree_any_only((str, float), lambda x: x == 1, tree)
        assert tools.map_only(str)(str.upper)("a") == "A" and tools.map_only(str)(abs)(1) == 1
        seen: list[Any] = []
        assert tools.tree_map_only_(int | float, seen.append, tree) is tree and seen == [1, 2.5]
        with pytest.raises(TypeError, match="must be a type"):
            tools.map_only(3)


def test_the_registered_containers_are_pytorchs() -> None:
    for tools in import_both("utils._pytree"):
        kinds = (tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque)
        assert set(kinds) <= {*tools.SUPPORTED_NODES} and set(kinds) == tools.BUILTIN_TYPES
        node = tools.SUPPORTED_NODES[dict]
        assert node.flatten_fn({"a": 1}) == ([1], ["a"])
        assert node.unflatten_fn([2], ["a"]) == {"a": 2}
        assert repr(node.flatten_with_keys_fn({"a": 1})) == "([(MappingKey(key='a'), 1)], ['a'])"


def test_every_public_name_of_pytree_exists() -> None:
    ours, theirs = import_both("utils._pytree")
    assert {*theirs.__all__} <= {*dir(ours)}
