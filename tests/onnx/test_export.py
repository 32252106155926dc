"""Models written by ``onnx.export``: run by onnxruntime they give what the model gives."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.export.architectures import minilm, resnet18
from tinytorch import nn
from tinytorch.nn import functional as F

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="the package onnxruntime is not installed")
BATCH = {"x0": {0: "batch"}}
SEQUENCES = {"x0": {0: "batch", 1: "time"}}
IMAGES = {"x0": {0: "batch", 2: "height", 3: "width"}}


def flat(result: Any) -> list[Any]:
    if isinstance(result, tt.Tensor):
        return [result.numpy()]
    return [array for item in result for array in flat(item)]


@contextlib.contextmanager
def evaluating(model: Any) -> Iterator[None]:
    training = getattr(model, "training", None)
    if training is not None:
        model.eval()
    yield
    if training:
        model.train()


def compare(model: Any, *examples: Any, dynamic: Any = None, **options: Any) -> list[str]:
    """Export with the first example, compare on all; return the operators."""
    inputs = [each if isinstance(each, tuple) else (each,) for each in examples]
    names = [f"x{i}" for i in range(len(inputs[0]))]
    file = io.BytesIO()
    program = tt.onnx.export(
        model, inputs[0], file, input_names=names, dynamic_axes=dynamic, **options
    )
    session = runtime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    loaded = tt.onnx.load(file.getvalue())
    for each in inputs:
        with tt.no_grad(), evaluating(model):
            expected = flat(model(*each))
        found = session.run(None, {n: t.numpy() for n, t in zip(names, each, strict=True)})
        with tt.no_grad():
            again = flat(loaded(*each))
        for results in (found, again):
            assert len(results) == len(expected)
            for a, b in zip(results, expected, strict=True):
                assert a.dtype == b.dtype and a.shape == b.shape
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    return [node.op_type for node in program.model_proto.graph.node]


class GPT(nn.Module):
    """A decoder of one block, as minGPT writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.attention, self.projection = nn.Linear(8, 24), nn.Linear(8, 8)
        self.first, self.second = nn.LayerNorm(8), nn.LayerNorm(8)
        self.mlp = nn.Sequential(nn.Linear(8, 32), nn.GELU(approximate="tanh"), nn.Linear(32, 8))
        self.head = nn.Linear(8, 11, bias=False)
        self.mask: tt.Tensor
        self.register_buffer("mask", tt.tril(tt.ones(16, 16)).view(1, 1, 16, 16))

    def forward(self, indices: tt.Tensor) -> tt.Tensor:
        b, t = indices.size()
        x = self.tokens(indices) + self.positions(tt.arange(0, t))
        q, k, v = self.attention(self.first(x)).split(8, dim=2)
        q, k, v = (z.view(b, t, 2, 4).transpose(1, 2) for z in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / 2)
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(b, t, 8)
        x = x + self.projection(y)
        fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + fused.transpose(1, 2).reshape(b, t, -1)
        return self.head(x + self.mlp(self.second(x)))  # type: ignore[no-any-return]


class Residual(nn.Module):
    """ResNet's basic block."""

    def __init__(self, before: int, after: int, stride: int = 1) -> None:
        super().__init__()
        self.a = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.b = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(after) for _ in range(3))
        self.down = nn.Conv2d(before, after, 1, stride, bias=False)
        for norm in self.norms:
            nn.init.uniform_(norm.running_mean), nn.init.uniform_(norm.running_var, 0.5, 2.0)

    def forward(self, x: tt.Tensor) -> tt.Tensor:
        y = self.norms[1](self.b(F.relu(self.norms[0](self.a(x)), inplace=True)))
        y += self.norms[2](self.down(x))
        return F.relu(y)


