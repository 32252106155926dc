"""Calls that PyTorch takes: numbers of NumPy's, bools among sizes, ``out=`` of other kinds."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ops.test_taken_and_refused import outcome

import tinytorch as tt

NUMBERS_OF_NUMPY = """
L.zeros(3).scatter(0, T([1]), np.float64(5.5))
L.zeros(3).scatter(0, T([1]), np.bool_(True))
L.zeros(3).scatter(0, T([1]), value=np.float64(5))
L.zeros(3).scatter_(0, T([1]), np.float64(5.5))
L.zeros(3, dtype=L.int64).scatter(0, T([1]), np.float64(5.5))
L.zeros(3).scatter(0, T([1]), np.float64(5.5), reduce='add')
L.searchsorted(T([1.0, 2.0, 3.0]), np.float32(2.0))
L.searchsorted(T([1, 2, 3]), np.int64(2))
L.searchsorted(T([1, 2, 3]), np.float64(2.5))
L.bucketize(np.float32(2.0), T([1.0, 2.0, 3.0]))
L.bucketize(np.int64(2), T([1, 2, 3]))
L.histogramdd(L.ones(4, 2), bins=np.int64(2))
L.histogramdd(L.ones(4, 2), bins=[np.int64(2), 3])
L.fft.fftn(L.ones(4, 4), s=np.int64(3))
"""

BOOLS_AMONG_SIZES = """
L.zeros(2, True)
L.zeros((2, True))
L.zeros(True, 2)
L.zeros((True, 2))
L.ones(2, False)
L.full((2, True), 1.0)
L.ones(2, 1).expand(2, True)
L.ones(2).view(2, True)
L.ones(2).view(True, 2)
L.ones(2).reshape((2, True))
L.ones(2).repeat(2, True)
L.tile(L.ones(2), (2, True))
L.ones(2).new_zeros(2, True)
L.ones(2, 3).permute(1, False)
L.ones(2, 3).permute(True, False)
L.ones(2, 3).sum((0, True))
L.ones(2, 3).sum((True, 0))
L.ones(2, 3).flip(0, True)
L.ones(2, 3).roll((1, True), (0, 1))
L.ones(2, 3).as_strided((2, True), (1, 1))
L.ones(2).resize_(2, True)
L.ones(4).split((3, True))
L.ones(2, 2).unflatten(0, (2, True))
F.pad(L.ones(2, 2), (1, True))
F.pad(L.ones(2, 2), (True, 1))
F.interpolate(L.ones(1, 1, 2, 2), size=(3, True))
F.avg_pool2d(L.ones(1, 1, 3, 3), (2, True))
F.max_pool2d(L.ones(1, 1, 3, 3), (True, 2))
F.adaptive_avg_pool2d(L.ones(1, 1, 3, 3), (2, True))
F.conv2d(L.ones(1, 1, 3, 3), L.ones(1, 1, 1, 1), stride=(2, True))
F.conv2d(L.ones(1, 1, 3, 3), L.ones(1, 1, 1, 1), padding=(0, True))
F.fold(L.ones(1, 1, 4), (2, 2), (1, True))
"""

ONE_SIZE_OF_A_TRANSFORM = """
L.fft.fftn(L.ones(4, 4), s=2)
L.fft.fftn(L.ones(4, 4), s=2, dim=0)
L.fft.ifftn(L.ones(4, 4), 2, 1)
L.fft.rfftn(L.ones(4, 4), s=2, dim=(0,))
L.fft.irfftn(L.ones(4, 4), s=2, dim=0)
L.fft.hfftn(L.ones(4, 4), s=2, dim=0)
L.fft.ihfftn(L.ones(4, 4), s=2, dim=0).resolve_conj()
L.fft.fft2(L.ones(4, 4), s=2, dim=0)
L.fft.fft2(L.ones(4, 4), s=2)
"""

RESULTS_IN_OTHER_KINDS = """
L.clamp(L.ones(3), L.zeros(3), L.ones(3), out=L.zeros(3, dtype=L.float64))
L.clamp(L.ones(3), L.zeros(3), L.ones(3), out=L.zeros(3, dtype=L.int64))
L.clamp(L.ones(3).long(), L.zeros(3).long(), out=L.zeros(3))
L.clamp(L.ones(3).double(), max=L.zeros(3).double(), out=L.zeros(3))
L.clamp(L.ones(3).double(), 0, 1, out=L.zeros(3))
L.clamp_min(L.ones(3), T(0), out=L.zeros(3, dtype=L.float64))
L.clamp_max(L.ones(3), 0, out=L.zeros(3, dtype=L.float64))
L.bernoulli(L.ones(3), out=L.zeros(3, dtype=L.int64))
L.bernoulli(L.ones(3), out=L.zeros(2, dtype=L.bool))
L.linalg.lstsq(L.eye(3), L.ones(3, 1), out=(*L.zeros(2, 0), L.zeros(0).long(), L.zeros(0)))
o = L.zeros(0).double(), *L.zeros(2, 0); L.linalg.lstsq(L.eye(3), L.ones(3, 1), out=(*o, o[1]))
L.addr(T(1.0).double(), L.ones(2), L.ones(2))
L.addr(T(2), L.ones(2).int(), L.ones(2).int(), beta=0)
L.addr(T(1.0).double(), L.ones(2), L.ones(2), out=L.zeros(2, 2))
"""

RESULTS_IN_OTHER_SHAPES = """
L.linspace(0, 1, 1, out=L.zeros(()))
L.linspace(0, 1, 4, out=L.zeros(2, 2))
L.linspace(0, 1, 3, out=L.zeros(2, 2))
L.logspace(0, 1, 4, out=L.zeros(2, 2).t())
L.arange(1, out=L.zeros(()))
o = L.zeros(2, 2); L.arange(4, out=o.t()); o
L.arange(1, 1, out=L.zeros(1, 4, 0))
L.range(0, 3, out=L.zeros(2, 2))
L.eye(2, out=L.zeros(4))
"""

NUMBERS_THAT_BYTES_DO_NOT_HOLD = """
F.pad(L.ones(3).byte(), (1, 1), value=-1)
F.pad(L.ones(3).byte(), (1, 1), value=256)
F.pad(L.ones(3).byte(), (1, 1), value=1.5)
F.pad(L.ones(3).bool(), (1, 1), value=2)
F.pad(L.ones(3, dtype=L.int8), (1, 1), value=300)
L.constant_pad_nd(L.ones(3).byte(), (1, 1), -1)
L.constant_pad_nd(L.ones(3).byte(), (1, 1), -1.5)
L.zeros(0, dtype=L.int8).median()
L.zeros(0, dtype=L.int16).nanmedian()
L.zeros(0, dtype=L.int32).median()
L.linspace(0, 1, 3, dtype=L.bool)
L.linspace(0, 300, 3, dtype=L.uint8)
L.linspace(-1e308, 1e308, 3, dtype=L.float64).nan_to_num(7)
L.logspace(0.5, 2.7, 1, dtype=L.int64)
"""

WHAT_COUNTS_AS_TRUE = """
L.signal.windows.hann(5, sym=1)
L.signal.windows.gaussian(5, std=1.0, sym=0)
L.signal.windows.bartlett(5, sym=None)
L.signal.windows.exponential(5, sym='a')
"""

LINES = (
    NUMBERS_OF_NUMPY + BOOLS_AMONG_SIZES + ONE_SIZE_OF_A_TRANSFORM + RESULTS_IN_OTHER_KINDS
    + RESULTS_IN_OTHER_SHAPES + NUMBERS_THAT_BYTES_DO_NOT_HOLD + WHAT_COUNTS_AS_TRUE
)  # fmt: skip


@pytest.mark.parametrize("line", [line for line in LINES.split("\n") if line])
def test_outcome_is_pytorchs(line: str) -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch is the oracle")
    assert outcome(tt, line) == outcome(torch, line)
