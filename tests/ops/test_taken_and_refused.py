"""Calls that PyTorch takes are taken, and those that it refuses are refused with its error."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

#: Each line is run with a library ``L``, its ``nn.functional`` as ``F`` and its ``tensor`` as
#: ``T``; what follows the last semicolon is the result.
PRODUCTS_OF_BOOLS = """
B = T([[True, False], [True, True]]); B @ B
B = T([[True, False], [True, True]]); B[0] @ B
B = T([[True, False], [True, True]]); B @ B[0]
B = T([[True, False], [True, True]]); B[0] @ B[0]
B = T([[True, False], [True, True]]); B[None] @ B
B = T([[True, False], [True, True]]); B[None] @ B[None]
B = T([[True, False], [True, True]]); B[None] @ B[0]
B = T([[True, False], [True, True]]); L.mm(B, B)
B = T([[True, False], [True, True]]); L.bmm(B[None], B[None])
B = T([[True, False], [True, True]]); L.mv(B, B[0])
B = T([[True, False], [True, True]]); L.dot(B[0], B[0])
B = T([[True, False], [True, True]]); L.vdot(B[0], B[0])
B = T([[True, False], [True, True]]); L.addmm(B, B, B)
B = T([[True, False], [True, True]]); L.addmv(B[0], B, B[0])
B = T([[True, False], [True, True]]); L.addbmm(B, B[None], B[None])
B = T([[True, False], [True, True]]); L.baddbmm(B[None], B[None], B[None])
B = T([[True, False], [True, True]]); L.addr(B, B[0], B[1])
B = T([[True, False], [True, True]]); L.addcmul(B, B, B)
B = T([[True, False], [True, True]]); L.outer(B[0], B[1])
B = T([[True, False], [True, True]]); L.linalg.multi_dot([B, B])
B = T([[True, False], [True, True]]); L.linalg.matrix_power(B, 2)
B = T([[True, False], [True, True]]); F.linear(B, B)
B = T([[True, False], [True, True]]); F.linear(B[None], B, B[0])
B = T([[True, False], [True, True]]); F.linear(B, B[0])
B = T([[True, False], [True, True]]); B.prod(0)
B = T([[True, False], [True, True]]); B[:0] @ B
B = T([[True, False], [True, True]]); B[:, :0] @ B[:0]
B = T([[True, False], [True, True]]); L.dot(B[0, :0], B[0, :0])
B = T([[True, False], [True, True]]); L.einsum("ij,jk->ik", B, B)
B = T([[True, False], [True, True]]); L.einsum("i,j->ij", B[0], B[1])
B = T([[True, False], [True, True]]); L.einsum("ij,ij->ij", B, B)
B = T([[True, False], [True, True]]); L.einsum("ij->j", B)
B = T([[True, False], [True, True]]); L.tensordot(B, B, 1)
B = T([[True, False], [True, True]]); L.tensordot(B, B, 0)
B = T([[True, False], [True, True]]); L.tensordot(B, B, 2)
B = T([[True, False], [True, True]]); L.inner(B, B)
B = T([[True, False], [True, True]]); L.inner(B[0], B[1])
B = T([[True, False], [True, True]]); L.inner(B[0], B[1, 0])
B = T([[True, False], [True, True]]); L.trace(B)
B = T([True, False])[:0]; L.inner(B, B)
B = T([True, False])[:0]; L.tensordot(B, B, 1)
B = T([[True, False]]); L.einsum("ij,jk->ik", B[:0], B.T)
L.signbit(T([1j]))
T([3 + 4j]).abs_()
T([3 + 4j]).abs()
L.add(T([1]), T([2]), alpha=1.0)
L.sub(T([1]), T([2]), alpha=1.0)
L.add(T([True]), T([True]), alpha=1.0)
L.add(T([1]), T([2.5]), alpha=1.0)
L.ones(2).index_add(0, T([0]), L.ones(1), alpha=1j)
L.ones(2).long().index_add(0, T([0]), T([1]), alpha=1j)
L.ones(2).long().index_add(0, T([0]), T([1]), alpha=2.5)
"""

NUMBERS_IN_THEIR_PLACE = """
L.clamp(T([1, 2, 3], dtype=L.uint8), 0, 300)
L.clamp(T([1, 2, 3], dtype=L.uint8), -1, 200)
L.clamp(T([1, 2, 3], dtype=L.int8), -1000, 1000)
L.clamp(T([1, 2, 3], dtype=L.int8), -100, 2)
L.clamp(T([1, 2, 3], dtype=L.int8), 1.5, 2.5)
L.clamp(T([1, 2, 3], dtype=L.int8), 1.5, 2e10)
L.clip(T([1, 2, 3], dtype=L.int16), max=40000)
L.clamp(T([True, False]), 0, 300)
T([1, 2, 3], dtype=L.int8).clamp_(max=-300)
T([1, 2, 3], dtype=L.int8).clamp_min(-300)
T([1, 2, 3], dtype=L.int8).clamp_max(300)
L.clamp(T([1, 2, 3], dtype=L.uint8), min=T([-1, -1, -1]))
F.hardtanh(T([1, 2, 3], dtype=L.int8), -300, 300)
F.hardtanh(T([-7, 2, 3], dtype=L.int8), -3, 2)
L.lerp(T([1.0]), 2.5, T([0.5]))
L.lerp(T([1.0]), 2.5, 0.5)
L.lerp(2.0, T([1.0]), 0.5)
T([1.0]).lerp(2.5, 0.5)
T([1.0]).lerp_(2.5, 0.5)
T([1.0]).lerp(T([2.5]), 0.5)
L.rsub(2, 3)
L.rsub(2, T([3]))
L.rsub(T([2]), 3)
L.rsub(T([2]), T([3]))
"""

KINDS_WITHOUT_A_KERNEL = """
L.igamma(T([2]), T([3]))
L.igammac(T([2]), T([3]))
L.igamma(T([True]), T([False]))
L.special.gammainc(T([2]), T([3]))
L.special.gammaincc(T([2]), T([3]))
T([2]).igamma_(T([3]))
L.igamma(T([2]), T([3.0]))
F.nll_loss(L.ones(2, 3, dtype=L.complex64), T([0, 1]))
F.nll_loss(L.ones(3, dtype=L.complex64), T(0))
F.nll_loss(L.ones(2, 3, 4, dtype=L.complex64), L.zeros(2, 4, dtype=L.int64))
F.cross_entropy(L.ones(2, 3, dtype=L.complex64), T([0, 1]))
F.cross_entropy(L.ones(2, 3, 4, dtype=L.complex64), L.zeros(2, 4, dtype=L.int64))
F.cross_entropy(L.ones(2, 3, dtype=L.complex64), L.ones(2, 3))
F.mse_loss(T([1, 2]), T([3, 5]), weight=T([1.0, 3.0]))
F.mse_loss(T([1j, 2]), T([3, 5j]), weight=T([1.0, 3.0]))
F.mse_loss(T([1j, 2]), T([3, 5j]))
F.mse_loss(T([1, 2]), T([3, 5]))
F.cross_entropy(L.ones(2, 0), L.ones(2, 0), label_smoothing=0.1).isnan()
F.cross_entropy(L.ones(2, 0, 3), L.ones(2, 0, 3), reduction="sum")
L.softmax(L.ones(2, 3, dtype=L.complex64), 1)
L.log_softmax(L.ones(2, 3, dtype=L.complex64), 0)
L.softmax(L.ones(2, 3, dtype=L.int64), 0)
"""

RESULTS_WRITTEN = """
L.sum(T([1.5, 2.0]), 0, out=T(0))
L.sum(T([1.5, 2.0]), 0, out=L.zeros((), dtype=L.float64))
L.sum(T([1.5, 2.0]), 0, dtype=L.float64, out=T(0.0))
L.sum(T([1.5, 2.0]), 0, dtype=L.float64, out=L.zeros((), dtype=L.float64))
L.sum(T([1 + 1j]), 0, out=T(0.0))
L.sum(T([True, True]), 0, out=T(False))
L.sum(T([200, 200]), 0, out=T(0, dtype=L.uint8))
L.sum(T([[1.5, 2.0]]), dim=1, out=L.empty(0, dtype=L.int64))
L.prod(T([1.5, 2.0]), 0, out=T(0))
L.prod(T([2.0, 3.0]), 0, dtype=L.float64, out=T(0.0))
L.prod(T([1 + 1j]), 0, out=T(0.0))
L.cumsum(T([1.5, 2.0]), 0, out=T([0, 0]))
L.cumsum(T([1.5, 2.0]), 0, dtype=L.float64, out=T([0.0, 0.0]))
L.cumprod(T([1.5, 2.0]), 0, out=T([0, 0]))
X = L.zeros(3); L.index_add(X, 0, T([0, 2]), L.ones(2), out=X); X
X = L.arange(5.0); L.logsumexp(X[:4].view(2, 2), 0, out=X[1:3]); X
X = L.arange(5.0); L.logsumexp(X[:4].view(2, 2), 1, out=X[:2]); X
X = L.arange(5.0); L.special.ndtr(X[:4], out=X[1:]); X
X = L.arange(5.0); L.special.ndtri(X[:4], out=X[1:]); X
X = L.zeros(3); L.index_copy(X, 0, T([0, 2]), L.ones(2), out=X); X
X = L.zeros(3); L.scatter_add(X, 0, T([0, 2]), L.ones(2), out=X); X
X = L.zeros(3); L.gather(X, 0, T([0, 2, 1]), out=X); X
X = L.zeros(3); L.index_select(X, 0, T([0, 2, 1]), out=X); X
X = L.zeros(4); L.index_add(X[:3], 0, T([0, 2]), L.ones(2), out=X[1:]); X
X = L.zeros(4); L.scatter_add(X[:3], 0, T([0, 2]), L.ones(2), out=X[1:]); X
X = L.ones(3); L.index_add(L.zeros(3), 0, T([0, 2, 1]), X, out=X); X
X = L.ones(3); L.scatter_add(L.zeros(3), 0, T([0, 2, 1]), X, out=X); X
X = T([0, 2, 1]); L.scatter_add(T([0, 0, 0]), 0, X, T([1, 1, 1]), out=X); X
"""


PYTHONS_OWN = """
float(T(1 + 0j))
int(T(2 + 0j))
float(T([1j]))
int(T([1j]))
complex(T([1j]))
reversed(T([1, 2]))
reversed(T([[1, 2], [3, 4]]))
reversed(T(1))
L.equal(T([3.0]), 3.0)
L.equal(3, T([3]))
L.equal(T([3.0]), T([3]))
"""

FORMER_AND_NAMED_PLACES = """
L.add(T([1.0, 2.0]), 2, 3)
L.add(T([1.0, 2.0]), T(2), T([3.0, 4.0]))
L.add(1, 2, T([3.0, 4.0]))
L.add(T([1, 2]), 2.5, T([3, 4]))
L.add(T([1.0, 2.0]), T([3.0, 4.0]), 2)
L.add(T([1.0, 2.0]), 2, T([3.0, 4.0]), out=L.zeros(2))
L.add(T([1.0, 2.0]), 2, T([3.0, 4.0]), alpha=2)
T([1.0, 2.0]).add(2, 3)
L.sub(T([1.0, 2.0]), 2, 3)
L.sub(T([1.0, 2.0]), T([3.0, 4.0]), 2)
L.rsub(T([1.0, 2.0]), 2, 3)
L.mul(T([1.0, 2.0]), 2, T([3.0, 4.0]))
L.ones(6).view(size=(2, 3))
L.ones(6).view(dtype=L.int32)
L.ones(6).view(sizes=(2, 3))
T([1, 2, 3]).repeat(repeats=(2, 2))
T([1, 2, 3]).repeat(sizes=(2, 2))
L.ones(2, 3).sum_to_size(size=(1, 3))
L.ones(2, 3).new_zeros(size=(2,))
L.manual_seed(0); L.randint(10, size=(3,))
L.manual_seed(0); L.randint(10, (3,))
L.manual_seed(0); L.randint(5, 10, size=(3,))
L.manual_seed(0); L.randint(high=10, size=(3,))
L.randint(10)
L.randint(size=(3,))
F.avg_pool1d(L.ones(1, 2, 4), 2, [])
F.avg_pool3d(L.ones(1, 2, 4, 4, 4), 2, ())
"""

EDGES = """
L.index_put(L.zeros(3), (T([True, False, True]),), T([2]))
L.index_put(L.zeros(2, 3), (T([True, False]),), T(2, dtype=L.float64))
L.index_put(L.zeros(3), (T([True, False, True]),), T([2, 3]))
L.index_put(L.zeros(3), (T([True, False, True]),), T([2]), accumulate=True)
L.index_put(L.zeros(3), (T([0, 2]),), T([2]))
X = L.zeros(3, dtype=L.int64); X.index_put_((T([True, False, True]),), T(2.5)); X
F.adaptive_avg_pool1d(L.ones(1, 2, 4, dtype=L.complex64), 1)
F.adaptive_avg_pool2d(L.ones(1, 2, 4, 4, dtype=L.complex64), 1)
F.adaptive_avg_pool3d(L.ones(1, 2, 4, 4, 4, dtype=L.complex64), (1, 1, 1))
F.adaptive_avg_pool2d(L.ones(1, 2, 4, 4, dtype=L.complex64), (1, 2)).shape
F.adaptive_avg_pool2d(L.ones(1, 2, 4, 4, dtype=L.int64), (1, 2)).shape
F.embedding(T([0, 1]), L.ones(4, 1).expand(4, 3), max_norm=1.0)
X = L.ones(4, 3); F.embedding(T([0, 1]), X[::2], max_norm=1.0); X
"""

SIZES_AND_STEPS = """
F.avg_pool1d(L.arange(5.0).reshape(1, 1, 5), np.int64(2), np.int64(1))
F.max_pool2d(L.arange(9.0).reshape(1, 1, 3, 3), 2, np.int64(1))
F.max_pool3d(L.ones(1, 1, 3, 3, 3), 2, np.int64(1))
F.unfold(L.ones(1, 1, 5, 5), 2, 1, (1,))
F.unfold(L.ones(1, 1, 5, 5), 2, [1], 1)
F.unfold(L.ones(1, 1, 5, 5), (2,))
F.fold(L.ones(1, 4, 16), (5,), 2)
L.vdot(T(1.0), L.ones(3))
L.vdot(L.ones(3), T(1.0))
L.gradient(L.arange(4.0) ** 2, spacing=T(2.0))
L.gradient(L.arange(4.0) ** 2, spacing=T(2))
L.gradient(L.ones(3, 3).cumsum(0), spacing=np.float32(0.3))
L.gradient(L.arange(4.0) ** 2, spacing=True)
L.histc(T([3.0, 4.0, 5.0]), T(3), T(0.0), T(6.0))
L.round(T([3.14159, 2.71828]), decimals=T(2))
L.round(T([3.14159, 2.71828]), decimals=np.int64(2))
L.round(T([3.14159]), decimals=1.5)
L.fft.fftn(L.eye(3), dim=np.int64(-2)).real
L.fft.rfftn(L.eye(3), dim=np.int64(0)).real
F.normalize(T([[3.0, 4.0]], dtype=L.float64), p=T(2.5))
F.rms_norm(L.arange(6.0).reshape(2, 3), (3,), L.ones(3, dtype=L.float64))
x = L.eye(2); L.cdist(x, x + T([[0.0], [float("nan")]]), p=0.0).isnan()
F.pdist(T([[1.0, 2.0], [float("nan"), 2.0], [1.0, 1.0]]), p=0.0).isnan()
L.linalg.lu_solve(L.eye(3), L.ones(2, 3, dtype=L.int32), L.ones(3, 1))
L.linalg.lu_solve(L.eye(3).expand(2, 3, 3), T([1, 2, 3]).int(), L.ones(2, 3, 1))
"""

FACTORS_AS_TENSORS = """
L.addcmul(T([1, 2]).int(), T([1, 2]).int(), T([3, 4]).int(), value=T(2))
L.addcmul(T([1.0]), T([2.0]), T([3.0]), value=T(2, dtype=L.float64))
L.addcdiv(T([1.0]), T([2.0]), T([3.0]), value=T(2, dtype=L.float64))
L.addmm(L.ones(2, 2).int(), L.ones(2, 2).int(), L.ones(2, 2).int(), beta=T(3), alpha=T(2))
L.addmv(L.ones(2).int(), L.ones(2, 2).int(), L.ones(2).int(), beta=T(3), alpha=T(2))
L.baddbmm(L.ones(1, 2, 2), L.ones(1, 2, 2), L.ones(1, 2, 2), alpha=T(2, dtype=L.float64))
L.addr(T(True), T([True, False]), T([True, True, False]), beta=3, alpha=T(2))
F.elu(T([-1.0, 2.0]), T(2, dtype=L.float64))
F.leaky_relu(T([-1.0, 2.0]), T(0.5, dtype=L.float64))
L.addcmul(T([5, 6], dtype=L.uint8), T([3, 1], dtype=L.uint8), T([2, 1], dtype=L.uint8), value=-2)
L.addcmul(T([5, 6], dtype=L.uint8), T([3, 1], dtype=L.uint8), T([2, 1], dtype=L.uint8), value=300)
L.lerp(T([1.0 + 1j]), T([3.0 + 0j]), T(0.5 + 0j, dtype=L.complex128))
T([1.0 + 1j], dtype=L.complex128).lerp_(T([3.0 + 0j], dtype=L.complex128), T(0.5 + 0j))
L.mvlgamma(T([2.75], dtype=L.float64), T(3))
L.tril_indices(3, T(2)), L.triu_indices(T(3), 2, T(1)), L.tril_indices(T(3), T(4), T(-1))
L.fft.fftshift(L.arange(5), dim=T(0)), L.fft.ifftshift(L.ones(2, 3).cumsum(1), dim=T(1))
"""

SIZES_OF_OTHERS = """
L.Size((2, T(5))), L.Size(T([2, 3])), L.Size((2, np.int64(5)))
L.zeros(L.Size((T(2), 1))).shape + (T(3),)
L.Size((2, 2.5))
L.Size((2, "a"))
L.Size((2, T(2.5)))
L.Size((2, T([2, 3])))
X = (1, T(4)) + L.Size([2]); X, type(X) is L.Size
X = L.Size([2]) * 2; X, type(X) is L.Size, type(3 * X) is L.Size
type(L.Size([2]) + (4,)) is L.Size, type(L.Size([2, 3])[:1]) is L.Size, L.Size(), hash(L.Size([2]))
"""

TYPES_BY_CLASS = """
T([1, 2]).type(L.Tensor)
T([1.5, 2.5], dtype=L.float64).type("torch.Tensor")
T([1.5, 2.5]).type(L.IntTensor)
"""

BYTES_AS_MASKS = """
L.arange(3)[T([1, 0, 7], dtype=L.uint8)]
L.arange(6).reshape(2, 3)[:, T([1, 0, 1], dtype=L.uint8)]
L.arange(6).reshape(2, 3)[T([[1, 0, 1], [0, 1, 0]], dtype=L.uint8)]
L.arange(3)[T([[1, 0, 1]], dtype=L.uint8)]
L.arange(6).reshape(2, 3)[T(1, dtype=L.uint8)]
L.arange(6).reshape(2, 3)[:, T(0, dtype=L.uint8)]
X = L.zeros(3); X[T([1, 0, 1], dtype=L.uint8)] = T([5.0, 6.0]); X
X = L.zeros(3); X[T(1, dtype=L.uint8)] = T([5.0, 6.0, 7.0]); X
L.index_put(L.zeros(3), (T([1, 0, 1], dtype=L.uint8),), T([2.0, 3.0]))
X = L.ones(3).requires_grad_(); L.autograd.grad(X[T([1, 0, 1], dtype=L.uint8)].sum(), X)
L.arange(3)[T(2, dtype=L.int8)], L.arange(3)[T([2, 0])], L.arange(3)[T([0.0])]
"""

LISTS_OF_INDICES = """
L.arange(12).reshape(3, 4)[[[0, 1], [2, 3]]]
L.arange(12).reshape(3, 4)[[[0, 1]]]
L.arange(12).reshape(3, 4)[[(0, 1), (1, 2)]]
L.arange(12).reshape(3, 4)[[0, [1, 2]]]
L.arange(12).reshape(3, 4)[[range(2), 1]]
L.arange(12).reshape(3, 4)[[np.array([0, 1]), np.array([1, 2])]]
L.arange(12).reshape(3, 4)[[np.int64(0), np.int64(2)]]
L.arange(12).reshape(3, 4)[[[True, False, True]]]
L.arange(12).reshape(3, 4)[[[[0, 1]], [[2], [3]]]]
L.arange(12).reshape(3, 4)[[[0]] * 31]
L.arange(12).reshape(3, 4)[[[0]] * 32].shape
L.arange(12).reshape(3, 4)[[2, 0]], L.arange(12).reshape(3, 4)[[]].shape
X = L.zeros(3, 4); X[[[0, 1], [2, 3]]] = 5.0; X
"""

SHAPES_OF_THE_OTHER = """
L.trapezoid(T([3.0, 1.0]), T([[1.0, 2.0, 4.0], [3.0, 4.0, 7.0]]))
L.trapezoid(L.ones(2, 2), L.arange(18.0).reshape(2, 3, 3) ** 2, dim=-1)
L.trapezoid(L.ones(2, 3).cumsum(1), L.arange(6.0).reshape(1, 2, 3) ** 2, dim=0)
L.cumulative_trapezoid(L.arange(6.0), L.arange(6.0).reshape(6, 1))
L.cumulative_trapezoid(L.ones(2, 3).cumsum(1), L.arange(6.0).reshape(2, 3) ** 2, dim=-2)
L.triangular_solve(L.ones(2, 3, 1), L.eye(3))
L.triangular_solve(L.ones(3, 1), L.eye(3).expand(2, 3, 3))
F.multilabel_soft_margin_loss(L.arange(5.0), L.arange(5.0) / 5, weight=L.arange(10.0).reshape(2, 5))
F.multilabel_soft_margin_loss(L.arange(2.0), T([[0.0, 1.0], [1.0, 1.0]]), reduction="none")
F.linear_cross_entropy(L.zeros(8, 0), L.zeros(4, 0), L.zeros(8).long())
L.scatter(T(1.0), 0, T(0), T([2.0, 3.0]))
L.scatter_add(T([1.0, 2.0]), 0, T(1), T([2.0, 3.0]))
L.zeros(0, 3).long().floor_divide(T(0)).shape, (L.zeros(0, 3).long() % T([0])).shape
L.fmod(L.zeros(0, 3).long(), 0).shape, L.div(L.zeros(0).long(), T(0), rounding_mode="trunc").shape
L.zeros(0, 0).as_strided((2, 0), (1, 2), 1).shape, L.ones(3)[1:].as_strided((2, 0), (1, 2), 9).shape
L.as_strided_scatter(L.arange(9)[3:], T([[-1, -2]]), (1, 2), (1, 2), 2)
L.as_strided_scatter(L.arange(9)[3:], T([[-1, -2]]), (1, 2), (1, 2))
L.as_strided_scatter(L.arange(9)[1::2], T([[-1, -2]]), (1, 2), (1, 2), 0)
L.as_strided_scatter(L.arange(9)[1::2], T([[-1, -2]]), (1, 2), (1, 3), 3)
L.as_strided_scatter(L.arange(9)[1::2], T([[-1, -2]]), (1, 2), (1, 2), 7)
L.as_strided_scatter(L.arange(9).reshape(3, 3)[1:, 1:].t(), T([[-1, -2]]), (1, 2), (1, 4), 4)
"""

EDGES_OF_GRADIENTS = """
x = T([[[1.0, 2], [3, 4]], [[3, 1], [1, 2]]]).requires_grad_(); L.autograd.grad(L.logdet(x)[1:], x)
x = T([[1.0, 2], [3, 4]]).requires_grad_(); L.autograd.grad(L.logdet(x), x)
x = T([[1.0, 2.0, 1.0]], requires_grad=True); L.autograd.grad(F.multi_margin_loss(x, T([1])), x)
x = T([[1.0, 2.0]], requires_grad=True); L.autograd.grad(F.multi_margin_loss(x, T([1]), p=2), x)
x = T([1.0, 2.0], requires_grad=True); L.autograd.grad(F.multilabel_margin_loss(x, T([1, -1])), x)
x = T([0.0, 1.0, 0.5], requires_grad=True); bce2(x, T([0.0, 1.0, 0.0]), x)
y = T([0.25, 1.0], requires_grad=True); bce2(T([0.5, 0.75]).requires_grad_(), y, y)
x = L.arange(6.0).reshape(1, 6, 1).square().requires_grad_(); group_norm3(x)
"""

INTEGERS_AT_THEIR_ENDS = """
T([1, 2, 3], dtype=L.int32) << 31
T([1, 2, 3], dtype=L.int32) << 32
T([1, -2, 3], dtype=L.int32) << -1
T([1, -2, 3], dtype=L.int32) >> 32
T([1, -2, 3], dtype=L.int32) >> -1
T([1, -2, 3]) << 64
T([1, -2, 3]) >> 64
T([1, 2, 255], dtype=L.uint8) << 8
T([1, 2, 255], dtype=L.uint8) >> 9
T([1, -2, 127], dtype=L.int8) << 7
T([1, -2, 127], dtype=L.int8) >> 8
L.bitwise_left_shift(T([1, 2]), T([63, 64]))
L.bitwise_right_shift(T([-1, 2], dtype=L.int16), T([15, 16], dtype=L.int16))
T([True, False]) << 1
T([1.0, 2.0]) << 1
T([1, 2]) << 1.5
T([1, 2]) ** -1
T([1, 2, -1, 0, -2]) ** T([-1, -2, -3, -1, -1])
T([2, 1], dtype=L.uint8) ** T([7, 8], dtype=L.uint8)
2 ** T([-1, 2])
T([True, False]) ** T([True, False])
T([1, 2]).pow_(2.5)
T([1, 2]) // 0
T([1, 2]) % T([0, 1])
L.fmod(T([1, 2]), 0)
L.div(T([1, 2]), 0, rounding_mode="trunc")
T([True, False]) // False
T([1.0, -1.0]) // 0
T([-(2**63)]) // -1
T([-(2**63)]) % -1
T([-128], dtype=L.int8) // -1
L.clamp(T([1, 2, 3], dtype=L.uint8), min=-1)
L.clamp(T([1, 2]), min=T([1.5, 2.5]))
L.clamp(T([1.0, float("nan")]), 0, 1).isnan()
L.clamp(T([1, 2]), 3, 1)
L.clamp(T([1, 2]))
"""


def plain(value: Any) -> Any:
    """A result of either library in Python's own terms."""
    if hasattr(value, "detach"):
        array = value.detach().cpu().numpy()
        return array.dtype.name, np.round(array, 5).tolist()
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value


