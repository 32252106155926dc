"""Hooks around forward and backward, of one module and of all."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn
from tinytorch.nn import module as every


class Affine(nn.Module):
    """2 x + shift; raises for negative shifts."""

    def forward(self, x: Any, *, shift: float = 0.0) -> Any:
        if shift < 0:
            raise ValueError("negative")
        return 2 * x + shift


class Pair(nn.Module):
    def forward(self, x: Any, y: Any, label: str = "") -> Any:
        return x * y, x + y, label


@pytest.fixture(autouse=True)
def no_hook_stays() -> Iterator[None]:
    yield
    assert not every.CALLS


# -- forward -----------------------------------------------------------------------------------


def test_forward_hooks_run_in_the_order_of_registration() -> None:
    seen: list[str] = []
    layer = Affine()
    layer.register_forward_pre_hook(lambda m, a: seen.append("pre"))
    layer.register_forward_pre_hook(lambda m, a: seen.append("pre first"), prepend=True)
    layer.register_forward_hook(lambda m, a, out: seen.append("post"))
    layer.register_forward_hook(lambda m, a, out: seen.append("post first"), prepend=True)
    with (
        every.register_module_forward_pre_hook(lambda m, a: seen.append("all pre")),
        every.register_module_forward_hook(lambda m, a, out: seen.append("all post")),
    ):
        layer(tt.ones(1))
    assert seen == ["all pre", "pre first", "pre", "all post", "post first", "post"]


def test_a_forward_pre_hook_may_change_the_arguments() -> None:
    layer = Affine()
    layer.register_forward_pre_hook(lambda m, args: -args[0])
    assert layer(tt.ones(1)).tolist() == [-2]
    layer.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"shift": 5.0}), with_kwargs=True
    )
    assert layer(tt.ones(1), shift=1.0).tolist() == [3]


def test_pre_hook_with_kwargs_must_return_a_pair() -> None:
    layer = Affine()
    layer.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"None or a tuple of \(new_args, new_kwargs\)"):
        layer(tt.ones(1))


def test_a_forward_hook_may_change_the_output() -> None:
    layer = Affine()
    layer.register_forward_hook(lambda m, args, out: out + 1)
    layer.register_forward_hook(
        lambda m, args, kwargs, out: out * kwargs["shift"], with_kwargs=True
    )
    assert layer(tt.ones(1), shift=3.0).tolist() == [18]


def test_a_removed_hook_is_not_called() -> None:
    layer = Affine()
    handle = layer.register_forward_hook(lambda m, a, out: out + 1, with_kwargs=False)
    handle.remove()
    handle.remove()
    assert layer(tt.ones(1)).tolist() == [2]
    with layer.register_forward_hook(lambda m, a, k, out: out + 1, with_kwargs=True):
        assert layer(tt.ones(1)).tolist() == [3]
    assert layer(tt.ones(1)).tolist() == [2]
    assert not layer._forward_hooks_with_kwargs


def test_always_called_hooks_run_after_an_error() -> None:
    seen: list[Any] = []
    layer = Affine()
    layer.register_forward_hook(lambda m, a, out: seen.append(("never", out)))
    layer.register_forward_hook(lambda m, a, out: seen.append(("always", out)), always_call=True)
    options = {"always_call": True, "with_kwargs": True}
    with every.register_module_forward_hook(lambda m, a, k, out: seen.append(k), **options):
        with pytest.raises(ValueError, match="negative"):
            layer(tt.ones(1), shift=-1.0)
    assert seen == [{"shift": -1.0}, ("always", None)]


def test_an_error_in_an_always_called_hook_is_a_warning() -> None:
    layer = Affine()

    def fail(module: Any, args: Any, output: Any) -> None:
        raise KeyError("hook")

    layer.register_forward_hook(fail, always_call=True)
    with pytest.warns(UserWarning, match="silenced as another error was raised in forward: 'hook'"):
        with pytest.raises(ValueError, match="negative"):
            layer(tt.ones(1), shift=-1.0)


def test_hooks_survive_deepcopy_and_pickle() -> None:
    layer = Affine()
    layer.register_forward_hook(double_output)
    assert copy.deepcopy(layer)(tt.ones(1)).tolist() == [4]
    assert pickle.loads(pickle.dumps(layer))(tt.ones(1)).tolist() == [4]


def double_output(module: Any, args: Any, output: Any) -> Any:
    return 2 * output


# -- backward -------------------------------------------------------------------------------------


def ones(count: int = 1) -> Any:
    return tt.ones(count, requires_grad=True)


def plain(grads: Any) -> list[Any]:
    return [None if grad is None else grad.tolist() for grad in grads]


def test_full_backward_hook_sees_all_gradients() -> None:
    seen: list[Any] = []
    layer = Pair()
    layer.register_full_backward_hook(lambda m, given, out: seen.append((m, given, out)))
    x, y = tt.tensor([2.0], requires_grad=True), tt.tensor([3.0])
    product, total, label = layer(x, y, "name")
    assert label == "name"
    assert product.grad_fn.name() == "BackwardHookFunctionBackward"  # as PyTorch prints it
    (product + 10 * total).backward()
    ((module, grad_input, grad_output),) = seen
    assert module is layer
    assert plain(grad_input) == [[13.0], None, None]
    assert plain(grad_output) == [[1.0], [10.0], None]
    assert x.grad.tolist() == [13.0]


def test_full_backward_hook_replaces_gradients() -> None:
    layer = Affine()
    layer.register_full_backward_hook(lambda m, given, out: (given[0] * 100,))
    x = ones()
    layer(x).backward()
    assert x.grad.tolist() == [200.0]


def test_backward_pre_hook_replaces_gradients() -> None:
    order: list[str] = []
    layer = Affine()
    layer.register_full_backward_pre_hook(lambda m, out: (out[0] * 10,))
    layer.register_full_backward_pre_hook(lambda m, out: order.append("first"), prepend=True)
    layer.register_full_backward_hook(lambda m, given, out: order.append(str(plain(out))))
    x = ones()
    layer(x).backward()
    assert order == ["first", "[[10.0]]"]
    assert x.grad.tolist() == [20.0]


def test_global_backward_hooks_are_called_for_every_module() -> None:
    seen: list[str] = []
    net = nn.Sequential(Affine(), nn.ReLU())
    x = ones()
    with (
        every.register_module_full_backward_hook(lambda m, g, o: seen.append(type(m).__name__)),
        every.register_module_full_backward_pre_hook(lambda m, o: (2 * o[0],)),
    ):
        net(x).backward()
    assert seen == ["ReLU", "Affine", "Sequential"]
    assert x.grad.tolist() == [16.0]


def test_a_full_backward_hook_warns_if_no_input_requires_grad() -> None:
    seen: list[Any] = []
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda m, given, out: seen.append((given, plain(out))))
    out = layer(tt.ones(2))
    with pytest.warns(UserWarning, match="since no inputs require gradients"):
        out.backward()
    assert seen == [((None,), [[1.0]])]


def test_backward_hooks_are_not_called_without_a_graph() -> None:
    layer = Affine()
    layer.register_full_backward_hook(lambda m, given, out: pytest.fail("called"))
    with tt.no_grad():
        assert layer(ones()).grad_fn is None
    assert layer(tt.ones(1)).grad_fn is None


def test_a_hook_that_returns_a_wrong_number_of_gradients_is_an_error() -> None:
    layer = Affine()
    layer.register_full_backward_hook(lambda m, given, out: (given[0], None))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        layer(ones()).backward()
    layer = Affine()
    layer.register_full_backward_pre_hook(lambda m, out: (out[0], None))
    with pytest.raises(RuntimeError, match="invalid number of grad_output, got 2, but expected 1"):
        layer(ones()).backward()


def test_backward_hooks_warn_if_the_output_is_not_a_tensor() -> None:
    class Named(nn.Module):
        def forward(self, x: Any) -> Any:
            return {"y": 2 * x}

    layer = Named()
    layer.register_full_backward_hook(lambda m, given, out: None)
    with pytest.warns(UserWarning, match="output should be a Tensor or a tuple of Tensors"):
        layer(ones())


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook:FutureWarning")
def test_old_backward_hook_sees_the_last_operation() -> None:
    seen: list[Any] = []
    layer = Affine()
    handle = layer.register_backward_hook(lambda m, given, out: seen.append((m, plain(out))))
    x = ones()
    layer(x, shift=1.0).backward()
    assert seen == [(layer, [[1.0]])]
    handle.remove()
    with every.register_module_backward_hook(lambda m, given, out: seen.append(plain(out))):
        layer(x, shift=1.0).backward()
    assert seen[1:] == [[[1.0]]]


def test_two_kinds_of_backward_hook_do_not_mix() -> None:
    layer = Affine()
    layer.register_backward_hook(lambda m, given, out: None)
    with pytest.raises(RuntimeError, match="Cannot use both .* on a single Module"):
        layer.register_full_backward_hook(lambda m, given, out: None)
    layer = Affine()
    layer.register_full_backward_hook(lambda m, given, out: None)
    with pytest.raises(RuntimeError, match="Cannot use both .* on a single Module"):
        layer.register_backward_hook(lambda m, given, out: None)
    with every.register_module_full_backward_hook(lambda m, given, out: None):
        with pytest.raises(RuntimeError, match="as a global Module hook"):
            every.register_module_backward_hook(lambda m, given, out: None)
    with every.register_module_backward_hook(lambda m, given, out: None):
        with pytest.raises(RuntimeError, match="as a global Module hook"):
            every.register_module_full_backward_hook(lambda m, given, out: None)


def test_second_derivatives_flow_through_modules_with_backward_hooks() -> None:
    class Cube(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * x * x

    layer = Cube()
    layer.register_full_backward_hook(lambda m, given, out: None)
    x = tt.tensor(2.0, requires_grad=True)
    (first,) = tt.autograd.grad(layer(x), x, create_graph=True)
    (second,) = tt.autograd.grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)


# -- registration ------------------------------------------------------------------------------


def test_registration_hooks_see_and_may_replace_parameters() -> None:
    seen: list[tuple[str, str]] = []
    with (
        every.register_module_parameter_registration_hook(
            lambda m, name, value: seen.append(("parameter", name))
        ),
        every.register_module_buffer_registration_hook(
            lambda m, name, value: seen.append(("buffer", name))
        ),
        every.register_module_module_registration_hook(lambda m, name, value: nn.Tanh()),
    ):
        net = nn.Module()
        net.weight = nn.Parameter(tt.ones(1))
        net.register_buffer("mean", tt.zeros(1))
        net.act = nn.ReLU()
    assert seen == [("parameter", "weight"), ("buffer", "mean")]
    assert isinstance(net.act, nn.Tanh)


@pytest.mark.parametrize(
    ("forward", "phrase"),
    [
        (lambda a, b: [a * 2, b * 2], "does not return a single Tensor or a tuple of Tensors"),
        (lambda a, b: (a * 2, b * 2), "outputs are generated by different autograd Nodes"),
        (lambda a, b: (a * b).exp(), "the forward contains multiple autograd Nodes"),
        (lambda a, b: a * b, ""),
    ],
)
def test_hooks_of_the_last_operation_warn_of_what_they_miss(
    torch: Any, forward: Any, phrase: str
) -> None:
    for lib in (tt, torch):
        made = type("Made", (lib.nn.Module,), {"forward": lambda self, *args: forward(*args)})()
        made.register_backward_hook(lambda module, grad_input, grad_output: None)
        args = [lib.ones(2, requires_grad=True).exp() for _ in range(2)]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made(*args)
        assert [w.category for w in caught] == [FutureWarning] * bool(phrase)
        assert not phrase or phrase in str(caught[0].message)


def test_hooks_of_the_last_operation_warn_of_inputs_that_are_no_tensors() -> None:
    class Made(nn.Module):
        def forward(self, pair: Any) -> Any:
            return pair[0] * pair[1]

    layer = Made()
    layer.register_backward_hook(lambda module, grad_input, grad_output: None)
    with pytest.warns(FutureWarning, match="does not take as input a single Tensor or a tuple of"):
        layer([tt.ones(2, requires_grad=True), tt.ones(2)])


def test_a_handle_knows_the_hooks_it_is_one_of() -> None:
    layer = nn.Linear(2, 2)
    first, second = (layer.register_forward_hook(lambda m, a, o: None) for _ in range(2))
    first.remove()
    assert list(second.hooks_dict_ref()) == [second.id]
