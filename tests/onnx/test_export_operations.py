"""Everyday operations in onnxruntime: at another batch size, in place, or refused with the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tests.onnx.test_export import BATCH, compare
from tinytorch import nn
from tinytorch.nn import functional as F


def rows(x: tt.Tensor) -> tt.Tensor:
    return tt.arange(x.shape[0])


#: Calls of a matrix of 4 columns, whose number of rows is dynamic.
MATRICES: dict[str, Callable[[tt.Tensor], Any]] = {
    "rolls": lambda x: [x.roll(1, 1), x.roll(2), x.roll((1, -1), (0, 1)), x.roll(-7, 0)],
    "flips": lambda x: [x.flip(1), x.flip((0, 1)), tt.fliplr(x), tt.flipud(x)],
    "truth": lambda x: [
        (x > 0).any(), (x > 0).any(1), (x > 0).all(1, keepdim=True), (x > -9).all(), x.any(0),
        x.long().all(1), x.int().any(1), (x > 0).count_nonzero(1), x.isfinite(),
    ],
    "sums of exponentials": lambda x: [
        x.logsumexp(1), (100 * x).logsumexp((0, 1)), x.logsumexp(0, keepdim=True)
    ],
    "gates": lambda x: [F.glu(x), F.softmin(x, 1), F.logsigmoid(x), F.prelu(x, tt.full((4,), 0.2))],
    "shrinking": lambda x: [
        F.tanhshrink(x), F.softshrink(x), F.hardshrink(x), F.threshold(x, 0.1, -1.0), F.celu(x),
        F.celu(x, 0.5), F.softplus(x, beta=2), F.softplus(9 * x, threshold=5),
        F.rrelu(x, training=False), F.softsign(x),
    ],
    "order": lambda x: [
        *x.sort(1), *x.sort(0, descending=True), x.argsort(1), *x.topk(2, largest=False),
        *x.floor().sort(1, stable=True), *x.aminmax(dim=1), x.argmax(), x.argmin(0),
    ],
    "one hot": lambda x: [F.one_hot((x > 0).long(), 3), F.embedding((x > 0).long(), x[:2])],
    "scattering": lambda x: [
        x.scatter(1, tt.zeros(x.shape[0], 1, dtype=tt.long), x[:, 1:2]),
        x.scatter_add(1, tt.ones(x.shape[0], 2, dtype=tt.long), x),
        x.scatter(1, tt.zeros(x.shape[0], 1, dtype=tt.long), 3.0),
        x.index_fill(1, tt.tensor([0, 2]), 2.0), x.index_add(1, tt.tensor([0, 0]), x[:, :2]),
        tt.take_along_dim(x, x.argsort(1), 1),
    ],
    "repeats": lambda x: [
        x.repeat_interleave(2, 1), x.repeat_interleave(2, 0), x.repeat_interleave(3), x.tile(2)
    ],
    "sums of products": lambda x: [
        tt.addcmul(x, x, x, value=0.5), tt.addcdiv(x, x, x * x + 1), tt.lerp(x, x * 2, 0.3),
        tt.lerp(x, x * 2, x), tt.baddbmm(x[None], x[None], tt.ones(1, 4, 4), beta=2, alpha=3),
        tt.outer(x[0], x[:, 1]), tt.tensordot(x, x, ([1], [1])), tt.tensordot(x, x.t(), 1),
        F.cosine_similarity(x, x * x, 1), *tt.meshgrid(x[0], x[1], indexing="ij"),
    ],
    "statistics": lambda x: [
        *tt.var_mean(x, 1), *tt.std_mean(x, 1), x.std(), x.var(0), x.std(0, unbiased=False),
        x.nansum(1), x.mean((0, 1)),
    ],
    "norms of any order": lambda x: [
        x.norm(p=float("inf"), dim=1), x.norm(p=-float("inf"), dim=1), x.norm(p=3, dim=1),
        x.norm(p=0, dim=1), tt.linalg.vector_norm(x, dim=0), tt.linalg.matrix_norm(x),
    ],
    "further functions": lambda x: [
        x.exp2(), x.abs().log2(), x.abs().log10(), x.trunc(), x.frac(), x.sigmoid().logit(),
        x.sigmoid().logit(0.4), x.erfc(), tt.atan2(x, x.roll(1, 1)), (x / 0).nan_to_num(),
        (x / 0).nan_to_num(1.0, 2.0, 3.0), tt.eye(x.shape[0]), tt.eye(4) + x[:1], x.diff(dim=1),
    ],
    "other names": lambda x: [
        x.clamp_min(0), x.clamp_max(0.0), x.greater(0), x.less_equal(0), x.swapdims(0, 1),
        x.moveaxis(0, 1), tt.less(x, x * x), tt.greater_equal(x, 0.5),
    ],
    "integers": lambda x: [
        (9 * x).long() // 3, (9 * x).long() // -4, (9 * x).long() % -4, (9 * x).long() / 3,
        tt.div((9 * x).long(), 4, rounding_mode="trunc"),
        tt.div((9 * x).long(), 4, rounding_mode="floor"), tt.fmod((9 * x).long(), 4),
        (9 * x).long().relu(), (9 * x).long().floor(), (9 * x).long().sort(1)[0],
    ],
    "several indices": lambda x: [
        x[tt.tensor([0, 1]), tt.tensor([1, 2])], x[rows(x), 0], x[rows(x), x.argmax(1)],
        x[:, None].expand(-1, 2, -1)[:, tt.tensor([0, 1]), tt.tensor([[1], [2]])],
        x[0, tt.tensor([2, -1])], x[tt.tensor([[0, 1]]), -1],
    ],
}  # fmt: skip

#: Calls of a batch of images of 4 channels, 6 rows and 8 columns.
IMAGES: dict[str, Callable[[tt.Tensor], Any]] = {
    "shuffles": lambda x: [
        F.pixel_shuffle(x, 2), F.pixel_shuffle(x[0], 2), F.pixel_unshuffle(x, 2),
        F.channel_shuffle(x, 2), x.roll((-1, -1), (2, 3)),
    ],
    "resizing": lambda x: [
        F.interpolate(x, size=(9, 5), mode="nearest-exact"),
        F.interpolate(x, size=(3, 4), mode="area"), F.interpolate(x, size=(4, 5), mode="area"),
        F.interpolate(x, size=(7, 5)), F.interpolate(x, scale_factor=1.7, mode="bilinear"),
        F.interpolate(x[:, :, 0], scale_factor=2, mode="linear"),
    ],
    "pools": lambda x: [
        F.adaptive_avg_pool2d(x, (4, 5)), F.adaptive_avg_pool2d(x, (None, 3)),
        F.adaptive_max_pool2d(x, (3, 2)), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
        F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.max_pool2d(x, 3, 2, ceil_mode=True),
    ],
    "convolutions of the same size": lambda x: [
        F.conv2d(x, tt.ones(2, 4, 2, 3), padding="same"),
        F.conv2d(x, tt.ones(2, 4, 3, 2), padding="same", dilation=2),
        F.conv2d(x, tt.ones(2, 4, 2, 2), padding="valid", dilation=2),
    ],
    "windows": lambda x: [
        F.unfold(x, 2, stride=2), F.unfold(x, (2, 3), padding=(1, 0), dilation=(1, 2)),
        F.fold(F.unfold(x, 2, stride=2), (6, 8), 2, stride=2),
        F.fold(F.unfold(x, 3, padding=1, stride=2), (6, 8), 3, padding=1, stride=2),
    ],
    "normalization": lambda x: [
        F.local_response_norm(x, 3, alpha=0.5), F.group_norm(x, 2, tt.ones(4), tt.zeros(4)),
        F.instance_norm(x), nn.Softmax2d()(x), F.normalize(x, dim=1),
    ],
    "sampling": lambda x: [
        F.grid_sample(x, x[:, :2, :2, :2] * 0.5, align_corners=False),
        F.grid_sample(x, x[:, :2, :2, :2], mode="nearest", padding_mode="border",
                      align_corners=True),
    ],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using padding='same'")  # PyTorch's, of even kernels
@pytest.mark.parametrize("opset", [17, 18, 21])
@pytest.mark.parametrize("name", [*MATRICES, *IMAGES])
def test_everyday_operations_give_the_same_in_onnxruntime(name: str, opset: int) -> None:
    tt.manual_seed(5)
    if name in MATRICES:
        inputs = tt.randn(3, 4), tt.randn(5, 4), tt.randn(2, 4)
        compare(MATRICES[name], *inputs, dynamic=BATCH, opset_version=opset)
    else:
        images = tt.randn(2, 4, 6, 8), tt.randn(3, 4, 6, 8), tt.randn(1, 4, 6, 8)
        compare(IMAGES[name], *images, dynamic=BATCH, opset_version=opset)


@pytest.mark.parametrize("opset", [18, 21])
def test_bits_of_integers_have_operators_since_opset_18(opset: int) -> None:
    def bits(x: tt.Tensor) -> Any:
        n = (9 * x).long()
        return [n & 5, n | 2, n ^ 3, ~n]

    compare(bits, tt.randn(3, 4), dynamic=BATCH, opset_version=opset)
    with pytest.raises(tt.onnx.OnnxExporterError, match="'bitwise_and' at .*before opset 18"):
        tt.onnx.export(bits, tt.randn(3, 4), opset_version=17)


def constant_in_place(x: tt.Tensor) -> Any:
    y = tt.zeros(4)
    before = x + y
    y.add_(1)
    y[0] = 5
    return before, x + y, tt.add(y, 1, out=tt.zeros(4)) + x


def items(x: tt.Tensor) -> Any:
    y = x.clone()
    y[:, 0], y[1] = 0, x[0]
    first = y * 2
    y[x > 0] = 5
    y[..., 1:3] = x[:, :2]
    y[tt.arange(x.shape[0]), 3] = 7
    y[0, tt.tensor([2, 3])] = x[1, :2]
    return first, y


def assembled(x: tt.Tensor) -> Any:
    y = x.new_zeros(x.shape[0], 6)
    y[:, 1:5] = x
    early = y + 1
    y[:, 0] = x.sum(1)
    mask = tt.zeros(6)
    mask[1:] = float("-inf")
    z = tt.zeros(2, 4)
    z[:1] = x[:1]
    return early, y + mask, z


@pytest.mark.parametrize("model", [constant_in_place, items, assembled])
def test_changes_in_place_give_the_same(model: Callable[[tt.Tensor], Any]) -> None:
    tt.manual_seed(6)
    compare(model, tt.randn(3, 4), tt.randn(5, 4), dynamic=BATCH)


class Counter(nn.Module):
    """A module that counts its calls in a buffer."""

    count: tt.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", tt.zeros(1))

    def forward(self, x: tt.Tensor) -> tt.Tensor:
        self.count += 1
        return x + self.count


def test_a_buffer_that_each_call_changes_is_refused_and_restored() -> None:
    model = Counter()
    with pytest.raises(tt.onnx.OnnxExporterError, match="changes its buffer 'count' in each call"):
        tt.onnx.export(model, tt.ones(2, 3), input_names=["x0"], dynamic_axes=BATCH)
    assert model.count.tolist() == [0]
    program = tt.export.export(model, (tt.ones(2, 3),), dynamic_shapes=[{0: "n"}])
    assert model.count.tolist() == [0]
    assert [program(tt.zeros(1, 3))[0, 0].item() for _ in range(3)] == [1, 2, 3]


def changed_view(x: tt.Tensor) -> tt.Tensor:
    y = tt.zeros(4)
    z = x + y
    y[:1].add_(1)
    return z + y


def read_by_a_view(x: tt.Tensor) -> tt.Tensor:
    y = x * 1
    view = y[0]
    y[0] = 3
    return view + y


REFUSED: dict[str, tuple[Callable[[tt.Tensor], Any], str]] = {
    "changed view": (changed_view, "constant that was changed in place through a view"),
    "view": (read_by_a_view, "changed or computed outside of operations"),
    "composite": (lambda x: x.median(1)[0], "operation 'median' at .* has no counterpart"),
    "private": (lambda x: F.mse_loss(x, x + 1), "operation 'mse_loss' at .* has no counterpart"),
    "mask": (lambda x: x[:, tt.tensor([True, False] * 2)], "'_getitem' at .* mask as index"),
    "classes": (lambda x: F.one_hot((x > 0).long()), "reads a number|num_classes"),
    "window": (lambda x: x.unfold(1, 2, 1), "'unfold' at .* but for a batch of images"),
    "even": (lambda x: F.local_response_norm(x[:, :, None, None], 2), "with an even size"),
    "complex": (lambda x: tt.complex(x, x).abs(), "at .*"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_counterpart_is_refused_by_its_public_name(name: str) -> None:
    model, message = REFUSED[name]
    with pytest.raises(tt.onnx.OnnxExporterError, match=message) as info:
        tt.onnx.export(model, tt.randn(3, 4), input_names=["x0"], dynamic_axes=BATCH)
    assert "test_export_operations.py:" in str(info.value)


def test_errors_of_the_checker_name_the_operation_and_the_line() -> None:
    def model(x: tt.Tensor) -> tt.Tensor:
        return F.softsign((9 * x).long()).float()  # ONNX has it for floats alone

    from tinytorch.onnx import export_rules

    def softsign(g: Any, call: Any, input: Any) -> str:
        return str(g.add("Softsign", input))

    before = export_rules.RULES["softsign"]
    export_rules.RULES["softsign"] = softsign
    try:
        with pytest.raises(
            tt.onnx.OnnxExporterError, match=r"'softsign' at .*test_export_operations.py:\d+ is not"
        ):
            tt.onnx.export(model, tt.randn(3, 4))
    finally:
        export_rules.RULES["softsign"] = before
