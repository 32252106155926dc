"""The C engine computes what NumPy computes; only sums and functions are rounded in another way."""

from __future__ import annotations

import ctypes
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tinytorch.capture import c_compiler, c_engine, engines, numpy_engine
from tinytorch.capture.c_prelude import PRELUDE
from tinytorch.capture.graph import Program
from tinytorch.capture.recording import record
from tinytorch.capture.replay import run_program

from tests.capture.program_builder import SPECIAL, Array, Builder, RandomProgram
from tests.capture.test_numpy_engine import MODELS, SHAPES, chain, train
from tests.oracles import compare_runs

needs_compiler = pytest.mark.skipif(
    c_compiler.find_compiler() is None, reason="there is no C compiler"
)
pytestmark = needs_compiler


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile groups of few elements."""
    monkeypatch.setattr(c_engine, "_FEW", 0)


def compare(program: Program, arrays: list[Array], tolerance: float) -> Any:
    """Compare two runs of the engine with the straightforward one; return the executable."""
    executable = c_engine.prepare(program)
    compare_runs(executable, program, arrays, tolerance)
    return executable


# Each program is compiled, so a few programs of many operations are fuzzed.
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(25))
def test_random_programs_without_sums_are_equal_bit_for_bit(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(c_engine, "_FEW", 2048 * (seed % 2))
    made = RandomProgram(7000 + seed, SHAPES, inexact=False)
    compare(made.builder.program, made.builder.arrays(), 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(25))
def test_random_programs_with_sums_and_functions_are_close(seed: int) -> None:
    made = RandomProgram(8000 + seed, [(7, 33), (33,), (7, 1), ()], sums=True)
    compare(made.builder.program, made.builder.arrays(), 2e-4)


def ufunc_names(kinds: str) -> list[tuple[str, str]]:
    """Names of ufuncs with C text, with the dtype of their arguments."""
    unary = (
        "negative absolute square sqrt reciprocal sign floor ceil trunc rint isnan isinf isfinite"
    )
    binary = (
        "add subtract multiply divide maximum minimum less less_equal greater greater_equal equal "
        "not_equal copysign logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
    )
    names = [*unary.split(), "logical_not", "invert", *binary.split()]
    return [(name, kind) for name in names for kind in kinds]


def special_arrays(kind: str) -> list[Array]:
    """All pairs of special values of a dtype, as two arrays."""
    if kind in "fd":
        values: Any = np.concatenate([SPECIAL, [1.0, 2.5, -0.5, 1e-45, 3e38]])
    elif kind == "?":
        values = [False, True]
    else:
        bounds = np.iinfo(kind)
        values = [0, 1, -1 if bounds.min else 1, 5, bounds.min, bounds.max]
    with np.errstate(all="ignore"):
        array = np.asarray(values).astype(kind)
    return [part.ravel() for part in np.meshgrid(array, array)]


@pytest.mark.parametrize("kind", "fd?Bbhil")
def test_every_operation_treats_special_values_as_numpy_does(kind: str) -> None:
    builder = Builder()
    x, y = (builder.input(array) for array in special_arrays(kind))
    outputs = []
    for name, _ in ufunc_names(kind):
        function: Any = getattr(np, name)
        args = (x, y) if function.nin == 2 else (x,)
        with np.errstate(all="ignore"):
            try:
                made = builder.call(function, *args)
            except TypeError:  # NumPy does not have it for the dtype
                continue
        outputs.append(builder.call(np.copy, made, name="numpy.copy"))
    builder.program.outputs = outputs
    executable = compare(builder.program, builder.arrays(), 0)
    assert isinstance(executable, c_engine.CompiledExecutable)
    assert executable.groups == 1


@pytest.mark.parametrize("kind", "fd")
def test_selections_treat_special_values_as_the_backend_does(kind: str) -> None:
    from tinytorch.backends import load

    xp = load("numpy")
    builder = Builder()
    x, y = (builder.input(array) for array in special_arrays(kind))
    mask = builder.call(np.less, x, y)
    chosen = builder.call(xp.where, mask, x, y, name="xp.where")
    masked = builder.call(xp.masked, x, mask, name="xp.masked")
    between = builder.call(xp.between, x, -1.0, 2.0, name="xp.between")
    builder.program.outputs = [mask, chosen, masked, between]
    compare(builder.program, builder.arrays(), 0)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_rounded_after_each_operation(name: str) -> None:
    dtype = np.dtype("float16")
    if name == "bfloat16":
        dtype = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    rng = np.random.default_rng(0)
    more = [65504, 65519, 65520, 6e-8, 3e-8, 2.98e-8, 6e-5, *rng.normal(0, 50, 40)]
    with np.errstate(all="ignore"):
        values = np.concatenate([SPECIAL, more, rng.normal(0, 1e-5, 20)]).astype(dtype)
    builder = Builder()
    x, y = (builder.input(part.ravel()) for part in np.meshgrid(values, values))
    for function in (np.add, np.subtract, np.multiply, np.divide, np.less, np.equal):
        made: Any = builder.call(function, x, y)
        builder.program.outputs.append(builder.call(np.copy, made, name="numpy.copy"))
    for function in (np.negative, np.absolute, np.square, np.sqrt, np.floor, np.isnan):
        made = builder.call(function, x)
        builder.program.outputs.append(builder.call(np.copy, made, name="numpy.copy"))
    wide = builder.call(np.ndarray.astype, x, np.dtype("float32"), name="ndarray.astype")
    scaled = builder.call(np.multiply, wide, np.float32(1.1))
    back = builder.call(np.ndarray.astype, scaled, dtype, name="ndarray.astype")
    builder.program.outputs.append(back)
    arrays = builder.arrays()
    executable = c_engine.prepare(builder.program)
    assert executable.groups == 1
    expected = run_program(builder.program, arrays)
    for a, b in zip(executable.run(arrays), expected, strict=True):
        assert a.dtype == b.dtype
        a, b = a.astype("float32"), b.astype("float32")
        np.testing.assert_array_equal(a, b)
        known = ~np.isnan(b)
        np.testing.assert_array_equal(np.signbit(a[known]), np.signbit(b[known]))


def load_functions() -> Any:
    """The functions of the prelude as functions of arrays of float32."""
    names = ("exp", "log", "tanh", "erf")
    bodies = [
        f"void apply_{name}(float *x, float *y, i64 n)"
        f" {{ for (i64 i = 0; i < n; i++) y[i] = {name}_f32(x[i]); }}"
        for name in names
    ]
    offsets = "#define TUPLE_OFFSET 24\n#define ARRAY_OFFSET 16\n"
    library = c_compiler.load_library("\n".join([offsets + PRELUDE, *bodies]))
    assert library is not None
    return library


EXACT: dict[str, Callable[[float], float]] = {
    "exp": lambda x: math.exp(x) if x < 89 else math.inf,
    "log": lambda x: -math.inf if x == 0 else math.log(x) if x > 0 else math.nan,
    "tanh": math.tanh,
    "erf": math.erf,
}


@pytest.mark.parametrize("name", EXACT)
def test_functions_of_float32_are_within_two_units(name: str) -> None:
    function = getattr(load_functions(), f"apply_{name}")
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, 100_000, "uint32").view("float32")
    near = rng.uniform(-12, 12, 100_000).astype("float32")
    x = np.concatenate([bits, near, np.linspace(-104, 89, 20_000, dtype="float32")])
    x = np.concatenate([x[np.isfinite(x)], np.array([0.0, -0.0], "float32")])
    out = np.empty_like(x)
    function(x.ctypes.data, out.ctypes.data, x.size)
    exact = np.array([EXACT[name](float(value)) for value in x])
    with np.errstate(all="ignore"):
        rounded = exact.astype("float32")
        unit = np.spacing(np.abs(rounded)).astype("float64")
        finite = np.abs(exact) < np.finfo("float32").max
    assert (np.abs(out[finite] - exact[finite]) <= 2 * unit[finite]).all()
    zero = rounded == 0
    np.testing.assert_array_equal(np.signbit(out[zero]), np.signbit(rounded[zero]))
    np.testing.assert_array_equal(out[~finite], rounded[~finite])


def test_a_program_of_many_operations_is_one_function() -> None:
    builder = Builder()
    builder.program.outputs = [chain(builder, 1000)]
    assert compare(builder.program, builder.arrays(), 0).groups == 1


def test_a_group_of_many_arrays_has_masks() -> None:
    builder = Builder()
    x = total = builder.input(np.arange(12.0, dtype="float32").reshape(3, 4))
    for k in range(12):  # the names of the arrays must not be those of types
        factor = builder.input(np.full((3, 1), float(k), "float32"))
        total = builder.call(np.add, total, builder.call(np.multiply, x, factor))
        mask = builder.call(np.greater, total, factor)
        total = builder.call(np.where, mask, total, x, name="xp.where")
        x = builder.input(np.arange(12.0, dtype="float32").reshape(3, 4) - k)
    builder.program.outputs = [total]
    executable = compare(builder.program, builder.arrays(), 0)
    assert isinstance(executable, c_engine.CompiledExecutable)


def test_equal_groups_of_other_sizes_share_one_function() -> None:
    builder = Builder()
    builder.program.outputs = [chain(builder, size) for size in (10, 1000, 77)]
    executable = compare(builder.program, builder.arrays(), 0)
    assert executable.groups == 3
    assert executable.source.count("c0(") == 3


def test_two_threads_compute_the_parts_of_a_large_group() -> None:
    builder = Builder()
    builder.program.outputs = [chain(builder, c_engine._THREADED + 5, 2)]
    compare(builder.program, builder.arrays(), 0)


@pytest.mark.parametrize("name", MODELS)
def test_recorded_training_is_that_of_the_straightforward_engine(name: str) -> None:
    make, shape = MODELS[name]
    recording = record(*train(make(), shape))
    arrays = [
        np.array(source.array if source.read is None else source.read(), order="K")
        for source in recording.sources
    ]
    compare(recording.program, arrays, 1e-4)


def test_a_sum_of_many_small_numbers_is_accurate() -> None:
    builder = Builder()
    x = builder.input(np.full((3000, 500), 0.1, "float32"))
    y = builder.call(np.multiply, x, 1.0)
    z = builder.call(np.add, y, 0.0)
    rows, columns = (builder.call(np.sum, z, axis=axis, name="xp.sum") for axis in (1, 0))
    builder.program.outputs = [rows, columns, builder.call(np.sum, z, name="xp.sum")]
    found = c_engine.prepare(builder.program).run(builder.arrays())
    exact = float(np.float32(0.1))
    for array, count in zip(found, (500, 3000, 1_500_000), strict=True):
        np.testing.assert_allclose(array, count * exact, 1e-5)


# -- the choice of the engine -------------------------------------------------------------------


def small_program() -> tuple[Program, list[Array]]:
    """A program of one group, and its arrays."""
    builder = Builder()
    builder.program.outputs = [chain(builder, 50)]
    return builder.program, builder.arrays()


def test_without_a_choice_a_program_is_compiled_after_some_runs() -> None:
    program, arrays = small_program()
    executable: Any = engines.prepare(program, "auto")
    assert executable.engine == f"numpy, c after {c_engine.LateExecutable.RUNS} runs"
    for _ in range(c_engine.LateExecutable.RUNS):
        executable.run(arrays)
        assert not isinstance(executable._current, c_engine.CompiledExecutable)
    executable.run(arrays)
    assert isinstance(executable._current, c_engine.CompiledExecutable)
    assert executable.engine == "c"


def test_the_environment_chooses_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    program, _ = small_program()
    monkeypatch.setenv("TINYTORCH_COMPILE", "c")
    assert isinstance(engines.prepare(program, "auto"), c_engine.CompiledExecutable)
    assert not isinstance(engines.prepare(program, "numpy"), c_engine.CompiledExecutable)
    monkeypatch.setenv("TINYTORCH_COMPILE", "numpy")
    assert isinstance(engines.prepare(program, "auto"), numpy_engine.Executable)
    monkeypatch.setenv("TINYTORCH_COMPILE", "fortran")
    with pytest.raises(ValueError, match="expected an engine of .*, got 'fortran'"):
        engines.prepare(program, "auto")


def test_the_engine_is_described(library_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TINYTORCH_COMPILE", raising=False)
    assert engines.describe().startswith("numpy, c after 20 runs (")
    assert engines.describe().endswith(f", {library_folder})")
    monkeypatch.setenv("TINYTORCH_COMPILE", "numpy")
    assert engines.describe() == "numpy (TINYTORCH_COMPILE)"
    monkeypatch.delenv("TINYTORCH_COMPILE")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    assert engines.describe() == "numpy (no C compiler found)"


def test_numpy_runs_where_no_compiler_is(monkeypatch: pytest.MonkeyPatch) -> None:
    program, arrays = small_program()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    for engine in ("c", "auto"):
        executable = engines.prepare(program, engine)
        assert executable.__class__ is numpy_engine.Executable
        np.testing.assert_array_equal(executable.run(arrays)[0], run_program(program, arrays)[0])


@pytest.mark.parametrize("command", ["false", "/nowhere/cc", "cc --no-such-option"])
def test_numpy_runs_where_the_compiler_fails(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, arrays = small_program()
    monkeypatch.setenv("CC", command)
    if shutil.which(command.split()[0]) is None:
        monkeypatch.setenv("PATH", "")
    executable = c_engine.prepare(program)
    assert executable.__class__ is numpy_engine.Executable
    np.testing.assert_array_equal(executable.run(arrays)[0], run_program(program, arrays)[0])


def test_numpy_runs_where_arrays_are_laid_out_in_another_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(c_engine, "_ARRAY_OFFSET", c_engine._ARRAY_OFFSET + 8)
    c_engine.layout_is_known.cache_clear()
    try:
        assert not c_engine.layout_is_known()
        assert c_engine.prepare(small_program()[0]).__class__ is numpy_engine.Executable
    finally:
        c_engine.layout_is_known.cache_clear()
