"""The parts of a training program, each alone: none waits for the device unless PyTorch's does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from strictcupy import waits
from strictcupy.backend import pretended_cuda

import tinytorch as tt
from tinytorch import nn, optim
from tinytorch.nn import functional as F
from tinytorch.optim import lr_scheduler, swa_utils

Make = Callable[[], nn.Module]


@pytest.fixture(autouse=True)
def on_the_gpu() -> Iterator[None]:
    with pretended_cuda(1):
        yield


def cuda(*shape: int) -> tt.Tensor:
    return tt.randn(*shape, device="cuda", requires_grad=True)


def classes(most: int, *shape: int) -> tt.Tensor:
    return tt.randint(0, most, shape, device="cuda")


def update(model: nn.Module, *options: Any, **named: Any) -> Callable[..., None]:
    """A step of training: forward, backward, and SGD unless an optimizer is given."""
    optimizer = named.get("optimizer") or optim.SGD([*model.parameters(), tt.zeros(1)], lr=0.1)

    def step(*inputs: tt.Tensor) -> None:
        optimizer.zero_grad()
        out: Any = model(*inputs)
        while isinstance(out, (tuple, list)):
            out = out[0]
        out.square().mean().backward()
        optimizer.step()

    return step


IMAGES: dict[str, Make] = {
    "BatchNorm2d": lambda: nn.BatchNorm2d(4),
    "InstanceNorm2d": lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "LocalResponseNorm": lambda: nn.LocalResponseNorm(2),
    "Conv2d": lambda: nn.Conv2d(4, 4, 3, padding=1, padding_mode="circular"),
    "depthwise": lambda: nn.Conv2d(4, 8, 3, dilation=2, stride=2, groups=4),
    "ConvTranspose2d": lambda: nn.ConvTranspose2d(4, 2, 3, 2, 1, 1),
    "Unfold": lambda: nn.Unfold(3),
    "MaxPool2d": lambda: nn.MaxPool2d(2, padding=1),
    "AvgPool2d": lambda: nn.AvgPool2d(2),
    "LPPool2d": lambda: nn.LPPool2d(2, 2),
    "AdaptiveMaxPool2d": lambda: nn.AdaptiveMaxPool2d(3),
    "FractionalMaxPool2d": lambda: nn.FractionalMaxPool2d(2, output_size=3),
    "Upsample": lambda: nn.Upsample(scale_factor=2, mode="bilinear"),
    "PixelShuffle": lambda: nn.PixelShuffle(2),
    "ReflectionPad2d": lambda: nn.ReflectionPad2d(1),
    "Dropout2d": lambda: nn.Dropout2d(0.3),
    "FeatureAlphaDropout": lambda: nn.FeatureAlphaDropout(0.3),
}
ROWS: dict[str, Make] = {
    "LayerNorm": lambda: nn.LayerNorm(8),
    "RMSNorm": lambda: nn.RMSNorm(8),
    "BatchNorm1d": lambda: nn.BatchNorm1d(8),
    "Dropout": lambda: nn.Dropout(0.3),
    "AlphaDropout": lambda: nn.AlphaDropout(0.3),
    "PReLU": lambda: nn.PReLU(8),
    "LSTMCell": lambda: nn.LSTMCell(8, 4),
    "weight_norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(8, 3)),
    "spectral_norm": lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(8, 3)),
    **{
        name: getattr(nn, name)
        for name in "ReLU ELU SELU CELU GELU SiLU Mish Softplus Softsign Tanh Sigmoid Hardswish "
        "Hardtanh LeakyReLU LogSigmoid Hardshrink Softshrink GLU".split()
    },
}
SEQUENCES: dict[str, Make] = {
    "LSTM": lambda: nn.LSTM(8, 4, 2, bidirectional=True, dropout=0.1, proj_size=2),
    "GRU": lambda: nn.GRU(8, 4, 2, bidirectional=True, batch_first=True),
    "RNN": lambda: nn.RNN(8, 4, nonlinearity="relu"),
    "encoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2),
    "Conv1d": lambda: nn.Conv1d(5, 4, 3, padding="same"),
}
TABLES: dict[str, Make] = {
    "Embedding": lambda: nn.Embedding(10, 4, padding_idx=0),
    "by frequency": lambda: nn.Embedding(10, 4, scale_grad_by_freq=True),
    **{
        f"bags' {mode}": lambda mode=mode: nn.EmbeddingBag(10, 4, mode=mode, padding_idx=1)
        for mode in ("sum", "mean", "max")
    },
}


class TestLayers:
    @pytest.mark.parametrize("name", IMAGES)
    def test_training_layers_of_images_does_not_wait(self, name: str) -> None:
        step, x = update(IMAGES[name]().cuda()), cuda(2, 4, 8, 8)
        assert waits(lambda: step(x)) == []

    @pytest.mark.parametrize("name", ROWS)
    def test_training_layers_of_feature_rows_does_not_wait(self, name: str) -> None:
        step, x = update(ROWS[name]().cuda()), cuda(4, 8)
        assert waits(lambda: step(x)) == []

    @pytest.mark.parametrize("name", SEQUENCES)
    def test_training_layers_of_sequences_does_not_wait(self, name: str) -> None:
        step, x = update(SEQUENCES[name]().cuda()), cuda(3, 5, 8)
        assert waits(lambda: step(x)) == []

    @pytest.mark.parametrize("name", TABLES)
    def test_training_embeddings_does_not_wait(self, name: str) -> None:
        step, x = update(TABLES[name]().cuda()), classes(10, 3, 5)
        assert waits(lambda: step(x)) == []

    @pytest.mark.parametrize("mode", ["sum", "mean", "max"])
    def test_training_embedding_bags_of_any_length_does_not_wait(self, mode: str) -> None:
        model, x = nn.EmbeddingBag(10, 4, mode=mode, padding_idx=1).cuda(), classes(10, 9)
        starts, step = tt.tensor([0, 2, 2, 5], device="cuda"), update(model)
        assert waits(lambda: step(x, starts)) == []

    @pytest.mark.parametrize("mask", [False, True])
    def test_training_multihead_attention_does_not_wait(self, mask: bool) -> None:
        model, x = nn.MultiheadAttention(8, 2, dropout=0.1).cuda(), cuda(5, 2, 8)
        ahead = tt.ones(5, 5, dtype=tt.bool, device="cuda").triu(1) if mask else None

        def step() -> None:
            model(x, x, x, attn_mask=ahead)[0].sum().backward()
            F.scaled_dot_product_attention(x, x, x, is_causal=True, dropout_p=0.1).sum().backward()

        assert waits(step) == []


LOSSES: dict[str, Callable[[tt.Tensor, tt.Tensor, tt.Tensor], tt.Tensor]] = {
    "ignored, weighted and smoothed": lambda x, y, w: F.cross_entropy(
        x, y, weight=w, ignore_index=2, label_smoothing=0.1
    ),
    "not reduced": lambda x, y, w: F.cross_entropy(x, y, w, reduction="none").sum(),
    "probabilities": lambda x, y, w: F.cross_entropy(x, F.one_hot(y, 5).float(), w),
    "nll": lambda x, y, w: F.nll_loss(x.log_softmax(1), y, w, ignore_index=0),
    "margins": lambda x, y, w: F.multi_margin_loss(x, y, weight=w),
    "labels' margins": lambda x, y, w: F.multilabel_margin_loss(x, F.one_hot(y, 5)),
    "bce": lambda x, y, w: F.binary_cross_entropy(x.sigmoid(), F.one_hot(y, 5).float()),
    "logits": lambda x, y, w: F.binary_cross_entropy_with_logits(
        x, F.one_hot(y, 5).float(), pos_weight=w
    ),
    "kl": lambda x, y, w: F.kl_div(x.log_softmax(1), F.one_hot(y, 5).float(), reduction="sum"),
    "huber": lambda x, y, w: F.huber_loss(x, F.one_hot(y, 5).float()),
    "poisson": lambda x, y, w: F.poisson_nll_loss(x, F.one_hot(y, 5).float(), full=True),
    "ctc": lambda x, y, w: F.ctc_loss(x.log_softmax(1)[:, None], y[None, :2] % 4 + 1, (4,), (1,)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_their_gradients_do_not_wait(name: str) -> None:
    x, y, weight = cuda(4, 5), classes(5, 4), tt.ones(5, device="cuda")
    assert waits(lambda: LOSSES[name](x, y, weight).backward()) == []


OPTIMIZERS: dict[str, Callable[[Any], optim.Optimizer]] = {
    "nesterov": lambda p: optim.SGD(p, 0.1, 0.9, nesterov=True, weight_decay=0.1, maximize=True),
    "amsgrad": lambda p: optim.Adam(p, amsgrad=True, weight_decay=0.1),
    "fused": lambda p: optim.AdamW(p, fused=True),
    "foreach": lambda p: optim.Adam(p, foreach=True),
    "capturable": lambda p: optim.Adam(p, capturable=True),
    "centered": lambda p: optim.RMSprop(p, centered=True, momentum=0.9, weight_decay=0.1),
    "Adagrad": lambda p: optim.Adagrad(p, lr_decay=0.1, weight_decay=0.1),
    "NAdam": lambda p: optim.NAdam(p, weight_decay=0.1, decoupled_weight_decay=True),
    "RAdam": lambda p: optim.RAdam(p, weight_decay=0.1),
    "ASGD": lambda p: optim.ASGD(p, weight_decay=0.1),
    "Muon": lambda p: optim.Muon([each for each in p if each.ndim == 2]),
}


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_no_option_of_an_optimizer_makes_a_step_wait(name: str, half: bool) -> None:
    model, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)).cuda(), cuda(4, 8)
    model, x = (model.half(), x.half()) if half else (model, x)
    step = update(model, optimizer=OPTIMIZERS[name](list(model.parameters())))
    assert waits(lambda: step(x)) == []


#: By name: the optimizer, and what else it is given, of which lr and betas may be tensors there.
CAPTURABLE: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        name: (name, {"weight_decay": 0.1})
        for name in "Adam AdamW NAdam RAdam Adamax RMSprop Adadelta".split()
    },
    "ASGD": ("ASGD", {"weight_decay": 0.1, "lambd": 0.1, "t0": 1}),
    "Rprop": ("Rprop", {}),
    "Adam's betas": ("Adam", {"betas": (0.8, 0.9)}),
    "AMSGrad's betas": ("AdamW", {"betas": (0.8, 0.9), "amsgrad": True}),
}
FUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "fused SGD": ("SGD", {"momentum": 0.9, "weight_decay": 0.1}),
    "fused Adam": ("Adam", {"weight_decay": 0.1, "amsgrad": True}),
    "fused AdamW": ("AdamW", {"betas": (0.8, 0.9)}),
    "fused Adagrad": ("Adagrad", {"weight_decay": 0.1}),
}


def on_the_device(value: Any) -> Any:
    """Numbers as tensors there."""
    if isinstance(value, tuple):
        return tuple(map(on_the_device, value))
    return tt.tensor(value, device="cuda")


@pytest.mark.parametrize("case", [*CAPTURABLE, *FUSED])
def test_a_rate_stays_on_the_device(case: str) -> None:
    start, x = tt.tensor([[1.0, -2.0, 0.5]]), tt.tensor([[1.0, 2.0, -1.0], [0.5, 1.0, 3.0]])
    (name, options), ends = {**CAPTURABLE, **FUSED}[case], []
    switch = "capturable" if case in CAPTURABLE else "fused"
    for there in (False, True):
        weight, inputs = start.to("cuda").requires_grad_(), x.to("cuda")
        numbers: Any = {"lr": 0.1, **{k: v for k, v in options.items() if k == "betas"}}
        if there:
            numbers = {key: on_the_device(value) for key, value in numbers.items()}
        optimizer: Any = getattr(optim, name)
        optimizer = optimizer([weight], **{switch: there, **options, **numbers})

        def step(weight: Any = weight, inputs: Any = inputs, optimizer: Any = optimizer) -> None:
            optimizer.zero_grad()
            (inputs @ weight.T).square().mean().backward()
            optimizer.step()

        assert waits(step) == []
        ends.append(weight.detach().cpu())
    assert tt.allclose(*ends, atol=1e-6)
    assert (abs(ends[0] - start) > 1e-5).all()


SCHEDULERS: dict[str, Callable[[optim.Optimizer], Any]] = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 2),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 5),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.1, 100),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o), lr_scheduler.ExponentialLR(o, 0.9)], [2]
    ),
}
AVERAGES: dict[str, dict[str, Any]] = {
    "mean": {},
    "moving": {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9), "use_buffers": True},
    "moving, one by one": {"avg_fn": swa_utils.get_ema_avg_fn(0.9)},
}


class TestRoundTheStep:
    @pytest.mark.parametrize("name", SCHEDULERS)
    def test_schedulers_do_not_wait(self, name: str) -> None:
        model, x = nn.Linear(8, 3).cuda(), cuda(4, 8)
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        scheduler, step = SCHEDULERS[name](optimizer), update(model, optimizer=optimizer)
        assert waits(lambda: (step(x), scheduler.step())) == []

    @pytest.mark.parametrize("name", AVERAGES)
    def test_averaging_weights_does_not_wait(self, name: str) -> None:
        model, x = nn.Sequential(nn.Linear(8, 3), nn.BatchNorm1d(3)).cuda(), cuda(4, 8)
        averaged, step = swa_utils.AveragedModel(model, **AVERAGES[name]), update(model)
        assert waits(lambda: (step(x), averaged.update_parameters(model))) == []

    @pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
    def test_clipping_gradients_does_not_wait(self, norm: float) -> None:
        model, x = nn.Linear(8, 3).cuda(), cuda(4, 8)

        def step() -> None:
            model.zero_grad(set_to_none=False)
            model(x).sum().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm)

        assert waits(step) == []

    def test_a_scaler_of_losses_waits_once_as_pytorchs_does(self) -> None:
        model, x = nn.Linear(8, 3).cuda(), cuda(4, 8)
        optimizer, scaler = optim.SGD(model.parameters(), lr=0.1), tt.amp.GradScaler("cuda")

        def step() -> None:
            optimizer.zero_grad()
            scaler.scale(model(x).square().mean()).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()

        assert [each.split()[0] for each in waits(step)] == ["item"]

    def test_an_evaluation_counts_on_the_device(self) -> None:
        model, x, y = nn.Sequential(nn.Linear(8, 5), nn.BatchNorm1d(5)).cuda(), cuda(4, 8), None
        y, right = classes(5, 4), tt.zeros((), dtype=tt.int64, device="cuda")
        model.eval()

        def evaluate() -> None:
            with tt.no_grad():
                scores = model(x)
                right.add_((scores.argmax(1) == y).sum())
                right.add_((scores.topk(3)[1] == y[:, None]).any(1).sum())
            with tt.inference_mode():
                F.cross_entropy(model(x), y) * len(y)

        assert waits(evaluate) == []

    @pytest.mark.parametrize(("count", "replacement"), [(1, False), (3, False), (3, True)])
    def test_multinomial_does_not_wait(self, count: int, replacement: bool) -> None:
        scores = cuda(4, 8)
        assert waits(lambda: tt.multinomial(scores.softmax(1), count, replacement)) == []


def test_tril_indices_triu_indices_and_pdist_do_not_wait() -> None:
    x = cuda(4, 8)
    assert waits(lambda: tt.tril_indices(4, 5, 1, device="cuda")) == []
    assert waits(lambda: tt.triu_indices(4, 5, -1, device="cuda")) == []
    assert waits(lambda: F.pdist(x).sum().backward()) == []
