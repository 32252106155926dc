"""The CUDA text of groups compiles by NVRTC, which needs no GPU, and names what it leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tinytorch.capture import cuda_text
from tinytorch.capture.cuda_engine import float64_scalars, plan_steps
from tinytorch.capture.graph import Program
from tinytorch.capture.grouping import LoopGroup
from tinytorch.capture.recording import record

from tests.capture.program_builder import Builder, RandomProgram
from tests.capture.test_numpy_engine import MODELS, train

SHAPES = [(7, 33), (33,), (7, 1), (3, 1, 33), ()]


def groups_of(program: Program) -> Iterator[LoopGroup]:
    """The groups of a program that are kernels."""
    for step in plan_steps(program, float64_scalars(program))[1]:
        if isinstance(step, LoopGroup):
            yield step


def text_of(programs: Iterator[Program]) -> tuple[str, int]:
    """The text of a module with the kernels of programs, and their number."""
    bodies: dict[str, str] = {}
    for program in programs:
        for group in groups_of(program):
            bodies.setdefault(cuda_text.write_kernel(group).body, f"c{len(bodies)}")
    return cuda_text.program_text(bodies), len(bodies)


def compile_text(text: str, architecture: str = "sm_80") -> bytes:
    """The machine code of a text."""
    pytest.importorskip("cupy", reason="CuPy brings NVRTC")
    from cupy.cuda import nvrtc

    try:
        nvrtc.getVersion()
    except Exception as error:  # of what loads CUDA's libraries
        pytest.skip(f"NVRTC cannot be loaded: {str(error).splitlines()[0]}")
    program = nvrtc.createProgram(text, "groups.cu", [], [])
    try:
        nvrtc.compileProgram(program, [*cuda_text.OPTIONS, f"--gpu-architecture={architecture}"])
    except Exception as error:
        pytest.fail(f"{error}\n{nvrtc.getProgramLog(program)}")
    return bytes(nvrtc.getCUBIN(program))


def random_programs() -> Iterator[Program]:
    """Programs with operations of all kinds."""
    for seed in range(60):
        yield RandomProgram(8000 + seed, SHAPES, sums=seed % 2 > 0).builder.program


def models() -> Iterator[Program]:
    """Recorded training steps."""
    for make, shape in MODELS.values():
        yield record(*train(make(), shape)).program


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize(("programs", "least"), [(random_programs, 60), (models, 20)])
def test_groups_compile_for_the_gpu(programs: Any, least: int, architecture: str) -> None:
    text, count = text_of(programs())
    assert count >= least
    code = compile_text(text, architecture)
    for name in ("c0", f"c{count - 1}", "add_parts_f32", "add_parts_f64"):
        assert name.encode() in code


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_groups_of_the_survey_compile_for_the_gpu(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("expecttest", reason="PyTorch's test database imports it")
    pytest.importorskip("cupy", reason="CuPy brings NVRTC")
    from tests.capture import survey

    programs: list[Program] = []

    def keep(case: Any, recording: Any, *others: Any) -> Any:
        programs.append(recording.program)
        return survey.Verdict("right")

    monkeypatch.setattr(survey, "compare_replay", keep)
    survey.survey(survey.choose(survey.operations(), 4, 0), dtype, count=1)
    text, count = text_of(iter(programs))
    assert count >= 80
    compile_text(text)


def test_a_row_is_computed_by_a_warp_or_a_block() -> None:
    launches = {}
    for columns in (2, 256, 257, 5000):
        builder = Builder()
        x = builder.input(np.ones((100, columns), "float32"))
        total = builder.call(np.sum, x, axis=1, keepdims=True, name="xp.sum")
        builder.program.outputs = [builder.call(np.divide, x, total)]
        (group,) = groups_of(builder.program)
        launch = cuda_text.choose_launch(group)
        assert launch.count == 100 and launch.teams >= 100
        launches[columns] = launch.block
    assert launches == {2: (32, 8), 256: (32, 8), 257: (256, 1), 5000: (256, 1)}


def test_sums_over_rows_have_a_bounded_number_of_parts() -> None:
    builder = Builder()
    x = builder.input(np.zeros((1_000_000, 3), "float32"))
    y = builder.call(np.multiply, x, 2.0)
    builder.program.outputs = [y, builder.call(np.sum, y, axis=0, name="xp.sum")]
    (group,) = groups_of(builder.program)
    launch = cuda_text.choose_launch(group)
    assert launch.teams <= 512 and launch.count == 1_000_000
    assert cuda_text.part_width(group, builder.program.outputs[1]) == 3