class UNet(nn.Module):
    """One level down and up, by a transposed convolution and by resizing."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.norm, self.up, self.last = (
            nn.GroupNorm(2, 8), nn.ConvTranspose2d(8, 4, 2, 2), nn.Conv2d(8, 1, 1)
        )  # fmt: skip

    def forward(self, x: tt.Tensor) -> tt.Tensor:
        a = F.silu(self.a(x))
        b = F.silu(self.norm(self.b(F.max_pool2d(a, 2))))
        resized = F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)[:, :4]
        return tt.sigmoid(self.last(tt.cat([a, self.up(b) + resized], 1)))


def lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
        nn.BatchNorm2d(16), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 10),
        nn.LogSoftmax(1),
    )  # fmt: skip


def resnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1), Residual(8, 8), Residual(8, 16, 2), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(16, 4),
    )  # fmt: skip


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Dropout(), nn.Linear(8, 3))


def encoder() -> nn.Module:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)


MODELS: dict[str, tuple[Callable[[], nn.Module], Any, list[Callable[[], Any]], str]] = {
    "mlp": (mlp, BATCH, [lambda: tt.randn(2, 4), lambda: tt.randn(5, 4), lambda: tt.randn(1, 4)],
            "Gemm"),
    "lenet": (lenet, BATCH, [lambda: tt.randn(2, 1, 28, 28), lambda: tt.randn(7, 1, 28, 28),
                             lambda: tt.randn(1, 1, 28, 28)], "Conv"),
    "resnet": (resnet, IMAGES, [lambda: tt.randn(2, 3, 32, 32), lambda: tt.randn(3, 3, 48, 40),
                                lambda: tt.randn(1, 3, 33, 64)], "BatchNormalization"),
    "unet": (UNet, IMAGES, [lambda: tt.randn(1, 1, 16, 16), lambda: tt.randn(2, 1, 24, 32),
                            lambda: tt.randn(5, 1, 16, 8)], "Resize"),
    "encoder": (encoder, SEQUENCES, [lambda: tt.randn(2, 3, 8), lambda: tt.randn(4, 6, 8),
                                     lambda: tt.randn(1, 1, 8)], "LayerNormalization"),
    "gpt": (GPT, SEQUENCES, [lambda: tt.randint(0, 11, (2, 5)), lambda: tt.randint(0, 11, (3, 9)),
                             lambda: tt.randint(0, 11, (1, 16))], "Gather"),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("opset", [17, 18, 20, 21])
def test_exported_models_give_the_same_at_other_sizes(name: str, opset: int) -> None:
    make, dynamic, examples, operator = MODELS[name]
    tt.manual_seed(0)
    model = make()
    found = compare(model, *[e() for e in examples], dynamic=dynamic, opset_version=opset)
    assert model.training  # the mode is restored
    assert operator in found


def test_resnet18_gives_the_same_at_several_batch_sizes() -> None:
    tt.manual_seed(3)
    images = [tt.randn(n, 3, 32, 32) for n in (2, 1, 8)]
    found = compare(resnet18(tt), *images, tt.randn(3, 3, 64, 48), dynamic=IMAGES)
    assert found.count("Conv") == 20 and found.count("Gemm") == 1 and found.count("Add") == 8
    assert {*found} <= {"Conv", "BatchNormalization", "Relu", "MaxPool", "Add", "Gemm", "Reshape",
                        "GlobalAveragePool"}  # fmt: skip


def test_minilm_gives_the_same_for_sentences_of_other_lengths_and_batches() -> None:
    def sentences(batch: int, length: int) -> tuple[tt.Tensor, ...]:
        lengths = 1 + tt.arange(batch) * (length - 1) // max(batch - 1, 1)
        mask = (tt.arange(length) < lengths[:, None]).long()
        types = tt.randint(0, 2, (batch, length))
        return tt.randint(0, 50, (batch, length)) * mask, mask, types * mask

    tt.manual_seed(4)
    model = minilm(tt)
    examples = [sentences(*size) for size in ((2, 7), (5, 12), (1, 64), (8, 1))]
    dynamic = {f"x{i}": {0: "batch", 1: "time"} for i in range(3)}
    found = compare(model, *examples, dynamic=dynamic)
    assert found.count("LayerNormalization") == 13 and found.count("Softmax") == 6


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers_are_one_node_a_layer(
    layer: Any, batch_first: bool, bidirectional: bool
) -> None:
    tt.manual_seed(1)
    model = layer(4, 5, 2, batch_first=batch_first, bidirectional=bidirectional).eval()
    inputs = tt.randn(2, 3, 4), tt.randn(4, 6, 4), tt.randn(1, 1, 4)
    found = compare(model, *inputs, dynamic={"x0": [0, 1]})
    assert found.count(layer.__name__) == 2


def test_a_recurrent_layer_takes_its_state() -> None:
    model = nn.LSTM(4, 5, 2).eval()
    state = tt.randn(2, 3, 5), tt.randn(2, 3, 5)
    compare(lambda x, h, c: model(x, (h, c)), (tt.randn(6, 3, 4), *state))


CALLS: dict[str, Callable[[tt.Tensor], Any]] = {
    "arithmetic": lambda x: [x + 1, 3 - x, x * x, x / 3, x**2, -x, x % 0.7, x // 0.7],
    "scaled sums": lambda x: [x.add(x, alpha=2), x.sub(x * x, alpha=0.5), tt.rsub(x, 2)],
    "functions": lambda x: [x.exp(), x.tanh(), x.erf(), x.sign(), x.floor(), x.sin(), x.square()],
    "of positive numbers": lambda x: [
        x.abs().log(), x.abs().sqrt(), x.abs().log1p(), x.abs().rsqrt(), x.expm1()
    ],
    "comparisons": lambda x: [x > 0, x != x, x.eq(x), (x > 0) & (x < 1), ~(x > 0), x <= 0],
    "tests": lambda x: [(x / 0).isnan(), (x / 0).isinf(), (x / 0).relu()],
    "resizing": lambda x: [
        F.interpolate(x[None, None], scale_factor=1.5, mode="bilinear"),
        F.interpolate(x[None, None], scale_factor=(1.5, 2.0)),
        F.interpolate(x[None, None], size=(7, 3), mode="bilinear", align_corners=True),
        F.interpolate(x[None, None], size=(7, 9), mode="bicubic"),
    ],
    "bounds": lambda x: [x.clamp(-0.5, 0.5), x.clamp(min=0), tt.maximum(x, x * x), x.clamp(x * x)],
    "activations": lambda x: [
        F.elu(x), F.selu(x), F.leaky_relu(x), F.softplus(x), F.hardsigmoid(x), F.hardswish(x),
        F.mish(x), F.relu6(x), F.hardtanh(x), F.gelu(x), F.silu(x),
    ],
    "reductions": lambda x: [
        x.sum(), x.sum(1), x.mean(0, keepdim=True), x.amax(1), *x.max(1), x.argmin(1), x.std(1),
        x.var(1, unbiased=False), x.prod(1), x.cumsum(1),
    ],
    "shapes": lambda x: [
        x.t(), x.flatten(), x.unsqueeze(1).expand(-1, 2, -1), x.repeat(1, 2), x.reshape(-1),
        x.view(-1, 1), x.permute(1, 0), x[:, :, None].movedim(2, 0), *x.chunk(2, 1), x.triu(),
        F.pad(x, (1, 2)), tt.stack([x, x], 1),
    ],
    "slices": lambda x: [
        x[None], x[..., None], x[:, 1], x[:, -2:], x[:, ::2], x.narrow(1, 1, 2), x.select(1, 0),
        x[-1], x[1:, None, 0],
    ],
    "choices": lambda x: [
        tt.where(x > 0, x, 0.0), x.masked_fill(x < 0, 2.0), tt.cat([x, x], 1), *x.topk(2, 1),
        x.index_select(1, tt.tensor([2, 0])), x[:, tt.tensor([0, 2])],
        x.gather(1, tt.ones(1, 1, dtype=tt.long).expand(x.shape[0], 2)),
    ],
    "new tensors": lambda x: [
        x.new_zeros(x.shape), tt.arange(x.shape[0]), tt.ones_like(x),
        x + tt.full((x.shape[0], 1), 2.0),
    ],
    "dtypes": lambda x: [
        x.double(), x.long(), x.to(tt.float16).float(), (x > 0).float() * 2, x.long() + 1.5
    ],
    "in place": lambda x: [(x * 1).add_(1).mul_(2).relu_()],
    "products": lambda x: [
        x @ x.t(), tt.einsum("ij,kj->ik", x, x), x.matmul(x[0]), tt.addmm(x, x @ x.t(), x)
    ],
    "norms": lambda x: [F.normalize(x, dim=1), x.norm(), x.norm(1, 1), F.normalize(x, 1, 0)],
    "normalization": lambda x: [
        F.softmax(x, 1), F.log_softmax(x, -1), F.layer_norm(x, (4,)), F.rms_norm(x, (4,))
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_operations_give_the_same_at_another_size(name: str) -> None:
    tt.manual_seed(2)
    compare(CALLS[name], tt.randn(3, 4), tt.randn(5, 4), dynamic=BATCH)


REFUSED: dict[str, tuple[Callable[[tt.Tensor], Any], str]] = {
    "number": (lambda x: x * x.sum().item(), "reads a number from a tensor"),
    "operation": (lambda x: tt.linalg.svd(x), "'svd'.* has no counterpart in ONNX"),
    "written view": (lambda x: (x[0].add_(1), x * 2)[1], "changed or computed outside"),
    "size": (lambda x: x.new_zeros(x.shape[0] // 2) + 1, "no sum of multiples"),
    "flow": (lambda x: x.relu() if x.shape[0] > 4 else x.exp(), "runs other operations"),
    "count": (lambda x: tt.stack(list(x)), "depends on the sizes"),
    "argument": (lambda x: x * (1 / x.shape[0]), "no sum of multiples"),
    "dropout": (lambda x: F.dropout(x), "draws random numbers"),
    "bool index": (lambda x: x[True], "with a bool, or None after a tensor"),
    "new dimension": (
        lambda x: x[:, tt.tensor([[0, 1], [2, 0]]), None],
        "or None after a tensor of indices",
    ),
    "option": (lambda x: tt.round(x, decimals=2), "'round' at .* with decimals=2 has no counter"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_exports_that_would_be_wrong_are_refused_with_the_line(name: str) -> None:
    model, message = REFUSED[name]
    with pytest.raises(tt.onnx.OnnxExporterError, match=message) as info:
        tt.onnx.export(model, tt.randn(3, 4), input_names=["x0"], dynamic_axes=BATCH)
    assert "test_export.py" in str(info.value) or name == "written view"


def test_initializers_have_the_names_of_the_state_dict(tmp_path: Any) -> None:
    model = lenet().eval()
    tt.onnx.export(model, (tt.randn(1, 1, 28, 28),), tmp_path / "model.onnx", verify=True)
    proto = onnx.load(tmp_path / "model.onnx")
    names = {each.name for each in proto.graph.initializer}
    assert {"0.weight", "0.bias", "4.running_mean", "8.weight"} <= names
    assert [each.name for each in proto.graph.input] == ["input"]
    assert [each.name for each in proto.graph.output] == ["output"]


def test_a_model_with_keyword_arguments_is_exported_and_its_program_runs() -> None:
    def model(x: tt.Tensor, *, scale: tt.Tensor) -> tt.Tensor:
        return x * scale

    program = tt.onnx.export(model, (tt.ones(2),), kwargs={"scale": tt.full((2,), 3.0)})
    (found,) = program(tt.ones(2), tt.full((2,), 3.0))
    assert found.tolist() == [3, 3]
    assert "operators=['Mul']" in repr(program)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="opset_version must be 17 to 23, got 9"):
        tt.onnx.export(nn.ReLU(), tt.ones(1), opset_version=9)
    with pytest.raises(RuntimeError, match="exceeded number of inputs"):
        tt.onnx.export(nn.ReLU(), tt.ones(1), input_names=["a", "b"])
    with pytest.raises(TypeError, match="unexpected keyword argument 'opset'"):
        tt.onnx.export(nn.ReLU(), tt.ones(1), opset=9)