def second_of_bce(library: Any, x: Any, y: Any, by: Any) -> Any:
    """The derivative by ``by`` of the derivative of the binary cross entropy by ``x``."""
    loss = library.nn.functional.binary_cross_entropy(x, y)
    first = library.autograd.grad(loss, x, create_graph=True)[0]
    return library.autograd.grad(first.sum(), by)


def slope_of_all(library: Any, x: Any) -> Any:
    """The gradient of all that ``native_group_norm`` gives."""
    out, mean, scale = library.native_group_norm(x, None, None, 1, 6, 1, 2, 1e-5)
    return library.autograd.grad((out**2).sum() + mean.sum() + (scale**3).sum(), x)


def outcome(library: Any, line: str) -> Any:
    """What a line gives, or the type of its error and what is told of a missing kernel."""
    names = {"L": library, "F": library.nn.functional, "T": library.tensor, "np": np}
    names["bce2"] = functools.partial(second_of_bce, library)
    names["group_norm3"] = functools.partial(slope_of_all, library)
    *before, last = line.split(";")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(";".join(before), names)
            return plain(eval(last.strip(), names))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return type(error).__name__, re.findall('"\\w+" not implemented for .*', str(error))


LINES = (
    PRODUCTS_OF_BOOLS + NUMBERS_IN_THEIR_PLACE + KINDS_WITHOUT_A_KERNEL + RESULTS_WRITTEN
    + PYTHONS_OWN + FORMER_AND_NAMED_PLACES + SIZES_AND_STEPS + EDGES + EDGES_OF_GRADIENTS
    + INTEGERS_AT_THEIR_ENDS + FACTORS_AS_TENSORS + BYTES_AS_MASKS + LISTS_OF_INDICES
    + SIZES_OF_OTHERS + TYPES_BY_CLASS + SHAPES_OF_THE_OTHER
)  # fmt: skip


@pytest.mark.parametrize("line", LINES.strip().replace("\n\n", "\n").split("\n"))
def test_outcome_is_pytorchs(torch: Any, line: str) -> None:
    assert outcome(tt, line) == outcome(torch, line)


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
def test_refused_as_in_pytorch(torch: Any, name: str) -> None:
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
def test_taken_as_in_pytorch(torch: Any, name: str) -> None:
    ours, theirs = (TAKEN[name](library) for library in (tt, torch))
    np.testing.assert_allclose(
        np.asarray(ours.tolist()), np.asarray(theirs.tolist()), rtol=1e-6, atol=1e-7
    )
