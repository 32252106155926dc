"""The NumPy engine gives what the straightforward engine gives, in fewer and faster calls."""

from __future__ import annotations

import operator
import tracemalloc
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import nn
from tinytorch.capture import memory, numpy_blocks, numpy_engine
from tinytorch.capture.graph import Program
from tinytorch.capture.recording import record
from tinytorch.capture.replay import run_program

from tests.capture.program_builder import Array, Builder, RandomProgram

SHAPES = [(6, 5), (5,), (6, 1), (1, 5), ()]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks have so few elements that small programs need several."""
    monkeypatch.setattr(numpy_engine, "BLOCK", 12)
    monkeypatch.setattr(numpy_blocks, "BLOCK", 21)


def compare(program: Program, arrays: list[Array], tolerance: float = 0) -> None:
    """Compare two runs of the engine with the straightforward one."""
    executable = numpy_engine.prepare(program)
    for _ in range(2):
        expected = run_program(program, arrays)
        found = executable.run(arrays)
        found += [arrays[number] for number, _ in program.writes]
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            if tolerance:
                np.testing.assert_allclose(a, b, tolerance, tolerance)
            else:
                np.testing.assert_array_equal(a, b)
                np.testing.assert_array_equal(
                    np.signbit(a), np.signbit(b)
                ) if a.dtype.kind == "f" else None


@pytest.mark.parametrize("seed", range(80))
def test_random_programs_are_equal_bit_for_bit(seed: int) -> None:
    made = RandomProgram(seed, SHAPES)
    compare(made.builder.program, made.builder.arrays())


@pytest.mark.parametrize("seed", range(80))
def test_random_programs_in_blocks_are_equal_bit_for_bit(seed: int, small_blocks: None) -> None:
    made = RandomProgram(1000 + seed, SHAPES)
    compare(made.builder.program, made.builder.arrays())


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_with_sums_are_close(seed: int, small_blocks: None) -> None:
    made = RandomProgram(3000 + seed, SHAPES, sums=True)
    compare(made.builder.program, made.builder.arrays(), 1e-4)


def chain(builder: Builder, size: int, length: int = 20) -> Any:
    """A chain of products and sums of two inputs."""
    rng = np.random.default_rng(0)
    x, y = (builder.input(rng.standard_normal(size).astype("float32")) for _ in range(2))
    z = x
    for _ in range(length):
        z = builder.call(np.add, builder.call(np.multiply, z, y), x)
    return z


@pytest.mark.parametrize("size", [16, 1000, 100_003])
def test_a_chain_needs_two_registers(size: int) -> None:
    builder = Builder()
    builder.program.outputs = [chain(builder, size)]
    executable = numpy_engine.prepare(builder.program)
    assert executable.nbytes <= 2 * 4 * size + 64
    compare(builder.program, builder.arrays())


def test_inputs_stay_as_they_are_if_the_program_does_not_write_them() -> None:
    builder = Builder()
    builder.program.outputs = [chain(builder, 100)]
    arrays = builder.arrays()
    numpy_engine.prepare(builder.program).run(arrays)
    for array, value in zip(arrays, builder.program.inputs, strict=True):
        np.testing.assert_array_equal(array, builder.real[value])


def test_results_share_no_memory_with_each_other_or_later_ones() -> None:
    builder = Builder()
    x = builder.input(np.arange(6.0))
    y = builder.call(np.add, x, 1.0)
    same = builder.call(np.copy, y, name="numpy.copy")
    again = builder.call(np.add, x, 1.0)
    constant = builder.constant(np.ones(3))
    builder.program.outputs = [y, same, again, x, constant]
    executable = numpy_engine.prepare(builder.program)
    arrays = builder.arrays()
    found = [*executable.run(arrays), *executable.run(arrays), *arrays, builder.real[constant]]
    for i, a in enumerate(found):
        for b in found[:i]:
            assert not np.shares_memory(a, b)


def test_inputs_exchange_their_values() -> None:
    builder = Builder()
    x, y = builder.input(np.zeros(4)), builder.input(np.ones(4))
    builder.program.writes = [(0, y), (1, x)]
    arrays = builder.arrays()
    numpy_engine.prepare(builder.program).run(arrays)
    np.testing.assert_array_equal(arrays, [np.ones(4), np.zeros(4)])


def test_a_result_keeps_the_value_before_a_write() -> None:
    builder = Builder()
    x = builder.input(np.zeros(4))
    builder.program.outputs = [x, builder.view(operator.getitem, x, slice(1, 3))]
    builder.program.writes = [(0, builder.call(np.add, x, 1.0))]
    compare(builder.program, builder.arrays())


def test_a_step_of_an_optimizer_writes_straight_over_its_state() -> None:
    builder = Builder()
    p, m, g = (builder.input(np.full(100_000, value, "float32")) for value in (1, 2, 3))
    moment = builder.call(np.add, builder.call(np.multiply, m, 0.9), g)
    step = builder.call(np.subtract, p, builder.call(np.multiply, moment, 0.1))
    builder.program.writes = [(0, step), (1, moment)]
    executable = numpy_engine.prepare(builder.program)
    assert executable.nbytes == 0
    assert "copyto" not in executable.source
    compare(builder.program, builder.arrays())


def test_a_write_to_a_part_of_an_input_copies_nothing() -> None:
    builder = Builder()
    cache, row = builder.input(np.zeros((50, 4))), builder.input(np.ones(4))
    key = (operator.getitem, (7,))
    builder.program.writes = [(0, builder.put(cache, row, key))]
    executable = numpy_engine.prepare(builder.program)
    assert executable.nbytes == 0
    compare(builder.program, builder.arrays())


def test_a_value_that_is_read_later_is_not_overwritten() -> None:
    builder = Builder()
    x = builder.input(np.ones((3, 4)))
    y = builder.call(np.add, x, x)
    z = builder.put(y, builder.call(np.negative, builder.view(operator.getitem, y, 0)),
                    (operator.getitem, (0,)))  # fmt: skip
    builder.program.outputs = [builder.call(np.subtract, y, z), z]
    compare(builder.program, builder.arrays())


def raise_if_negative(array: Array) -> None:
    """Raise as a check of the library does."""
    if (array < 0).any():
        raise IndexError("negative")


def test_a_check_raises_before_any_write() -> None:
    builder = Builder()
    x, index = builder.input(np.ones(3)), builder.input(np.zeros(3))
    twice = builder.call(np.add, x, x)
    builder.check(raise_if_negative, index)
    builder.program.writes = [(0, twice)]
    executable = numpy_engine.prepare(builder.program)
    arrays = [np.ones(3), np.array([0.0, -1.0, 0.0])]
    with pytest.raises(IndexError, match="negative"):
        executable.run(arrays)
    np.testing.assert_array_equal(arrays[0], 1)
    executable.run([arrays[0], np.zeros(3)])
    np.testing.assert_array_equal(arrays[0], 2)


def test_a_large_result_is_used_again_when_nothing_refers_to_it() -> None:
    builder = Builder()
    size = 1 << 20
    builder.program.outputs = [builder.call(np.add, builder.input(np.ones(size, "float32")), 1.0)]
    executable, arrays = numpy_engine.prepare(builder.program), builder.arrays()
    (first,) = executable.run(arrays)
    (second,) = executable.run(arrays)
    assert not np.shares_memory(first, second)
    address = first.ctypes.data
    part = first[::2]
    del first
    (third,) = executable.run(arrays)
    assert third.ctypes.data != address  # a view still refers to it
    del part, third
    assert executable.run(arrays)[0].ctypes.data == address


def test_no_two_live_pieces_of_the_arena_overlap() -> None:
    rng = np.random.default_rng(0)
    arena, live, found = memory.Arena(), set[int](), dict[int, tuple[int, set[int]]]()
    for _ in range(1000):
        if live and rng.random() < 0.5:
            number = [*live][rng.integers(len(live))]
            arena.release(number)
            live.remove(number)
        else:
            size = int(rng.integers(0, 5000))
            number = arena.allocate(size)
            found[number] = max(size, 1), live.copy()
            live.add(number)
    offsets = arena.offsets()
    for number, (size, others) in found.items():
        start = offsets[number]
        assert start % 64 == 0 and start + size <= arena.size
        for other in others:
            assert start + size <= offsets[other] or offsets[other] + found[other][0] <= start


def test_an_arena_is_as_small_as_what_is_live() -> None:
    """Placed in the order of time, the last buffer would not fit below the second one."""
    arena = memory.Arena()
    first, _ = arena.allocate(64), arena.allocate(64)
    arena.release(first)
    arena.allocate(128)
    arena.offsets()
    assert arena.size == 192


def test_a_run_allocates_its_results_alone() -> None:
    """Copies to other shapes, zeros, and results of other calls that are read much later."""
    builder = Builder()
    size = 1 << 15
    x = builder.input(np.linspace(0, 1, size, dtype="float32").reshape(128, -1))
    turned = builder.view(np.transpose, x)
    flat = builder.call(np.ndarray.reshape, turned, (size,), name="ndarray.reshape")
    zeros = builder.call(np.zeros, (size,), "float32", name="numpy.zeros")
    part = builder.view(operator.getitem, flat, slice(5))
    placed = builder.put(zeros, part, (operator.getitem, (slice(5),)))
    saved = builder.call(np.sort, flat, name="numpy.sort")
    for _ in range(20):
        placed = builder.call(np.sin, placed)
    builder.program.outputs = [builder.call(np.add, placed, saved)]
    compare(builder.program, builder.arrays())
    executable, arrays = numpy_engine.prepare(builder.program), builder.arrays()
    tracemalloc.start()
    try:
        executable.run(arrays)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * 4 * size


def test_a_result_of_a_group_takes_the_memory_of_a_value_that_dies() -> None:
    builder = Builder()
    size = 400
    x = builder.input(np.full((size, size), 0.5 / size, "float32"))
    y = builder.call(np.matmul, x, x, name="xp.matmul")
    u = builder.call(np.sin, y)
    v = builder.call(np.multiply, u, y)
    builder.program.outputs = [builder.call(np.matmul, u, v, name="xp.matmul")]
    compare(builder.program, builder.arrays())
    executable = numpy_engine.prepare(builder.program)
    assert executable.groups == 1 and executable.nbytes == 2 * 4 * size * size


@pytest.mark.parametrize("is_read_later", [False, True])
@pytest.mark.parametrize("number", [0, -np.inf, np.array(2.5, "float32")])
def test_a_broadcast_mask_fills_the_array_itself_if_it_dies(
    number: Any, is_read_later: bool
) -> None:
    builder = Builder()
    x = builder.input(np.linspace(-1, 1, 60, dtype="float32").reshape(3, 4, 5))
    mask = builder.input(np.arange(20).reshape(4, 5) % 3 == 0)
    number = builder.input(number) if isinstance(number, np.ndarray) else number
    y = builder.call(np.sin, x)
    filled = builder.call(np.where, mask, number, y, name="xp.where")
    other = y if is_read_later else x
    builder.program.outputs = [builder.call(np.cos, filled), builder.call(np.exp, other)]
    compare(builder.program, builder.arrays())
    copies = numpy_engine.prepare(builder.program).source.count("copyto(")
    assert copies == 1 + is_read_later


def test_a_result_is_filled_in_a_copy_of_the_result_of_another_call() -> None:
    builder = Builder()
    x = builder.input(np.linspace(-1, 1, 60, dtype="float32").reshape(3, 4, 5))
    mask = builder.input(np.arange(20).reshape(4, 5) % 3 == 0)
    y = builder.call(np.sort, x, name="numpy.sort")
    builder.program.outputs = [builder.call(np.where, mask, 0, y, name="xp.where")]
    compare(builder.program, builder.arrays())


def train(model: nn.Module, shape: tuple[int, ...]) -> Any:
    """A step of training as a function without arguments, and the tensors that it reads."""
    tt.manual_seed(0)
    x = tt.randn(*shape)
    target = tt.arange(shape[0]) % 3
    optimizer = tt.optim.Adam(model.parameters(), lr=0.01)

    def step() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    step()
    return step, [*model.parameters(), *model.buffers(), x, target]


class Cells(nn.Module):
    """An LSTM cell over some steps, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.linear = nn.LSTMCell(8, 16), nn.Linear(16, 3)

    def forward(self, x: Any) -> Any:
        state = x.new_zeros(x.shape[0], 16), x.new_zeros(x.shape[0], 16)
        for part in x.unbind(1):
            state = self.cell(part, state)
        return self.linear(state[0])


