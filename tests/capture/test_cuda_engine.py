"""The CUDA engine on the stand-in for CuPy: its kernels, run on the host, give NumPy's results.

A C compiler makes the text of the kernels a library; ``cuda_host`` runs blocks and threads.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tinytorch.capture import c_compiler, cuda_engine, cuda_text
from tinytorch.capture.cuda_graph import CapturedRun
from tinytorch.capture.graph import Program
from tinytorch.capture.numbers import WithFloats
from tinytorch.capture.recording import record

from tests.capture.cuda_host import make_module
from tests.capture.program_builder import Array, Builder, RandomProgram
from tests.capture.test_c_engine import special_arrays, ufunc_names
from tests.capture.test_numpy_engine import MODELS, chain, train
from tests.oracles import compare_runs

pytestmark = pytest.mark.skipif(
    c_compiler.find_compiler() is None, reason="there is no C compiler to run kernels on the host"
)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The backend of the stand-in for CuPy, which compiles kernels."""
    import strictcupy
    from strictcupy.backend import StrictBackend

    monkeypatch.setattr(strictcupy, "RawModule", make_module, raising=False)
    return StrictBackend()


def upload(array: Any, device: Any) -> Any:
    """An array on the device, in its layout."""
    return device.library.array(array, order="K")


def compare(program: Program, arrays: list[Array], device: Any, tolerance: float) -> Any:
    """Compare runs of the engine with the straightforward one; return the executable."""
    executable = cuda_engine.prepare(program, device)
    compare_runs(executable, program, arrays, tolerance, lambda array: upload(array, device))
    return executable


class WithoutSorting(RandomProgram):
    """Random program without sorting in place, which CuPy does in row-major arrays alone."""

    def change(self) -> Any:
        before = len(self.builder.program.nodes)
        made = super().change()
        if made is not None and made.node.name == "sort":
            del self.builder.program.nodes[before:]
            return None
        return made


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_without_sums_are_equal_bit_for_bit(seed: int, device: Any) -> None:
    made = WithoutSorting(7000 + seed, [(6, 37), (37,), (6, 1), (1, 37), ()], inexact=False)
    compare(made.builder.program, made.builder.arrays(), device, 0)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_with_sums_and_functions_are_close(seed: int, device: Any) -> None:
    made = WithoutSorting(8000 + seed, [(7, 33), (33,), (7, 1), ()], sums=True)
    compare(made.builder.program, made.builder.arrays(), device, 2e-4)


@pytest.mark.parametrize("kind", "fd?Bbhil")
def test_every_operation_treats_special_values_as_numpy_does(kind: str, device: Any) -> None:
    builder = Builder()
    x, y = (builder.input(array) for array in special_arrays(kind))
    for name, _ in ufunc_names(kind):
        function: Any = getattr(np, name)
        with np.errstate(all="ignore"):
            try:
                made = builder.call(function, *(x, y)[: function.nin])
            except TypeError:  # NumPy does not have it for the dtype
                continue
        builder.program.outputs.append(builder.call(np.copy, made, name="numpy.copy"))
    assert compare(builder.program, builder.arrays(), device, 0).groups == 1


@pytest.mark.parametrize("columns", [2, 31, 33, 256, 257, 700])
@pytest.mark.parametrize("rows", [2, 9])
def test_rows_are_reduced_over_all_threads(rows: int, columns: int, device: Any) -> None:
    rng = np.random.default_rng(columns)
    builder = Builder()
    x = builder.input(rng.integers(-9, 9, (rows, columns)).astype("float32"))
    doubled = builder.call(np.multiply, x, 2.0)
    options = {"axis": 1, "keepdims": True}
    top, low, total = (
        builder.call(function, doubled, name=f"xp.{name}", **options)
        for function, name in ((np.max, "max"), (np.min, "min"), (np.sum, "sum"))
    )
    spread = builder.call(np.subtract, top, low)
    builder.program.outputs = [
        builder.call(np.divide, doubled, spread), builder.call(np.add, x, total),
        builder.call(np.sum, doubled, axis=0, name="xp.sum"),
        builder.call(np.sum, doubled, name="xp.sum"),
    ]  # fmt: skip
    assert compare(builder.program, builder.arrays(), device, 0).groups == 1


