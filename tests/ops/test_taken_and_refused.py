"""Calls that PyTorch takes are taken, and those that it refuses are refused with its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, functions, words
from tests.ops.programs import taken_and_refused
from tests.oracles import assert_same_outcome

#: Of a library ``L``, its ``nn.functional`` as ``F``, its ``tensor`` as ``T``, a square ``B``.
PRODUCTS_OF_BOOLS: list[Call] = [
    lambda B: B @ B,
    lambda B: B[0] @ B,
    lambda B: B @ B[0],
    lambda B: B[0] @ B[0],
    lambda B: B[None] @ B,
    lambda B: B[None] @ B[None],
    lambda B: B[None] @ B[0],
    lambda L, B: L.mm(B, B),
    lambda L, B: L.bmm(B[None], B[None]),
    lambda L, B: L.mv(B, B[0]),
    lambda L, B: L.dot(B[0], B[0]),
    lambda L, B: L.vdot(B[0], B[0]),
    lambda L, B: L.addmm(B, B, B),
    lambda L, B: L.addmv(B[0], B, B[0]),
    lambda L, B: L.addbmm(B, B[None], B[None]),
    lambda L, B: L.baddbmm(B[None], B[None], B[None]),
    lambda L, B: L.addr(B, B[0], B[1]),
    lambda L, B: L.addcmul(B, B, B),
    lambda L, B: L.outer(B[0], B[1]),
    lambda L, B: L.linalg.multi_dot([B, B]),
    lambda L, B: L.linalg.matrix_power(B, 2),
    lambda F, B: F.linear(B, B),
    lambda F, B: F.linear(B[None], B, B[0]),
    lambda F, B: F.linear(B, B[0]),
    lambda B: B.prod(0),
    lambda B: B[:0] @ B,
    lambda B: B[:, :0] @ B[:0],
    lambda L, B: L.dot(B[0, :0], B[0, :0]),
    lambda L, B: L.einsum("ij,jk->ik", B, B),
    lambda L, B: L.einsum("i,j->ij", B[0], B[1]),
    lambda L, B: L.einsum("ij,ij->ij", B, B),
    lambda L, B: L.einsum("ij->j", B),
    lambda L, B: L.tensordot(B, B, 1),
    lambda L, B: L.tensordot(B, B, 0),
    lambda L, B: L.tensordot(B, B, 2),
    lambda L, B: L.inner(B, B),
    lambda L, B: L.inner(B[0], B[1]),
    lambda L, B: L.inner(B[0], B[1, 0]),
    lambda L, B: L.trace(B),
    lambda L, T: L.signbit(T([1j])),
    lambda T: T([3 + 4j]).abs_(),
    lambda T: T([3 + 4j]).abs(),
    lambda L, T: L.add(T([1]), T([2]), alpha=1.0),
    lambda L, T: L.sub(T([1]), T([2]), alpha=1.0),
    lambda L, T: L.add(T([True]), T([True]), alpha=1.0),
    lambda L, T: L.add(T([1]), T([2.5]), alpha=1.0),
    lambda L, T: L.ones(2).index_add(0, T([0]), L.ones(1), alpha=1j),
    lambda L, T: L.ones(2).long().index_add(0, T([0]), T([1]), alpha=1j),
    lambda L, T: L.ones(2).long().index_add(0, T([0]), T([1]), alpha=2.5),
]

NUMBERS_IN_THEIR_PLACE: list[Call] = [
    lambda L, T: L.clamp(T([1, 2, 3], dtype=L.uint8), 0, 300),
    lambda L, T: L.clamp(T([1, 2, 3], dtype=L.uint8), -1, 200),
    lambda L, T: L.clamp(T([1, 2, 3], dtype=L.int8), -1000, 1000),
    lambda L, T: L.clamp(T([1, 2, 3], dtype=L.int8), -100, 2),
    lambda L, T: L.clamp(T([1, 2, 3], dtype=L.int8), 1.5, 2.5),
    lambda L, T: L.clamp(T([1, 2, 3], dtype=L.int8), 1.5, 2e10),
    lambda L, T: L.clip(T([1, 2, 3], dtype=L.int16), max=40000),
    lambda L, T: L.clamp(T([True, False]), 0, 300),
    lambda L, T: T([1, 2, 3], dtype=L.int8).clamp_(max=-300),
    lambda L, T: T([1, 2, 3], dtype=L.int8).clamp_min(-300),
    lambda L, T: T([1, 2, 3], dtype=L.int8).clamp_max(300),
    lambda L, T: L.clamp(T([1, 2, 3], dtype=L.uint8), min=T([-1, -1, -1])),
    lambda L, F, T: F.hardtanh(T([1, 2, 3], dtype=L.int8), -300, 300),
    lambda L, F, T: F.hardtanh(T([-7, 2, 3], dtype=L.int8), -3, 2),
    lambda L, T: L.lerp(T([1.0]), 2.5, T([0.5])),
    lambda L, T: L.lerp(T([1.0]), 2.5, 0.5),
    lambda L, T: L.lerp(2.0, T([1.0]), 0.5),
    lambda T: T([1.0]).lerp(2.5, 0.5),
    lambda T: T([1.0]).lerp_(2.5, 0.5),
    lambda T: T([1.0]).lerp(T([2.5]), 0.5),
    lambda L: L.rsub(2, 3),
    lambda L, T: L.rsub(2, T([3])),
    lambda L, T: L.rsub(T([2]), 3),
    lambda L, T: L.rsub(T([2]), T([3])),
]

KINDS_WITHOUT_A_KERNEL: list[Call] = [
    lambda L, T: L.igamma(T([2]), T([3])),
    lambda L, T: L.igammac(T([2]), T([3])),
    lambda L, T: L.igamma(T([True]), T([False])),
    lambda L, T: L.special.gammainc(T([2]), T([3])),
    lambda L, T: L.special.gammaincc(T([2]), T([3])),
    lambda T: T([2]).igamma_(T([3])),
    lambda L, T: L.igamma(T([2]), T([3.0])),
    lambda L, F, T: F.nll_loss(L.ones(2, 3, dtype=L.complex64), T([0, 1])),
    lambda L, F, T: F.nll_loss(L.ones(3, dtype=L.complex64), T(0)),
    lambda L, F: F.nll_loss(L.ones(2, 3, 4, dtype=L.complex64), L.zeros(2, 4, dtype=L.int64)),
    lambda L, F, T: F.cross_entropy(L.ones(2, 3, dtype=L.complex64), T([0, 1])),
    lambda L, F: F.cross_entropy(L.ones(2, 3, 4, dtype=L.complex64), L.zeros(2, 4, dtype=L.int64)),
    lambda L, F: F.cross_entropy(L.ones(2, 3, dtype=L.complex64), L.ones(2, 3)),
    lambda F, T: F.mse_loss(T([1, 2]), T([3, 5]), weight=T([1.0, 3.0])),
    lambda F, T: F.mse_loss(T([1j, 2]), T([3, 5j]), weight=T([1.0, 3.0])),
    lambda F, T: F.mse_loss(T([1j, 2]), T([3, 5j])),
    lambda F, T: F.mse_loss(T([1, 2]), T([3, 5])),
    lambda L, F: F.cross_entropy(L.ones(2, 0), L.ones(2, 0), label_smoothing=0.1).isnan(),
    lambda L, F: F.cross_entropy(L.ones(2, 0, 3), L.ones(2, 0, 3), reduction="sum"),
    lambda L: L.softmax(L.ones(2, 3, dtype=L.complex64), 1),
    lambda L: L.log_softmax(L.ones(2, 3, dtype=L.complex64), 0),
    lambda L: L.softmax(L.ones(2, 3, dtype=L.int64), 0),
]

RESULTS_WRITTEN: list[Call] = [
    lambda L, T: L.sum(T([1.5, 2.0]), 0, out=T(0)),
    lambda L, T: L.sum(T([1.5, 2.0]), 0, out=L.zeros((), dtype=L.float64)),
    lambda L, T: L.sum(T([1.5, 2.0]), 0, dtype=L.float64, out=T(0.0)),
    lambda L, T: L.sum(T([1.5, 2.0]), 0, dtype=L.float64, out=L.zeros((), dtype=L.float64)),
    lambda L, T: L.sum(T([1 + 1j]), 0, out=T(0.0)),
    lambda L, T: L.sum(T([True, True]), 0, out=T(False)),
    lambda L, T: L.sum(T([200, 200]), 0, out=T(0, dtype=L.uint8)),
    lambda L, T: L.sum(T([[1.5, 2.0]]), dim=1, out=L.empty(0, dtype=L.int64)),
    lambda L, T: L.prod(T([1.5, 2.0]), 0, out=T(0)),
    lambda L, T: L.prod(T([2.0, 3.0]), 0, dtype=L.float64, out=T(0.0)),
    lambda L, T: L.prod(T([1 + 1j]), 0, out=T(0.0)),
    lambda L, T: L.cumsum(T([1.5, 2.0]), 0, out=T([0, 0])),
    lambda L, T: L.cumsum(T([1.5, 2.0]), 0, dtype=L.float64, out=T([0.0, 0.0])),
    lambda L, T: L.cumprod(T([1.5, 2.0]), 0, out=T([0, 0])),
]


PYTHONS_OWN: list[Call] = [
    lambda T: float(T(1 + 0j)),
    lambda T: int(T(2 + 0j)),
    lambda T: float(T([1j])),
    lambda T: int(T([1j])),
    lambda T: complex(T([1j])),
    lambda T: reversed(T([1, 2])),
    lambda T: reversed(T([[1, 2], [3, 4]])),
    lambda T: reversed(T(1)),
    lambda L, T: L.equal(T([3.0]), 3.0),
    lambda L, T: L.equal(3, T([3])),
    lambda L, T: L.equal(T([3.0]), T([3])),
]

FORMER_AND_NAMED_PLACES: list[Call] = [
    lambda L, T: L.add(T([1.0, 2.0]), 2, 3),
    lambda L, T: L.add(T([1.0, 2.0]), T(2), T([3.0, 4.0])),
    lambda L, T: L.add(1, 2, T([3.0, 4.0])),
    lambda L, T: L.add(T([1, 2]), 2.5, T([3, 4])),
    lambda L, T: L.add(T([1.0, 2.0]), T([3.0, 4.0]), 2),
    lambda L, T: L.add(T([1.0, 2.0]), 2, T([3.0, 4.0]), out=L.zeros(2)),
    lambda L, T: L.add(T([1.0, 2.0]), 2, T([3.0, 4.0]), alpha=2),
    lambda T: T([1.0, 2.0]).add(2, 3),
    lambda L, T: L.sub(T([1.0, 2.0]), 2, 3),
    lambda L, T: L.sub(T([1.0, 2.0]), T([3.0, 4.0]), 2),
    lambda L, T: L.rsub(T([1.0, 2.0]), 2, 3),
    lambda L, T: L.mul(T([1.0, 2.0]), 2, T([3.0, 4.0])),
    lambda L: L.ones(6).view(size=(2, 3)),
    lambda L: L.ones(6).view(dtype=L.int32),
    lambda L: L.ones(6).view(sizes=(2, 3)),
    lambda T: T([1, 2, 3]).repeat(repeats=(2, 2)),
    lambda T: T([1, 2, 3]).repeat(sizes=(2, 2)),
    lambda L: L.ones(2, 3).sum_to_size(size=(1, 3)),
    lambda L: L.ones(2, 3).new_zeros(size=(2,)),
    lambda L: L.randint(10, size=(3,)),
    lambda L: L.randint(10, (3,)),
    lambda L: L.randint(5, 10, size=(3,)),
    lambda L: L.randint(high=10, size=(3,)),
    lambda L: L.randint(10),
    lambda L: L.randint(size=(3,)),
    lambda L, F: F.avg_pool1d(L.ones(1, 2, 4), 2, []),
    lambda L, F: F.avg_pool3d(L.ones(1, 2, 4, 4, 4), 2, ()),
]

EDGES: list[Call] = [
    lambda L, T: L.index_put(L.zeros(3), (T([True, False, True]),), T([2])),
    lambda L, T: L.index_put(L.zeros(2, 3), (T([True, False]),), T(2, dtype=L.float64)),
    lambda L, T: L.index_put(L.zeros(3), (T([True, False, True]),), T([2, 3])),
    lambda L, T: L.index_put(L.zeros(3), (T([True, False, True]),), T([2]), accumulate=True),
    lambda L, T: L.index_put(L.zeros(3), (T([0, 2]),), T([2])),
    lambda L, F: F.adaptive_avg_pool1d(L.ones(1, 2, 4, dtype=L.complex64), 1),
    lambda L, F: F.adaptive_avg_pool2d(L.ones(1, 2, 4, 4, dtype=L.complex64), 1),
    lambda L, F: F.adaptive_avg_pool3d(L.ones(1, 2, 4, 4, 4, dtype=L.complex64), (1, 1, 1)),
    lambda L, F: F.adaptive_avg_pool2d(L.ones(1, 2, 4, 4, dtype=L.complex64), (1, 2)).shape,
    lambda L, F: F.adaptive_avg_pool2d(L.ones(1, 2, 4, 4, dtype=L.int64), (1, 2)).shape,
    lambda L, F, T: F.embedding(T([0, 1]), L.ones(4, 1).expand(4, 3), max_norm=1.0),
]

SIZES_AND_STEPS: list[Call] = [
    lambda L, F: F.avg_pool1d(L.arange(5.0).reshape(1, 1, 5), np.int64(2), np.int64(1)),
    lambda L, F: F.max_pool2d(L.arange(9.0).reshape(1, 1, 3, 3), 2, np.int64(1)),
    lambda L, F: F.max_pool3d(L.ones(1, 1, 3, 3, 3), 2, np.int64(1)),
    lambda L, F: F.unfold(L.ones(1, 1, 5, 5), 2, 1, (1,)),
    lambda L, F: F.unfold(L.ones(1, 1, 5, 5), 2, [1], 1),
    lambda L, F: F.unfold(L.ones(1, 1, 5, 5), (2,)),
    lambda L, F: F.fold(L.ones(1, 4, 16), (5,), 2),
    lambda L, T: L.vdot(T(1.0), L.ones(3)),
    lambda L, T: L.vdot(L.ones(3), T(1.0)),
    lambda L, T: L.gradient(L.arange(4.0) ** 2, spacing=T(2.0)),
    lambda L, T: L.gradient(L.arange(4.0) ** 2, spacing=T(2)),
    lambda L: L.gradient(L.ones(3, 3).cumsum(0), spacing=np.float32(0.3)),
    lambda L: L.gradient(L.arange(4.0) ** 2, spacing=True),
    lambda L, T: L.histc(T([3.0, 4.0, 5.0]), T(3), T(0.0), T(6.0)),
    lambda L, T: L.round(T([3.14159, 2.71828]), decimals=T(2)),
    lambda L, T: L.round(T([3.14159, 2.71828]), decimals=np.int64(2)),
    lambda L, T: L.round(T([3.14159]), decimals=1.5),
    lambda L: L.fft.fftn(L.eye(3), dim=np.int64(-2)).real,
    lambda L: L.fft.rfftn(L.eye(3), dim=np.int64(0)).real,
    lambda L, F, T: F.normalize(T([[3.0, 4.0]], dtype=L.float64), p=T(2.5)),
    lambda L, F: F.rms_norm(L.arange(6.0).reshape(2, 3), (3,), L.ones(3, dtype=L.float64)),
    lambda F, T: F.pdist(T([[1.0, 2.0], [float("nan"), 2.0], [1.0, 1.0]]), p=0.0).isnan(),
    lambda L: L.linalg.lu_solve(L.eye(3), L.ones(2, 3, dtype=L.int32), L.ones(3, 1)),
    lambda L, T: L.linalg.lu_solve(L.eye(3).expand(2, 3, 3), T([1, 2, 3]).int(), L.ones(2, 3, 1)),
]

FACTORS_AS_TENSORS: list[Call] = [
    lambda L, T: L.addcmul(T([1, 2]).int(), T([1, 2]).int(), T([3, 4]).int(), value=T(2)),
    lambda L, T: L.addcmul(T([1.0]), T([2.0]), T([3.0]), value=T(2, dtype=L.float64)),
    lambda L, T: L.addcdiv(T([1.0]), T([2.0]), T([3.0]), value=T(2, dtype=L.float64)),
    lambda L, T: L.addmm(
        L.ones(2, 2).int(), L.ones(2, 2).int(), L.ones(2, 2).int(), beta=T(3), alpha=T(2)
    ),
    lambda L, T: L.addmv(
        L.ones(2).int(), L.ones(2, 2).int(), L.ones(2).int(), beta=T(3), alpha=T(2)
    ),
    lambda L, T: L.baddbmm(
        L.ones(1, 2, 2), L.ones(1, 2, 2), L.ones(1, 2, 2), alpha=T(2, dtype=L.float64)
    ),
    lambda L, T: L.addr(T(True), T([True, False]), T([True, True, False]), beta=3, alpha=T(2)),
    lambda L, F, T: F.elu(T([-1.0, 2.0]), T(2, dtype=L.float64)),
    lambda L, F, T: F.leaky_relu(T([-1.0, 2.0]), T(0.5, dtype=L.float64)),
    lambda L, T: L.addcmul(
        T([5, 6], dtype=L.uint8), T([3, 1], dtype=L.uint8), T([2, 1], dtype=L.uint8), value=-2
    ),
    lambda L, T: L.addcmul(
        T([5, 6], dtype=L.uint8), T([3, 1], dtype=L.uint8), T([2, 1], dtype=L.uint8), value=300
    ),
    lambda L, T: L.lerp(T([1.0 + 1j]), T([3.0 + 0j]), T(0.5 + 0j, dtype=L.complex128)),
    lambda L, T: T([1.0 + 1j], dtype=L.complex128).lerp_(
        T([3.0 + 0j], dtype=L.complex128), T(0.5 + 0j)
    ),
    lambda L, T: L.mvlgamma(T([2.75], dtype=L.float64), T(3)),
    lambda L, T: (
        L.tril_indices(3, T(2)),
        L.triu_indices(T(3), 2, T(1)),
        L.tril_indices(T(3), T(4), T(-1)),
    ),
    lambda L, T: (
        L.fft.fftshift(L.arange(5), dim=T(0)),
        L.fft.ifftshift(L.ones(2, 3).cumsum(1), dim=T(1)),
    ),
]

SIZES_OF_OTHERS: list[Call] = [
    lambda L, T: (L.Size((2, T(5))), L.Size(T([2, 3])), L.Size((2, np.int64(5)))),
    lambda L, T: L.zeros(L.Size((T(2), 1))).shape + (T(3),),
    lambda L: L.Size((2, 2.5)),
    lambda L: L.Size((2, "a")),
    lambda L, T: L.Size((2, T(2.5))),
    lambda L, T: L.Size((2, T([2, 3]))),
    lambda L: (
        type(L.Size([2]) + (4,)) is L.Size,
        type(L.Size([2, 3])[:1]) is L.Size,
        L.Size(),
        hash(L.Size([2])),
    ),
]

TYPES_BY_CLASS: list[Call] = [
    lambda L, T: T([1, 2]).type(L.Tensor),
    lambda L, T: T([1.5, 2.5], dtype=L.float64).type("torch.Tensor"),
    lambda L, T: T([1.5, 2.5]).type(L.IntTensor),
]

BYTES_AS_MASKS: list[Call] = [
    lambda L, T: L.arange(3)[T([1, 0, 7], dtype=L.uint8)],
    lambda L, T: L.arange(6).reshape(2, 3)[:, T([1, 0, 1], dtype=L.uint8)],
    lambda L, T: L.arange(6).reshape(2, 3)[T([[1, 0, 1], [0, 1, 0]], dtype=L.uint8)],
    lambda L, T: L.arange(3)[T([[1, 0, 1]], dtype=L.uint8)],
    lambda L, T: L.arange(6).reshape(2, 3)[T(1, dtype=L.uint8)],
    lambda L, T: L.arange(6).reshape(2, 3)[:, T(0, dtype=L.uint8)],
    lambda L, T: L.index_put(L.zeros(3), (T([1, 0, 1], dtype=L.uint8),), T([2.0, 3.0])),
    lambda L, T: (L.arange(3)[T(2, dtype=L.int8)], L.arange(3)[T([2, 0])], L.arange(3)[T([0.0])]),
]

LISTS_OF_INDICES: list[Call] = [
    lambda L: L.arange(12).reshape(3, 4)[[[0, 1], [2, 3]]],
    lambda L: L.arange(12).reshape(3, 4)[[[0, 1]]],
    lambda L: L.arange(12).reshape(3, 4)[[(0, 1), (1, 2)]],
    lambda L: L.arange(12).reshape(3, 4)[[0, [1, 2]]],
    lambda L: L.arange(12).reshape(3, 4)[[range(2), 1]],
    lambda L: L.arange(12).reshape(3, 4)[[np.array([0, 1]), np.array([1, 2])]],
    lambda L: L.arange(12).reshape(3, 4)[[np.int64(0), np.int64(2)]],
    lambda L: L.arange(12).reshape(3, 4)[[[True, False, True]]],
    lambda L: L.arange(12).reshape(3, 4)[[[[0, 1]], [[2], [3]]]],
    lambda L: L.arange(12).reshape(3, 4)[[[0]] * 31],
    lambda L: L.arange(12).reshape(3, 4)[[[0]] * 32].shape,
    lambda L: (L.arange(12).reshape(3, 4)[[2, 0]], L.arange(12).reshape(3, 4)[[]].shape),
]

SHAPES_OF_THE_OTHER: list[Call] = [
    lambda L, T: L.trapezoid(T([3.0, 1.0]), T([[1.0, 2.0, 4.0], [3.0, 4.0, 7.0]])),
    lambda L: L.trapezoid(L.ones(2, 2), L.arange(18.0).reshape(2, 3, 3) ** 2, dim=-1),
    lambda L: L.trapezoid(L.ones(2, 3).cumsum(1), L.arange(6.0).reshape(1, 2, 3) ** 2, dim=0),
    lambda L: L.cumulative_trapezoid(L.arange(6.0), L.arange(6.0).reshape(6, 1)),
    lambda L: L.cumulative_trapezoid(
        L.ones(2, 3).cumsum(1), L.arange(6.0).reshape(2, 3) ** 2, dim=-2
    ),
    lambda L: L.triangular_solve(L.ones(2, 3, 1), L.eye(3)),
    lambda L: L.triangular_solve(L.ones(3, 1), L.eye(3).expand(2, 3, 3)),
    lambda L, F: F.multilabel_soft_margin_loss(
        L.arange(5.0), L.arange(5.0) / 5, weight=L.arange(10.0).reshape(2, 5)
    ),
    lambda L, F, T: F.multilabel_soft_margin_loss(
        L.arange(2.0), T([[0.0, 1.0], [1.0, 1.0]]), reduction="none"
    ),
    lambda L, F: F.linear_cross_entropy(L.zeros(8, 0), L.zeros(4, 0), L.zeros(8).long()),
    lambda L, T: L.scatter(T(1.0), 0, T(0), T([2.0, 3.0])),
    lambda L, T: L.scatter_add(T([1.0, 2.0]), 0, T(1), T([2.0, 3.0])),
    lambda L, T: (
        L.zeros(0, 3).long().floor_divide(T(0)).shape,
        (L.zeros(0, 3).long() % T([0])).shape,
    ),
    lambda L, T: (
        L.fmod(L.zeros(0, 3).long(), 0).shape,
        L.div(L.zeros(0).long(), T(0), rounding_mode="trunc").shape,
    ),
    lambda L: (
        L.zeros(0, 0).as_strided((2, 0), (1, 2), 1).shape,
        L.ones(3)[1:].as_strided((2, 0), (1, 2), 9).shape,
    ),
    lambda L, T: L.as_strided_scatter(L.arange(9)[3:], T([[-1, -2]]), (1, 2), (1, 2), 2),
    lambda L, T: L.as_strided_scatter(L.arange(9)[3:], T([[-1, -2]]), (1, 2), (1, 2)),
    lambda L, T: L.as_strided_scatter(L.arange(9)[1::2], T([[-1, -2]]), (1, 2), (1, 2), 0),
    lambda L, T: L.as_strided_scatter(L.arange(9)[1::2], T([[-1, -2]]), (1, 2), (1, 3), 3),
    lambda L, T: L.as_strided_scatter(L.arange(9)[1::2], T([[-1, -2]]), (1, 2), (1, 2), 7),
    lambda L, T: L.as_strided_scatter(
        L.arange(9).reshape(3, 3)[1:, 1:].t(), T([[-1, -2]]), (1, 2), (1, 4), 4
    ),
]

NUMBERS_FOR_TENSORS: list[Call] = [
    lambda L: (x := L.ones(3)).addcmul_(x, 2.0),
    lambda L: (x := L.ones(3)).addcmul_(2.0, x),
    lambda L: (x := L.ones(3)).addcdiv_(x, 2.0),
    lambda L: L.addcdiv(2, x := L.ones(3), x),
    lambda L: (x := L.ones(3)).clamp_(0, x),
    lambda L: (x := L.ones(3)).clip_(x, 1.0),
    lambda L: L.clamp(x := L.ones(3), x, 2),
    lambda L: L.clamp(x := L.ones(3), x.mean(), 2),
    lambda L: L.clamp(x := L.ones(3), x, 2 * x),
    lambda L, T: L.ones(2, 2).addr_(L.ones(2), 2.0),
]

WRITTEN_IN_ANOTHER_DTYPE: list[Call] = [
    lambda L: L.arange(3.0).cumsum_(0, dtype=L.float64),
    lambda L: L.arange(3).cumprod_(0, dtype=L.float32),
    lambda L: L.arange(3.0).cumsum_(0, dtype=L.float32),
    lambda L: L.diff(x := L.arange(5.0), out=x),
    lambda L: L.diff(x := L.arange(5.0), 2, out=x),
    lambda L: L.diff(x := L.arange(5.0), prepend=L.ones(1), out=x),
    lambda L: L.diff(L.arange(5.0), out=L.empty(0)),
    lambda L: L.diff(L.arange(5.0), 0, out=L.empty(0)),
    lambda L: L.diff(L.tensor([True, False]), out=L.empty(0, dtype=L.bool)),
    lambda L, F: F.layer_norm(L.ones(2, 3), (3,), L.ones(3, dtype=L.bfloat16)),
    lambda L, F: F.group_norm(L.ones(2, 4, 3), 2, L.ones(4, dtype=L.bfloat16)),
    lambda L, F: F.layer_norm(L.ones(2, 3).half(), (3,), L.ones(3, dtype=L.bfloat16)),
    lambda L, F: F.layer_norm(L.ones(2, 3).bfloat16(), (3,), L.ones(3)).float(),
    lambda L, T: T([[0.1, 0.7, 0.33]]).mean(1, dtype=L.bfloat16).float(),
    lambda L, T: (T([[1.0, 2.0, 4.0]]) / 3).mean(dtype=L.bfloat16).float(),
]

NO_CHANNELS: list[Call] = [
    lambda L, F: F.conv1d(L.ones(1, 0, 4), L.ones(3, 0, 3), L.ones(3), padding=2),
    lambda L, F: F.conv2d(L.ones(0, 4, 4), L.ones(3, 0, 3, 3)),
    lambda L, F: F.conv3d(L.ones(1, 0, 4, 4, 4), L.ones(1, 0, 1, 1, 1), padding="same"),
    lambda L, F: F.adaptive_avg_pool1d(L.ones(3, 8, 0), 1),
    lambda L, F: F.adaptive_avg_pool2d(L.ones(3, 8, 0, 4), 1),
    lambda L, F: F.adaptive_avg_pool3d(L.ones(3, 8, 0, 4, 4), 1),
    lambda L, F: F.adaptive_avg_pool2d(L.ones(3, 8, 0, 4), 2),
    lambda L, F: F.adaptive_max_pool2d(L.ones(3, 8, 0, 4), 1),
    lambda L, F: F.batch_norm(L.ones(5, 0, 5), L.ones(5), L.ones(5), L.ones(5), training=True),
    lambda L, F: L.autograd.grad(
        F.instance_norm(L.ones(5, 5, 0), weight=(w := L.ones(5, requires_grad=True))).sum(), w
    ),
    lambda L, F: [F.instance_norm(L.ones(5, 5, 0), m := L.ones(5), v := L.ones(5)), m, v],
    lambda L, F: [F.instance_norm(L.ones(0, 5, 4), m := L.ones(5), v := L.ones(5)), m, v],
]

EDGES_OF_GRADIENTS: list[Call] = []

INTEGERS_AT_THEIR_ENDS: list[Call] = [
    lambda L, T: T([1, 2, 3], dtype=L.int32) << 31,
    lambda L, T: T([1, 2, 3], dtype=L.int32) << 32,
    lambda L, T: T([1, -2, 3], dtype=L.int32) << -1,
    lambda L, T: T([1, -2, 3], dtype=L.int32) >> 32,
    lambda L, T: T([1, -2, 3], dtype=L.int32) >> -1,
    lambda T: T([1, -2, 3]) << 64,
    lambda T: T([1, -2, 3]) >> 64,
    lambda L, T: T([1, 2, 255], dtype=L.uint8) << 8,
    lambda L, T: T([1, 2, 255], dtype=L.uint8) >> 9,
    lambda L, T: T([1, -2, 127], dtype=L.int8) << 7,
    lambda L, T: T([1, -2, 127], dtype=L.int8) >> 8,
    lambda L, T: L.bitwise_left_shift(T([1, 2]), T([63, 64])),
    lambda L, T: L.bitwise_right_shift(T([-1, 2], dtype=L.int16), T([15, 16], dtype=L.int16)),
    lambda T: T([True, False]) << 1,
    lambda T: T([1.0, 2.0]) << 1,
    lambda T: T([1, 2]) << 1.5,
    lambda T: T([1, 2]) ** -1,
    lambda T: T([1, 2, -1, 0, -2]) ** T([-1, -2, -3, -1, -1]),
    lambda L, T: T([2, 1], dtype=L.uint8) ** T([7, 8], dtype=L.uint8),
    lambda T: 2 ** T([-1, 2]),
    lambda T: T([True, False]) ** T([True, False]),
    lambda T: T([1, 2]).pow_(2.5),
    lambda T: T([1, 2]) // 0,
    lambda T: T([1, 2]) % T([0, 1]),
    lambda L, T: L.fmod(T([1, 2]), 0),
    lambda L, T: L.div(T([1, 2]), 0, rounding_mode="trunc"),
    lambda T: T([True, False]) // False,
    lambda T: T([1.0, -1.0]) // 0,
    lambda T: T([-(2**63)]) // -1,
    lambda T: T([-(2**63)]) % -1,
    lambda L, T: T([-128], dtype=L.int8) // -1,
    lambda L, T: L.clamp(T([1, 2, 3], dtype=L.uint8), min=-1),
    lambda L, T: L.clamp(T([1, 2]), min=T([1.5, 2.5])),
    lambda L, T: L.clamp(T([1.0, float("nan")]), 0, 1).isnan(),
    lambda L, T: L.clamp(T([1, 2]), 3, 1),
    lambda L, T: L.clamp(T([1, 2])),
]


CALLS = (
    PRODUCTS_OF_BOOLS + NUMBERS_IN_THEIR_PLACE + KINDS_WITHOUT_A_KERNEL + RESULTS_WRITTEN
    + PYTHONS_OWN + FORMER_AND_NAMED_PLACES + SIZES_AND_STEPS + EDGES + EDGES_OF_GRADIENTS
    + INTEGERS_AT_THEIR_ENDS + FACTORS_AS_TENSORS + BYTES_AS_MASKS + LISTS_OF_INDICES
    + SIZES_OF_OTHERS + TYPES_BY_CLASS + SHAPES_OF_THE_OTHER + NUMBERS_FOR_TENSORS
    + WRITTEN_IN_ANOTHER_DTYPE + NO_CHANNELS
)  # fmt: skip


@pytest.mark.parametrize("call", [*CALLS, *functions(taken_and_refused)], ids=words)
def test_accepted_and_rejected_calls_have_pytorchs_outcome(torch: Any, call: Call) -> None:
    assert_same_outcome(call)


#: name: a call that PyTorch refuses, too, and its key phrase.
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "dropout": (
        lambda m: m.nn.functional.dropout(None, 0.5, False), "must be Tensor, not NoneType"),
    "alpha_dropout": (lambda m: m.nn.functional.alpha_dropout("x"), "must be Tensor, not str"),
    "conj": (lambda m: m.conj(None), "must be Tensor, not NoneType"),
    "real": (lambda m: m.real("x"), "must be Tensor, not str"),
    "imag": (lambda m: m.imag(None), "must be Tensor, not NoneType"),
    "polygamma": (lambda m: m.polygamma(1.0, m.ones(2)), "must be int, not float"),
    "layer_norm": (
        lambda m: m.nn.functional.layer_norm(m.ones(2, 3), (3,), m.ones(3, dtype=m.float64)),
        "mixed dtype"),
    "normal": (lambda m: m.normal(m.zeros(2), 1.0, (2,)), "invalid combination of arguments"),
    "ctc_loss": (
        lambda m: m.nn.functional.ctc_loss(m.zeros(5, 2, 3), m.ones(2, 2).long(), [5.0, 5], [2, 1]),
        "integral|must be|invalid combination"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_calls_that_pytorch_refuses_are_refused(torch: Any, name: str) -> None:
    call, phrase = REFUSED[name]
    raised = []
    for library in (tt, torch):
        with pytest.raises((TypeError, RuntimeError), match=phrase) as caught:
            call(library)
        raised.append(caught.type)
    assert name == "ctc_loss" or raised[0] is raised[1]


#: name: a call that PyTorch takes, too, of which the numbers are compared.
TAKEN: dict[str, Callable[[Any], Any]] = {
    "lengths of NumPy's": lambda m: m.nn.functional.ctc_loss(
        m.linspace(-1, 0, 30).reshape(5, 2, 3), m.ones(2, 2).long(), (np.int64(5), 5),
        (2, np.int64(1))),
    "lengths of tensors": lambda m: m.nn.functional.ctc_loss(
        m.linspace(-1, 0, 30).reshape(5, 2, 3), m.ones(2, 2).long(), [m.tensor(5)] * 2, [2, 1]),
    "hsplit": lambda m: m.hsplit(m.arange(8).reshape(2, 4), np.int64(2))[1],
    "vsplit": lambda m: m.vsplit(m.arange(8).reshape(4, 2), np.int64(2))[1],
    "tensor_split": lambda m: m.tensor_split(m.arange(5), np.int64(2))[1],
    "tensor_split at": lambda m: m.tensor_split(m.arange(5), (1, np.int64(2)))[1],
    "logit between crossed bounds": lambda m: m.logit(m.tensor([0.3, 0.7, 1.0]), eps=1),
    "logit between bounds": lambda m: m.logit(m.tensor([0.1, 0.7, 1.0, float("nan")]), eps=0.2),
    "normal around a tensor's number": lambda m: (
        m.manual_seed(0), m.normal(m.tensor(2.0), m.tensor(0.5), (3,)))[1],
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_calls_that_pytorch_accepts_have_its_results(torch: Any, name: str) -> None:
    ours, theirs = (TAKEN[name](library) for library in (tt, torch))
    np.testing.assert_allclose(
        np.asarray(ours.tolist()), np.asarray(theirs.tolist()), rtol=1e-6, atol=1e-7
    )
