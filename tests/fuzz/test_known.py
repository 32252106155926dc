"""The faults that ``known`` calls PyTorch's own can be shown on PyTorch alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.fuzz.known import KNOWN, Known


def raises(call: Callable[[], Any]) -> bool:
    try:
        call()
    except RuntimeError:
        return True
    return False


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("known", [k for k in KNOWN if k.proof], ids=lambda k: k.reason[:40])
def test_the_proofs_of_known_differences_hold_on_pytorch(torch: Any, known: Known) -> None:

    def in_inference(call: Callable[[], Any]) -> Any:
        with torch.inference_mode():
            return call()

    scope = {
        "L": torch, "F": torch.nn.functional, "inf": math.inf, "nan": math.nan, "raises": raises,
        "in_inference": in_inference,
    }  # fmt: skip
    assert eval(known.proof, scope)
