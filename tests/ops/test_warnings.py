"""Calls that PyTorch warns of are warned of, and no others."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

import pytest

import tinytorch as tt

#: Each is evaluated with a library ``L`` and its ``nn.functional`` as ``F``; beside it is how the
#: warning begins, None where there is none.
CALLS = {
    "L.stft(L.ones(16), 8, return_complex=True)": "A window was not provided",
    "L.stft(L.ones(16), 8, window=L.ones(8), return_complex=True)": None,
    "L.istft(L.ones(5, 9) + 0j, 8)": "A window was not provided",
    "L.istft(L.ones(5, 9) + 0j, 8, window=L.ones(8))": None,
    "L.cov(L.ones(2, 2), correction=2)": r"cov\(\): degrees of freedom is <= 0",
    "L.cov(L.ones(2, 1))": r"cov\(\): degrees of freedom is <= 0",
    "L.cov(L.ones(2, 2))": None,
    "F.conv1d(L.ones(1, 1, 6), L.ones(1, 1, 4), padding='same')": "Using padding='same' with even",
    "F.conv1d(L.ones(1, 1, 6), L.ones(1, 1, 4), padding='same', dilation=2)": None,
    "F.conv1d(L.ones(1, 1, 6), L.ones(1, 1, 3), padding='same', dilation=3)": None,
    "L.nn.Conv2d(1, 1, 2, padding='same')(L.ones(1, 1, 4, 4))": "Using padding='same' with even",
    "L.chain_matmul(L.ones(2, 2), L.ones(2, 2))": r"\w+\.chain_matmul is deprecated",
    "L.chain_matmul(L.ones(2, 2))": r"\w+\.chain_matmul is deprecated",
    "L.linalg.multi_dot([L.ones(2, 2), L.ones(2, 2)])": None,
    "F.gumbel_softmax(L.ones(2), eps=1e-3)": "`eps` parameter is deprecated",
    "F.gumbel_softmax(L.ones(2))": None,
}


@pytest.fixture(autouse=True)
def every_time() -> Iterator[None]:
    """PyTorch gives many of its warnings but once in a process."""
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle")
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.parametrize("call", CALLS)
def test_the_warning_is_pytorchs(call: str) -> None:
    import torch

    begin = CALLS[call]
    for library in (torch, tt):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            eval(call, {"L": library, "F": library.nn.functional})
        texts = [str(w.message) for w in seen if w.category is UserWarning]
        assert len(texts) == (begin is not None)
        assert begin is None or re.match(begin, texts[0])
