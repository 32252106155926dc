"""Simplified programs compute the same values with fewer nodes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from tinytorch.capture.graph import Kind, Value
from tinytorch.capture.replay import run_program
from tinytorch.capture.simplify import simplify

from tests.capture.program_builder import Builder, RandomProgram


def names(builder: Builder, *outputs: Value) -> list[str]:
    """Names of the nodes that are left."""
    builder.program.outputs = [*outputs]
    return [node.name for node in simplify(builder.program).nodes]


def start() -> tuple[Builder, Value]:
    """A builder and an input of shape (3, 4)."""
    builder = Builder()
    return builder, builder.input(np.arange(12.0).reshape(3, 4))


def test_nodes_without_users_are_dropped_and_checks_stay() -> None:
    builder, x = start()
    builder.call(np.exp, x)
    builder.check(np.isnan, x)
    assert names(builder, builder.call(np.tanh, x)) == ["check", "tanh"]


def test_equal_nodes_are_computed_once() -> None:
    builder, x = start()
    a, b = (builder.call(np.exp, builder.view(np.ndarray.transpose, x)) for _ in range(2))
    assert names(builder, builder.call(np.add, a, b)) == ["transpose", "exp", "add"]


@pytest.mark.parametrize("pair", [(0.0, -0.0), (1, 1.0), (1, True), (np.float32(1), 1.0)])
def test_numbers_that_are_equal_may_be_different_arguments(pair: Any) -> None:
    builder, x = start()
    a, b = (builder.call(np.multiply, x, number) for number in pair)
    assert names(builder, builder.call(np.divide, a, b)).count("multiply") == 2


def test_two_results_are_two_nodes() -> None:
    builder, x = start()
    assert names(builder, builder.call(np.exp, x), builder.call(np.exp, x)) == ["exp", "exp"]


def test_a_copy_is_its_source_unless_the_layout_differs_or_both_leave() -> None:
    builder, x = start()
    y = builder.call(np.exp, x)
    copy = builder.call(np.ndarray.copy, y, name="ndarray.copy")
    assert names(builder, builder.call(np.tanh, copy)) == ["exp", "tanh"]
    assert names(builder, copy) == ["exp"]
    assert names(builder, copy, y) == ["exp", "ndarray.copy"]
    turned = builder.view(np.ndarray.transpose, y)
    copy = builder.call(np.ndarray.copy, turned, name="ndarray.copy")
    assert names(builder, builder.call(np.tanh, copy)) == [
        "exp",
        "transpose",
        "ndarray.copy",
        "tanh",
    ]


def test_a_copy_of_an_input_that_leaves_the_program_stays() -> None:
    builder, x = start()
    assert names(builder, builder.call(np.copy, x, name="numpy.copy")) == ["numpy.copy"]


def test_a_cast_to_the_same_dtype_is_no_node() -> None:
    builder, x = start()
    cast = builder.call(np.ndarray.astype, x, np.dtype("float64"), name="ndarray.astype")
    assert names(builder, builder.call(np.tanh, cast)) == ["tanh"]


def test_a_put_that_covers_everything_is_its_part() -> None:
    builder, x = start()
    part = builder.call(np.exp, x)
    whole = (operator.getitem, (slice(0, 3),))
    assert names(builder, builder.call(np.tanh, builder.put(x, part, whole))) == ["exp", "tanh"]
    row = builder.call(np.exp, builder.view(operator.getitem, x, 0))
    first = (operator.getitem, (0,))
    assert names(builder, builder.put(x, row, first)) == ["getitem", "exp", "put"]


def test_a_view_of_everything_is_its_source() -> None:
    builder, x = start()
    view = builder.view(operator.getitem, x, slice(0, 3))
    assert names(builder, builder.call(np.tanh, view)) == ["tanh"]
    reverse = builder.view(operator.getitem, x, slice(None, None, -1))
    assert names(builder, builder.call(np.tanh, reverse)) == ["getitem", "tanh"]


def test_writing_one_number_everywhere_does_not_read_the_base() -> None:
    builder, x = start()
    base = builder.call(np.exp, x)
    assert names(builder, builder.mutate(operator.setitem, base, ..., 0.0, name="setitem")) == [
        "fit"
    ]


def test_a_small_array_of_one_number_is_made_once() -> None:
    builder, x = start()
    one = builder.call(np.ones, (), "float32", name="xp.ones")
    wide = builder.call(np.full, (100,), 2.0, "float32", name="numpy.full")
    result = builder.call(np.add, builder.call(np.multiply, x, one), builder.call(np.sum, wide))
    assert names(builder, result) == ["xp.ones", "numpy.full", "multiply", "sum", "add"]
    nodes = simplify(builder.program).nodes
    assert [node.kind for node in nodes[:3]] == [Kind.CONSTANT, Kind.CALL, Kind.CALL]
    assert nodes[0].args[0] == 1.0 and nodes[0].args[0].dtype == "float32"


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_keep_their_results(seed: int) -> None:
    made = RandomProgram(5000 + seed, [(6, 5), (5,), (6, 1), ()])
    program, arrays = made.builder.program, made.builder.arrays()
    count = len(program.nodes)
    for a, b in zip(
        run_program(simplify(program), arrays), run_program(program, arrays), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    assert len(program.nodes) == count
