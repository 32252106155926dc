"""Factors among the tensors, where PyTorch took them once and takes them still."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare

X = np.array([[1.0, -2.0], [0.5, 3.0]])
CALLS: dict[str, Any] = {
    "add": lambda t, a, b, c: t.add(a, 2, b),
    "add, a method": lambda t, a, b, c: a.add(0.5, b),
    "sub": lambda t, a, b, c: t.sub(a, 2, b),
    "sub, a method": lambda t, a, b, c: a.sub(2, b),
    "add_": lambda t, a, b, c: a.clone().add_(2, b),
    "sub_": lambda t, a, b, c: a.clone().sub_(2, b),
    "addcmul": lambda t, a, b, c: t.addcmul(a, 2, b, c),
    "addcmul, a method": lambda t, a, b, c: a.addcmul(2, b, c),
    "addcmul_": lambda t, a, b, c: a.clone().addcmul_(0.5, b, c),
    "addcdiv_": lambda t, a, b, c: a.clone().addcdiv_(-0.5, b, c),
    "addmm": lambda t, a, b, c: t.addmm(2, a, 3, b, c),
    "addmm, of one factor": lambda t, a, b, c: t.addmm(2, a, b, c),
    "addmm, a method": lambda t, a, b, c: a.addmm(2, 3, b, c),
    "addmm_": lambda t, a, b, c: a.clone().addmm_(2, 3, b, c),
    "addmv": lambda t, a, b, c: t.addmv(2, a[0], 3, b, c[0]),
    "addr": lambda t, a, b, c: a.addr(2, b[0], c[0]),
    "addbmm": lambda t, a, b, c: a.addbmm(2, 3, b[None], c[None]),
    "baddbmm": lambda t, a, b, c: t.baddbmm(2, a[None], 3, b[None], c[None]),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:This overload")
def test_a_factor_given_before_a_tensor_is_accepted_as_by_pytorch(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns once of the order
        compare(CALLS[name], X, X.T + 1, X * 0.5 + 2)


def test_other_superfluous_arguments_are_refused() -> None:
    x = tt.ones(2, 2)
    for call in (
        lambda: x.addcmul(x, x, 2), lambda: tt.addmm(1, 2, x, 3, x, x), lambda: x.mul_(2, x),
        lambda: tt.addmm(x, x, x, x), lambda: x.clone().add_(x, 2),
        lambda: x.clone().add_(2, 3, x), lambda: x.clone().add_(2, x, alpha=3),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="positional arguments"):
            call()
