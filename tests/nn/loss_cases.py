"""Losses with inputs, for the tests that compare and those that differentiate numerically."""

from __future__ import annotations

from typing import Any

import numpy as np


def array(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray[Any, Any]:
    """Numbers from the normal distribution, the same everywhere."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def constant(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array whose tensor requires no gradient."""
    values = values.copy()
    values.flags.writeable = False
    return values


REDUCTIONS = ["mean", "sum", "none"]


def probabilities(*shape: int, seed: int = 0) -> Any:
    """Positive numbers that sum to 1 along the second (or only) dimension."""
    x = np.exp(array(*shape, dtype="float64", seed=seed))
    return x / x.sum(1 if len(shape) > 1 else 0, keepdims=True)


def uniform(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(0.05, 0.95, shape)


X, Y = array(4, 5, dtype="float64"), array(4, 5, dtype="float64", seed=1)
Z = array(4, 5, dtype="float64", seed=2)
SIGNS = np.sign(Y)
CLASSES = np.array([1, 4, 0, 2], "int64")
IGNORED = np.array([1, -100, 0, 2], "int64")
IMAGE, PIXELS = (
    array(2, 3, 4, 2, dtype="float64"),
    np.arange(16, dtype="int64").reshape(2, 4, 2) % 3,
)
WEIGHTS = np.array([0.5, 1.0, 2.0, 0.25, 3.0])
PAIR = (X, Y)

# Name, tensors, further arguments. Arrays among the latter become tensors.
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("mse_loss", PAIR, {}),
    ("mse_loss", PAIR, {"weight": np.abs(Z)}),
    ("l1_loss", PAIR, {}),
    ("l1_loss", PAIR, {"weight": np.abs(Z)}),
    ("smooth_l1_loss", PAIR, {}),
    ("smooth_l1_loss", PAIR, {"beta": 0.3}),
    ("smooth_l1_loss", PAIR, {"beta": 0}),
    ("huber_loss", PAIR, {}),
    ("huber_loss", PAIR, {"delta": 0.3}),
    ("huber_loss", PAIR, {"delta": 0.3, "weight": np.abs(Z)}),
    ("binary_cross_entropy", (uniform(4, 5), uniform(4, 5, seed=1)), {}),
    ("binary_cross_entropy", (uniform(4, 5), uniform(4, 5, seed=1)), {"weight": WEIGHTS}),
    ("binary_cross_entropy_with_logits", (X, uniform(4, 5)), {}),
    ("binary_cross_entropy_with_logits", (50 * X, uniform(4, 5)), {"weight": WEIGHTS}),
    ("binary_cross_entropy_with_logits", (X, uniform(4, 5)), {"pos_weight": WEIGHTS}),
    ("kl_div", (np.log(probabilities(4, 5)), probabilities(4, 5, seed=1)), {}),
    ("kl_div", (np.log(probabilities(4, 5)), np.log(probabilities(4, 5, seed=1))),
     {"log_target": True}),
    ("poisson_nll_loss", (X, np.abs(3 * Y)), {}),
    ("poisson_nll_loss", (X, np.abs(3 * Y)), {"full": True}),
    ("poisson_nll_loss", (np.abs(X), np.abs(Y)), {"log_input": False}),
    ("gaussian_nll_loss", (X, Y, np.abs(Z)), {}),
    ("gaussian_nll_loss", (X, Y, np.abs(Z)), {"full": True, "eps": 0.5}),
    ("gaussian_nll_loss", (X, Y, np.abs(Z[:, 0])), {}),
    ("gaussian_nll_loss", (X, Y, np.abs(Z[:, :1])), {}),
    ("gaussian_nll_loss", (X, Y, 0.7), {}),
    ("nll_loss", (X, CLASSES), {}),
    ("nll_loss", (X, CLASSES), {"weight": WEIGHTS}),
    ("nll_loss", (X, IGNORED), {}),
    ("nll_loss", (X, CLASSES), {"ignore_index": 4, "weight": WEIGHTS}),
    ("nll_loss", (IMAGE, PIXELS), {}),
    ("nll_loss", (IMAGE, PIXELS), {"weight": WEIGHTS[:3], "ignore_index": 1}),
    ("nll_loss", (IMAGE[..., 0], PIXELS[..., 0]), {}),
    ("nll_loss", (IMAGE[..., None], PIXELS[..., None]), {}),
    ("nll_loss", (X[0], np.array(3, "int64")), {}),
    ("cross_entropy", (X, CLASSES), {}),
    ("cross_entropy", (300 * X, CLASSES), {}),
    ("cross_entropy", (X, CLASSES), {"weight": WEIGHTS}),
    ("cross_entropy", (X, IGNORED), {}),
    ("cross_entropy", (X, CLASSES), {"ignore_index": 4, "weight": WEIGHTS}),
    ("cross_entropy", (X, CLASSES), {"label_smoothing": 0.1}),
    ("cross_entropy", (X, IGNORED), {"label_smoothing": 0.3, "weight": WEIGHTS}),
    ("cross_entropy", (IMAGE, PIXELS), {}),
    ("cross_entropy", (IMAGE, PIXELS), {"weight": WEIGHTS[:3], "ignore_index": 1}),
    ("cross_entropy", (IMAGE, PIXELS), {"weight": WEIGHTS[:3], "label_smoothing": 0.2}),
    ("cross_entropy", (X[0], np.array(3, "int64")), {}),
    ("cross_entropy", (X[0], np.array(3, "int64")), {"label_smoothing": 0.2}),
    ("cross_entropy", (X, probabilities(4, 5)), {}),
    ("cross_entropy", (X, probabilities(4, 5)), {"weight": WEIGHTS, "label_smoothing": 0.2}),
    ("cross_entropy", (IMAGE, probabilities(2, 3, 4, 2)), {"weight": WEIGHTS[:3]}),
    ("cross_entropy", (X[0], probabilities(5)), {"weight": WEIGHTS}),
    ("margin_ranking_loss", (X, Y, SIGNS), {}),
    ("margin_ranking_loss", (X, Y, SIGNS), {"margin": 0.5}),
    ("hinge_embedding_loss", (X, SIGNS), {}),
    ("hinge_embedding_loss", (X, SIGNS), {"margin": 0.4}),
    ("soft_margin_loss", (X, constant(SIGNS)), {}),
    ("soft_margin_loss", (40 * X, constant(SIGNS)), {}),
    ("multilabel_soft_margin_loss", (X, uniform(4, 5)), {}),
    ("multilabel_soft_margin_loss", (X, uniform(4, 5)), {"weight": WEIGHTS}),
    ("cosine_embedding_loss", (X, Y, SIGNS[:, 0]), {}),
    ("cosine_embedding_loss", (X, Y, SIGNS[:, 0]), {"margin": 0.1}),
    ("cosine_embedding_loss", (X[0], Y[0], SIGNS[0, 0]), {}),
    ("multi_margin_loss", (X, CLASSES), {}),
    ("multi_margin_loss", (X, CLASSES), {"p": 2, "margin": 0.5}),
    ("multi_margin_loss", (X, CLASSES), {"weight": WEIGHTS}),
    ("multi_margin_loss", (X[0], np.array(3, "int64")), {}),
    ("multi_margin_loss", (X[0], np.array([3], "int64")), {}),
    ("multilabel_margin_loss", (X, np.array([[3, 0, -1, 1, 1], [-1] * 5, [0, 1, 2, 3, 4],
                                             [2, 2, -1, 0, 0]], "int64")), {}),
    ("multilabel_margin_loss", (X[0], np.array([3, 0, -1, 1, 1], "int64")), {}),
    ("triplet_margin_loss", (X, Y, Z), {}),
    ("triplet_margin_loss", (X, Y, Z), {"p": 1.0, "margin": 2.0}),
    ("triplet_margin_loss", (X, Y, Z), {"swap": True}),
    ("triplet_margin_with_distance_loss", (X, Y, Z), {}),
    ("triplet_margin_with_distance_loss", (X, Y, Z), {"swap": True, "margin": 0.5}),
    ("linear_cross_entropy", (X, array(3, 5, dtype="float64"), CLASSES % 3), {}),
    ("linear_cross_entropy", (X, array(3, 5, dtype="float64"), CLASSES % 3),
     {"linear_bias": array(3, dtype="float64"), "label_smoothing": 0.1, "ignore_index": 1}),
    ("linear_cross_entropy", (X, array(3, 2, 5, dtype="float64"), PIXELS[0] % 3), {}),
]  # fmt: skip
