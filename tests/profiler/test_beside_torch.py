"""Tables, sums and stretches beside PyTorch's, of the same events."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt
from tinytorch.profiler.events import events_of
from tinytorch.profiler.recording import Record

pytestmark = pytest.mark.torch

#: Name, begin, end, shapes, stack, flops, memory: in microseconds, the parents first.
RAN = [
    ("forward", 0, 2_500_000, [], ["a.py(3): main"], 0, 4096),
    ("aten::linear", 10, 1_500, [[4, 3], [2, 3], [2]], ["a.py(4): f", "a.py(3): main"], 0, 2048),
    ("aten::addmm", 12, 1_400, [[2], [4, 3], [3, 2]], ["a.py(4): f", "a.py(3): main"], 48, 1024),
    ("aten::linear", 2_000, 9_000, [[2, 2], [2, 2]], ["b.py(9): " + "x" * 90], 0, 3_000_000),
    ("aten::" + "long_name_" * 6, 9_500, 9_700, [[1] * 40], [], 0, -16),
    ("aten::add", 9_800, 9_801, [[2], []], [], 2_000_000, 0),
    ("AddmmBackward0", 2_600_000, 2_700_000, [[4, 2]], [], 0, 7),
]


def ours(**kept: bool) -> Any:
    records = [
        Record(
            name, start * 1000, end * 1000, 1, "cpu_op",
            shapes if kept["shapes"] else None, stack if kept["stack"] else None,
            flops if kept["flops"] else 0, memory if kept["memory"] else 0,
        )
        for name, start, end, shapes, stack, flops, memory in RAN
    ]  # fmt: skip
    return events_of(records, 0, kept["memory"], kept["flops"])


def theirs(**kept: bool) -> Any:
    from torch.autograd.profiler_util import EventList, FunctionEvent

    events = EventList(
        [
            FunctionEvent(
                id=at, name=name, thread=1, start_us=float(start), end_us=float(end),
                input_shapes=shapes if kept["shapes"] else [], stack=stack if kept["stack"] else [],
                flops=flops if kept["flops"] else 0, trace_name=name,
                cpu_memory_usage=memory if kept["memory"] else 0,
            )
            for at, (name, start, end, shapes, stack, flops, memory) in enumerate(RAN)
        ],
        profile_memory=kept["memory"], with_flops=kept["flops"], use_device=None,
    )  # fmt: skip
    events._build_tree()
    return events


KEPT = [
    dict(shapes=False, stack=False, flops=False, memory=False),
    dict(shapes=True, stack=False, flops=True, memory=True),
    dict(shapes=False, stack=True, flops=False, memory=False),
]
SETTINGS: list[dict[str, Any]] = [
    {}, {"sort_by": "self_cpu_time_total", "row_limit": 3}, {"sort_by": "count", "row_limit": -1},
    {"header": "A run", "time_unit": "ms"}, {"max_name_column_width": 20},
    {"max_shapes_column_width": 30, "max_src_column_width": 40},
    {"top_level_events_only": True},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("kept", KEPT, ids=["times", "shapes", "stacks"])
def test_tables_of_the_profiler_are_pytorchs(
    torch: Any, kept: dict[str, bool], settings: dict[str, Any]
) -> None:
    groups = {"group_by_input_shapes": kept["shapes"], "group_by_stack_n": 5 * kept["stack"]}
    mine, its = (make(**kept).key_averages(**groups) for make in (ours, theirs))
    assert mine.table(**settings) == its.table(**settings)
    assert ours(**kept).table(**settings) == theirs(**kept).table(**settings)


@pytest.mark.parametrize("kept", KEPT, ids=["times", "shapes", "stacks"])
def test_averages_of_events_are_pytorchs(torch: Any, kept: dict[str, bool]) -> None:
    attributes = (
        "key", "count", "cpu_time_total", "self_cpu_time_total", "cpu_time", "cpu_time_str",
        "self_cpu_time_total_str", "cpu_memory_usage", "self_cpu_memory_usage", "flops",
    )  # fmt: skip
    for mine, its in (
        (ours(**kept).key_averages(), theirs(**kept).key_averages()),
        ([ours(**kept).total_average()], [theirs(**kept).total_average()]),
    ):
        for a, b in zip(mine, its, strict=True):
            assert [getattr(a, name) for name in attributes] == [
                getattr(b, name) for name in attributes
            ]


def run(library: Any, schedule: Any) -> list[Any]:
    """What is handed over, step by step, while a program runs."""
    handed: list[Any] = []

    def ready(prof: Any) -> None:
        handed.append((prof.step_num, sorted(e.key for e in prof.key_averages())))

    activities = [library.profiler.ProfilerActivity.CPU]
    x = library.ones(3)
    with library.profiler.profile(
        activities=activities, schedule=schedule(library), on_trace_ready=ready
    ) as prof:
        for _ in range(11):
            x.sin()
            prof.step()
            handed.append(prof.current_action.name)
    return handed


@pytest.mark.filterwarnings(
    "ignore:Profiler won't be using warmup",
    "ignore:Incorrect schedule",
    "ignore:Warning. Profiler clears events",
)
@pytest.mark.parametrize("schedule", [
    lambda library: library.profiler.schedule(wait=1, warmup=1, active=2),
    lambda library: library.profiler.schedule(wait=0, warmup=0, active=1, repeat=3),
    lambda library: library.profiler.schedule(wait=2, warmup=1, active=3, repeat=1, skip_first=2),
    lambda library: lambda step: library.profiler.ProfilerAction(2 * (step % 3 == 1)),
    lambda library: lambda step: library.profiler.ProfilerAction(step % 3),
])  # fmt: skip
def test_a_scheduled_profile_records_what_pytorchs_records(torch: Any, schedule: Any) -> None:
    assert run(tt, schedule) == run(torch, schedule)


def test_names_of_recorded_operations_are_pytorchs(torch: Any) -> None:
    """Those that a program names itself; PyTorch shows what they are made of, too."""

    def program(library: Any) -> set[str]:
        F = library.nn.functional
        x, target = library.ones(3, 4, requires_grad=True), library.tensor([0, 1, 0])
        activities = [library.profiler.ProfilerActivity.CPU]
        with library.profiler.profile(activities=activities) as prof:
            y = F.relu(x) + 1
            y = F.linear(y, library.ones(2, 4)).sigmoid().add(1).mul_(2)
            z = (
                library.cat([y, y]).sum()
                - library.special.erf(y).mean()
                + y.reshape(-1).exp().max()
            )
            library.linalg.norm(y), library.fft.fft(y), y.T, F.softmax(y, 1)
            F.cross_entropy(y, target).backward(retain_graph=True)
            z.backward()
        return {event.key for event in prof.key_averages()}

    mine, its = program(tt), program(torch)
    assert {name for name in mine if name.startswith("aten::")} <= its
    assert {"aten::linear", "aten::relu", "aten::mul_", "aten::cat", "aten::sum", "aten::numpy_T",
            "aten::cross_entropy_loss", "aten::linalg_norm", "aten::fft_fft"} <= mine  # fmt: skip
    backward = {"ReluBackward0", "SigmoidBackward0", "MulBackward0", "CatBackward0",
                "torch::autograd::AccumulateGrad"}  # fmt: skip
    assert backward <= mine & its