def test_nan_of_one_thread_is_the_largest_and_the_least(device: Any) -> None:
    values = np.arange(3 * 400, dtype="float32").reshape(3, 400)
    values[1, 399] = np.nan
    builder = Builder()
    x = builder.input(values)
    for function, name in ((np.max, "max"), (np.min, "min")):
        found = builder.call(function, x, axis=1, keepdims=True, name=f"xp.{name}")
        builder.program.outputs.append(builder.call(np.subtract, x, found))
    compare(builder.program, builder.arrays(), device, 0)


def test_a_sum_of_many_small_numbers_is_accurate(device: Any) -> None:
    builder = Builder()
    x = builder.input(np.full((3000, 50), 0.1, "float32"))
    y = builder.call(np.add, builder.call(np.multiply, x, 1.0), 0.0)
    rows, columns = (builder.call(np.sum, y, axis=axis, name="xp.sum") for axis in (1, 0))
    builder.program.outputs = [rows, columns, builder.call(np.sum, y, name="xp.sum")]
    executable = cuda_engine.prepare(builder.program, device)
    found = executable.run([upload(array, device) for array in builder.arrays()])
    for array, count in zip(found, (50, 3000, 150_000), strict=True):
        np.testing.assert_allclose(array.get(), count * float(np.float32(0.1)), 1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_recorded_training_is_that_of_the_straightforward_engine(name: str, device: Any) -> None:
    make, shape = MODELS[name]
    recording = record(*train(make(), shape))
    arrays = [
        np.array(source.array if source.read is None else source.read(), order="K")
        for source in recording.sources
    ]
    # The gradient of the keys' bias is zero but for rounding, which Adam divides by its own size.
    compare(recording.program, arrays, device, 1e-3 if name == "attention" else 1e-4)


@pytest.mark.torch
def test_operations_of_the_survey_are_right_or_raise(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.capture import survey

    def run(program: Program, feeds: list[Any]) -> list[Any]:
        executable = cuda_engine.prepare(program, device)
        for _ in range(2):
            found = executable.run([upload(feed, device) for feed in feeds])
        return [array.get() for array in found]

    monkeypatch.setattr(survey, "run", run)
    found = survey.survey(survey.choose(survey.operations(), 48, 3), "float32", count=1)
    assert "wrong" not in found.values()
    raised = {name: verdict.why for name, verdict in found.items() if verdict == "raises"}
    assert {name for name, why in raised.items() if "NotImplementedError" not in why} == set()
    assert sum(verdict == "right" for verdict in found.values()) > 3 * len(raised)


def test_equal_groups_of_other_sizes_share_one_kernel(device: Any) -> None:
    builder = Builder()
    builder.program.outputs = [chain(builder, size) for size in (10, 1000, 77)]
    executable = compare(builder.program, builder.arrays(), device, 0)
    assert executable.source.count("c0(") == 3


def test_an_array_of_another_layout_raises(device: Any) -> None:
    builder = Builder()
    builder.program.outputs = [builder.call(np.exp, builder.input(np.ones((3, 4), "float32")))]
    executable = cuda_engine.prepare(builder.program, device)
    wrong = device.library.array(np.ones((4, 3), "float32")).T
    with pytest.raises(ValueError, match=r"expected an array of \(3, 4\), float32, strides"):
        executable.run([wrong])


def test_a_group_of_more_arrays_than_a_kernel_can_have_raises(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_engine, "MOST_PARAMETERS", 3)
    builder = Builder()
    builder.program.outputs = [chain(builder, 10)]
    with pytest.raises(NotImplementedError, match="a group of 3 arrays"):
        cuda_engine.prepare(builder.program, device)


def test_a_barrier_that_is_missing_is_noticed(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # The host runs the threads of a block one after the other, so a race has a wrong result.
    text = cuda_text.TEAMS.replace("__syncthreads();", "", 1)
    monkeypatch.setattr(cuda_text, "PRELUDE", cuda_text.PRELUDE.replace(cuda_text.TEAMS, text))
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        test_rows_are_reduced_over_all_threads(9, 700, device)


# -- graphs: what a stream is told to do, without one -------------------------------------------


class PretendedDevice:
    """Streams and graphs that run what is launched at once, or when the graph is launched."""

    def __init__(self) -> None:
        self.captured: list[Any] | None = None
        self.refuses = False
        self.cuda = self
        self.malloc = None

    def launch(self, work: Any) -> None:
        """Run a kernel, or add it to the graph."""
        if self.captured is None:
            work()
        elif self.refuses:
            raise RuntimeError("operation not permitted when stream is capturing")
        else:
            self.captured.append(work)

    def MemoryPool(self) -> Any:
        return self

    def Stream(self, non_blocking: bool) -> Any:
        assert non_blocking
        return self

    def get_current_stream(self) -> Any:
        return self

    def using_allocator(self, malloc: Any) -> Any:
        return contextlib.nullcontext()

    def synchronize(self) -> None:
        assert self.captured is None, "waiting ends a capture with an error"

    def begin_capture(self) -> None:
        self.captured = []

    def end_capture(self) -> Any:
        works, self.captured = self.captured or [], None
        return SimpleNamespace(launch=lambda: [work() for work in works])

    def __enter__(self) -> PretendedDevice:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


class Counter:
    """Function that adds an array to another one on the device, and returns that."""

    def __init__(self, library: PretendedDevice, may_copy: bool = False) -> None:
        import strictcupy

        self.library, self.calls = library, 0
        self.zeros = strictcupy.zeros
        makers = {0: None, 1: (lambda: self.zeros(2)) if may_copy else None}
        self.captured = CapturedRun(library, makers)

    def add(self, total: Any, number: Any) -> list[Any]:
        """The function."""
        self.calls += 1

        def work() -> None:
            total[...] = total + number

        self.library.launch(work)
        return [total]

    def run(self, total: Any, number: Any) -> Any:
        """Return the result of a run, on the host."""
        return self.captured.run(self.add, [total, number])[0].get().tolist()


def test_the_third_run_on_the_same_arrays_is_a_graph_with_results_of_its_own() -> None:
    counter = Counter(PretendedDevice())
    total, one = counter.zeros(2), counter.zeros(2) + 1
    results = [counter.captured.run(counter.add, [total, one]) for _ in range(6)]
    assert counter.calls == 3, "a graph is launched without the function"
    assert total.get().tolist() == [6, 6], "a capture runs nothing, and each launch once"
    assert [float(result[0][0]) for result in results[1:]] == [2, 3, 4, 5, 6]


def test_other_arrays_end_a_graph() -> None:
    counter = Counter(PretendedDevice())
    totals, one = {name: counter.zeros(1) for name in "ab"}, counter.zeros(1) + 1
    found = [counter.run(totals[name], one) for name in "aaaababaaa"]
    assert (totals["a"].get(), totals["b"].get(), found[-1]) == (8, 2, [8])
    assert not counter.captured.failure


def test_an_array_that_may_be_copied_is_another_one_in_each_run() -> None:
    counter = Counter(PretendedDevice(), may_copy=True)
    total, held = counter.zeros(2), []
    for number in range(1, 9):
        held.append(counter.zeros(2) + number)
        assert counter.run(total, held[-1]) == [number * (number + 1) / 2] * 2
    assert counter.calls == 4, "one run before the copies, and three for the graph"
    assert not counter.captured.failure


def test_a_run_that_cannot_be_captured_goes_on_without_a_graph() -> None:
    library = PretendedDevice()
    library.refuses = True
    counter = Counter(library)
    total, one = counter.zeros(1), counter.zeros(1) + 1
    for _ in range(5):
        found = counter.run(total, one)
    assert found == [5], "the call that failed runs once"
    assert "not permitted" in counter.captured.failure


def test_numbers_of_the_host_in_calls_prevent_a_graph(device: Any) -> None:
    make, shape = MODELS["perceptron"]
    step, tensors = train(make(), shape)
    program = record(step, tensors).program
    assert cuda_engine.prepare(program, device).graph is not None
    builder = Builder()
    x = builder.input(np.ones(3, "float32"))
    rate = builder.input(np.array(2.0))
    node = WithFloats(np.multiply, frozenset((1,)))
    builder.program.outputs = [builder.call(node, x, rate, name="numpy.multiply")]
    executable = cuda_engine.prepare(builder.program, device)
    assert executable.graph is None
    for number in (2.0, 5.0):
        (found,) = executable.run([device.library.ones(3, "float32"), number])
        assert found.get().tolist() == [number] * 3
