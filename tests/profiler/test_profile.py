"""``tinytorch.profiler``: what is noted, when, and how it is summed up."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.backends.numpy import NumpyBackend
from tinytorch.core.torch_function import PLAIN
from tinytorch.profiler.events import events_of
from tinytorch.profiler.recording import Record
from tinytorch.profiler.table import time_text


def names(prof: Any) -> list[str]:
    return [event.name for event in prof.events()]


def test_operations_are_noted_in_the_order_in_which_they_begin() -> None:
    x = tt.ones(3)
    with tt.profiler.profile() as prof:
        x + 1
        x.add_(1)
        x[0]
        x[0] = 1.0
        tt.zeros(2)
        x @ x
        -x
    assert names(prof) == [
        "aten::add", "aten::add_", "aten::index", "aten::index_put_", "aten::zeros",
        "aten::matmul", "aten::neg",
    ]  # fmt: skip


def test_operations_called_by_a_recorded_function_are_its_children() -> None:
    layer, x = tt.nn.Sequential(tt.nn.Linear(3, 2), tt.nn.Softplus()), tt.ones(4, 3)
    with tt.profiler.profile() as prof:
        with tt.profiler.record_function("whole"):
            layer(x)
    whole = prof.events()[0]
    assert whole.name == "whole" and whole.cpu_parent is None and whole.is_user_annotation
    assert [child.name for child in whole.cpu_children] == ["aten::linear", "aten::softplus"]
    assert all(child.cpu_parent is whole for child in whole.cpu_children)
    inside = sum(child.cpu_time_total for child in whole.cpu_children)
    assert 0 < whole.self_cpu_time_total == whole.cpu_time_total - inside


def test_gradient_events_have_the_sequence_number_of_their_operation() -> None:
    w, x = tt.ones(3, requires_grad=True), tt.ones(3)
    with tt.profiler.profile() as prof:
        (w * x).sum().backward()
    assert names(prof) == [
        "aten::mul", "aten::sum", "SumBackward0", "MulBackward0",
        "torch::autograd::AccumulateGrad",
    ]  # fmt: skip
    number = {event.name: event.sequence_nr for event in prof.events()}
    assert number["aten::mul"] == number["MulBackward0"] != number["SumBackward0"]
    assert number["torch::autograd::AccumulateGrad"] == -1


def test_second_derivatives_show_what_rules_compute() -> None:
    x = tt.ones(3, requires_grad=True)
    y = x.sin().sum()
    with tt.profiler.profile() as prof:
        tt.autograd.grad(y, x, create_graph=True)
    [rule] = [event for event in prof.events() if event.name == "SinBackward0"]
    assert {"aten::cos", "aten::mul"} <= {child.name for child in rule.cpu_children}


def test_a_step_of_an_optimizer_is_a_part() -> None:
    w = tt.ones(2, requires_grad=True)
    optimizer = tt.optim.Adam([w])
    w.sum().backward()
    with tt.profiler.profile() as prof:
        optimizer.step()
    assert names(prof)[0] == "Optimizer.step#Adam.step"


def test_a_decorated_function_is_a_part_in_whatever_thread_it_runs() -> None:
    inside, leave = threading.Event(), threading.Event()

    @tt.profiler.record_function("wait")
    def wait(seconds: float, other: bool) -> None:
        if other:
            inside.set()
            leave.wait()
        time.sleep(seconds)

    thread = threading.Thread(target=wait, args=(0, True))
    with tt.profiler.profile() as prof:
        thread.start()
        inside.wait()
        wait(0.01, False)
    leave.set()
    thread.join()
    [event] = prof.events()
    assert event.name == "wait" and event.cpu_time_total >= 10_000


def test_operations_in_other_threads_or_after_the_profile_are_not_recorded() -> None:
    x = tt.ones(2)
    with tt.profiler.profile() as prof:
        thread = threading.Thread(target=lambda: x.cos())
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError):
            x @ tt.ones(3)
    x.sin()
    assert names(prof) == ["aten::ones", "aten::matmul"]
    assert tt.Tensor in PLAIN, "calls are plain again"


def test_calls_take_the_fast_path_after_a_profile_that_fails() -> None:
    with pytest.raises(ZeroDivisionError), tt.profiler.profile():
        1 / 0
    assert tt.Tensor in PLAIN
    with tt.profiler.profile():
        pass


def test_results_under_a_profile_are_those_without() -> None:
    def compute() -> list[float]:
        tt.manual_seed(0)
        model = tt.nn.Sequential(tt.nn.Linear(3, 4), tt.nn.Tanh(), tt.nn.Linear(4, 2))
        optimizer = tt.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            tt.nn.functional.cross_entropy(
                model(tt.randn(5, 3)), tt.tensor([0, 1, 0, 1, 1])
            ).backward()
            optimizer.step()
        return [p.sum().item() for p in model.parameters()]

    expected = compute()
    with tt.profiler.profile(record_shapes=True, with_flops=True, with_stack=True):
        # Calls that are told of take the general way, which may add up in another order.
        assert compute() == pytest.approx(expected, rel=1e-6)


def test_modes_and_subclasses_override_operations_under_a_profile() -> None:
    class Count(tt.overrides.TorchFunctionMode):
        calls = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            self.calls += 1
            return func(*args, **(kwargs or {}))

    class Mine(tt.Tensor):
        pass

    with tt.profiler.profile() as prof, Count() as count:
        assert type(tt.ones(2).as_subclass(Mine) + 1) is Mine
    assert count.calls and names(prof).count("aten::add") == 1


def test_times_of_events_include_their_children_and_self_times_do_not() -> None:
    """A part that sleeps takes at least so long, and its own time is what its children leave."""
    with tt.profiler.profile() as prof:
        with tt.profiler.record_function("outer"):
            time.sleep(0.02)
            with tt.profiler.record_function("inner"):
                time.sleep(0.03)
    outer, inner = prof.events()
    assert inner.cpu_time_total >= 30_000 and outer.cpu_time_total >= 50_000
    assert outer.self_cpu_time_total >= 20_000
    assert prof.key_averages().self_cpu_time_total == pytest.approx(outer.cpu_time_total)


def test_shapes_memory_and_products_are_told_where_they_are_asked_for() -> None:
    x, w = tt.ones(8, 1000), tt.ones(1000, 500)
    x @ w
    with tt.profiler.profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        y = x @ w
    [event] = prof.events()
    assert event.input_shapes == [[8, 1000], [1000, 500]]
    assert event.flops == 2 * 8 * 1000 * 500
    if y.backend.name == "numpy":
        assert 16_000 <= event.cpu_memory_usage < 20_000  # 4000 numbers, and the tensor around them


def test_products_cost_what_the_counter_of_flops_counts() -> None:
    F = tt.nn.functional
    attention = tt.nn.MultiheadAttention(4, 2, batch_first=True)
    image, kernel, q = tt.ones(2, 1, 8, 8), tt.ones(3, 1, 3, 3), tt.ones(2, 2, 5, 4)

    def compute() -> None:
        F.conv2d(image, kernel)
        F.conv_transpose2d(image, tt.ones(1, 3, 3, 3))
        F.scaled_dot_product_attention(q, q, q)
        attention(q[0], q[0], q[0])
        tt.einsum("ij,jk->ik", q[0, 0], q[0, 0].T)
        tt.mm(q[0, 0], q[0, 0].T, out=tt.empty(5, 5))

    with tt.utils.flop_counter.FlopCounterMode(display=False) as counter:
        compute()
    with tt.profiler.profile(with_flops=True) as prof:
        compute()
    assert prof.key_averages().total_average().flops == counter.get_total_flops() > 0


def test_lines_of_the_program_are_those_that_called() -> None:
    x = tt.ones(2, requires_grad=True)
    with tt.profiler.profile(with_stack=True) as prof:
        y = x.sin()
        y.sum().backward()
    forward, *_ = (event for event in prof.events() if event.name == "aten::sin")
    [gradient] = [event for event in prof.events() if event.name == "SinBackward0"]
    assert forward.stack[0].startswith(f"{__file__}(")
    assert forward.stack[0].endswith("test_lines_of_the_program_are_those_that_called")
    assert gradient.stack == forward.stack


def test_a_scheduled_profile_calls_on_trace_ready_at_the_end_of_each_cycle() -> None:
    handed: list[list[str]] = []
    schedule = tt.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
    ready: Callable[[Any], None] = lambda prof: handed.append(names(prof))  # noqa: E731
    with tt.profiler.profile(schedule=schedule, on_trace_ready=ready) as prof:
        for step in range(10):
            tt.zeros(step)
            prof.step()
    assert (
        handed
        == [
            ["ProfilerStep*", "aten::zeros", "ProfilerStep*", "aten::zeros"],
        ]
        * 2
    )
    assert [e.trace_name for e in prof.events() if e.is_user_annotation] == [
        "ProfilerStep#6",
        "ProfilerStep#7",
    ]


def test_a_trace_says_what_ran_where_and_whose_gradient_it_is(tmp_path: Path) -> None:
    w = tt.ones(3, requires_grad=True)
    with tt.profiler.profile(record_shapes=True) as prof:
        with tt.profiler.record_function("part"):
            w.sin().sum().backward()
    prof.add_metadata_json("sizes", "[3]")
    for path in (tmp_path / "trace.json", tmp_path / "trace.json.gz"):
        prof.export_chrome_trace(path)
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
            trace = json.load(file)
        assert trace["sizes"] == [3]
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        assert {span["name"] for span in spans} == set(names(prof))
        assert [span["cat"] for span in spans if span["name"] == "part"] == ["user_annotation"]
        [sine] = [span for span in spans if span["name"] == "aten::sin"]
        [slope] = [span for span in spans if span["name"] == "SinBackward0"]
        assert sine["args"]["Input Dims"] == [[3]]
        arrows = {
            event["ph"]: event["ts"]
            for event in trace["traceEvents"]
            if event.get("id") == sine["args"]["Sequence number"]
        }
        assert arrows == {"s": sine["ts"], "f": slope["ts"]}


def test_a_device_is_waited_for_where_its_work_is_to_be_measured() -> None:
    class Queued(NumpyBackend):
        name = "queued"
        waits = 0

        def synchronize(self) -> None:
            type(self).waits += 1
            time.sleep(0.01)

    tt.register_backend("queued", Queued, replace=True)
    activity = tt.profiler.ProfilerActivity
    with tt.backend_context("queued"):
        x = tt.ones(3, requires_grad=True)
        with tt.profiler.profile(activities=[activity.CPU]) as host:
            x.sin().sum().backward()
        assert Queued.waits == 0
        with tt.profiler.profile(activities=[activity.CPU, activity.CUDA]) as device:
            x.sin().sum().backward()
    assert names(device) == names(host) and Queued.waits == len(device.events()) == 5
    assert all(event.cpu_time_total >= 10_000 for event in device.events())


def test_only_one_profile_is_active_in_a_thread() -> None:
    with tt.profiler.profile():
        with pytest.raises(RuntimeError, match="already enabled"), tt.profiler.profile():
            pass
    prof = tt.autograd.profiler.profile()
    with prof:
        with pytest.raises(AssertionError, match="Expected profiling results"):
            prof.function_events
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass


def test_accumulated_events_are_those_of_all_blocks() -> None:
    prof = tt.autograd.profiler.profile(acc_events=True)
    for _ in range(2):
        with prof:
            tt.zeros(1)
    assert [event.name for event in prof.function_events] == ["aten::zeros"] * 2


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        tt.profiler.profile(activities=[])
    with pytest.raises(ValueError, match="not a valid device"):
        tt.autograd.profiler.profile(use_device="tpu")
    with pytest.raises(AssertionError, match="must be initialized"):
        tt.profiler.profile().key_averages()
    with pytest.raises(ValueError, match="metric should be one of"):
        tt.profiler.EventList().export_stacks("nowhere.txt", "cuda_time_total")
    with pytest.raises(AttributeError):
        with tt.profiler.profile() as prof:
            tt.zeros(1)
        prof.key_averages().table(sort_by="speed")


@pytest.mark.parametrize(("time", "text"), [(0.5, "0.500us"), (1e3, "1.000ms"), (2.5e6, "2.500s")])
def test_times_have_the_unit_that_suits(time: float, text: str) -> None:
    assert time_text(time) == text


def test_an_event_that_holds_nothing_but_its_like_counts_once() -> None:
    records = [Record("a", 1, 2, 1), Record("a", 0, 3, 1), Record("b", 4, 5, 1)]
    assert [event.name for event in events_of(records, 0, False, False)] == ["a", "b"]


def test_an_event_list_writes_a_trace(tmp_path: Path) -> None:
    with tt.profiler.profile() as prof:
        tt.ones(2).sin()
    prof.events().export_chrome_trace(tmp_path / "trace.json")
    spans = json.loads((tmp_path / "trace.json").read_text())
    assert [(span["name"], span["ph"], span["tid"]) for span in spans] == [
        ("aten::ones", "X", 1), ("aten::sin", "X", 1),
    ]  # fmt: skip
    assert spans[0]["ts"] + spans[0]["dur"] <= spans[1]["ts"]


def test_the_active_profile_is_ended_from_outside() -> None:
    with pytest.raises(RuntimeError, match="Can't disable Kineto profiler when it's not running"):
        tt.autograd._disable_profiler()
    with tt.profiler.profile() as prof:
        tt.ones(2)
        tt.autograd._disable_profiler()
        assert not tt.autograd._profiler_enabled()
        tt.zeros(2)
    assert names(prof) == ["aten::ones"]
    with tt.profiler.profile() as prof:
        tt.zeros(2)
    assert names(prof) == ["aten::zeros"]


def test_lightning_names_are_there() -> None:
    assert tt.profiler.kineto_available()
    assert tt.profiler.profiler._default_schedule_fn(3) is tt.profiler.ProfilerAction.RECORD
    assert tt.profiler.EventList().supported_export_stacks_metrics() == ["self_cpu_time_total"]
