"""``utils._pytree``, which libraries use though its name begins with an underscore."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest

from tests.oracles import import_both

pytestmark = pytest.mark.torch

Point = namedtuple("Point", "x y")
TREES: list[Any] = [
    3, None, [], (1, [2, {"a": 3, "b": (4,)}]), OrderedDict(z=1, a=2), defaultdict(list, {"k": 5}),
    deque([1, 2], maxlen=3), Point(1, [2]), {"b": 1, "a": {"c": ()}},
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_tree_flatten_and_unflatten_are_pytorchs(tree: Any) -> None:
    answers = []
    for tools in import_both("utils._pytree"):
        leaves, structure = tools.tree_flatten(tree)
        answers.append([
            leaves, tools.tree_unflatten(leaves, structure) == tree, structure.num_leaves,
            structure.is_leaf(), tools.tree_map(lambda x: [x], tree), tools.tree_leaves(tree),
            tools.tree_map(lambda x, y: (x, y), tree, tree),
            tools.tree_map_only(int, lambda x: -x, tree), list(tools.tree_iter(tree)),
            tools.tree_all(lambda x: x != 3, tree), tools.tree_any(lambda x: x == 3, tree),
            tools.tree_structure(tree) == structure,
            tools.tree_leaves(tree, is_leaf=lambda x: isinstance(x, dict)),
        ])  # fmt: skip
    assert answers[0] == answers[1]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_paths_to_leaves_are_pytorchs(tree: Any) -> None:
    answers = []
    for tools in import_both("utils._pytree"):
        pairs, structure = tools.tree_flatten_with_path(tree)
        assert structure == tools.tree_structure(tree)
        assert pairs == tools.tree_leaves_with_path(tree)
        answers.append([
            [(tools.keystr(path), repr(path), leaf) for path, leaf in pairs],
            [tools.key_get(tree, path) for path, _ in pairs], len({path for path, _ in pairs}),
            tools.tree_map_with_path(
                lambda path, x, y, tools=tools: (tools.keystr(path), x, y), tree, tree
            ),
        ])  # fmt: skip
    assert repr(answers[0]) == repr(answers[1])


def test_paths_to_leaves_of_registered_classes_are_pytorchs() -> None:
    class Output(OrderedDict[str, int]):
        pass

    class Mute:
        pass

    for tools in import_both("utils._pytree"):
        tools.register_pytree_node(
            Output, lambda tree: ([*tree.values()], [*tree]),
            lambda children, keys: Output(zip(keys, children, strict=True)),
            serialized_type_name="Output", flatten_with_keys_fn=tools._dict_flatten_with_keys,
        )  # fmt: skip
        tools.register_pytree_node(Mute, lambda _: ([1], None), lambda children, _: Mute())
        pairs = tools.tree_leaves_with_path([Output(loss=1, logits=2)])
        assert [tools.keystr(path) for path, _ in pairs] == ["[0]['loss']", "[0]['logits']"]
        assert tools.tree_map(lambda x: -x, Output(loss=1)) == Output(loss=-1)
        with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn for type"):
            tools.tree_leaves_with_path([Mute()])
        with pytest.raises(ValueError, match="mismatch"):
            tools.tree_map_with_path(lambda path, x, y: x, [1, 2], [1])


def test_unflatten_and_map_of_mismatched_trees_raise() -> None:
    for tools in import_both("utils._pytree"):
        with pytest.raises(ValueError, match="`leaves` has length 1"):
            tools.tree_unflatten([1], tools.tree_structure([1, 2]))
        with pytest.raises(ValueError, match="mismatch"):
            tools.tree_map(lambda x, y: x, [1, 2], [1])


def test_registered_classes_are_flattened_and_unflattened() -> None:
    class Pair:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

    for tools in import_both("utils._pytree"):
        tools.register_pytree_node(
            Pair, lambda pair: ([pair.a, pair.b], None), lambda children, _: Pair(*children)
        )
        doubled = tools.tree_map(lambda x: 2 * x, [Pair(1, 2), 3])
        assert (doubled[0].a, doubled[0].b, doubled[1]) == (2, 4, 6)
        with pytest.raises(ValueError, match="already registered"):
            tools.register_pytree_node(Pair, lambda pair: ([], None), lambda c, _: None)


def test_leaves_of_arguments_come_one_after_the_other() -> None:
    for pytree in import_both("utils._pytree"):
        assert pytree.arg_tree_leaves(1, [2, (3,)], a={"b": 4}, c=None) == [1, 2, 3, 4, None]
        assert pytree.arg_tree_leaves() == []
