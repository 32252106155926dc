"""Sums of products of transposed matrices become one product."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from tinytorch.capture import numpy_engine, products
from tinytorch.capture.graph import Value
from tinytorch.capture.products import join_products
from tinytorch.capture.replay import run_program
from tinytorch.capture.simplify import simplify

from tests.capture.program_builder import Builder


def gradients(count: int, keep: int = -1) -> tuple[Builder, Value, Value]:
    """A program of ``count`` products and sums of columns; one of the parts is a result, too."""
    builder, rng = Builder(), np.random.default_rng(0)
    total: Any = None
    columns: Any = None
    for number in range(count):
        a, b = (
            builder.call(np.tanh, builder.input(rng.standard_normal((3 + number, width))))
            for width in (5, 4)
        )
        turn = builder.view(np.ndarray.transpose, a)
        product = builder.call(np.matmul, turn, b, name="xp.matmul")
        part = builder.call(np.sum, a, axis=0, name="xp.sum")
        total = product if total is None else builder.call(np.add, total, product)
        columns = part if columns is None else builder.call(np.add, part, columns)
        if number == keep:
            builder.program.outputs.append(builder.call(np.negative, a))
    return builder, total, columns


def count_nodes(builder: Builder, name: str) -> int:
    """Number of nodes of a name after the sums are joined."""
    return sum(node.name == name for node in join_products(builder.program).nodes)


def test_a_sum_of_products_is_one_product() -> None:
    builder, total, columns = gradients(6)
    builder.program.outputs = [total, columns]
    assert count_nodes(builder, "xp.matmul") == 1
    assert count_nodes(builder, "xp.sum") == 1
    assert count_nodes(builder, "add") == 0


@pytest.mark.parametrize("keep", [-1, 0, 3])
def test_the_joined_product_has_the_same_value(keep: int) -> None:
    builder, total, columns = gradients(6, keep)
    builder.program.outputs += [total, columns]
    arrays = builder.arrays()
    expected = run_program(builder.program, arrays)
    joined = run_program(join_products(builder.program), arrays)
    executable = numpy_engine.prepare(builder.program)
    for found in (joined, executable.run(arrays), executable.run(arrays)):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, 1e-12)


def test_a_long_sum_is_joined_in_parts_whose_memory_is_free_before_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(products, "_MOST", 100)
    builder, total, columns = gradients(10)
    builder.program.outputs = [total, columns]
    joined = join_products(builder.program)
    names = [node.name for node in joined.nodes]
    assert [names.count(name) for name in ("xp.matmul", "xp.sum", "add")] == [2, 2, 2]
    assert "tanh" in names[names.index("xp.matmul") :]
    arrays = builder.arrays()
    expected = run_program(builder.program, arrays)
    for found in (run_program(joined, arrays), numpy_engine.prepare(builder.program).run(arrays)):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, 1e-12)


def test_the_parts_are_computed_in_their_places() -> None:
    builder, total, columns = gradients(6)
    builder.program.outputs = [total, columns]
    assert "concatenate(" not in numpy_engine.prepare(builder.program).source


def test_a_part_that_is_read_later_stays() -> None:
    builder, total, columns = gradients(6)
    first = next(node for node in builder.program.nodes if node.name == "tanh").outputs[0]
    assert first is not None
    late = builder.call(np.exp, builder.call(np.exp, builder.call(np.negative, total)))
    total_of_late = builder.call(np.sum, late, name="xp.sum")
    builder.program.outputs = [builder.call(np.multiply, first, total_of_late), columns]
    arrays = builder.arrays()
    expected = run_program(builder.program, arrays)
    for a, b in zip(numpy_engine.prepare(builder.program).run(arrays), expected, strict=True):
        np.testing.assert_allclose(a, b, 1e-9)


@pytest.mark.parametrize(("most", "count"), [(1 << 20, 1), (100, 2)])
def test_products_of_inputs_with_one_matrix_are_one_product(
    most: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_MOST", most)
    builder, rng = Builder(), np.random.default_rng(0)
    x = builder.input(rng.standard_normal((10, 3, 5)))
    weight = builder.input(rng.standard_normal((4, 5)))
    state = builder.input(rng.standard_normal((3, 4)))
    for step in range(10):
        part = builder.view(operator.getitem, x, step)
        turn = builder.view(np.ndarray.transpose, weight)
        product = builder.call(np.matmul, part, turn, name="xp.matmul")
        state = builder.call(np.tanh, builder.call(np.add, state, product))
    builder.program.outputs = [state]
    builder.program.writes = [(0, builder.call(np.negative, x))]
    joined = join_products(simplify(builder.program))
    assert sum(node.name == "xp.matmul" for node in joined.nodes) == count
    arrays = builder.arrays()
    expected = run_program(builder.program, arrays)
    found = numpy_engine.prepare(builder.program).run(arrays)
    np.testing.assert_allclose(found[0], expected[0], 1e-12)
    np.testing.assert_array_equal(arrays[0], expected[1])


def test_few_terms_and_terms_with_other_users_stay() -> None:
    builder, total, columns = gradients(3)
    builder.program.outputs = [total, columns]
    assert count_nodes(builder, "xp.matmul") == 3
    builder, total, columns = gradients(6)
    product = next(node for node in builder.program.nodes if node.name == "xp.matmul").outputs[0]
    assert product is not None
    builder.program.outputs = [total, columns, builder.call(np.negative, product)]
    assert count_nodes(builder, "xp.matmul") == 6
