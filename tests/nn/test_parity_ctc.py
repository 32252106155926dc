"""CTC loss: values, gradients and errors are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.nn import parity
from tests.oracles import assert_same_behavior, assert_same_error

pytestmark = pytest.mark.torch

SCORES = parity.array(8, 3, 5, dtype="float64")
ROWS = [[1, 2, 2, 4], [3, 3, 0, 0], [4, 1, 2, 0]]

# Targets, input lengths, target lengths.
CASES: list[tuple[Any, Any, Any]] = [
    (ROWS, [8, 8, 8], [4, 2, 3]),
    (ROWS, [8, 5, 3], [4, 2, 3]),
    (ROWS, [8, 2, 8], [4, 2, 3]),  # [3, 3] needs a blank between: it does not fit
    (ROWS, [8, 0, 1], [0, 0, 1]),
    (ROWS, [0, 8, 8], [1, 2, 3]),
    ([1, 2, 2, 4, 3, 3, 4, 1, 2], [8, 7, 6], [4, 2, 3]),
]


def run(lib: Any, case: Any, dtype: str, as_tensor: bool, **options: Any) -> Any:
    targets, inputs, labels = case
    lengths = [lib.tensor(each) if as_tensor else tuple(each) for each in (inputs, labels)]

    def loss(scores: Any) -> Any:
        log_probs = scores.log_softmax(2)
        return lib.nn.functional.ctc_loss(log_probs, lib.tensor(targets), *lengths, **options)

    return parity.gradients(lib, loss, SCORES.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("as_tensor", [True, False])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("case", CASES)
def test_value_and_gradient_of_ctc_loss_are_pytorchs(
    case: Any, reduction: str, as_tensor: bool, dtype: str
) -> None:
    assert_same_behavior(lambda lib: run(lib, case, dtype, as_tensor, reduction=reduction))


@pytest.mark.parametrize("case", CASES)
def test_infinite_losses_can_be_zero(case: Any) -> None:
    assert_same_behavior(lambda lib: run(lib, case, "float64", True, zero_infinity=True))


def test_ctc_loss_with_another_blank_is_pytorchs() -> None:
    case = ([[1, 2], [3, 0], [0, 1]], [8] * 3, [2, 2, 2])
    assert_same_behavior(lambda lib: run(lib, case, "float64", False, blank=4))


def test_ctc_loss_without_a_batch_is_pytorchs() -> None:
    def one(lib: Any) -> Any:
        return parity.gradients(
            lib,
            lambda x: lib.nn.functional.ctc_loss(
                x.log_softmax(1), lib.tensor([1, 2]), lib.tensor(8), lib.tensor(2), reduction="none"
            ),
            SCORES[:, 0],
        )

    assert_same_behavior(one)


def test_labels_beyond_the_length_do_not_matter() -> None:
    scores = tt.tensor(SCORES).log_softmax(2)
    lengths = [8, 8, 8], [2, 2, 2]
    one = tt.nn.functional.ctc_loss(scores, tt.tensor([[1, 2, -1]] * 3), *lengths)
    other = tt.nn.functional.ctc_loss(scores, tt.tensor([[1, 2, 99]] * 3), *lengths)
    assert one == other


def test_ctc_loss_is_the_sum_over_all_alignments() -> None:
    """With two labels in three steps every alignment can be written down."""
    probs = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
    paths = ["012", "102", "120", "112", "122"]
    total = sum(np.prod([probs[t, int(c)] for t, c in enumerate(path)]) for path in paths)
    log_probs = tt.tensor(np.log(probs)).reshape(3, 1, 3)
    loss = tt.nn.functional.ctc_loss(log_probs, tt.tensor([[1, 2]]), [3], [2], reduction="sum")
    assert loss.item() == pytest.approx(-np.log(total))


ERRORS: list[Any] = [
    ([1, 2, 3], [8, 8, 8], [1, 2, 3]),
    ([1, 2, 3, 1, 2, 3, 1], [8, 8, 8], [1, 2, 3]),
    (ROWS, [9, 8, 8], [1, 2, 3]),
    (ROWS, [8, 8], [1, 2, 3]),
    (ROWS, [8, 8, -1], [1, 2, 3]),
    (ROWS, [8, 8, 8], [5, 2, 3]),
    (ROWS, [8.0, 8.0, 8.0], [1, 2, 3]),
]


@pytest.mark.parametrize("case", ERRORS)
def test_ctc_loss_raises_pytorchs_errors(case: Any) -> None:
    assert_same_error(lambda lib: run(lib, case, "float64", True))


@pytest.mark.parametrize("case", [ERRORS[0], ERRORS[1], ERRORS[2], ERRORS[4], ERRORS[5]])
def test_lengths_that_do_not_fit_raise_pytorchs_error(torch: Any, case: Any) -> None:
    texts = []
    for library in (tt, torch):
        with pytest.raises(RuntimeError) as caught:
            run(library, case, "float64", True)
        texts.append(str(caught.value).partition(" (while")[0])
    assert texts[0] == texts[1]


def test_blank_must_be_a_class() -> None:
    with pytest.raises(RuntimeError, match="blank must be in label range"):
        run(tt, CASES[0], "float64", True, blank=5)


def test_ctc_loss_refuses_half_precision() -> None:
    with pytest.raises(NotImplementedError, match="\"ctc_loss\" not implemented for 'Half'"):
        run(tt, CASES[0], "float16", True)


def test_ctc_loss_has_no_second_derivative() -> None:
    x = tt.tensor(SCORES, requires_grad=True)
    loss = tt.nn.functional.ctc_loss(x.log_softmax(2), tt.tensor(ROWS), [8] * 3, [4, 2, 3])
    (grad,) = tt.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(NotImplementedError, match="ctc_loss is not implemented"):
        grad.sum().backward()
