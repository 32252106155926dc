"""joblib keeps, hashes and sends tensors to processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import tinytorch as tt

joblib = pytest.importorskip("joblib")


def test_joblib_dumps_loads_and_hashes_tensors(tmp_path: Path) -> None:
    x = tt.arange(6.0).reshape(2, 3)
    joblib.dump({"x": x}, tmp_path / "x.joblib", compress=3)
    assert tt.equal(joblib.load(tmp_path / "x.joblib")["x"], x)
    assert joblib.hash(x) == joblib.hash(x.clone()) != joblib.hash(x + 1)


def test_joblibs_memory_caches_results_for_tensors(tmp_path: Path) -> None:
    calls = []

    def doubled(x: tt.Tensor) -> tt.Tensor:
        calls.append(x)
        return x * 2

    kept = joblib.Memory(tmp_path, verbose=0).cache(doubled)
    assert [kept(tt.ones(2)).tolist() for _ in range(2)] == [[2.0, 2.0]] * 2
    assert len(calls) == 1


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib_runs_tensor_functions_in_parallel(backend: str) -> None:
    sums = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(tt.sum)(tt.full((2,), float(i))) for i in range(3)
    )
    assert [total.item() for total in sums] == [0.0, 2.0, 4.0]
