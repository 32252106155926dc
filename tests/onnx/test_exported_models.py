"""Models that PyTorch exports: loaded here they compute what they compute there, with gradients."""

from __future__ import annotations

import io
from typing import Any

import numpy
import pytest

import tinytorch as tt
from tests.fx.programs import residual

pytest.importorskip("onnx", reason="the extra [onnx] is not installed")


def perceptron(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3), nn.Softmax(1)
    )


def lenet(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5),
        nn.LeakyReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Linear(16, 10), nn.LogSoftmax(-1),
    )  # fmt: skip


def recurrent(torch: Any) -> Any:
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(10, 4)
            self.lstm = nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True)
            self.gru = nn.GRU(10, 3, batch_first=True)

        def forward(self, tokens: Any) -> Any:
            return self.gru(self.lstm(self.embed(tokens))[0])[0][:, -1]

    return Net()


def transformer(torch: Any) -> Any:
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.attention = nn.LayerNorm(8), nn.MultiheadAttention(8, 2)
            self.out = nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            y = self.norm(x).transpose(0, 1)
            mask = torch.full((3, 3), float("-inf"), dtype=x.dtype).triu(1)
            y, _ = self.attention(y, y, y, attn_mask=mask)
            products = torch.einsum("nld,nmd->nlm", x, x)
            return torch.relu(self.out(x + y.transpose(0, 1))) + products[..., :1]

    return Block()


def upsampling(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.ConvTranspose2d(2, 3, 3, stride=2, output_padding=1), nn.GroupNorm(3, 3), nn.ELU(),
        nn.Upsample(scale_factor=2, mode="bilinear"), nn.ReflectionPad2d(1),
        nn.InstanceNorm2d(3, affine=True),
    )  # fmt: skip


MODELS: dict[str, Any] = {
    "perceptron": (perceptron, (2, 4)), "lenet": (lenet, (2, 1, 12, 12)),
    "residual": (residual, (2, 2, 5, 5)), "recurrent": (recurrent, None),
    "transformer": (transformer, (2, 3, 8)), "upsampling": (upsampling, (2, 2, 3, 3)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of the exporter, about itself
@pytest.mark.parametrize("version", [13, 17, 20])
@pytest.mark.parametrize("name", MODELS)
def test_models_compute_the_same_and_have_the_same_gradients(
    name: str, version: int, torch: Any
) -> None:
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model = make(torch).double()  # so that rounding does not hide a wrong gradient
    for parameter in model.parameters():  # the exporter merges tensors with the same elements
        parameter.data.uniform_(-0.5, 0.5)
    for name_of_buffer, buffer in model.named_buffers():
        if "running" in name_of_buffer:
            buffer.uniform_(0.5, 1.5)
    x = torch.tensor([[1, 2, 3], [4, 5, 6]]) if shape is None else torch.randn(shape).double()
    model.eval()
    file = io.BytesIO()
    torch.onnx.export(
        model, (x,), file, opset_version=version, dynamo=False, do_constant_folding=False,
        training=torch.onnx.TrainingMode.PRESERVE,  # else it fuses layers
        input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}},
    )  # fmt: skip
    loaded = tt.onnx.load(file.getvalue())
    expected = model(x)
    result = loaded(tt.tensor(x.numpy()))
    numpy.testing.assert_allclose(result.detach().numpy(), expected.detach().numpy(), atol=1e-7)
    (expected**2).sum().backward()
    (result**2).sum().backward()
    theirs = {k: p.grad.numpy() for k, p in model.named_parameters()}
    named = {k: p.grad for k, p in loaded.named_parameters() if k in theirs}
    for key, grad in named.items():
        numpy.testing.assert_allclose(grad.numpy(), theirs[key], atol=1e-7)
    assert len(named) >= (0 if name == "recurrent" else 2)
    one = loaded(tt.tensor(x[:1].numpy()))  # the batch is dynamic
    numpy.testing.assert_allclose(one.detach().numpy(), expected[:1].detach().numpy(), atol=1e-7)
