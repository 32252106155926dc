"""The benchmark harness: it runs, and every library in it does the same work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from benchmarks import (
    backends, bare, by_hand, compiled, every, larger, libraries, mlp, ops, report, scaling, small,
)  # fmt: skip
from benchmarks.__main__ import main, measurements
from benchmarks.timing import Effort, Statement
from benchmarks.workers import Workers

FOUND = libraries.load()


def few_or_many(found: libraries.Libraries) -> dict[str, Statement]:
    return {
        "numpy": Statement("sum(range(n))", {"n": 10}),
        "tinytorch": Statement("sum(range(n))", {"n": 10_000}),
    }


def refused(found: libraries.Libraries) -> dict[str, Statement]:
    raise ValueError(f"not for {list(found.modules)}")


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    two = {name: FOUND.modules[name] for name in ("numpy", "tinytorch")}
    with Workers(libraries.Libraries(two, {})) as workers:
        yield workers


@pytest.fixture(scope="module")
def all_workers() -> Iterator[Workers]:
    with Workers(FOUND) as workers:
        yield workers


def test_a_slower_statement_gets_the_larger_median(workers: Workers) -> None:
    values = workers.medians(few_or_many, Effort(rounds=3, seconds=0.001))
    assert 10 < values["tinytorch"] / values["numpy"] < 10_000


def test_an_error_in_a_worker_is_raised_here(workers: Workers) -> None:
    with pytest.raises(ValueError, match="not for .'numpy'."):
        workers.medians(refused, Effort(rounds=1, seconds=0.001))
    values = workers.medians(few_or_many, Effort(rounds=1, seconds=0.001))
    assert values.keys() == {"numpy", "tinytorch"}


@pytest.mark.parametrize(
    ("measured", "at_least", "met"),
    [(0.5, False, True), (0.9, False, False), (0.5, True, False), (0.9, True, True)],
)
def test_a_budget_is_met_on_its_own_side(measured: float, at_least: bool, met: bool) -> None:
    row = report.ResultRow(
        "work", "µs", {"tinytorch": measured, "torch": 1.0}, 0.7, at_least=at_least
    )
    assert row.is_met() is met


def test_an_absent_library_leaves_a_gap_and_no_verdict() -> None:
    row = report.ResultRow("work", "µs", {"tinytorch": 1e-6, "numpy": 1e-6}, 0.7)
    assert row.is_met() is None
    assert report.cells(row) == ["work", "µs", "1", "1", "–", "–", "–", "1.00", "–", "≤ 0.7", ""]


def test_a_folder_of_the_name_is_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a_folder").mkdir()
    (tmp_path / "a_package").mkdir()
    (tmp_path / "a_package" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert not libraries.is_installed("a_folder")
    assert libraries.is_installed("a_package")


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_every_library_trains_the_same_network(optimizer: str) -> None:
    steps = mlp.step(FOUND, optimizer, batch=8)
    assert {"tinytorch", "numpy"} <= steps.keys()
    losses = {
        name: [statement.names["step"]().item() for _ in range(4)]
        for name, statement in steps.items()
    }
    assert losses["numpy"][-1] < losses["numpy"][0]
    for name, values in losses.items():
        np.testing.assert_allclose(values, losses["numpy"], rtol=2e-5, err_msg=name)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (larger.lenet, {"batch": 4}),
        (larger.gpt, {"batch": 2, "layers": 1, "width": 16}),
        (larger.cells, {"kind": "LSTM", "length": 3}),
        (larger.cells, {"kind": "GRU", "length": 3}),
        (larger.convolution, {"backward": True, "batch": 1}),
        (larger.convolution, {"backward": False, "batch": 1, "groups": 64}),
        (larger.pointwise, {"size": 100}),
    ],
)
def test_every_library_runs_the_same_program(make: Any, options: dict[str, Any]) -> None:
    steps = larger.steps(FOUND, partial(make, **options))
    assert "tinytorch" in steps
    values = {
        name: [np.asarray(statement.names["step"]().tolist()) for _ in range(3)]
        for name, statement in steps.items()
    }
    for name, found in values.items():
        for ours, theirs in zip(values["tinytorch"], found, strict=True):
            assert np.isfinite(ours).all() and ours.any()
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=2e-4, err_msg=name)


@pytest.mark.parametrize("op", larger.OPS)
def test_the_larger_operations_run(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(larger, "SIDE", 20)
    results = {}
    for name, statement in larger.operation(FOUND, op).items():
        found = eval(statement.source, dict(statement.names))
        values = found[0] if isinstance(found, tuple) else found
        results[name] = np.asarray(values.tolist())
    assert results["tinytorch"].size
    for name, values in results.items():
        np.testing.assert_allclose(results["tinytorch"], values, rtol=1e-4, atol=1e-5, err_msg=name)


def test_every_library_has_the_chains_gradient() -> None:
    expected = ops.chain_by_hand(*ops.operands(16))
    for name, statement in ops.chain(FOUND, 16).items():
        exec(statement.source, names := dict(statement.names))
        if name in ("tinytorch", "torch", "mygrad"):
            grad = np.asarray(names["a"].grad)
        else:
            grad = np.asarray(eval(statement.source, names))
        np.testing.assert_allclose(grad, expected, rtol=1e-5, err_msg=name)


def outcome(statement: Statement) -> list[np.ndarray[Any, Any]]:
    """What a statement of `small` gives, or leaves behind."""
    bare.seed(0)
    names = dict(statement.names)
    if "m" in names:
        names["m"].manual_seed(0)
    *before, last = statement.source.split("; ")
    exec("; ".join(before), names)
    try:
        value = eval(last, names)
    except SyntaxError:  # an assignment
        exec(last, names)
        value = None
    if "backward" in last:
        value = [p.grad for p in (names["r"], *names["network"].parameters()) if p.grad is not None]
    elif value is None:
        value = next(names[name] for name in ("o", "t", "c") if name in names)
    parts = value if isinstance(value, (tuple, list)) else [value]
    return [np.asarray(p.detach() if hasattr(p, "detach") else p) for p in parts]


@pytest.mark.parametrize("name", small.CALLS)
def test_every_library_makes_the_same_small_call(name: str) -> None:
    found = {lib: outcome(s) for lib, s in small.statements(FOUND, name).items()}
    if name.startswith("network"):
        del found["numpy"]  # it gives the loss alone
    ours = found["tinytorch"]
    for library, parts in found.items():
        for part, expected in zip(parts, ours, strict=True):
            assert part.shape == expected.shape and part.dtype == expected.dtype, library
            if not name.startswith("empty"):
                np.testing.assert_allclose(part, expected, rtol=2e-5, atol=1e-6, err_msg=library)


@pytest.mark.torch
@pytest.mark.parametrize("name", backends.NAMES)
def test_the_backend_torch_does_what_pytorch_does(name: str, torch: Any) -> None:
    with tt.backend_context("torch"):
        statements = [backends.make_statement(m, name) for m in (tt, torch)]
        for _ in range(2):
            ours, theirs = (eval(each.source, dict(each.names)) for each in statements)
            np.testing.assert_allclose(
                np.asarray(ours.tolist()), np.asarray(theirs.tolist()), rtol=1e-4, atol=1e-5
            )


def test_the_rows_over_pytorch_are_named() -> None:
    rows = [
        report.ResultRow(f"small: {work}", "µs", {"tinytorch": ours, "torch": 1.0, "numpy": 2.0})
        for work, ours in [("quick", 0.5), ("slow", 2.0)]
    ]
    mean, *over = small.summary(
        "small: ", [*rows, report.ResultRow("other", "µs", {"tinytorch": 9.0})]
    )
    assert "of 2 rows 1.00" in mean
    assert over == ["small: slow: 2.00 of PyTorch's time; NumPy's calls alone 2.00, and 1.00 of "
                    "theirs (at most 1.4)"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("work", measurements())
def test_every_row_can_be_measured(work: str, all_workers: Workers) -> None:
    row = measurements()[work](all_workers, Effort(rounds=1, seconds=0.0001))
    assert row.work == work and row.values["tinytorch"] > 0


def test_a_row_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.json"
    arguments = ["--only", "plain add, 16", "--rounds", "1", "--seconds", "0.0001"]
    assert main([*arguments, "--json", str(path)]) == 0
    content = json.loads(path.read_text())
    assert content["machine"]["versions"]["numpy"] == np.__version__
    assert [row["work"] for row in content["rows"]] == ["plain add, 16"]
    assert "plain add, 16" in capsys.readouterr().out


@pytest.mark.torch
def test_the_calls_of_numpy_are_recorded() -> None:
    pytest.importorskip("expecttest", reason="PyTorch's test database imports it")
    found = libraries.load(("tinytorch", "torch"))
    (sample,) = [s for s in every.samples(found, ["sinc"]) if s.name == "sinc"]
    calls = every.numpy_calls(sample)
    assert "sin" in [name for name, _ in calls]
    assert every.count_names(["add", "sin", "add"]) == "add×2 sin"


def test_an_unknown_row_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "no such row"]) == 2
    assert "chain of 100, 16" in capsys.readouterr().out


def test_scaling_has_the_limits_of_its_model() -> None:
    latency, rate = 1e-5, 1e9
    assert scaling.all_reduce(2, 1e6, latency, rate) == pytest.approx(latency + 1e6 / rate)
    assert scaling.all_reduce(1024, 8, latency, rate) == pytest.approx(10 * latency, rel=1e-2)
    assert scaling.all_reduce(1024, 1e9, latency, rate) == pytest.approx(2e9 / rate, rel=1e-2)
    assert scaling.step(1, 1e6, latency, rate, 1.0, 2.0) == 3
    # What is reduced in less time than backward takes costs the last bucket alone.
    whole = scaling.step(8, 1e6, latency, rate, 1.0, 2.0)
    assert whole == pytest.approx(3 + scaling.all_reduce(8, 1e6, latency, rate))


def test_compiled_steps_are_measured_beside_eager_ones() -> None:
    rows = compiled.measure(Effort(rounds=1, seconds=0.001), ["chain of 100, 16"])
    names = [f"compiled, {who}: chain of 100, 16" for who in ("eager", "numpy", "c")]
    assert [row.work for row in rows] == names
    assert all(row.values["tinytorch"] > 0 and row.values["numpy"] > 0 for row in rows)


def test_compiled_steps_are_summed_up_over_eager_pytorch() -> None:
    others = {"torch": 2.0, "torch.compile": 1.0, "jax": 0.5}
    rows = [
        report.ResultRow("compiled, c: softmax", "ms", {"tinytorch": 1.0, **others}),
        report.ResultRow("compiled, c, 2 threads: softmax", "ms", {"tinytorch": 3.0, "torch": 2.0}),
        report.ResultRow("compiled, c: without PyTorch", "ms", {"tinytorch": 1.0}),
    ]
    assert compiled.ratios(rows) == {
        "softmax": {"tinytorch, c": 0.5, "torch.compile": 0.5, "jax": 0.25},
        "softmax, 2 threads": {"tinytorch, c": 1.5},
    }
    head, first, second = compiled.summary(rows)
    assert head.split()[-3:] == ["c", "torch.compile", "jax"]
    assert first.split()[1:] == ["0.500", "0.500", "0.250"]
    assert second.split()[3:] == ["1.500", "–", "–"]
    assert compiled.summary(rows[2:]) == []


@pytest.mark.parametrize("name", by_hand.STEPS)
def test_steps_by_hand_in_jax_do_the_same_work(name: str) -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    if "M" in name.split(", ")[-1] or "1024" in name:
        pytest.skip("large arrays take too long here")
    steps = compiled.make_steps(name, libraries.load(("tinytorch", "jax")))
    eager, ours = steps["eager"](), steps["jax"]()
    np.testing.assert_allclose(np.asarray(ours), np.asarray(eager.detach()), 1e-3)


@pytest.mark.parametrize("name", ["chain of 100, 16", "MLP step, Adam, 64"])
def test_compiled_steps_and_those_by_hand_do_the_same_work(name: str) -> None:
    steps = compiled.make_steps(name, libraries.load(("tinytorch",)))
    found = [step() for step in steps.values()]
    results = [np.asarray(getattr(item, "detach", lambda item=item: item)()) for item in found]
    assert len(results) == 4
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], 1e-3)
