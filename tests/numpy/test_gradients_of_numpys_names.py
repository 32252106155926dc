"""Gradients of NumPy's functions on tensors, against differences of what NumPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.calls import parameters
from tests.numpy import names
from tests.numpy.data import SMOOTH
from tests.numpy.evaluation import Case, evaluate, is_array, reason_to_skip, tensors
from tests.numpy.test_names_of_numpy import FUNCTIONS
from tests.oracles import flatten

#: Names whose results change with the data in steps alone, or that are outside of a graph.
STEPS = """ceil floor fix trunc rint sign signbit floor_divide around round heaviside nextafter
    copysign empty_like full_like zeros_like ones_like empty trim_zeros unique unique_all
    unique_counts unique_inverse unique_values union1d setdiff1d setxor1d intersect1d histogram
    histogramdd histogram2d histogram_bin_edges bincount digitize frexp ldexp spacing isin
    dtype finfo common_type linspace logspace geomspace from_dlpack""".split()
USED = ("m", "x", "v", "s", "u", "w", "v4", "w4", "z", "q", "q4", "n", "n2")


def used(case: Case) -> list[str]:
    """The floating-point data that a case speaks of."""
    return [name for name in USED if name in parameters(case.call)]


def in_steps(case: Case) -> bool:
    """Whether a case has no gradient: it is of another dtype, or writes."""
    text = str(case)
    return "dtype=" in text or "int64" in text or "W" in parameters(case.call)


def with_gradients() -> list[Case]:
    found = []
    for name in names.ANSWERED:
        for case in FUNCTIONS.get(name, []) if name not in STEPS else ():
            if used(case) and not in_steps(case) and reason_to_skip(str(case)) is None:
                value = evaluate(case, np, SMOOTH)
                if any(is_array(v) and v.dtype == "float64" for v in flatten(value)):
                    found.append(case)
    return found


def floats(value: Any) -> list[Any]:
    """The floating-point arrays among results."""
    return [v for v in flatten(value) if is_array(v) and str(v.dtype).endswith("float64")]


def weighted(value: Any) -> float:
    """A sum of the results in which every element counts differently."""
    total = 0.0
    for array in floats(value):
        plain = np.nan_to_num(np.asarray(array))
        total += float((plain * (1 + np.arange(plain.size).reshape(plain.shape) ** 0.5)).sum())
    return total


def differences(case: Case, name: str) -> Any:
    """The derivative of the weighted sum by every element of one piece of data."""
    step = 1e-6
    array = SMOOTH[name]
    found = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        sums = []
        for sign in (1, -1):
            moved = array.copy()
            moved[place] += sign * step
            sums.append(weighted(evaluate(case, np, {**SMOOTH, name: moved})))
        found[place] = (sums[0] - sums[1]) / (2 * step)
    return found


@pytest.mark.parametrize("case", with_gradients(), ids=str)
def test_gradients_of_numpys_names_are_finite_differences(case: Case) -> None:
    data = tensors(SMOOTH, requires_grad=True)
    total: Any = 0
    for found in floats(evaluate(case, tnp, data)):
        tensor = tt.as_tensor(found)
        weights = 1 + np.arange(tensor.numel()).reshape(tuple(tensor.shape)) ** 0.5
        total = total + (tensor.masked_fill(tensor != tensor, 0) * tt.tensor(weights)).sum()
    if total.requires_grad:  # it does not where all pieces are numbers
        total.backward()
    for name in used(case):
        grad = data[name].grad
        mine = np.zeros(SMOOTH[name].shape) if grad is None else grad.numpy()
        wanted = differences(case, name)
        scale = max(1.0, float(np.abs(wanted).max(initial=0)))
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-7 * scale + 1e-6)
