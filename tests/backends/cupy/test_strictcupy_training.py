"""A training step leaves the GPU alone: the host waits for nothing the user did not ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from strictcupy import record_syncs, waits
from strictcupy.backend import StrictCudaBackend, pretended_cuda

import tinytorch as tt
from tinytorch import nn, optim

OPTIMIZERS: dict[str, Callable[..., optim.Optimizer]] = {
    "SGD": lambda parameters: optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Adam": optim.Adam,
    "AdamW": optim.AdamW,
}


@pytest.fixture
def on_the_device() -> Iterator[None]:
    with tt.backend_context(StrictCudaBackend()):
        yield


def demo_network() -> nn.Module:
    """The network of examples/digits.py."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 256), nn.GELU(), nn.Dropout(0.3), nn.Linear(256, 10)
    )


class Recurrent(nn.Module):
    """A stack of recurrent layers, and scores from the last state."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers, self.scores = layers, nn.Linear(16, 5)

    def forward(self, x: tt.Tensor) -> tt.Tensor:
        return self.scores(self.layers(x)[0][-1])


class LanguageModel(nn.Module):
    """An embedding, a transformer layer that looks back alone, and scores of the next token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.scores = nn.Embedding(11, 16), nn.Linear(16, 11)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def forward(self, x: tt.Tensor) -> tt.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.scores(self.layer(self.embedding(x), src_mask=mask, is_causal=True))


def conv_net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, stride=2, groups=2), nn.GroupNorm(2, 8), nn.SiLU(), nn.Dropout2d(0.1),
        nn.ConvTranspose2d(8, 4, 2), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 5),
    )  # fmt: skip


def images() -> tuple[tt.Tensor, tt.Tensor]:
    return tt.randn(4, 3, 12, 12), tt.randint(0, 5, (4,))


def sequences() -> tuple[tt.Tensor, tt.Tensor]:
    return tt.randn(6, 4, 8), tt.randint(0, 5, (4,))


def tokens() -> tuple[tt.Tensor, tt.Tensor]:
    drawn = tt.randint(0, 11, (2, 7))
    return drawn[:, :-1], drawn[:, 1:]


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[tt.Tensor, tt.Tensor]]]] = {
    "conv net": (conv_net, images),
    "LSTM": (lambda: Recurrent(nn.LSTM(8, 16, 2, dropout=0.1)), sequences),
    "GRU": (lambda: Recurrent(nn.GRU(8, 16)), sequences),
    "RNN": (lambda: Recurrent(nn.RNN(8, 16)), sequences),
    "transformer": (LanguageModel, tokens),
}
LOSSES: dict[str, Callable[[tt.Tensor, tt.Tensor], tt.Tensor]] = {
    "mean": nn.functional.cross_entropy,
    "smoothed": lambda x, y: nn.functional.cross_entropy(x, y, label_smoothing=0.1),
    "ignored": lambda x, y: nn.functional.cross_entropy(x, y, ignore_index=3),
    "weighted": lambda x, y: nn.functional.cross_entropy(x, y, tt.ones(x.shape[1])),
    "nll": lambda x, y: nn.functional.nll_loss(x.log_softmax(1), y),
}


class TestTrainingOfLargerModels:
    """Each by Adam, its gradients clipped: nothing here makes PyTorch wait, either."""

    @pytest.fixture(autouse=True)
    def on_the_gpu(self) -> Iterator[None]:
        with pretended_cuda(1), tt.backend_context("cupy"):
            yield

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("name", MODELS)
    def test_a_training_step_of_a_larger_model_does_not_wait(self, name: str, loss: str) -> None:
        make, data = MODELS[name]
        model, (inputs, target) = make(), data()
        optimizer = optim.Adam(model.parameters())

        def step() -> None:
            optimizer.zero_grad()
            scores = model(inputs)
            scores = scores.transpose(1, 2) if scores.ndim == 3 else scores
            LOSSES[loss](scores, target).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            nn.utils.clip_grad_value_(model.parameters(), 0.5)
            optimizer.step()

        assert waits(step) == []

    @pytest.mark.parametrize(
        "name",
        "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam ASGD Rprop Adafactor".split(),
    )
    def test_a_step_of_no_optimizer_waits(self, name: str) -> None:
        model, inputs = nn.Linear(8, 3), tt.randn(4, 8)
        optimizer = getattr(optim, name)(model.parameters(), lr=0.1)

        def step() -> None:
            optimizer.zero_grad()
            model(inputs).square().mean().backward()
            optimizer.step()

        assert waits(step) == []

    def test_drawing_and_counting_classes_do_not_wait(self) -> None:
        chances, classes = tt.full((5,), 0.5), tt.tensor([0, 2, 1])
        assert waits(lambda: tt.bernoulli(chances)) == []
        assert waits(lambda: nn.functional.one_hot(classes, 3)) == []
        x = tt.randn(5, 3, requires_grad=True)

        def write() -> None:
            y = x * 1
            y[x > 0] = -1.0
            y[chances > 0.1] = 2.0
            y.sum().backward()

        assert [w for w in waits(write) if "mask" in w] == []
        nn.functional.one_hot(classes, 2)
        with pytest.raises(RuntimeError, match="smaller than num_classes"):
            tt.cuda.synchronize()


@pytest.mark.usefixtures("on_the_device")
class TestTrainingStep:
    @pytest.mark.parametrize("name", OPTIMIZERS)
    def test_a_training_step_of_the_demo_does_not_wait(self, name: str) -> None:
        images, labels = tt.randn(32, 8, 8), tt.randint(0, 10, (32,))
        model, loss_fn = demo_network(), nn.CrossEntropyLoss()
        optimizer = OPTIMIZERS[name](model.parameters())

        def step() -> None:
            optimizer.zero_grad()
            loss_fn(model(images), labels).backward()
            optimizer.step()

        assert waits(step) == []

    @pytest.mark.parametrize(
        "layer",
        [lambda: nn.LayerNorm(64), lambda: nn.ReLU(), lambda: nn.Tanh(), lambda: nn.Sigmoid()],
        ids=["LayerNorm", "ReLU", "Tanh", "Sigmoid"],
    )
    def test_a_training_step_of_other_layers_does_not_wait(
        self, layer: Callable[[], nn.Module]
    ) -> None:
        images, target = tt.randn(4, 64), tt.randn(4, 3)
        model = nn.Sequential(nn.Linear(64, 64), layer(), nn.Linear(64, 3))
        optimizer = optim.SGD(model.parameters(), lr=0.1)

        def step() -> None:
            optimizer.zero_grad()
            nn.MSELoss()(model(images), target).backward()
            optimizer.step()

        assert waits(step) == []

    def test_a_training_step_waits_only_where_the_user_reads_a_value(self) -> None:
        model, images = nn.Linear(4, 1), tt.randn(2, 4)
        with record_syncs() as log:
            model(images).sum().item()
        assert len([entry for entry in log if entry.kind != "upload"]) == 1

    def test_a_label_out_of_range_is_reported_when_the_host_waits(self) -> None:
        loss = nn.CrossEntropyLoss()(tt.randn(2, 3), tt.tensor([0, 7]))
        with pytest.raises((IndexError, RuntimeError), match="7") as caught:
            loss.item()
        assert "CUDA_LAUNCH_BLOCKING=1" in caught.value.__notes__[0]
