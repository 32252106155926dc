"""nn.utils: parametrized, normalised and fused weights, and calls with other tensors."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_same
from tinytorch import nn
from tinytorch.nn.utils import parametrizations, parametrize

#: Name in ``parametrizations``, options, and the sizes of a linear layer.
WAYS: list[tuple[str, dict[str, Any], tuple[int, int]]] = [
    ("weight_norm", {}, (3, 4)),
    ("weight_norm", {"dim": 1}, (3, 4)),
    ("weight_norm", {"dim": None}, (3, 4)),
    ("spectral_norm", {}, (3, 4)),
    ("spectral_norm", {"n_power_iterations": 3, "dim": 1}, (3, 4)),
    ("orthogonal", {}, (3, 4)),
    ("orthogonal", {}, (4, 3)),
    ("orthogonal", {}, (3, 3)),
    ("orthogonal", {"orthogonal_map": "cayley"}, (4, 2)),
    ("orthogonal", {"orthogonal_map": "matrix_exp"}, (2, 4)),
    ("orthogonal", {"orthogonal_map": "householder"}, (3, 3)),
    ("orthogonal", {"orthogonal_map": "householder", "use_trivialization": False}, (3, 3)),
    ("orthogonal", {"orthogonal_map": "cayley", "use_trivialization": False}, (3, 3)),
]


def trained(library: Any, make: Callable[[Any], Any], sizes: tuple[int, int]) -> list[Any]:
    """State, text, losses and weights of a parametrized layer over three steps."""
    library.manual_seed(3)
    layer = make(library.nn.Linear(*sizes))
    seen: list[Any] = [str(layer), {k: v.tolist() for k, v in layer.state_dict().items()}]
    optimizer = library.optim.SGD(layer.parameters(), lr=0.1)
    x = library.randn(5, sizes[0])
    for _ in range(3):
        optimizer.zero_grad()
        loss = (layer(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    layer.eval()
    return [*seen, layer(x).tolist(), [name for name, _ in layer.named_parameters()]]


@pytest.mark.parametrize(("name", "options", "sizes"), WAYS)
def test_parametrized_layers_train_as_pytorchs(
    torch: Any, name: str, options: Any, sizes: tuple[int, int]
) -> None:
    import torch.nn.utils.parametrizations as theirs

    ours = trained(tt, lambda layer: getattr(parametrizations, name)(layer, **options), sizes)
    wanted = trained(torch, lambda layer: getattr(theirs, name)(layer, **options), sizes)
    assert_same(ours, wanted, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
def test_deprecated_weight_and_spectral_norm_train_as_pytorchs(torch: Any, name: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        ours = trained(tt, getattr(nn.utils, name), (3, 4))
        assert_same(
            ours, trained(torch, getattr(torch.nn.utils, name), (3, 4)), rtol=2e-3, atol=2e-4
        )


@pytest.mark.parametrize(("name", "options", "sizes"), WAYS)
def test_removing_a_parametrization_keeps_the_weight(
    name: str, options: Any, sizes: tuple[int, int]
) -> None:
    layer = getattr(parametrizations, name)(nn.Linear(*sizes), **options).eval()
    weight, other = layer.weight.detach().clone(), copy.deepcopy(layer)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    assert tt.equal(layer.weight, weight) and tt.equal(other.weight, weight)
    assert parametrize.is_parametrized(other) and not parametrize.is_parametrized(layer)


@pytest.mark.parametrize("sizes", [(4, 4), (4, 2), (2, 4)])
@pytest.mark.parametrize("way", ["matrix_exp", "cayley", "householder"])
def test_orthogonal_weights_are_orthogonal_and_can_be_assigned(way: str, sizes: Any) -> None:
    layer = parametrizations.orthogonal(nn.Linear(*sizes, dtype=tt.float64), orthogonal_map=way)
    few = min(sizes)
    for _ in range(2):
        w: Any = layer.weight
        gram = w @ w.mT if w.shape[0] == few else w.mT @ w
        np.testing.assert_allclose(gram.tolist(), np.eye(few), atol=1e-12)
        q: Any = tt.linalg.qr(tt.randn(4, 4, dtype=tt.float64))[0]
        wanted = q[: w.shape[0], : w.shape[1]]
        layer.weight = wanted
        np.testing.assert_allclose(layer.weight.tolist(), wanted.tolist(), atol=1e-12)


def test_spectral_norm_finds_the_largest_singular_value() -> None:
    layer: Any = parametrizations.spectral_norm(nn.Conv2d(2, 3, 2, dtype=tt.float64))
    for _ in range(200):
        layer.weight
    assert np.linalg.norm(layer.weight.flatten(1).tolist(), 2) == pytest.approx(1)
    before = layer.eval().weight
    assert tt.equal(layer.weight, before)


class Symmetric(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).mT


class Twice(nn.Module):
    def forward(self, x: Any) -> Any:
        return 2 * x

    def right_inverse(self, x: Any) -> Any:
        return x / 2


def test_one_tensor_may_have_several_parametrizations() -> None:
    layer = nn.Linear(3, 3)
    original = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Twice())
    assert tt.equal(layer.weight, original)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert tt.equal(layer.weight, original.triu() + original.triu(1).mT)
    layer.weight.sum().backward()
    grad: Any = layer.parametrizations.weight.original.grad
    assert grad.tolist() == [[2.0, 4.0, 4.0], [0.0, 2.0, 4.0], [0.0, 0.0, 2.0]]
    with pytest.raises(RuntimeError, match="Symmetric does not implement right_inverse"):
        layer.weight = tt.ones(3, 3)


def test_cached_tensors_are_computed_once() -> None:
    layer = parametrizations.weight_norm(nn.Linear(2, 2))
    with parametrize.cached():
        first = layer.weight
        with parametrize.cached():
            assert layer.weight is first
        assert layer.weight is first
    assert layer.weight is not first


def test_a_buffer_can_be_parametrized() -> None:
    norm = nn.BatchNorm1d(2)
    parametrize.register_parametrization(norm, "running_var", Twice())
    assert norm.running_var.tolist() == [1.0, 1.0]
    assert norm.state_dict()["parametrizations.running_var.original"].tolist() == [0.5, 0.5]
    parametrize.remove_parametrizations(norm, "running_var", leave_parametrized=False)
    assert norm.running_var.tolist() == [0.5, 0.5] and "running_var" in dict(norm.named_buffers())


def test_parametrizations_move_to_another_module() -> None:
    layer, other = parametrizations.weight_norm(nn.Linear(2, 2)), nn.Linear(2, 2)
    parametrize.transfer_parametrizations_and_params(layer, other)
    assert tt.equal(layer.weight, other.weight) and parametrize.is_parametrized(other, "weight")
    assert parametrize.type_before_parametrizations(other) is nn.Linear


def test_transferred_parametrizations_share_tensors_as_in_pytorch(torch: Any) -> None:
    for lib in (tt, torch):
        way = lib.nn.utils.parametrize
        layer, plain = lib.nn.Linear(2, 2), lib.nn.Linear(2, 2)
        assert way.transfer_parametrizations_and_params(layer, plain) is plain
        assert not way.is_parametrized(plain)
        lib.nn.utils.parametrizations.weight_norm(layer)
        way.register_parametrization(layer, "bias", lib.nn.ReLU())
        for other in (plain, lib.nn.ReLU()):
            way.transfer_parametrizations_and_params(layer, other)
            made, before = other.parametrizations, layer.parametrizations
            assert made.weight.original0 is before.weight.original0
            assert made.bias.original is before.bias.original and made.bias[0] is before.bias[0]
            assert lib.equal(other.weight, layer.weight) and lib.equal(other.bias, layer.bias)
        with pytest.raises(AttributeError, match="no attribute 'other'"):
            way.transfer_parametrizations_and_params(layer, lib.nn.Linear(2, 2), "other")


def test_a_cache_is_that_of_its_thread() -> None:
    layer = parametrizations.weight_norm(nn.Linear(2, 2))
    seen: list[bool] = []
    with parametrize.cached():
        assert layer.weight is layer.weight
        thread = threading.Thread(target=lambda: seen.append(layer.weight is layer.weight))
        thread.start()
        thread.join()
    assert seen == [False]


class Shorter(nn.Module):
    def forward(self, x: Any) -> Any:
        return x[:2]


class Wider(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.double()


class Nothing(nn.Module):
    def forward(self, x: Any) -> Any:
        return 1


class NoTensor(Twice):
    def right_inverse(self, x: Any) -> Any:
        return 3


class OtherDtype(Twice):
    def right_inverse(self, x: Any) -> Any:
        return x.double()


def add(made: nn.Module) -> Callable[[], Any]:
    return lambda: parametrize.register_parametrization(nn.Linear(3, 3), "bias", made)


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (ValueError, "may not change the shape of the tensor", add(Shorter())),
        (ValueError, "may not change the dtype of the tensor", add(Wider())),
        (ValueError, "must return a tensor. Got int", add(Nothing())),
        (ValueError, "must return a Tensor or a Sequence of tensors", add(NoTensor())),
        (ValueError, "right_inverse must return a tensor", lambda: [
            step() for net in [nn.Linear(3, 3)] for step in (
                lambda: parametrize.register_parametrization(net, "bias", Twice()),
                lambda: parametrize.register_parametrization(net, "bias", NoTensor()))]),
        (ValueError, "may not change the dtype", add(OtherDtype())),
        (ValueError, "does not have a parameter, a buffer, or a parametrized element",
         lambda: parametrize.register_parametrization(nn.Linear(1, 1), "x", Twice())),
        (ValueError, "does not have a parametrization on weight",
         lambda: parametrize.remove_parametrizations(nn.Linear(1, 1), "weight")),
        (ValueError, "Cannot leave unparametrized", lambda: parametrize.remove_parametrizations(
            parametrizations.weight_norm(nn.Linear(1, 1)), "weight", leave_parametrized=False)),
        (RuntimeError, "only supported through state_dict",
         lambda: pickle.dumps(parametrizations.weight_norm(nn.Linear(1, 1)))),
        (ValueError, "orthogonal_map has to be one of",
         lambda: parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="qr")),
        (ValueError, "Expected a matrix or batch of matrices",
         lambda: parametrizations.orthogonal(nn.Linear(2, 2), "bias")),
        (ValueError, "Expected n_power_iterations to be positive",
         lambda: parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)),
        (ValueError, "has no parameter or buffer with name 'x'",
         lambda: parametrizations.spectral_norm(nn.Linear(2, 2), "x")),
        (IndexError, "Dimension out of range",
         lambda: parametrizations.spectral_norm(nn.Linear(2, 2), dim=2)),
        (ValueError, "weight_norm of 'weight' not found",
         lambda: nn.utils.remove_weight_norm(nn.Linear(2, 2))),
        (ValueError, "spectral_norm of 'weight' not found",
         lambda: nn.utils.remove_spectral_norm(nn.Linear(2, 2))),
        (RuntimeError, "Cannot register two spectral_norm hooks",
         lambda: nn.utils.spectral_norm(nn.utils.spectral_norm(nn.Linear(2, 2)))),
        (AssertionError, "Fusion only for eval",
         lambda: nn.utils.fuse_conv_bn_eval(nn.Conv1d(1, 1, 1), nn.BatchNorm1d(1))),
        (RuntimeError, "Module must support a 'device' arg",
         lambda: nn.utils.skip_init(nn.ReLU)),
        (RuntimeError, "Expected a Module", lambda: nn.utils.skip_init(int)),
    ],
)  # fmt: skip
def test_wrong_use_of_parametrizations_raises(
    error: type[Exception], text: str, call: Callable[[], Any]
) -> None:
    with pytest.raises(error, match=text):
        call()


def test_the_older_weight_norm_goes_over_into_the_newer() -> None:
    with pytest.warns(FutureWarning, match="deprecated"):
        old = nn.utils.weight_norm(nn.Conv1d(2, 3, 2))
    new = parametrizations.weight_norm(nn.Conv1d(2, 3, 2))
    new.load_state_dict(old.state_dict())
    np.testing.assert_allclose(new.weight.tolist(), old.weight.tolist(), rtol=1e-6)
    weight = old.weight.detach()
    assert tt.equal(nn.utils.remove_weight_norm(old).weight, weight)


def test_removing_the_older_spectral_norm_keeps_the_weight() -> None:
    layer = nn.utils.spectral_norm(nn.Linear(3, 2)).eval()
    out = layer(tt.ones(1, 3))
    nn.utils.remove_spectral_norm(layer)
    assert tt.allclose(layer(tt.ones(1, 3)), out) and isinstance(layer.weight, nn.Parameter)


@pytest.mark.parametrize(
    ("layer", "norm", "shape"),
    [
        (nn.Conv2d(2, 4, 3, groups=2), nn.BatchNorm2d(4), (2, 2, 5, 5)),
        (nn.Conv1d(2, 4, 3, bias=False), nn.BatchNorm1d(4, affine=False), (2, 2, 5)),
        (nn.ConvTranspose2d(3, 4, 2), nn.BatchNorm2d(4), (2, 3, 5, 5)),
        (nn.Linear(3, 4), nn.BatchNorm1d(4), (6, 3)),
    ],
)
def test_a_fused_layer_computes_what_both_did(layer: Any, norm: Any, shape: Any) -> None:
    x = tt.randn(*shape)
    norm(layer(x))  # gives the norm statistics
    wanted = norm.eval()(layer.eval()(x))
    if isinstance(layer, nn.Linear):
        fused = nn.utils.fuse_linear_bn_eval(layer, norm)
    else:
        transposed = isinstance(layer, nn.ConvTranspose2d)
        fused = nn.utils.fuse_conv_bn_eval(layer, norm, transposed)
    np.testing.assert_allclose(fused(x).tolist(), wanted.tolist(), rtol=1e-4, atol=1e-5)


def test_skip_init_draws_no_random_numbers() -> None:
    tt.manual_seed(0)
    wanted = tt.rand(3).tolist()
    tt.manual_seed(0)
    assert isinstance(nn.utils.skip_init(nn.Linear, 4, 5, bias=False), nn.Linear)
    assert tt.rand(3).tolist() == wanted


def test_a_fused_bias_has_the_dtype_and_the_need_of_gradients_that_it_has_in_torch(
    torch: Any,
) -> None:
    found = []
    for lib in (tt, torch):
        weight, norm = lib.ones(2, 1, 1), [lib.ones(2), lib.ones(2), 0.0, lib.ones(2), lib.ones(2)]
        biases = [None, lib.ones(2), lib.ones(2, dtype=lib.float64, requires_grad=True)]
        made = [lib.nn.utils.fuse_conv_bn_weights(weight, bias, *norm)[1] for bias in biases]
        found.append([(x.requires_grad, x.dtype is lib.float64, x.tolist()) for x in made])
    assert found[0] == found[1]
