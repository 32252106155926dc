"""The backward pass: what it computes, what it keeps, what it refuses."""

from __future__ import annotations

import contextlib
import gc
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import autograd


def leaf(*values: float) -> tt.Tensor:
    return tt.tensor(list(values), dtype=tt.float64, requires_grad=True)


def test_gradients_accumulate_in_grad() -> None:
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    (x * 4).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_accumulation_keeps_the_grad_tensor() -> None:
    x = leaf(1.0)
    x.sum().backward()
    first = x.grad
    x.sum().backward()
    assert x.grad is first
    assert first.tolist() == [2.0]


def test_leaves_do_not_share_gradient_memory() -> None:
    x, y = leaf(1.0), leaf(2.0)
    (x + y).sum().backward()
    x.grad += 10
    assert y.grad.tolist() == [1.0]


def test_gradient_argument_is_not_the_grad() -> None:
    x = leaf(1.0)
    g = tt.ones(1, dtype=tt.float64)
    (x + 0.0).backward(g)
    x.grad += 1
    assert g.tolist() == [1.0]


def test_broadcast_operands_get_gradients_of_their_shape() -> None:
    a = tt.ones(2, 1, 3, dtype=tt.float64, requires_grad=True)
    b = tt.ones(4, 1, dtype=tt.float64, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.shape == (2, 1, 3) and a.grad.tolist()[0][0] == [4.0] * 3
    assert b.grad.shape == (4, 1) and b.grad.tolist() == [[6.0]] * 4


def test_gradient_has_the_dtype_of_its_leaf() -> None:
    x = tt.ones(2, requires_grad=True)
    (x * tt.ones(2, dtype=tt.float64)).sum().backward()
    assert x.grad.dtype is tt.float32


def test_gradients_of_a_result_used_twice_are_summed() -> None:
    x = leaf(3.0)
    y = x * 2
    (y * y).sum().backward()
    assert x.grad.tolist() == [24.0]


def test_third_derivative_from_the_rule_of_multiplication() -> None:
    x = leaf(2.0)
    (g,) = autograd.grad((x * x * x * x).sum(), x, create_graph=True)
    (h,) = autograd.grad(g.sum(), x, create_graph=True)
    (k,) = autograd.grad(h.sum(), x)
    assert (g.item(), h.item(), k.item()) == (32.0, 48.0, 48.0)


def test_second_backward_is_refused_with_torch_s_words() -> None:
    y = (leaf(1.0) * leaf(2.0)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_second_backward_without_saved_values_works_as_in_torch() -> None:
    x = leaf(1.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_retain_graph_allows_a_second_backward() -> None:
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]


def test_backward_of_many_elements_needs_a_gradient() -> None:
    words = "grad can be implicitly created only for scalar outputs"
    with pytest.raises(RuntimeError, match=words):
        leaf(1.0, 2.0).backward()


def test_backward_without_grad_is_refused() -> None:
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        tt.ones(1).sum().backward()


def test_wrong_gradient_shape_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (leaf(1.0, 2.0) * 2).backward(tt.ones(3, dtype=tt.float64))


def test_integers_cannot_require_grad() -> None:
    with pytest.raises(RuntimeError, match="only Tensors of floating point and complex dtype"):
        tt.tensor([1], requires_grad=True)


def test_grad_computes_the_gradient_of_a_non_leaf() -> None:
    x = leaf(2.0)
    y = x * 3
    (g,) = autograd.grad((y * y).sum(), y)
    assert g.tolist() == [12.0]
    assert x.grad is None


def test_grad_leaves_other_leaves_alone() -> None:
    x, w = leaf(2.0), leaf(5.0)
    (g,) = autograd.grad((x * w).sum(), x)
    assert g.tolist() == [5.0]
    assert w.grad is None


def test_unused_input_is_an_error_unless_allowed() -> None:
    x, z = leaf(1.0), leaf(1.0)
    with pytest.raises(RuntimeError, match="Tensor at index 1 appears to not have been used"):
        autograd.grad((x * 2).sum(), (x, z))
    assert autograd.grad((x * 2).sum(), (x, z), allow_unused=True)[1] is None
    zeros = autograd.grad((x * 2).sum(), (x, z), materialize_grads=True)[1]
    assert zeros.tolist() == [0.0]


def test_backward_with_inputs_writes_to_those_leaves_only() -> None:
    x, w = leaf(2.0), leaf(5.0)
    (x * w).sum().backward(inputs=[w])
    assert x.grad is None
    assert w.grad.tolist() == [2.0]


def test_backward_of_several_roots_sums_their_gradients() -> None:
    x = leaf(1.0, 2.0)
    autograd.backward([x.sum(), (x * x).sum()])
    assert x.grad.tolist() == [3.0, 5.0]


def test_gradients_flow_from_each_output_of_an_op_with_several() -> None:
    x = leaf(1.0, 2.0, 3.0)
    a, b = x.split(2)
    (a * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 0.0]
    assert b.grad_fn.name() == "SplitBackward0"


def test_backward_and_freeing_of_100000_chained_operations_do_not_recurse() -> None:
    x = tt.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 0.0
    node = weakref.ref(y._node)
    y.backward()
    assert x.grad.item() == 1.0
    del y
    gc.collect()
    assert node() is None


def test_the_graph_is_freed_with_its_last_tensor() -> None:
    x = leaf(1.0)
    gc.disable()
    try:
        y = (x * x).exp()
        node = weakref.ref(y._node)
        del y
        assert node() is None  # by reference counting alone: there is no cycle
    finally:
        gc.enable()


def test_no_grad_records_nothing() -> None:
    x = leaf(1.0)
    with tt.no_grad():
        y = x * 2
    assert not y.requires_grad and y.grad_fn is None


def test_detach_shares_memory_and_version() -> None:
    x = leaf(1.0)
    y = x * 1
    z = y * y
    y.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_data_shares_memory_but_no_version() -> None:
    x = leaf(3.0)
    y = x * x
    x.data.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [12.0]


def test_error_in_a_rule_names_the_operation() -> None:
    class Broken(autograd.Function):
        @staticmethod
        def forward(ctx: object, x: tt.Tensor) -> tt.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: object, g: tt.Tensor) -> tt.Tensor:
            raise ValueError("out of ideas")

    with pytest.raises(ValueError, match="out of ideas") as info:
        Broken.apply(leaf(1.0)).sum().backward()
    assert "in the gradient of 'Broken'" in info.value.__notes__[0]


@pytest.mark.parametrize("loss", [
    lambda a: tt.nn.functional.mse_loss(a, tt.zeros(2)),
    lambda a: tt.nn.functional.huber_loss(a, tt.zeros(2)),
    lambda a: (a * a)[tt.tensor([0, 1])].sum(),
], ids=["mse_loss", "huber_loss", "product"])  # fmt: skip
def test_errors_of_backward_name_the_public_operation(loss: Any) -> None:
    a = tt.ones(2, requires_grad=True) * 1
    result = loss(a)
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as info:
        result.backward()
    note = info.value.__notes__[0]
    assert note.startswith("in the gradient of ") and "of '_" not in note


@contextlib.contextmanager
def anomalies_by_flag() -> Iterator[None]:
    """Anomaly mode for a block, by the function that sets the flag alone."""
    tt.set_anomaly_enabled(True)
    try:
        yield
    finally:
        tt.set_anomaly_enabled(False)


@pytest.mark.parametrize("mode", [lambda: autograd.set_detect_anomaly(True), anomalies_by_flag])
def test_anomaly_mode_shows_the_forward_line_and_refuses_nan(mode: Callable[[], Any]) -> None:
    x = leaf(0.0)
    raises = pytest.raises(RuntimeError, match="returned nan values")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with mode(), raises as info:
            y = x.sqrt() * 0.0  # the line to be shown
            y.sum().backward()
    assert "Error detected in SqrtBackward0" in str(warned[-1].message)
    assert "the line to be shown" in "".join(info.value.__notes__)


def test_grad_fn_is_stable_and_walkable() -> None:
    x = leaf(1.0)
    y = x * 2
    assert y.grad_fn is y.grad_fn and type(y.grad_fn).__name__ == "MulBackward0"
    assert y.grad_fn.name() == "MulBackward0"
    (accumulate, index), _ = y.grad_fn.next_functions
    assert index == 0 and accumulate.name() == "torch::autograd::AccumulateGrad"
    assert accumulate.variable is x


def test_complex_gradient_follows_torch_s_convention() -> None:
    z = tt.tensor([1.0 + 2.0j], dtype=tt.complex128, requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [2.0 + 4.0j]


def test_holomorphic_gradient_is_the_conjugate_derivative() -> None:
    z = tt.tensor([1.0 + 2.0j], dtype=tt.complex128, requires_grad=True)
    (z * z).backward(tt.ones(1, dtype=tt.complex128))
    assert z.grad.tolist() == [2.0 - 4.0j]


def test_gradients_that_are_nan_are_summed_without_a_warning() -> None:
    x = tt.tensor(1.0, requires_grad=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module="numpy")  # ours are filtered by module
        (x / tt.tensor([0.0, -0.0, 1.0])).sum().backward()
    assert x.grad is not None and x.grad.isnan().item()
