"""Words as arguments: what PyTorch takes is taken, and means the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import TOLERANCE

WORDS: list[Any] = [
    "sum", "add", "mean", "prod", "mul", "multiply", "amax", "amin", "max", "min", "average",
    "none", "elementwise_mean", "batchmean", "reflect", "replicate", "circular", "constant",
    "symmetric", "wrap", "edge", "zeros", "border", "reflection", "nearest", "nearest-exact",
    "linear", "bilinear", "bicubic", "trilinear", "area", "cubic", "ij", "xy", "floor", "trunc",
    "left", "right", "both", "valid", "same", "lower", "upper", "L", "U", "l", "fro", "nuc", "inf",
    "-inf", "ortho", "forward", "backward", "higher", "midpoint", "relu", "tanh", "gelu", "silu",
    "reduced", "complete", "r", "gels", "gelsy", "gelsd", "gelss", "donot_use_mm_for_euclid_dist",
    "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", None, 1, 2,
]  # fmt: skip


def matrix(L: Any) -> Any:
    return L.tensor([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])


def image(L: Any) -> Any:
    return L.arange(16.0).sin().view(1, 1, 4, 4)


def places(L: Any) -> tuple[Any, ...]:
    return 0, L.tensor([0, 1, 1]), L.tensor([2.0, 3.0, -4.0])


def pair(L: Any) -> tuple[Any, Any]:
    return L.tensor([[0.2, 0.7], [0.4, 0.5]]), L.tensor([[0.1, 0.6], [0.9, 0.3]])


def of_pair(name: str) -> Callable[[Any, Any], Any]:
    return lambda L, word: getattr(L.nn.functional, name)(*pair(L), reduction=word)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "scatter_reduce": lambda L, w: L.ones(3).scatter_reduce(*places(L), w),
    "scatter_reduce alone": lambda L, w: L.ones(3).scatter_reduce(
        *places(L), w, include_self=False),
    "scatter_reduce_": lambda L, w: L.ones(3).scatter_reduce_(*places(L), reduce=w),
    "scatter": lambda L, w: L.ones(3).scatter(*places(L), reduce=w) if w else 1 / 0,
    "scatter of a number": lambda L, w: L.ones(3).scatter(*places(L)[:2], 2.0, reduce=w or 1 / 0),
    "index_reduce": lambda L, w: L.ones(3).index_reduce(*places(L), w),
    "segment_reduce": lambda L, w: L.segment_reduce(
        L.tensor([1.0, 3.0, -2.0]), w, lengths=L.tensor([2, 0, 1])),
    "segment_reduce from a number": lambda L, w: L.segment_reduce(
        L.tensor([1.0, 3.0, -2.0]), w, lengths=L.tensor([2, 0, 1]), initial=2.0),
    "embedding_bag": lambda L, w: L.nn.functional.embedding_bag(
        L.tensor([0, 2, 1]), matrix(L), L.tensor([0, 2]), mode=w),
    **{name: of_pair(name) for name in (
        "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy",
        "binary_cross_entropy_with_logits", "poisson_nll_loss", "soft_margin_loss",
        "multilabel_soft_margin_loss", "hinge_embedding_loss")},
    "cross_entropy": lambda L, w: L.nn.functional.cross_entropy(
        matrix(L), L.tensor([0, 2, 1]), reduction=w),
    "nll_loss": lambda L, w: L.nn.functional.nll_loss(
        matrix(L), L.tensor([0, 2, 1]), reduction=w),
    "ctc_loss": lambda L, w: L.nn.functional.ctc_loss(
        matrix(L).view(3, 1, 3).log_softmax(-1), L.tensor([[1, 2]]), L.tensor([3]), L.tensor([2]),
        reduction=w),
    "cosine_embedding_loss": lambda L, w: L.nn.functional.cosine_embedding_loss(
        *pair(L), L.ones(2), reduction=w),
    "gaussian_nll_loss": lambda L, w: L.nn.functional.gaussian_nll_loss(
        *pair(L), L.ones(2, 2), reduction=w),
    "triplet_margin_loss": lambda L, w: L.nn.functional.triplet_margin_loss(
        *pair(L), L.ones(2, 2), reduction=w),
    "multi_margin_loss": lambda L, w: L.nn.functional.multi_margin_loss(
        matrix(L), L.tensor([0, 2, 1]), reduction=w),
    "pad": lambda L, w: L.nn.functional.pad(image(L), (1, 1, 1, 1), mode=w),
    "padding_mode": lambda L, w: L.nn.Conv2d(1, 1, 3, padding=1, padding_mode=w)(
        image(L)).shape.numel() * L.ones(1),
    "padding": lambda L, w: L.nn.functional.conv2d(image(L), L.ones(1, 1, 3, 3), padding=w),
    "interpolate": lambda L, w: L.nn.functional.interpolate(image(L), scale_factor=2, mode=w),
    "interpolate rows": lambda L, w: L.nn.functional.interpolate(
        image(L)[0], scale_factor=2, mode=w),
    "grid_sample": lambda L, w: L.nn.functional.grid_sample(
        image(L), L.zeros(1, 2, 2, 2) + 0.3, mode=w, align_corners=False),
    "grid_sample beyond": lambda L, w: L.nn.functional.grid_sample(
        image(L), L.zeros(1, 2, 2, 2) + 1.3, padding_mode=w, align_corners=False),
    "gelu": lambda L, w: L.nn.functional.gelu(matrix(L), approximate=w),
    "meshgrid": lambda L, w: L.meshgrid(L.ones(2), L.zeros(3), indexing=w)[0],
    "div": lambda L, w: L.div(matrix(L), -0.7, rounding_mode=w),
    "searchsorted": lambda L, w: L.searchsorted(L.tensor([1.0, 2.0]), matrix(L), side=w),
    "quantile": lambda L, w: L.quantile(matrix(L), 0.4, interpolation=w),
    "norm": lambda L, w: L.norm(matrix(L), p=w), "Tensor.norm": lambda L, w: matrix(L).norm(w),
    "linalg.norm": lambda L, w: L.linalg.norm(matrix(L), w),
    "matrix_norm": lambda L, w: L.linalg.matrix_norm(matrix(L), w),
    "cond": lambda L, w: L.linalg.cond(matrix(L), w),
    "normalize": lambda L, w: L.nn.functional.normalize(matrix(L), p=w),
    "fft": lambda L, w: L.fft.fft(matrix(L), norm=w).abs(),
    "irfft": lambda L, w: L.fft.irfft(matrix(L), norm=w),
    "eigvalsh": lambda L, w: L.linalg.eigvalsh(matrix(L), UPLO=w),
    "qr": lambda L, w: L.linalg.qr(matrix(L), mode=w)[1].abs(),
    "lstsq": lambda L, w: L.linalg.lstsq(matrix(L), matrix(L), driver=w).solution,
    "cdist": lambda L, w: L.cdist(matrix(L), matrix(L) + 1, compute_mode=w),
    "RNN": lambda L, w: L.nn.RNN(2, 2, nonlinearity=w)(L.ones(1, 1, 2))[0].shape[-1] * L.ones(1),
    "TransformerEncoderLayer": lambda L, w: L.nn.TransformerEncoderLayer(4, 2, activation=w)(
        L.ones(1, 1, 4)).shape[-1] * L.ones(1),
    "ln_structured": lambda L, w: L.nn.utils.prune.LnStructured(1, n=w, dim=0).prune(matrix(L)),
    "pad_sequence": lambda L, w: L.nn.utils.rnn.pad_sequence(
        [L.ones(2), L.ones(3)], padding_side=w),
}  # fmt: skip


def outcomes(L: Any, name: str) -> dict[Any, Any]:
    """The result for each word that a library takes."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for word in WORDS:
            try:
                found[word] = CALLS[name](L, word)
            except (RuntimeError, ValueError, TypeError, ArithmeticError, NotImplementedError,
                    AttributeError, AssertionError):  # fmt: skip
                continue
    return found


