"""Some eigenpairs of symmetric matrices and pencils."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt


@pytest.mark.parametrize("options", [
    {"k": 3}, {"k": 2, "largest": False}, {}, {"k": 2, "method": "basic"},
    {"X": (12, 2), "largest": True},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("general", [False, True])
def test_lobpcg_finds_pytorchs_eigenpairs_and_gradients(
    torch: Any, options: dict[str, Any], general: bool
) -> None:
    """Eigenpairs of both problems and, without B, gradients.

    PyTorch iterates: it gets steps enough to converge.
    """
    if general and "method" in options:
        pytest.skip("PyTorch's basic method finds the same pair twice in a pencil")
    rng = np.random.default_rng(0)
    a, b = (m @ m.T + 5 * np.eye(12) for m in rng.standard_normal((2, 12, 12)))
    results = []
    for library, iteration in ((tt, {}), (torch, {"niter": 500, "tol": 1e-11})):
        A = library.tensor(a, requires_grad=not general, device="cpu")
        given = {**options, **iteration}
        if "X" in given:
            # Another start for each library: tinytorch uses only its width.
            given["X"] = library.tensor(rng.standard_normal(given["X"]), device="cpu")
        if general:
            given["B"] = library.tensor(b, device="cpu")
        values, vectors = library.lobpcg(A, **given)
        results.append([values.detach().numpy(), vectors.detach().abs().numpy()])
        if not general:
            (values * values).sum().backward()
            results[-1].append(A.grad.numpy())
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_lobpcg_refuses_unsupported_arguments() -> None:
    with pytest.raises(ValueError, match=r"\(=4\) is smaller than 3 x .* \(=2\)"):
        tt.lobpcg(tt.eye(4), 2)
    with pytest.raises(NotImplementedError, match="tracker"):
        tt.lobpcg(tt.eye(4), tracker=print)