MODELS: dict[str, Any] = {
    "perceptron": (
        lambda: nn.Sequential(nn.Linear(20, 300), nn.GELU(), nn.Linear(300, 3)), (40, 20),
    ),
    "convolution": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(36, 3),
        ),
        (5, 1, 8, 8),
    ),
    "attention": (
        lambda: nn.Sequential(
            nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True), nn.Flatten(),
            nn.Linear(160, 3),
        ),
        (4, 10, 16),
    ),
    "cells": (Cells, (4, 6, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("blocks", [False, True])
def test_recorded_training_is_that_of_the_straightforward_engine(
    name: str, blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if blocks:
        monkeypatch.setattr(numpy_engine, "BLOCK", 200)
        monkeypatch.setattr(numpy_blocks, "BLOCK", 64)
    make, shape = MODELS[name]
    recording = record(*train(make(), shape))
    arrays = [
        np.array(source.array if source.read is None else source.read(), order="K")
        for source in recording.sources
    ]
    # The cells' gradients at each step are joined to one product.
    compare(recording.program, arrays, 1e-4 if blocks or name == "cells" else 0)


def test_few_rows_times_a_transposed_matrix_are_computed_transposed() -> None:
    builder, rng = Builder(), np.random.default_rng(0)
    results = []
    for rows, columns in ((16, 128), (16, 64), (100, 128)):
        x = builder.input(rng.standard_normal((rows, 512)).astype("float32"))
        weight = builder.input(rng.standard_normal((columns, 512)).astype("float32"))
        turn = builder.view(np.ndarray.transpose, weight)
        product = builder.call(np.matmul, x, turn, name="xp.matmul")
        results.append(builder.call(np.negative, product))
    builder.program.outputs = results
    compare(builder.program, builder.arrays())
    executable = numpy_engine.prepare(builder.program)
    assert executable.source.count("copyto") == 2  # not for many rows