@pytest.mark.parametrize("name", CALLS)
def test_reductions_and_modes_of_pytorch_are_accepted(torch: Any, name: str) -> None:
    ours, theirs = outcomes(tt, name), outcomes(torch, name)
    assert ours.keys() >= theirs.keys()
    for word, wanted in theirs.items():
        np.testing.assert_allclose(
            ours[word].numpy(), wanted.numpy(), **TOLERANCE["float32"], err_msg=str(word)
        )


@pytest.mark.parametrize(("word", "other"), [("max", "amax"), ("min", "amin")])
@pytest.mark.parametrize("name", [
    "scatter_reduce", "scatter_reduce alone", "segment_reduce", "segment_reduce from a number",
])  # fmt: skip
def test_reductions_with_two_names_give_one_result(name: str, word: str, other: str) -> None:
    found = outcomes(tt, name)
    assert found[word].tolist() == found[other].tolist()


@pytest.mark.filterwarnings("ignore:index_reduce:UserWarning")
def test_unknown_reductions_are_refused() -> None:
    for name in ("scatter_reduce", "segment_reduce"):
        with pytest.raises(RuntimeError, match="sum, prod, mean, amax or amin, got bogus"):
            CALLS[name](tt, "bogus")
    with pytest.raises(RuntimeError, match="got max"):
        CALLS["index_reduce"](tt, "max")


def test_the_deprecated_name_of_a_reduction_warns() -> None:
    for name in ("huber_loss", "ctc_loss", "mse_loss"):
        with pytest.warns(UserWarning, match="use reduction='mean'"):
            CALLS[name](tt, "elementwise_mean")
