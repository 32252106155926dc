"""Calls that PyTorch refuses, and that would otherwise give a number nobody asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.calls import Call, words
from tests.oracles import assert_both_raise

Refused = list[tuple[Call, str]]

pytestmark = pytest.mark.torch


def within_itself(library: Any) -> Any:
    """A tensor of a list that holds itself."""
    x: list[Any] = []
    x.append([x])
    return library.tensor(x)


#: Calls of a library ``L`` and its ``nn.functional`` as ``F``, and the key phrase.
RUNTIME_ERRORS: Refused = [
    (lambda L, F: F.fractional_max_pool2d(L.ones(2, 7, 7), (1,), 3), "kernel_size must either be"),
    (
        lambda L, F: F.fractional_max_pool3d(L.ones(2, 7, 7, 7), 1, (3,)),
        "output_size must either be a",
    ),
    (lambda L, F: F.fractional_max_pool2d(L.ones(2, 7, 7), 2, (3, 9)), "relative to input width 7"),
    (
        lambda L, F: F.fractional_max_pool3d(L.ones(2, 7, 7, 7), 2, (9, 3, 3)),
        "relative to input time 7",
    ),
    (
        lambda L, F: F.fractional_max_pool2d(L.ones(1, 0, 9, 9), 2, 3),
        "Expected input to have non-zero",
    ),
    (
        lambda L, F: F.adaptive_avg_pool3d(L.ones(2, 0, 4, 4, 4), 2),
        "Expected input to have non-zero",
    ),
    (
        lambda L, F: F.max_pool2d(L.ones(2, 2), 1),
        "non-empty 3D or 4D (batch mode) tensor expected for",
    ),
    (
        lambda L, F: F.avg_pool3d(L.ones(2, 2, 2), 1),
        "non-empty 4D or 5D (batch mode) tensor expected",
    ),
    (
        lambda L, F: F.embedding_bag(L.tensor([[4, 1]]), L.ones(4, 3), mode="max"),
        "idx < num_embeddings",
    ),
    (
        lambda L, F: F.embedding_bag(L.tensor([[-1, 1]]), L.ones(4, 3), padding_idx=0),
        "Expected idx >= 0",
    ),
    (lambda L: L.nn.utils.rnn.pack_padded_sequence(L.ones(0, 1), L.ones(1, 2, 3)), "empty tensors"),
    (
        lambda L, F: F.ctc_loss(L.rand(0, 0, 4), *[L.tensor([], dtype=L.int64)] * 3),
        "must not be empty",
    ),
    (lambda L, F: F.cosine_similarity(L.ones(2), L.ones(2), 0, -1.0), "eps must be non-negative"),
    (lambda L, F: F.fold(L.ones(1, 12, 12), (4, 5), 2, 8), "as (-4, -3), which is too small"),
    (lambda L, F: F.fold(L.ones(3, 7), 16, 2**32), "kernel_width and kernel_height overflowed"),
    (
        lambda L, F: F.interpolate(L.ones(1, 1, 4, 4), scale_factor=1e20, mode="bilinear"),
        "overflow",
    ),
    (lambda L, F: F.interpolate(L.ones(1, 1, 4, 4), scale_factor=-1e20), "overflow"),
    (lambda L, F: F.interpolate(L.ones(1, 1, 4), scale_factor=float("nan")), "overflow"),
    (
        lambda L, F: F.grid_sample(L.ones(1, 2, 2), L.ones(1, 1, 1, 2)),
        "to have size 1 in last dimension",
    ),
    (lambda L, F: F.grid_sample(L.ones(1, 1, 0, 2), L.ones(1, 1, 1, 2)), "dimension 2 being empty"),
    (lambda L: L.lstm_cell(L.ones(1, 2), [L.ones(1, 3)] * 2, L.ones(9, 2), L.ones(12, 3)), "_ih"),
    (lambda L: L.lstm_cell(L.ones(1, 2), [L.ones(1, 3)] * 2, L.ones(12, 2), L.ones(9, 3)), "_hh"),
    (
        lambda L: L.gru_cell(L.ones(1, 2), L.ones(1, 3), L.ones(8, 2), L.ones(9, 3)),
        "weight_ih first",
    ),
    (
        lambda L: L.rnn_relu_cell(L.ones(1, 2), L.ones(1, 3), L.ones(3, 2), L.ones(4, 3)),
        "weight_hh",
    ),
    (
        lambda L: L.rnn_tanh_cell(L.ones(1, 2), L.ones(1, 3), L.ones(4, 2), L.ones(3, 3)),
        "weight_ih",
    ),
    (lambda L: L.nn.Linear(1, 1).to("cpu", copy=True), "does not accept copy argument"),
    (lambda L: L.ones(2).float_power_(2), "has dtype Float but the operation's result requires"),
    (
        lambda L: L.ones(2, dtype=L.int64).float_power_(2),
        "has dtype Long but the operation's result",
    ),
    (lambda L: L.ones(2, dtype=L.complex64).float_power_(2), "result requires dtype ComplexDouble"),
    (lambda L: L.ones(2, dtype=L.float64).float_power_(2j), "result requires dtype ComplexDouble"),
    (lambda L: L.ones(2).masked_fill(L.ones(2) > 0, L.tensor(2 + 1j)), "without overflow"),
    (lambda L: L.normal(0.0, 1.0, (2,), dtype=L.float64, out=L.empty(2)), "does not match dtype"),
    (lambda L: L.chain_matmul(), "chain_matmul(): Expected one or more matrices"),
    (lambda L: L.dot(L.ones(1), L.ones(3, dtype=L.int32)), "both vectors to have same dtype"),
    (lambda L: L.fft.rfftn(L.ones(2, dtype=L.complex64)), "rfftn expects a real-valued input"),
    (lambda L: L.sum(L.ones(2, 3), (1, -1)), "dim 1 appears multiple times in the list of dims"),
    (
        lambda L: L.linalg.norm(L.ones(3), None, (0, 0)),
        "dim 0 appears multiple times in the list of",
    ),
    (lambda L: L.norm(L.ones(3), "nuc", (0, 1)), "input tensor A must have at least 2 dimensions"),
    (lambda L: L.norm(L.ones(2, 3), "nuc", (0, 0)), "linalg.matrix_norm: dims must be different"),
    (
        lambda L: L.linalg.lstsq(L.ones(2, 3), L.ones(3)),
        "input.size(-2) should match other.size(-1)",
    ),
    (lambda L: L.linalg.tensorsolve(L.ones(4, 6, 8, 3), L.ones(4, 8)), "but got 24 != 32"),
    (lambda L: L.linalg.pinv(L.eye(2), out=L.eye(2, dtype=L.int32)), "safely castable from Float"),
    (lambda L: L.cholesky_inverse(L.eye(2), out=L.eye(2).int()), "safely castable from Float"),
    (
        lambda L: L.cholesky_solve(L.eye(2), L.eye(2), out=L.eye(2).int()),
        "safely castable from Float",
    ),
    (lambda L: L.geqrf(L.eye(2), out=(L.ones(2).int(), L.ones(2))), "safely castable from Float"),
    (lambda L: L.fft.fftfreq(-1), "negative dimension"),
    (lambda L: L.histogram(L.ones(2), L.ones(1)), "bins must be > 0"),
    (lambda L: L.tensor({1: 2}), "Could not infer dtype of dict"),
    (lambda L: L.empty([0, 4, 2**61]), "Stride calculation overflowed"),
    (lambda L: L.empty(0).resize_([0, 4, 2**61]), "Stride calculation overflowed"),
    (lambda L: L.ones(4).tensor_split(L.tensor(1.1)), "to have dtype of long, but got Float"),
    (lambda L: L.ones(4).tensor_split(L.tensor([[1]])), "but got a tensor with 2 dims"),
    (lambda L: L.ones(4).as_strided((-1,), (1,)), ""),
    (lambda L: L.tensor(float("nan"), dtype=L.int64), "value cannot be converted to type int64"),
    (lambda L: L.norm(L.empty(0), -1), "cannot compute the -1 norm"),
    (lambda L: L.norm(L.empty(0, 3), -0.5, 0), "does not have an identity"),
    (
        lambda L: L.searchsorted(L.ones(2, 3), 1.0),
        "input value can be a scalar only when boundaries",
    ),
    (
        lambda L: L.searchsorted(L.tensor(1.0), L.ones(3)),
        "boundaries tensor should have positive dim",
    ),
    (
        lambda L: L.searchsorted(L.ones(2), L.ones(3), sorter=L.tensor([0])),
        "must have the same size",
    ),
    (lambda L: L.searchsorted(L.ones(2), L.ones(3), sorter=L.ones(2)), "sorter must be a tensor"),
    (lambda L: L.mv(L.ones(2, 3), L.ones(2)), "size mismatch, got input (2), mat (2x3), vec (2)"),
    (lambda L: L.unique(L.zeros(0, 0, 2), dim=0), "Number of zero sized dimensions is more than"),
    (lambda L: L.view_as_complex(L.ones(())), "Input tensor must have one or more dimensions"),
    (lambda L: L.view_as_complex(L.ones(2, dtype=L.int32)), "tensor of scalar type: Int"),
    (
        lambda L: L.ones(20, 20)[:, 1:5].view(L.float64),
        "self.storage_offset() must be divisible by 2",
    ),
    (
        lambda L: L.ones(20).to(L.int8)[3:11].view(L.int32),
        "storage_offset() must be divisible by 4",
    ),
    (lambda L: L.asarray(L.ones(2).numpy().sum(), copy=False), "can't alias NumPy scalars"),
    (lambda L: L.unravel_index(L.tensor([1]), (2, 0)), ""),
    (lambda L: L.zeros(3).index_put((L.tensor([0, 1]),), L.ones(3)), "shape mismatch: value"),
    (
        lambda L: L.zeros(3).index_put((L.tensor([0, 1]),), L.ones(3), True),
        "cannot be broadcast to",
    ),
    (
        lambda L: L.zeros(1, 1, 2).index_put((L.ones(1, 1, 2) > 0,), L.ones(1, 1, 2)),
        "shape mismatch:",
    ),
    (
        lambda L: L.zeros(3).index_put((L.ones(3) > 0,), L.ones(2)),
        "shape mismatch: value tensor of",
    ),
    (lambda L: L.zeros([]).index_put([], L.ones(1), True), ""),
    (lambda L: L.empty(2**62, 4), "Storage size calculation overflowed with sizes="),
    (lambda L: L.zeros(3).resize_(2**62, 2**62), "overflow"),
    (
        lambda L: L.view_as_complex(L.as_strided(L.zeros(9), (2, 2), (1, 1))),
        "stride divisible by 2",
    ),
    (lambda L: L.complex(L.ones(2), L.ones(2).double()), "Float but got scalar type Double"),
    (lambda L: L.polar(L.arange(2), L.arange(2)), "Float or Double tensors but got Long and Long"),
    (lambda L: L.meshgrid(), "expects a non-empty TensorList"),
    (lambda L: L.tensor_split(L.ones(4), L.tensor(2.0)), "to have dtype of long"),
    (lambda L: L.diff(L.ones(3, 3), 0, 0, L.ones(3)), "to be the same dimension as input"),
    (lambda L: L.diff(L.ones(3, 3), prepend=L.ones(2, 3)), "input.size(0) = 3, but got tensor"),
    (lambda L: L.diff(L.ones(3, 3), 2, 0, None, L.ones(3, 2)), "along the differencing"),
    (lambda L: L.index_select(L.zeros(0, 3), 0, L.tensor([1])), "self indexing axis dim should be"),
    (lambda L: L.zeros(2, 0).index_select(1, L.tensor([0])), "self indexing axis dim should be"),
    (lambda L: L.zeros(0, 3).index_select(1, L.tensor([5])), "out of"),
    (lambda L: L.diff(L.ones(3, 3), append=L.ones(3, 1, 1)), "to be the same dimension as input"),
    (lambda L, F: F.pad(L.ones(2, 0, 3), (0, 1), "reflect"), "possibly 0 batch size"),
    (lambda L: L.std(L.arange(4)), "only support floating point and complex dtypes"),
    (lambda L: L.std_mean(L.arange(4)), "only support floating point and complex dtypes"),
    (lambda L: L.mvlgamma(L.tensor([True]), 1), "may not be a boolean tensor"),
    (lambda L: L.deg2rad(L.ones(2).to(L.complex64)), "not supported for complex tensors"),
    (lambda L: L.rad2deg(L.ones(2).to(L.complex64)), "not supported for complex tensors"),
    (lambda L: L.trapezoid(L.tensor([True, False])), "received a bool input for `y`"),
    (lambda L: L.cumulative_trapezoid(L.tensor([True, False])), "received a bool input for `y`"),
    (lambda L: L.trapz(L.ones(2), L.tensor([True, False])), "received a bool input for `x` or `y`"),
    (lambda L: L.allclose(L.ones(2), L.ones(2), rtol=float("nan")), "rtol must be"),
    (lambda L: L.isclose(L.ones(2), L.ones(2), atol=float("nan")), "atol must be"),
    (lambda L, F: F.huber_loss(L.ones(2), L.ones(2), delta=float("nan")), "non-positive values"),
    (lambda L: L.squeeze(L.ones(1, 2), (0, -2)), "dim 0 appears multiple times"),
    (lambda L: L.tensordot(L.ones(2, 2), L.ones(2, 2), ([0, 0], [1, 1])), "appears multiple times"),
    (lambda L: L.flip(L.ones(2, 3, 4), (1, 0, -2)), "appears multiple times"),
    (lambda L: L.linalg.lstsq(L.ones(3, 2), L.ones(4, 3, 2)), "input.dim() must be"),
    (lambda L: L.ormqr(L.ones(2, 2), L.ones(2), L.ones(1, 2, 2)), "same number of dimensions"),
    (lambda L: L.ormqr(L.ones(5, 2), L.ones(1), L.ones(5, 2)), "must be equal to min("),
    (lambda L: L.linalg.matrix_rank(L.ones(2, 2), rtol=L.tensor(1j)), "of complex type"),
    (lambda L: L.repeat_interleave(L.ones(4), 2, dim=0, output_size=6), "expected 8 but got 6"),
    (lambda L, F: F.affine_grid(L.zeros(1, 2, 3), (3, 1, 4, 4), False), "but got: [1, 3]"),
    (lambda L, F: F.affine_grid(L.zeros(2, 3, 4), (3, 1, 4, 4, 4), False), "but got: [2, 4]"),
    (
        lambda L, F: F.embedding_bag(L.tensor([1]), L.ones(3, 2), L.tensor([0.0])),
        "types: Long, Int",
    ),
]
VALUE_ERRORS: Refused = [
    (lambda L: L.nn.utils.weight_norm(L.nn.LazyLinear(2)), "can't have uninitialized parameters"),
    (lambda L: L.nn.utils.spectral_norm(L.nn.LazyLinear(2)), "can't have uninitialized parameters"),
    (lambda L, F: F.pixel_shuffle(L.ones(1, 4, 2, 2), 2**32), "upscale factor is too large"),
    (
        lambda L, F: F.fractional_max_pool2d(L.ones(1, 9, 9), 2, None, [0.5] * 3),
        "requires output_ratio",
    ),
    (
        lambda L, F: F.cross_entropy(L.ones(2, 3), L.ones(2, 3), reduction="x"),
        "not a valid value for",
    ),
    (lambda L: L.tensor([1, L.tensor([1, 2])], dtype=L.float32), "only one element tensors can be"),
    (
        lambda L: L.tensor([L.tensor([1, 2]), 3.5]),
        "only one element tensors can be converted to Python",
    ),
    (lambda L: within_itself(L), "too many dimensions 'list'"),
    (
        lambda L: L.from_numpy(L.ones(2).numpy().astype(">f4")),
        "byte order different from the native",
    ),
    (lambda L: L.set_num_threads(2**31), "Overflow when unpacking long"),
    (
        lambda L, F: F.interpolate(L.ones(1, 1, 2, 2, 2), (3, 4), mode="bilinear"),
        "the same number of",
    ),
    (lambda L, F: F.interpolate(L.tensor(1.0), (3, 3)), "the same number of spatial"),
]
TYPE_ERRORS: Refused = [
    (lambda L: L.zeros(2, 3).movedim([True], [0]), ""),
    (lambda L, F: F.layer_norm(L.ones(2, 4), (4,), eps=2 + 0j), "must be float, not complex"),
    (lambda L, F: F.group_norm(L.ones(1, 2, 3), 1, eps=2 + 0j), "must be float, not complex"),
    (lambda L, F: F.batch_norm(L.ones(2, 3), L.zeros(3), L.ones(3), momentum=0j), "must be float"),
    (
        lambda L, F: F.pairwise_distance(L.ones(2), L.ones(2), p=2 + 0j),
        "must be float, not complex",
    ),
    (lambda L, F: F.triplet_margin_loss(*[L.ones(2, 3)] * 3, margin=1j), ""),
    (lambda L, F: F.poisson_nll_loss(L.ones(2), L.ones(2), eps=1j), "must be float, not complex"),
    (lambda L, F: F.dropout(L.ones(2), p=0j), ""),
    (lambda L: L.nan_to_num(L.ones(2), nan=1j), "must be float, not complex"),
    (lambda L: L.logit(L.ones(2), eps=0j), "must be float, not complex"),
    (lambda L, F: F.group_norm(L.ones(1, 2, 3), True), "must be int, not bool"),
    (lambda L, F: F.local_response_norm(L.ones(1, 4, 4, 4), True), "must be"),
    (
        lambda L: L.normal(L.zeros(2), L.ones(2), dtype=L.float64),
        "invalid combination of arguments",
    ),
    (lambda L: L.zeros(2, 3).movedim(True, 0), ""),
    (lambda L: L.tensor_split(L.zeros(4, 3), [True, 2]), ""),
    (lambda L: L.tensor_split(L.zeros(4, 3), True), ""),
    (lambda L: L.hsplit(L.zeros(4), True), ""),
    (lambda L: L.layer_norm(L.ones(2, 1), [True]), ""),
    (lambda L, F: F.layer_norm(L.ones(2, 1), (True,)), ""),
    (lambda L, F: F.rms_norm(L.ones(2, 1), (True,)), ""),
    (lambda L, F: F.channel_shuffle(L.ones(1, 4, 2, 2), True), "must be int, not bool"),
    (lambda L, F: F.pixel_shuffle(L.ones(1, 4, 2, 2), True), "must be int, not bool"),
    (lambda L, F: F.pixel_unshuffle(L.ones(1, 1, 2, 2), 0.5), "must be int, not float"),
    (lambda L: L.fft.fftfreq(0.5), "must be int, not float"),
    (lambda L: L.fft.rfftfreq(True), "must be int, not bool"),
    (lambda L: L.bartlett_window(5.5), "must be int, not float"),
    (lambda L: L.kaiser_window(5.5), "must be int, not float"),
    (lambda L: L.rot90(L.ones(2, 2), 1.5), "must be int, not float"),
    (lambda L: L.cov(L.ones(3, 3), correction=1.5), "must be int, not float"),
    (lambda L, F: F.avg_pool2d(L.ones(1, 4, 4), 2, divisor_override=1.5), "must be int, not float"),
    (lambda L: L.ones(4).unfold(0, 2, 1.5), "must be int, not float"),
    (lambda L: L.histogram(L.ones(2), 2.5), ""),
    (lambda L: L.nonzero_static(L.ones(2), size=3, fill_value=1.5), "must be int, not float"),
    (
        lambda L: L.unravel_index(L.tensor([1]), (2.0, 3)),
        "expected 'shape' sequence to only contain",
    ),
    (
        lambda L: L.unravel_index(L.tensor([1]), 2.0),
        "expected 'shape' to be int or sequence of ints",
    ),
    (
        lambda L: L.tensor([L.tensor([1, 2])]),
        "only integer tensors of a single element can be converted",
    ),
    (
        lambda L: L.tensor([True, L.tensor([])], dtype=L.bool),
        "only integer tensors of a single element",
    ),
    (
        lambda L: L.trapezoid(L.ones(3), x=L.ones(3), dx=1),
        "received an invalid combination of arguments",
    ),
    (
        lambda L: L.cumulative_trapezoid(L.ones(3), x=L.ones(3), dx=1),
        "invalid combination of arguments",
    ),
    (lambda L: L.unravel_index(L.tensor([1]), L.tensor([1, 2])), "'shape' to be int or sequence"),
    (lambda L: L.linspace("a", 2, 3), "linspace() received an invalid combination of arguments"),
    (lambda L: L.logspace(1, 2, "a"), "logspace() received an invalid combination of arguments"),
    (lambda L: L.add(L.ones(2), 1, alpha=L.tensor(2.0, requires_grad=True)), "'alpha' must be"),
    (
        lambda L: L.isclose(*[L.ones(2)] * 2, 1.0, L.tensor(1.0, requires_grad=True)),
        "'atol' (positi",
    ),
    (lambda L, F: F.leaky_relu(L.ones(2), L.tensor(1.0, requires_grad=True)), "'negative_slope'"),
    (
        lambda L: L.addcmul(*[L.ones(2)] * 3, value=L.tensor(1.0, requires_grad=True)),
        "'value' must be",
    ),
    (lambda L: L.Size([1]) + [2], "can only concatenate tuple (not list) to torch.Size"),
    (lambda L: [2] + L.Size([1]), "can only concatenate list"),
    (lambda L: L.Size([1]) + 3, ""),
    (lambda L: L.Size([1]) + (0.5,), "torch.Size() takes an iterable of 'int'"),
    (lambda L: L.LongTensor((6, 0), 1, 1, 0), "new() received an invalid combination of arguments"),
    (lambda L: L.Tensor(1.5, 2), "new() received an invalid combination of arguments"),
    (lambda L: L.FloatTensor(sizes=(1, 2)), "new() received an invalid combination of arguments"),
    (lambda L: L.ones(1).new(2.5), "new(): data must be a sequence (got float)"),
    (
        lambda L: type("Mine", (L.FloatTensor,), {}),
        "type 'torch.FloatTensor' is not an acceptable base",
    ),
    (lambda L: L.linalg.pinv(L.ones(2, 2), rtol=1j), ""),
    (lambda L: L.ones(3)["a"], "invalid data type 'str'"),
    (lambda L: L.ones(3, 3)["a", 0], "invalid data type"),
    (lambda L: L.cat([L.ones(2), 3]), "expected Tensor as element 1 in argument 0, but got int"),
    (
        lambda L: L.cat([True, L.ones(2)]),
        "expected Tensor as element 0 in argument 0, but got bool",
    ),
    (lambda L: L.cartesian_prod(L.ones(2), 3), ""),
]
INDEX_ERRORS: Refused = [
    (lambda L: L.zeros(2, 2).scatter(0, L.zeros(1, 2, dtype=L.int64), L.ones(2)), ""),
    (lambda L: L.zeros(2, 2).scatter_add(0, L.zeros(1, 2, dtype=L.int64), L.ones(2)), ""),
    (lambda L, F: F.unfold(L.ones(2, 2), 2), ""),
    (lambda L: L.zeros(2).put(L.tensor([0]), L.ones(2)), "Expected source and index to have"),
    (lambda L: L.ones(2, 3)[..., ..., 0], ""),
    (lambda L: L.ones(2, 3)[..., ..., None], "Dimension out of range"),
    (lambda L: L.empty(10, 0)[[0, 1], [0, 0]], "out of bounds for dimension with size 0"),
    (lambda L: L.ones(3, 4).index_copy(0, L.tensor([0]), L.ones(4)), "dimensionality must match"),
    (lambda L: L.ones(4).put(L.tensor([0]), L.ones(2)), "to have the same number of elements"),
    (lambda L: L.hash_tensor(L.empty(0, 3), 0), "Expected reduction dim 0 to have non-zero size"),
    (lambda L: L.zeros([]).index_put((L.tensor([True]),), L.ones(2)), ""),
    (lambda L: L.ones(2).index_select(0, L.tensor([2])), "index out of range in self"),
    (lambda L, F: F.embedding_bag(L.tensor([5]), L.ones(3, 2), L.tensor([0]), max_norm=1.0), ""),
    (lambda L: L.ones(2, 3).index_reduce(0, L.tensor([5]), L.ones(1, 3), "prod"), "out of range"),
    (lambda L: L.ones(3)[{}], "only integers, slices"),
]

#: Pivots that no factorisation gives: rows that do not exist would be read from the other end.
PIVOTS: Refused = [
    (
        lambda L, T: L.linalg.lu_solve(L.eye(2), T([0, 1]), L.ones(2, 1)),
        "must all be greater or equal to 1",
    ),
    (
        lambda L, T: L.linalg.lu_solve(L.eye(2), T([1, 3]), L.ones(2, 1)),
        "must all be smaller or equal to LU.size(-2)",
    ),
    (
        lambda L, T: L.lu_solve(L.ones(2, 1), L.eye(2), T([-1, 2])),
        "must all be greater or equal to 1",
    ),
    (
        lambda L, T: L.linalg.ldl_solve(L.eye(2), T([0, 1]), L.ones(2, 1)),
        "must all satisfy |pivot| >= 1",
    ),
    (
        lambda L, T: L.linalg.ldl_solve(L.eye(2), T([-3, -3]), L.ones(2, 1)),
        "must all satisfy |pivot| <= LD.size(-2)",
    ),
]


@pytest.mark.parametrize(("call", "phrase"), RUNTIME_ERRORS, ids=words)
def test_calls_without_a_meaning_raise_runtime_error(call: Call, phrase: str) -> None:
    assert_both_raise(call, RuntimeError, phrase)


@pytest.mark.parametrize(("call", "phrase"), TYPE_ERRORS, ids=words)
def test_arguments_of_wrong_types_raise_type_error(call: Call, phrase: str) -> None:
    assert_both_raise(call, TypeError, phrase)


@pytest.mark.parametrize(("call", "phrase"), VALUE_ERRORS, ids=words)
def test_arguments_of_wrong_values_raise_value_error(call: Call, phrase: str) -> None:
    assert_both_raise(call, ValueError, phrase)


@pytest.mark.parametrize(("call", "phrase"), INDEX_ERRORS, ids=words)
def test_invalid_indices_raise_index_error(call: Call, phrase: str) -> None:
    assert_both_raise(call, IndexError, phrase)


@pytest.mark.parametrize(("call", "phrase"), PIVOTS, ids=words)
def test_pivots_that_do_not_fit_are_refused(call: Call, phrase: str) -> None:
    assert_both_raise(call, RuntimeError, phrase)
