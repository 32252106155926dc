"""Calls that PyTorch takes: numbers of NumPy's, bools among sizes, ``out=`` of other kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.calls import Call, functions, words
from tests.ops.programs import calls_taken
from tests.oracles import assert_same_outcome

NUMBERS_OF_NUMPY: list[Call] = [
    lambda L: L.ones(1, 1, 1).index_put((L.ones(1, 1, 1) > 0,), L.full((1, 1, 1), 2.0)),
    lambda L, T: L.zeros(3).scatter(0, T([1]), np.float64(5.5)),
    lambda L, T: L.zeros(3).scatter(0, T([1]), np.bool_(True)),
    lambda L, T: L.zeros(3).scatter(0, T([1]), value=np.float64(5)),
    lambda L, T: L.zeros(3).scatter_(0, T([1]), np.float64(5.5)),
    lambda L, T: L.zeros(3, dtype=L.int64).scatter(0, T([1]), np.float64(5.5)),
    lambda L, T: L.zeros(3).scatter(0, T([1]), np.float64(5.5), reduce="add"),
    lambda L, T: L.searchsorted(T([1.0, 2.0, 3.0]), np.float32(2.0)),
    lambda L, T: L.searchsorted(T([1, 2, 3]), np.int64(2)),
    lambda L, T: L.searchsorted(T([1, 2, 3]), np.float64(2.5)),
    lambda L, T: L.bucketize(np.float32(2.0), T([1.0, 2.0, 3.0])),
    lambda L, T: L.bucketize(np.int64(2), T([1, 2, 3])),
    lambda L: L.histogramdd(L.ones(4, 2), bins=np.int64(2)),
    lambda L: L.histogramdd(L.ones(4, 2), bins=[np.int64(2), 3]),
    lambda L: L.fft.fftn(L.ones(4, 4), s=np.int64(3)),
]

NOTHING_TO_PAD: list[Call] = [
    lambda L, F: F.pad(L.ones(3, 0, 5, 5), (0, 2, 0, 1), "circular"),
    lambda L, F: F.pad(L.ones(0, 3, 3), (0, 2, 0, 1), "circular"),
    lambda L, F: F.pad(L.ones(0, 3, 3), (1, 1), "reflect"),
    lambda L, F: F.interpolate(L.ones(2, 3, 1), scale_factor=0.6, mode="area"),
    lambda L, F: F.interpolate(L.ones(2, 0, 4), scale_factor=1.7, mode="area"),
]

WEIGHTS_THAT_ARE_VECTORS: list[Call] = [
    lambda L, F, T: F.linear(L.ones(2, 2, 3), L.arange(3.0), T(2.0)),
    lambda L, F, T: F.linear(L.ones(2, 2, 2, 3), L.arange(3.0), T(2.0)),
    lambda L, F, T: F.linear(L.ones(3), L.arange(3.0), T(2.0)),
]

BOOLS_AMONG_SIZES: list[Call] = [
    lambda L: L.arange(True),
    lambda L: L.arange(False, True),
    lambda L: L.arange(0, True, 0.5),
    lambda L: L.zeros(2, True),
    lambda L: L.zeros((2, True)),
    lambda L: L.zeros(True, 2),
    lambda L: L.zeros((True, 2)),
    lambda L: L.ones(2, False),
    lambda L: L.full((2, True), 1.0),
    lambda L: L.ones(2, 1).expand(2, True),
    lambda L: L.ones(2).view(2, True),
    lambda L: L.ones(2).view(True, 2),
    lambda L: L.ones(2).reshape((2, True)),
    lambda L: L.ones(2).repeat(2, True),
    lambda L: L.tile(L.ones(2), (2, True)),
    lambda L: L.ones(2).new_zeros(2, True),
    lambda L: L.ones(2, 3).permute(1, False),
    lambda L: L.ones(2, 3).permute(True, False),
    lambda L: L.ones(2, 3).sum((0, True)),
    lambda L: L.ones(2, 3).sum((True, 0)),
    lambda L: L.ones(2, 3).flip(0, True),
    lambda L: L.ones(2, 3).roll((1, True), (0, 1)),
    lambda L: L.ones(2, 3).as_strided((2, True), (1, 1)),
    lambda L: L.ones(2).resize_(2, True),
    lambda L: L.ones(4).split((3, True)),
    lambda L: L.ones(2, 2).unflatten(0, (2, True)),
    lambda L, F: F.pad(L.ones(2, 2), (1, True)),
    lambda L, F: F.pad(L.ones(2, 2), (True, 1)),
    lambda L, F: F.interpolate(L.ones(1, 1, 2, 2), size=(3, True)),
    lambda L, F: F.avg_pool2d(L.ones(1, 1, 3, 3), (2, True)),
    lambda L, F: F.max_pool2d(L.ones(1, 1, 3, 3), (True, 2)),
    lambda L, F: F.adaptive_avg_pool2d(L.ones(1, 1, 3, 3), (2, True)),
    lambda L, F: F.conv2d(L.ones(1, 1, 3, 3), L.ones(1, 1, 1, 1), stride=(2, True)),
    lambda L, F: F.conv2d(L.ones(1, 1, 3, 3), L.ones(1, 1, 1, 1), padding=(0, True)),
    lambda L, F: F.fold(L.ones(1, 1, 4), (2, 2), (1, True)),
]

ONE_SIZE_OF_A_TRANSFORM: list[Call] = [
    lambda L: L.fft.fftn(L.ones(4, 4), s=2),
    lambda L: L.fft.fftn(L.ones(4, 4), s=2, dim=0),
    lambda L: L.fft.ifftn(L.ones(4, 4), 2, 1),
    lambda L: L.fft.rfftn(L.ones(4, 4), s=2, dim=(0,)),
    lambda L: L.fft.irfftn(L.ones(4, 4), s=2, dim=0),
    lambda L: L.fft.hfftn(L.ones(4, 4), s=2, dim=0),
    lambda L: L.fft.ihfftn(L.ones(4, 4), s=2, dim=0).resolve_conj(),
    lambda L: L.fft.fft2(L.ones(4, 4), s=2, dim=0),
    lambda L: L.fft.fft2(L.ones(4, 4), s=2),
]

RESULTS_IN_OTHER_KINDS: list[Call] = [
    lambda L: L.clamp(L.ones(3), L.zeros(3), L.ones(3), out=L.zeros(3, dtype=L.float64)),
    lambda L: L.clamp(L.ones(3), L.zeros(3), L.ones(3), out=L.zeros(3, dtype=L.int64)),
    lambda L: L.clamp(L.ones(3).long(), L.zeros(3).long(), out=L.zeros(3)),
    lambda L: L.clamp(L.ones(3).double(), max=L.zeros(3).double(), out=L.zeros(3)),
    lambda L: L.clamp(L.ones(3).double(), 0, 1, out=L.zeros(3)),
    lambda L, T: L.clamp_min(L.ones(3), T(0), out=L.zeros(3, dtype=L.float64)),
    lambda L: L.clamp_max(L.ones(3), 0, out=L.zeros(3, dtype=L.float64)),
    lambda L: L.bernoulli(L.ones(3), out=L.zeros(3, dtype=L.int64)),
    lambda L: L.bernoulli(L.ones(3), out=L.zeros(2, dtype=L.bool)),
    lambda L: L.linalg.lstsq(
        L.eye(3), L.ones(3, 1), out=(*L.zeros(2, 0), L.zeros(0).long(), L.zeros(0))
    ),
    lambda L, T: L.addr(T(1.0).double(), L.ones(2), L.ones(2)),
    lambda L, T: L.addr(T(2), L.ones(2).int(), L.ones(2).int(), beta=0),
    lambda L, T: L.addr(T(1.0).double(), L.ones(2), L.ones(2), out=L.zeros(2, 2)),
]

RESULTS_IN_OTHER_SHAPES: list[Call] = [
    lambda L: L.linspace(0, 1, 1, out=L.zeros(())),
    lambda L: L.linspace(0, 1, 4, out=L.zeros(2, 2)),
    lambda L: L.linspace(0, 1, 3, out=L.zeros(2, 2)),
    lambda L: L.logspace(0, 1, 4, out=L.zeros(2, 2).t()),
    lambda L: L.arange(1, out=L.zeros(())),
    lambda L: L.arange(1, 1, out=L.zeros(1, 4, 0)),
    lambda L: L.range(0, 3, out=L.zeros(2, 2)),
    lambda L: L.eye(2, out=L.zeros(4)),
]

NUMBERS_THAT_BYTES_DO_NOT_HOLD: list[Call] = [
    lambda L, F: F.pad(L.ones(3).byte(), (1, 1), value=-1),
    lambda L, F: F.pad(L.ones(3).byte(), (1, 1), value=256),
    lambda L, F: F.pad(L.ones(3).byte(), (1, 1), value=1.5),
    lambda L, F: F.pad(L.ones(3).bool(), (1, 1), value=2),
    lambda L, F: F.pad(L.ones(3, dtype=L.int8), (1, 1), value=300),
    lambda L: L.constant_pad_nd(L.ones(3).byte(), (1, 1), -1),
    lambda L: L.constant_pad_nd(L.ones(3).byte(), (1, 1), -1.5),
    lambda L: L.zeros(0, dtype=L.int8).median(),
    lambda L: L.zeros(0, dtype=L.int16).nanmedian(),
    lambda L: L.zeros(0, dtype=L.int32).median(),
    lambda L: L.linspace(0, 1, 3, dtype=L.bool),
    lambda L: L.linspace(0, 300, 3, dtype=L.uint8),
    lambda L: L.linspace(-1e308, 1e308, 3, dtype=L.float64).nan_to_num(7),
    lambda L: L.logspace(0.5, 2.7, 1, dtype=L.int64),
]

WHAT_COUNTS_AS_TRUE: list[Call] = [
    lambda L: L.signal.windows.hann(5, sym=1),
    lambda L: L.signal.windows.gaussian(5, std=1.0, sym=0),
    lambda L: L.signal.windows.bartlett(5, sym=None),
    lambda L: L.signal.windows.exponential(5, sym="a"),
]

NUMBERS_IN_OTHER_PLACES: list[Call] = [
    lambda L: L.ones(3, 3).byte().fill_diagonal_(-1),
    lambda L: L.ones(3, 3).byte().fill_diagonal_(300),
    lambda L, F: F.threshold(L.arange(4).byte(), -6, 9),
    lambda L, F: F.threshold(L.arange(4).byte(), 2, -9),
    lambda L, F: F.threshold(L.arange(4, dtype=L.int8), 300, 3),
    lambda L, F: F.threshold(L.arange(4, dtype=L.int8), 2, 300),
    lambda L: str(L.result_type(L.ones(2), np.int64(2)))[-7:],
    lambda L: str(L.result_type(np.float64(2), L.ones(2).int()))[-7:],
    lambda L, T: L.signal.windows.kaiser(T(3), dtype=L.float64),
    lambda L: L.signal.windows.blackman(True),
]

EMPTY_ONES: list[Call] = [
    lambda L: L.cat([L.ones(0), L.ones(0)], dim=1),
    lambda L: L.cat([L.ones(0)], dim=-5),
    lambda L: L.cat([L.ones(0), L.ones(2, 2)], dim=1),
    lambda L: L.cat([L.ones(0), L.ones(2, 2)], dim=2),
    lambda L: L.trapezoid(L.ones(0, dtype=L.int8)),
    lambda L: L.trapezoid(L.ones(2, 0).int()),
    lambda L: L.trapezoid(L.ones(0, requires_grad=True)).requires_grad,
    lambda L: L.trapezoid(L.ones(0, 3).int()),
]

TRUTH_AMONG_INDICES: list[Call] = [
    lambda L: L.arange(24).reshape(2, 3, 4)[:, False, ::2, -1],
    lambda L: L.arange(24).reshape(2, 3, 4)[:, True, ::2, -1],
    lambda L: L.arange(24).reshape(2, 3, 4)[0, :, True],
    lambda L: L.arange(24).reshape(2, 3, 4)[:, 0, :, True],
    lambda L: L.arange(24).reshape(2, 3, 4)[True, 0, :, True],
    lambda L: L.arange(24).reshape(2, 3, 4)[:, None, True, 0],
    lambda L: L.arange(24).reshape(2, 3, 4)[[0, 1], True, :, 0],
]

SEVERAL_ELLIPSES: list[Call] = [
    lambda L: L.arange(24).reshape(2, 3, 4)[None, ..., None, ...],
    lambda L: L.arange(24).reshape(2, 3, 4)[..., 0, ...],
    lambda L, T: L.arange(24).reshape(2, 3, 4)[0, ..., T([1, 0]), ..., ...],
    lambda L: L.arange(24).reshape(2, 3, 4)[..., ..., ...],
    lambda L: L.arange(6).reshape(2, 3)[0, ..., 1, ..., None],
]

ROOTS_OF_MINUS_ZERO: list[Call] = [
    lambda T: T([-0.0, 0.0, 4.0]) ** -0.5,
    lambda L, T: T([-0.0, 0.0, 4.0], dtype=L.float64) ** -0.5,
]

SEQUENCES_BY_PROTOCOL: list[Call] = [
    lambda L: L.tensor(
        type("S", (), {"__len__": lambda s: 2, "__getitem__": lambda s, i: [0.5, 1][i]})()
    ),
    lambda L: L.tensor(
        [type("S", (), {"__len__": lambda s: 2, "__getitem__": lambda s, i: [2, 3][i]})()] * 2
    ),
    lambda L: L.tensor(
        type("S", (), {"__len__": lambda s: 2, "__getitem__": lambda s, i: s.missing})()
    ),
    lambda L: L.tensor(type("S", (), {"__getitem__": lambda s, i: [2, 3][i]})()),
]

COMPLEX_WITHOUT_IMAGINARY_PART: list[Call] = [
    lambda L, T: L.ones(2).masked_fill(T([True, False]), L.tensor(2 + 0j)),
    lambda L, T: L.ones(2).masked_fill_(T([True, False]), L.tensor(2 + 0j)),
    lambda L: L.ones(2, dtype=L.float64).float_power_(2),
    lambda L: L.add(L.ones(2) * 1j, L.ones(2), alpha=2j),
    lambda L: L.addmm(L.ones(2, 2) * 1j, L.ones(2, 2) * 1j, L.ones(2, 2) * 1j, beta=1j),
]

SIZES_AND_OTHERS: list[Call] = [
    lambda L, T: L.isclose(
        T([2 + 4j], dtype=L.cdouble), T([1 + 8.8523607j], dtype=L.cdouble), 0.5, 0.5
    ),
    lambda L: [len(make(size=(3, 4))) for make in (L.ones(1).new, L.Tensor, L.LongTensor)],
    lambda L, T: [L.LongTensor(data=[1, 2]), L.LongTensor(other=T([3]))],
    lambda L: L.Size([1]) + (2,),
    lambda L: (2,) + L.Size([1]) + (),
    lambda L: (
        L.Size([1]) + type("Any", (), {"__radd__": lambda self, other: tuple(other) + (7,)})()
    ),
    lambda L: type("Any", (), {"__add__": lambda self, other: tuple(other) + (7,)})() + L.Size([1]),
]

CALLS = (
    COMPLEX_WITHOUT_IMAGINARY_PART + NUMBERS_OF_NUMPY + BOOLS_AMONG_SIZES + NOTHING_TO_PAD
    + ONE_SIZE_OF_A_TRANSFORM + RESULTS_IN_OTHER_KINDS + WEIGHTS_THAT_ARE_VECTORS
    + RESULTS_IN_OTHER_SHAPES + NUMBERS_THAT_BYTES_DO_NOT_HOLD + WHAT_COUNTS_AS_TRUE
    + NUMBERS_IN_OTHER_PLACES + EMPTY_ONES + TRUTH_AMONG_INDICES
     + SEVERAL_ELLIPSES + ROOTS_OF_MINUS_ZERO  + SEQUENCES_BY_PROTOCOL
    + SIZES_AND_OTHERS
)  # fmt: skip


@pytest.mark.parametrize("call", [*CALLS, *functions(calls_taken)], ids=words)
def test_unusual_calls_have_pytorchs_outcome(torch: Any, call: Call) -> None:
    assert_same_outcome(call)
