"""Calls that PyTorch refuses, and that would otherwise give a number nobody asked for."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tinytorch as tt

pytestmark = pytest.mark.torch

#: A call with a library ``L`` and its ``nn.functional`` as ``F``, the error, and its key phrase.
REFUSED = """
F.fractional_max_pool2d(L.ones(2, 7, 7), (1,), 3) | RuntimeError | kernel_size must either be
F.fractional_max_pool3d(L.ones(2, 7, 7, 7), 1, (3,)) | RuntimeError | output_size must either be a
F.fractional_max_pool2d(L.ones(2, 7, 7), 2, (3, 9)) | RuntimeError | relative to input width 7
F.fractional_max_pool3d(L.ones(2, 7, 7, 7), 2, (9, 3, 3)) | RuntimeError | relative to input time 7
F.fractional_max_pool2d(L.ones(1, 0, 9, 9), 2, 3) | RuntimeError | Expected input to have non-zero
F.adaptive_avg_pool3d(L.ones(2, 0, 4, 4, 4), 2) | RuntimeError | Expected input to have non-zero
F.max_pool2d(L.ones(2, 2), 1) | RuntimeError | non-empty 3D or 4D (batch mode) tensor expected for
F.avg_pool3d(L.ones(2, 2, 2), 1) | RuntimeError | non-empty 4D or 5D (batch mode) tensor expected
F.embedding_bag(L.tensor([[4, 1]]), L.ones(4, 3), mode="max") | RuntimeError | idx < num_embeddings
F.embedding_bag(L.tensor([[-1, 1]]), L.ones(4, 3), padding_idx=0) | RuntimeError | Expected idx >= 0
L.nn.utils.rnn.pack_padded_sequence(L.ones(0, 1), L.ones(1, 2, 3)) | RuntimeError | empty tensors
L.nn.utils.weight_norm(L.nn.LazyLinear(2)) | ValueError | can't have uninitialized parameters
L.nn.utils.spectral_norm(L.nn.LazyLinear(2)) | ValueError | can't have uninitialized parameters
F.ctc_loss(L.rand(0, 0, 4), *[L.tensor([], dtype=L.int64)] * 3) | RuntimeError | must not be empty
F.cosine_similarity(L.ones(2), L.ones(2), 0, -1.0) | RuntimeError | eps must be non-negative
F.pixel_shuffle(L.ones(1, 4, 2, 2), 2**32) | ValueError | upscale factor is too large
F.fold(L.ones(1, 12, 12), (4, 5), 2, 8) | RuntimeError | as (-4, -3), which is too small
F.fold(L.ones(3, 7), 16, 2**32) | RuntimeError | kernel_width and kernel_height overflowed
F.fractional_max_pool2d(L.ones(1, 9, 9), 2, None, [0.5] * 3) | ValueError | requires output_ratio
F.interpolate(L.ones(1, 1, 4, 4), scale_factor=1e20, mode="bilinear") | RuntimeError | overflow
F.interpolate(L.ones(1, 1, 4, 4), scale_factor=-1e20) | RuntimeError | overflow
F.interpolate(L.ones(1, 1, 4), scale_factor=float("nan")) | RuntimeError | overflow
F.grid_sample(L.ones(1, 2, 2), L.ones(1, 1, 1, 2)) | RuntimeError | to have size 1 in last dimension
F.grid_sample(L.ones(1, 1, 0, 2), L.ones(1, 1, 1, 2)) | RuntimeError | dimension 2 being empty
L.lstm_cell(L.ones(1, 2), [L.ones(1, 3)] * 2, L.ones(9, 2), L.ones(12, 3)) | RuntimeError | _ih
L.lstm_cell(L.ones(1, 2), [L.ones(1, 3)] * 2, L.ones(12, 2), L.ones(9, 3)) | RuntimeError | _hh
L.gru_cell(L.ones(1, 2), L.ones(1, 3), L.ones(8, 2), L.ones(9, 3)) | RuntimeError | weight_ih first
L.rnn_relu_cell(L.ones(1, 2), L.ones(1, 3), L.ones(3, 2), L.ones(4, 3)) | RuntimeError | weight_hh
L.rnn_tanh_cell(L.ones(1, 2), L.ones(1, 3), L.ones(4, 2), L.ones(3, 3)) | RuntimeError | weight_ih
L.nn.Linear(1, 1).to("cpu", copy=True) | RuntimeError | does not accept copy argument
L.zeros(2, 3).movedim([True], [0]) | TypeError |
F.layer_norm(L.ones(2, 4), (4,), eps=2 + 0j) | TypeError | must be float, not complex
F.group_norm(L.ones(1, 2, 3), 1, eps=2 + 0j) | TypeError | must be float, not complex
F.batch_norm(L.ones(2, 3), L.zeros(3), L.ones(3), momentum=0j) | TypeError | must be float
F.pairwise_distance(L.ones(2), L.ones(2), p=2 + 0j) | TypeError | must be float, not complex
F.triplet_margin_loss(*[L.ones(2, 3)] * 3, margin=1j) | TypeError |
F.poisson_nll_loss(L.ones(2), L.ones(2), eps=1j) | TypeError | must be float, not complex
F.dropout(L.ones(2), p=0j) | TypeError |
L.nan_to_num(L.ones(2), nan=1j) | TypeError | must be float, not complex
L.logit(L.ones(2), eps=0j) | TypeError | must be float, not complex
F.group_norm(L.ones(1, 2, 3), True) | TypeError | must be int, not bool
F.local_response_norm(L.ones(1, 4, 4, 4), True) | TypeError | must be
L.ones(2).float_power_(2) | RuntimeError | has dtype Float but the operation's result requires
L.ones(2, dtype=L.int64).float_power_(2) | RuntimeError | has dtype Long but the operation's result
L.ones(2, dtype=L.complex64).float_power_(2) | RuntimeError | result requires dtype ComplexDouble
L.ones(2, dtype=L.float64).float_power_(2j) | RuntimeError | result requires dtype ComplexDouble
L.ones(2).masked_fill(L.ones(2) > 0, L.tensor(2 + 1j)) | RuntimeError | without overflow
L.normal(0.0, 1.0, (2,), dtype=L.float64, out=L.empty(2)) | RuntimeError | does not match dtype
L.normal(L.zeros(2), L.ones(2), dtype=L.float64) | TypeError | invalid combination of arguments
L.zeros(2, 2).scatter(0, L.zeros(1, 2, dtype=L.int64), L.ones(2)) | IndexError |
L.zeros(2, 2).scatter_add(0, L.zeros(1, 2, dtype=L.int64), L.ones(2)) | IndexError |
F.unfold(L.ones(2, 2), 2) | IndexError |
L.zeros(2, 3).movedim(True, 0) | TypeError |
L.tensor_split(L.zeros(4, 3), [True, 2]) | TypeError |
L.tensor_split(L.zeros(4, 3), True) | TypeError |
L.hsplit(L.zeros(4), True) | TypeError |
L.layer_norm(L.ones(2, 1), [True]) | TypeError |
F.layer_norm(L.ones(2, 1), (True,)) | TypeError |
F.rms_norm(L.ones(2, 1), (True,)) | TypeError |
F.channel_shuffle(L.ones(1, 4, 2, 2), True) | TypeError | must be int, not bool
F.pixel_shuffle(L.ones(1, 4, 2, 2), True) | TypeError | must be int, not bool
F.pixel_unshuffle(L.ones(1, 1, 2, 2), 0.5) | TypeError | must be int, not float
F.cross_entropy(L.ones(2, 3), L.ones(2, 3), reduction="x") | ValueError | not a valid value for
L.chain_matmul() | RuntimeError | chain_matmul(): Expected one or more matrices
L.dot(L.ones(1), L.ones(3, dtype=L.int32)) | RuntimeError | both vectors to have same dtype
L.fft.rfftn(L.ones(2, dtype=L.complex64)) | RuntimeError | rfftn expects a real-valued input
L.sum(L.ones(2, 3), (1, -1)) | RuntimeError | dim 1 appears multiple times in the list of dims
L.linalg.norm(L.ones(3), None, (0, 0)) | RuntimeError | dim 0 appears multiple times in the list of
L.norm(L.ones(3), "nuc", (0, 1)) | RuntimeError | input tensor A must have at least 2 dimensions
L.norm(L.ones(2, 3), "nuc", (0, 0)) | RuntimeError | linalg.matrix_norm: dims must be different
L.linalg.lstsq(L.ones(2, 3), L.ones(3)) | RuntimeError | input.size(-2) should match other.size(-1)
L.linalg.tensorsolve(L.ones(4, 6, 8, 3), L.ones(4, 8)) | RuntimeError | but got 24 != 32
L.linalg.pinv(L.eye(2), out=L.eye(2, dtype=L.int32)) | RuntimeError | safely castable from Float
L.cholesky_inverse(L.eye(2), out=L.eye(2).int()) | RuntimeError | safely castable from Float
L.cholesky_solve(L.eye(2), L.eye(2), out=L.eye(2).int()) | RuntimeError | safely castable from Float
L.geqrf(L.eye(2), out=(L.ones(2).int(), L.ones(2))) | RuntimeError | safely castable from Float
L.zeros(2).put(L.tensor([0]), L.ones(2)) | IndexError | Expected source and index to have
L.fft.fftfreq(0.5) | TypeError | must be int, not float
L.fft.rfftfreq(True) | TypeError | must be int, not bool
L.fft.fftfreq(-1) | RuntimeError | negative dimension
L.bartlett_window(5.5) | TypeError | must be int, not float
L.kaiser_window(5.5) | TypeError | must be int, not float
L.rot90(L.ones(2, 2), 1.5) | TypeError | must be int, not float
L.cov(L.ones(3, 3), correction=1.5) | TypeError | must be int, not float
F.avg_pool2d(L.ones(1, 4, 4), 2, divisor_override=1.5) | TypeError | must be int, not float
L.ones(4).unfold(0, 2, 1.5) | TypeError | must be int, not float
L.histogram(L.ones(2), 2.5) | TypeError |
L.histogram(L.ones(2), L.ones(1)) | RuntimeError | bins must be > 0
L.nonzero_static(L.ones(2), size=3, fill_value=1.5) | TypeError | must be int, not float
L.unravel_index(L.tensor([1]), (2.0, 3)) | TypeError | expected 'shape' sequence to only contain
L.unravel_index(L.tensor([1]), 2.0) | TypeError | expected 'shape' to be int or sequence of ints
L.tensor([L.tensor([1, 2])]) | TypeError | only integer tensors of a single element can be converted
L.tensor([True, L.tensor([])], dtype=L.bool) | TypeError | only integer tensors of a single element
L.tensor([1, L.tensor([1, 2])], dtype=L.float32) | ValueError | only one element tensors can be
L.tensor([L.tensor([1, 2]), 3.5]) | ValueError | only one element tensors can be converted to Python
x = []; x.append([x]); L.tensor(x) | ValueError | too many dimensions 'list'
L.tensor({1: 2}) | RuntimeError | Could not infer dtype of dict
L.ones(2, 3)[..., ..., 0] | IndexError |
L.ones(2, 3)[..., ..., None] | IndexError | Dimension out of range
L.empty(10, 0)[[0, 1], [0, 0]] | IndexError | out of bounds for dimension with size 0
L.empty([0, 4, 2**61]) | RuntimeError | Stride calculation overflowed
L.empty(0).resize_([0, 4, 2**61]) | RuntimeError | Stride calculation overflowed
L.ones(4).tensor_split(L.tensor(1.1)) | RuntimeError | to have dtype of long, but got Float
L.ones(4).tensor_split(L.tensor([[1]])) | RuntimeError | but got a tensor with 2 dims
L.ones(3, 4).index_copy(0, L.tensor([0]), L.ones(4)) | IndexError | dimensionality must match
L.ones(4).put(L.tensor([0]), L.ones(2)) | IndexError | to have the same number of elements
L.ones(4).as_strided((-1,), (1,)) | RuntimeError |
L.tensor(float("nan"), dtype=L.int64) | RuntimeError | value cannot be converted to type int64
L.trapezoid(L.ones(3), x=L.ones(3), dx=1) | TypeError | received an invalid combination of arguments
L.cumulative_trapezoid(L.ones(3), x=L.ones(3), dx=1) | TypeError | invalid combination of arguments
L.from_numpy(L.ones(2).numpy().astype(">f4")) | ValueError | byte order different from the native
L.norm(L.empty(0), -1) | RuntimeError | cannot compute the -1 norm
L.norm(L.empty(0, 3), -0.5, 0) | RuntimeError | does not have an identity
L.hash_tensor(L.empty(0, 3), 0) | IndexError | Expected reduction dim 0 to have non-zero size
L.searchsorted(L.ones(2, 3), 1.0) | RuntimeError | input value can be a scalar only when boundaries
L.searchsorted(L.tensor(1.0), L.ones(3)) | RuntimeError | boundaries tensor should have positive dim
L.searchsorted(L.ones(2), L.ones(3), sorter=L.tensor([0])) | RuntimeError | must have the same size
L.searchsorted(L.ones(2), L.ones(3), sorter=L.ones(2)) | RuntimeError | sorter must be a tensor
L.view_as_complex(L.ones(())) | RuntimeError | Input tensor must have one or more dimensions
L.view_as_complex(L.ones(2, dtype=L.int32)) | RuntimeError | tensor of scalar type: Int
L.ones(20, 20)[:, 1:5].view(L.float64) | RuntimeError | self.storage_offset() must be divisible by 2
L.ones(20).to(L.int8)[3:11].view(L.int32) | RuntimeError | storage_offset() must be divisible by 4
L.asarray(L.ones(2).numpy().sum(), copy=False) | RuntimeError | can't alias NumPy scalars
L.unravel_index(L.tensor([1]), (2, 0)) | RuntimeError |
L.unravel_index(L.tensor([1]), L.tensor([1, 2])) | TypeError | 'shape' to be int or sequence
L.zeros([]).index_put((L.tensor([True]),), L.ones(2)) | IndexError |
L.zeros(3).index_put((L.tensor([0, 1]),), L.ones(3)) | RuntimeError | shape mismatch: value
L.zeros(3).index_put((L.tensor([0, 1]),), L.ones(3), True) | RuntimeError | cannot be broadcast to
L.zeros(1, 1, 2).index_put((L.ones(1, 1, 2) > 0,), L.ones(1, 1, 2)) | RuntimeError | shape mismatch:
L.zeros(3).index_put((L.ones(3) > 0,), L.ones(2)) | RuntimeError | shape mismatch: value tensor of
L.zeros([]).index_put([], L.ones(1), True) | RuntimeError |
L.empty(2**62, 4) | RuntimeError | Storage size calculation overflowed with sizes=
L.zeros(3).resize_(2**62, 2**62) | RuntimeError | overflow
L.view_as_complex(L.as_strided(L.zeros(9), (2, 2), (1, 1))) | RuntimeError | stride divisible by 2
L.complex(L.ones(2), L.ones(2).double()) | RuntimeError | Float but got scalar type Double
L.polar(L.arange(2), L.arange(2)) | RuntimeError | Float or Double tensors but got Long and Long
L.meshgrid() | RuntimeError | expects a non-empty TensorList
L.linspace("a", 2, 3) | TypeError | linspace() received an invalid combination of arguments
L.logspace(1, 2, "a") | TypeError | logspace() received an invalid combination of arguments
L.tensor_split(L.ones(4), L.tensor(2.0)) | RuntimeError | to have dtype of long
L.diff(L.ones(3, 3), 0, 0, L.ones(3)) | RuntimeError | to be the same dimension as input
L.diff(L.ones(3, 3), prepend=L.ones(2, 3)) | RuntimeError | input.size(0) = 3, but got tensor
L.diff(L.ones(3, 3), 2, 0, None, L.ones(3, 2)) | RuntimeError | along the differencing
L.index_select(L.zeros(0, 3), 0, L.tensor([1])) | RuntimeError | self indexing axis dim should be
L.zeros(2, 0).index_select(1, L.tensor([0])) | RuntimeError | self indexing axis dim should be
L.zeros(0, 3).index_select(1, L.tensor([5])) | RuntimeError | out of
L.ones(2).index_select(0, L.tensor([2])) | IndexError | index out of range in self
L.add(L.ones(2), 1, alpha=L.tensor(2.0, requires_grad=True)) | TypeError | 'alpha' must be
L.isclose(*[L.ones(2)] * 2, 1.0, L.tensor(1.0, requires_grad=True)) | TypeError | 'atol' (positi
F.leaky_relu(L.ones(2), L.tensor(1.0, requires_grad=True)) | TypeError | 'negative_slope'
L.addcmul(*[L.ones(2)] * 3, value=L.tensor(1.0, requires_grad=True)) | TypeError | 'value' must be
L.Size([1]) + [2] | TypeError | can only concatenate tuple (not list) to torch.Size
[2] + L.Size([1]) | TypeError | can only concatenate list
L.Size([1]) + 3 | TypeError |
L.Size([1]) + (0.5,) | TypeError | torch.Size() takes an iterable of 'int'
L.LongTensor((6, 0), 1, 1, 0) | TypeError | new() received an invalid combination of arguments
L.Tensor(1.5, 2) | TypeError | new() received an invalid combination of arguments
L.FloatTensor(sizes=(1, 2)) | TypeError | new() received an invalid combination of arguments
L.ones(1).new(2.5) | TypeError | new(): data must be a sequence (got float)
L.set_num_threads(2**31) | ValueError | Overflow when unpacking long
type("Mine", (L.FloatTensor,), {}) | TypeError | type 'torch.FloatTensor' is not an acceptable base
L.diff(L.ones(3, 3), append=L.ones(3, 1, 1)) | RuntimeError | to be the same dimension as input
F.interpolate(L.ones(1, 1, 2, 2, 2), (3, 4), mode="bilinear") | ValueError | the same number of
F.interpolate(L.tensor(1.0), (3, 3)) | ValueError | the same number of spatial
F.pad(L.ones(2, 0, 3), (0, 1), "reflect") | RuntimeError | possibly 0 batch size
L.std(L.arange(4)) | RuntimeError | only support floating point and complex dtypes
L.std_mean(L.arange(4)) | RuntimeError | only support floating point and complex dtypes
L.mvlgamma(L.tensor([True]), 1) | RuntimeError | may not be a boolean tensor
L.deg2rad(L.ones(2).to(L.complex64)) | RuntimeError | not supported for complex tensors
L.rad2deg(L.ones(2).to(L.complex64)) | RuntimeError | not supported for complex tensors
L.trapezoid(L.tensor([True, False])) | RuntimeError | received a bool input for `y`
L.cumulative_trapezoid(L.tensor([True, False])) | RuntimeError | received a bool input for `y`
L.trapz(L.ones(2), L.tensor([True, False])) | RuntimeError | received a bool input for `x` or `y`
L.allclose(L.ones(2), L.ones(2), rtol=float("nan")) | RuntimeError | rtol must be
L.isclose(L.ones(2), L.ones(2), atol=float("nan")) | RuntimeError | atol must be
F.huber_loss(L.ones(2), L.ones(2), delta=float("nan")) | RuntimeError | non-positive values
L.squeeze(L.ones(1, 2), (0, -2)) | RuntimeError | dim 0 appears multiple times
L.tensordot(L.ones(2, 2), L.ones(2, 2), ([0, 0], [1, 1])) | RuntimeError | appears multiple times
L.flip(L.ones(2, 3, 4), (1, 0, -2)) | RuntimeError | appears multiple times
L.linalg.lstsq(L.ones(3, 2), L.ones(4, 3, 2)) | RuntimeError | input.dim() must be
L.ormqr(L.ones(2, 2), L.ones(2), L.ones(1, 2, 2)) | RuntimeError | same number of dimensions
L.ormqr(L.ones(5, 2), L.ones(1), L.ones(5, 2)) | RuntimeError | must be equal to min(
L.linalg.pinv(L.ones(2, 2), rtol=1j) | TypeError |
L.linalg.matrix_rank(L.ones(2, 2), rtol=L.tensor(1j)) | RuntimeError | of complex type
L.repeat_interleave(L.ones(4), 2, dim=0, output_size=6) | RuntimeError | expected 8 but got 6
F.affine_grid(L.zeros(1, 2, 3), (3, 1, 4, 4), False) | RuntimeError | but got: [1, 3]
F.affine_grid(L.zeros(2, 3, 4), (3, 1, 4, 4, 4), False) | RuntimeError | but got: [2, 4]
F.embedding_bag(L.tensor([1]), L.ones(3, 2), L.tensor([0.0])) | RuntimeError | types: Long, Int
F.embedding_bag(L.tensor([5]), L.ones(3, 2), L.tensor([0]), max_norm=1.0) | IndexError |
L.ones(2, 3).index_reduce(0, L.tensor([5]), L.ones(1, 3), "prod") | IndexError | out of range
L.ones(3)["a"] | TypeError | invalid data type 'str'
L.ones(3)[{}] | IndexError | only integers, slices
L.ones(3, 3)["a", 0] | TypeError | invalid data type
L.cat([L.ones(2), 3]) | TypeError | expected Tensor as element 1 in argument 0, but got int
L.cat([True, L.ones(2)]) | TypeError | expected Tensor as element 0 in argument 0, but got bool
L.cartesian_prod(L.ones(2), 3) | TypeError |
"""

#: Pivots that no factorisation gives: rows that do not exist would be read from the other end.
PIVOTS = """
L.linalg.lu_solve(L.eye(2), T([0, 1]), L.ones(2, 1)) | must all be greater or equal to 1
L.linalg.lu_solve(L.eye(2), T([1, 3]), L.ones(2, 1)) | must all be smaller or equal to LU.size(-2)
L.lu_solve(L.ones(2, 1), L.eye(2), T([-1, 2])) | must all be greater or equal to 1
L.linalg.ldl_solve(L.eye(2), T([0, 1]), L.ones(2, 1)) | must all satisfy |pivot| >= 1
L.linalg.ldl_solve(L.eye(2), T([-3, -3]), L.ones(2, 1)) | must all satisfy |pivot| <= LD.size(-2)
"""

#: ``out=`` of a dtype that PyTorch does not cast the result to.
OTHER_DTYPES = """
L.any(L.ones(3), out=L.zeros((), dtype=L.float32)) | any only supports bool tensor for result
L.any(L.ones(3), 0, out=L.zeros((), dtype=L.int64)) | got: Long
L.all(L.ones(3), out=L.zeros((), dtype=L.complex64)) | all only supports bool tensor for result
L.lu_solve(L.ones(1, 1), L.eye(1), T([1]), out=L.zeros(1, 1).double()) | to have dtype
L.linalg.lu_solve(L.eye(1), T([1]), L.ones(1, 1), out=L.zeros(1, 1).double()) | to have dtype
L.complex(L.ones(2), L.ones(2), out=L.zeros(2, dtype=L.complex128)) |
L.polar(L.ones(2), L.ones(2), out=L.zeros(2, dtype=L.complex128)) |
L.hash_tensor(L.ones(2), out=L.zeros((), dtype=L.float64)) | Expected
"""

#: ``out=`` that shares memory with what is read.
OVERLAPS = """
B = L.ones(4, 3); L.addbmm(B[:3], L.ones(2, 3, 3), L.ones(2, 3, 3), out=B[1:])
B = L.ones(3, 3); L.cross(B[:2], B[1:], dim=1, out=B[:2])
B = L.ones(3, 3); L.cross(B, L.ones(3, 3), dim=1, out=B)
B = L.ones(3, 3); L.linalg.cross(L.ones(3, 3), B, out=B)
B = L.ones(3, 3); L.kron(B[:2], L.ones(1, 1), out=B[1:])
B = L.ones(4); L.normal(B[:3], 1.0, out=B[1:])
B = L.ones(4); L.normal(0.0, B[1:], out=B[:3])
B = L.ones(4); L.bernoulli(B[:3], out=B[1:])
"""

#: Writing where one element stands for many.
MANY_PLACES = """
X = L.as_strided(L.ones(3), (2, 3), (0, 1)); X.add_(1)
X = L.as_strided(L.ones(3), (2, 3), (0, 1)); X.asin_()
X = L.as_strided(L.ones(3), (2, 3), (0, 1)); X.copy_(L.ones(2, 3))
X = L.as_strided(L.ones(3), (2, 3), (0, 1)); L.add(L.ones(2, 3), 1, out=X)
"""

#: What looks much the same and is taken.
TAKEN = """
B = L.ones(3, 3); L.addbmm(B, L.ones(2, 3, 3), L.ones(2, 3, 3), out=B)
B = L.ones(3, 3); L.kron(B, L.ones(1, 1), out=B)
B = L.ones(3).byte(); L.any(B, 0, out=L.zeros((), dtype=L.bool))
B = L.ones(3); L.all(B, 0, out=L.zeros((), dtype=L.uint8))
B = L.zeros(2, 3); B.movedim([0, True], [1, False])
B = L.arange(4); L.tensor_split(B, [1, True])[1]
B = L.as_strided(L.ones(3), (2, 3), (0, 1))[0].add_(1)
B = L.as_strided(L.arange(3.0), (2, 2), (1, 1)) + 1
B = F.layer_norm(L.tensor([[1.0, 3.0]]), [2])
"""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def run(library: Any, program: str) -> Any:
    def integers(values: Any) -> Any:
        return library.tensor(values, dtype=library.int32)

    names = {"L": library, "F": library.nn.functional, "T": integers}
    before, _, last = program.rpartition("; ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(before or last, names)
        return eval(last, names) if before else names.get("B")


def refused(program: str, kind: type[Exception], phrase: str) -> None:
    import torch

    for library in (torch, tt):
        with pytest.raises(kind) as caught:
            run(library, program)
        assert phrase in str(caught.value)


@pytest.mark.parametrize("line", lines(REFUSED))
def test_what_has_no_meaning_is_refused(line: str) -> None:
    program, kind, phrase = line.split(" |", 2)
    errors = {kind.__name__: kind for kind in (TypeError, RuntimeError, IndexError, ValueError)}
    refused(program, errors[kind.strip()], phrase.strip())


@pytest.mark.parametrize("line", lines(PIVOTS) + lines(OTHER_DTYPES))
def test_pivots_and_dtypes_that_do_not_fit_are_refused(line: str) -> None:
    program, phrase = line.split(" |", 1)
    refused(program, RuntimeError, phrase.strip())


@pytest.mark.parametrize("program", lines(OVERLAPS))
def test_out_that_shares_memory_is_refused(program: str) -> None:
    refused(program, RuntimeError, "refer to a single memory location")


@pytest.mark.parametrize("program", lines(MANY_PLACES))
def test_one_element_that_stands_for_many_is_not_written(program: str) -> None:
    refused(program, RuntimeError, "more than one element of the written-to tensor")


@pytest.mark.parametrize("program", lines(TAKEN))
def test_what_looks_much_the_same_is_taken(torch: Any, program: str) -> None:
    assert run(tt, program).tolist() == run(torch, program).tolist()
