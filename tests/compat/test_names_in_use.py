"""Names that programs import and use, of modules old and private: as in PyTorch."""

from __future__ import annotations

import importlib
import io
import pickle
import typing
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.fresh import run

# -- TorchScript, as far as it is Python --------------------------------------------------------

TYPES: list[tuple[Any, Any]] = [
    ([1], typing.List[int]), ([], typing.List[int]), ((1, 2), typing.Tuple[int, int]),  # noqa: UP006
    ((1, "a"), tuple[int, str]), ((1, 2), tuple[int]), ({"a": 1}, dict[str, int]),
    (None, typing.Optional[int]), (3, int | None), ("a", typing.Union[int, float]),  # noqa: UP007, UP045
    (3, (int, str)), ([1], (list[str], list[int])), (3, int), ([1.0], list[int]),
    ([[1]], list[list[int]]), ({}, dict[str, int]), ([None], list[int | None]),
    ({"a": [1]}, dict[str, list[int]]), ({"a": ["b"]}, dict[str, list[int]]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # PyTorch's, of empty containers
@pytest.mark.parametrize(("value", "kind"), TYPES, ids=str)
def test_jit_isinstance_of_parametrized_types_is_pytorchs(
    torch: Any, value: Any, kind: Any
) -> None:
    assert tt.jit.isinstance(value, kind) is torch.jit.isinstance(value, kind)
    assert tt.jit.isinstance(tt.ones(1), tt.Tensor)


def test_a_container_says_what_it_holds(lib: Any) -> None:
    with pytest.raises(RuntimeError, match="without a contained type"):
        lib.jit.isinstance([1], list)


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_fork_and_wait_of_jit_run_the_call(lib: Any) -> None:
    for home in (lib, lib.jit):
        future = home.fork(lambda x, y: x + y, lib.ones(1), y=2)
        assert home.wait(future).item() == 3.0
    assert lib.jit.Attribute(3, int) == 3 or lib.__name__ == "torch"
    assert issubclass(lib.jit.Error, Exception) and lib.JITException is lib.jit.Error


# -- functorch ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:We've integrated functorch")
def test_functorch_makes_functions_of_modules(torch: Any) -> None:
    for functorch, library in (
        (importlib.import_module("tinytorch.functorch"), tt),
        (importlib.import_module("functorch"), torch),
    ):
        nn = library.nn
        net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
        model, params = functorch.make_functional(net)
        x = library.ones(4, 2)
        assert library.equal(model(params, x), net(x))
        assert [p.requires_grad for p in params] == [True, True] and params[0] is not net[0].weight
        _, apart = functorch.make_functional(net, disable_autograd_tracking=True)
        assert not any(p.requires_grad for p in apart)
        with pytest.raises(RuntimeError, match="make_functional_with_buffers"):
            functorch.make_functional(nn.BatchNorm1d(2))
        norm = nn.BatchNorm1d(2).eval()
        model, params, buffers = functorch.make_functional_with_buffers(norm)
        assert library.equal(model(params, buffers, x), norm(x)) and len(buffers) == 3
        nets = [nn.Linear(2, 3) for _ in range(3)]
        model, params, buffers = functorch.combine_state_for_ensemble(nets)
        out = functorch.vmap(model, (0, 0, None))(params, buffers, x)
        assert library.allclose(out, library.stack([each(x) for each in nets]), atol=1e-6)


def test_functorch_is_found_beside_torch() -> None:
    def program() -> None:
        import sys

        import tinytorch

        tinytorch.install_as_torch()
        import functorch
        import functorch.experimental
        import torch
        from functorch import vmap

        assert functorch is torch.functorch and vmap is torch.vmap
        tinytorch.uninstall_as_torch()
        print([name for name in sys.modules if name.partition(".")[0] == "functorch"])

    assert run(program) == "[]"


# -- how modules take new contents ---------------------------------------------------------------


@pytest.mark.parametrize("how", ["overwrite", "swap"])
def test_conversions_make_new_parameters_or_swap(lib: Any, how: str) -> None:
    future = importlib.import_module(f"{lib.__name__}.__future__")
    getattr(future, f"set_{how}_module_params_on_conversion")(True)
    try:
        assert getattr(future, f"get_{how}_module_params_on_conversion")()
        layer = lib.nn.Linear(2, 3)
        layer(lib.ones(2)).sum().backward()
        before, values = layer.weight, layer.weight.detach().double()
        layer.double()
        assert (layer.weight is before) is (how == "swap")
        assert layer.weight.dtype == lib.float64 and lib.equal(layer.weight, values)
        assert layer.weight.grad.dtype == lib.float64 and layer.weight.requires_grad
        assert isinstance(layer.weight, lib.nn.Parameter)
    finally:
        getattr(future, f"set_{how}_module_params_on_conversion")(False)


@pytest.mark.parametrize("assign", [False, True])
def test_state_is_loaded_by_swapping(lib: Any, assign: bool) -> None:
    future = importlib.import_module(f"{lib.__name__}.__future__")
    layer = lib.nn.Linear(2, 2, bias=False)
    before, state = layer.weight, {"weight": lib.arange(4.0).reshape(2, 2)}
    future.set_swap_module_params_on_conversion(True)
    try:
        layer.load_state_dict(state, assign=assign)
    finally:
        future.set_swap_module_params_on_conversion(False)
    assert layer.weight is before and isinstance(before, lib.nn.Parameter)
    assert layer.weight.tolist() == [[0.0, 1.0], [2.0, 3.0]] and layer.weight.requires_grad


def test_module_load_of_a_parameter_returns_what_pytorchs_returns(lib: Any) -> None:
    p, x = lib.nn.Parameter(lib.zeros(2)), lib.ones(2)
    with lib.no_grad():
        made = p.module_load(x)
        assert made is not p and type(made) is lib.Tensor and p.tolist() == [1, 1]
        assert p.module_load(x + 1, assign=True).tolist() == [2, 2] and p.tolist() == [1, 1]


def test_grad_dtype_is_read_and_set_as_in_pytorch(lib: Any) -> None:
    x = lib.ones(2, requires_grad=True)
    assert x.grad_dtype == lib.float32
    x.grad_dtype = lib.float32
    y = x * 2
    with pytest.raises(RuntimeError, match="accessed on leaf tensors"):
        y.grad_dtype
    with pytest.raises(RuntimeError, match="set on leaf tensors"):
        y.grad_dtype = lib.float32


def test_gradients_of_another_dtype_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="grad_dtype: .* got tinytorch.float64"):
        tt.ones(2, requires_grad=True).grad_dtype = tt.float64


# -- parts with an underscore --------------------------------------------------------------------


def test_private_helpers_of_modules_work_as_pytorchs(lib: Any) -> None:
    root = lib.__name__
    indent = importlib.import_module(f"{root}.nn.modules.module")._addindent
    assert indent("a\nb\nc", 3) == "a\n   b\n   c" and indent("a", 3) == "a"
    layer = lib.nn.ReLU()
    layer.register_forward_hook(lambda module, args, out: out + 1)
    assert layer._call_impl(lib.ones(1)).item() == 2.0
    x = lib.nn.init._no_grad_trunc_normal_(lib.ones(100), 0.0, 1.0, -0.5, 0.5)
    assert x.abs().max() <= 0.5 and x.std() > 0.1
    shown = importlib.import_module(f"{root}._tensor_str")
    with shown.printoptions(precision=1):
        assert repr(lib.tensor([0.123])) == "tensor([0.1])"


def test_private_functions_of_attention_compute_what_pytorchs_do(torch: Any) -> None:
    results = []
    for library in (tt, torch):
        private, as_tensor = library.nn.functional, library.tensor
        x = as_tensor([[0.5, -1.0], [2.0, 1.5]])
        w, b = as_tensor(np.arange(12.0, dtype="f").reshape(6, 2)), as_tensor([1.0, 2.0] * 3)
        mask = as_tensor([False, True])
        found = [
            *private._in_projection_packed(x, x, x, w, b),
            *private._in_projection_packed(x, x, x, w),
            *private._in_projection(x, x, x, w[:2], w[2:4], w[4:], b[:2], b_v=b[2:4]),
            private._canonical_mask(mask, "m", None, "", library.float64),
            private._canonical_mask(x, "m", x.dtype, "n", library.float64, check_other=True),
        ]
        assert private._canonical_mask(None, "m", None, "", None) is None
        assert private._none_or_dtype(None) is None and private._none_or_dtype(x) is x.dtype
        with pytest.raises(AssertionError, match="only bool and floating types of m"):
            private._canonical_mask(library.arange(2), "m", None, "", library.float32)
        assert private._mha_shape_check(x[None], x[None], x[None], mask[None], x, 1)
        for wrong in (
            (x, x, x, mask[None], None), (x, x, x, None, x[None, :, :1]), (x[0], x, x),
            (x, x[None], x), (x, x, x, None, x[0]),
        ):  # fmt: skip
            given = (*wrong, None, None)[:5]
            with pytest.raises(AssertionError):
                private._mha_shape_check(*given, 1)
        results.append([(str(t.dtype).partition(".")[2], t.tolist()) for t in found])
    assert results[0] == results[1]


@pytest.mark.filterwarnings("ignore:`apply_permutation` is deprecated")
def test_private_names_of_initializers_and_layers_do_what_they_say(lib: Any) -> None:
    init, modules = lib.nn.init, importlib.import_module(f"{lib.__name__}.nn.modules")
    assert init._no_grad_fill_(lib.ones(2), 3.0).tolist() == [3.0, 3.0]
    assert init._no_grad_zero_(lib.ones(2)).tolist() == [0.0, 0.0]
    lib.manual_seed(0)
    x = init._no_grad_normal_(lib.zeros(1000, requires_grad=True), 5.0, 0.1)
    assert abs(x.mean().item() - 5) < 0.02 and x.is_leaf
    assert init._no_grad_uniform_(lib.zeros(1000), 2.0, 3.0).min() >= 2
    assert modules.rnn.apply_permutation(lib.tensor([[1, 2]]), lib.tensor([1, 0])).tolist() == [
        [2, 1]
    ]
    assert not modules.activation._is_make_fx_tracing()
    assert modules.activation._arg_requires_grad(x) and not modules.activation._arg_requires_grad(
        None
    )
    assert modules.activation._check_arg_device(x) and modules.activation._check_arg_device(None)


def test_private_names_of_optimizers_do_what_they_say(lib: Any) -> None:
    private = importlib.import_module(f"{lib.__name__}.optim.optimizer")
    modes = []

    class Steps(lib.optim.SGD):  # type: ignore[misc]
        @private._use_grad_for_differentiable  # type: ignore[untyped-decorator]
        def step(self, closure: Any = None) -> None:
            modes.append(lib.is_grad_enabled())

    p = lib.nn.Parameter(lib.ones(1))
    for differentiable in (True, False):
        Steps([p], lr=0.1, differentiable=differentiable).step()
    assert modes == [True, False] and lib.is_grad_enabled()
    assert private._get_value(lib.tensor(3.0)) == 3.0 and private._stack_if_compiling(3) == 3
    assert private._default_to_fused_or_foreach([p.data], False) == (False, False)
    params, grads = [lib.ones(2) * 1j, lib.ones(1)], [lib.ones(2) + 0j, lib.ones(1)]
    private._view_as_real(params, grads)
    assert [t.shape for t in (*params, *grads)] == [(2, 2), (1,)] * 2
    scheduler = lib.optim.lr_scheduler.ExponentialLR(lib.optim.SGD([p], lr=1.0), 0.5)
    with importlib.import_module(f"{lib.__name__}.optim.lr_scheduler")._enable_get_lr_call(
        scheduler
    ):
        assert scheduler._get_lr_called_within_step
    assert not scheduler._get_lr_called_within_step


def test_device_numbers_are_pytorchs(lib: Any) -> None:
    utils = importlib.import_module(f"{lib.__name__}._utils")
    number = utils._get_device_index
    assert (number(3), number("cuda:1"), number(lib.device("cuda", 2))) == (3, 1, 2)
    assert number("cpu", allow_cpu=True) == -1
    for wrong in ("cpu", None, "cuda"):
        with pytest.raises(ValueError, match="Expected a"):
            number(wrong)
    if not lib.cuda.is_available():
        assert utils._get_available_device_type() is None


def test_a_function_for_map_location_calls_default_restore_location(lib: Any) -> None:
    file = io.BytesIO()
    lib.save({"w": lib.arange(3.0)}, file)
    file.seek(0)
    place = importlib.import_module(f"{lib.__name__}.serialization").default_restore_location
    loaded = lib.load(file, map_location=lambda storage, _: place(storage, "cpu"))
    assert loaded["w"].tolist() == [0.0, 1.0, 2.0]


def test_tensors_that_pytorch_pickled_are_unpickled(torch: Any) -> None:
    class AsTinytorch(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            return super().find_class(module.replace("torch", "tinytorch", 1), name)

    x = torch.arange(6.0).reshape(2, 3)
    both = (x, x[0], torch.nn.Parameter(torch.tensor([1.5], dtype=torch.bfloat16)))
    found = AsTinytorch(io.BytesIO(pickle.dumps(both))).load()
    assert [t.tolist() for t in found] == [t.tolist() for t in both]
    assert found[2].dtype is tt.bfloat16 and isinstance(found[2], tt.nn.Parameter)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_rebuild_tensor_v2_makes_a_view_of_a_storage(lib: Any) -> None:
    rebuild = importlib.import_module(f"{lib.__name__}._utils")._rebuild_tensor_v2
    x = lib.arange(6.0)
    y = rebuild(x.storage(), 1, (2, 2), (1, 2), True, {})
    assert y.tolist() == [[1, 3], [2, 4]] and y.requires_grad
    y.data[0, 0] = 9
    assert x[1] == 9


def test_constants_that_programs_compare_with_exist(lib: Any) -> None:
    assert lib.Tag.pt2_compliant_tag.name == "pt2_compliant_tag"
    assert isinstance(lib.backends.mha.get_fastpath_enabled(), bool)
    assert lib.backends.cusparselt.is_available() is False
    with lib.DisableTorchFunctionSubclass():
        assert lib.ones(1).item() == 1.0
    assert issubclass(lib.AcceleratorError, RuntimeError) and isinstance(lib.Event, type)
    before = lib.is_anomaly_enabled()
    lib.set_anomaly_enabled(True, False)
    assert lib.is_anomaly_enabled() and not lib.is_anomaly_check_nan_enabled()
    lib.set_anomaly_enabled(before, True)


def test_nested_tensors_are_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"nested\.nested_tensor: tensors are not nested"):
        tt.nested.nested_tensor([tt.ones(2), tt.ones(3)])


def test_quantized_dtypes_are_named_and_refused() -> None:
    def program() -> None:
        import tinytorch

        tinytorch.install_as_torch()
        import torch

        assert (torch.ones(1).dtype == torch.qint8) is False and "qint8" in repr(torch.qint8)
        try:
            torch.zeros(2, dtype=torch.qint8)
        except TypeError as error:
            print(error)

    assert run(program) == "backend 'numpy' has no dtype 'qint8'"


# -- groups of products, and what is kept of a call ----------------------------------------------


def product(library: Any, a: tuple[int, ...], b: tuple[int, ...], ends: Any) -> list[Any]:
    draws = np.random.default_rng(0)
    x, y = (library.tensor(draws.normal(size=shape).astype("float32")) for shape in (a, b))
    offs = None if ends is None else library.tensor(ends, dtype=library.int32)
    x.requires_grad_(), y.requires_grad_()
    out = library.nn.functional.grouped_mm(x, y, offs=offs)
    (out * out).sum().backward()
    return [each.tolist() for each in (out.detach(), x.grad, y.grad)]


@pytest.mark.parametrize(("a", "b", "ends"), [
    ((16, 8), (2, 8, 4), [4, 16]), ((2, 8, 4), (4, 16), [12, 16]), ((8, 16), (16, 4), [4, 16]),
    ((2, 8, 4), (2, 4, 8), None), ((16, 8), (3, 8, 4), [4, 4, 16]),
])  # fmt: skip
def test_grouped_mm_equals_pytorchs(torch: Any, a: Any, b: Any, ends: Any) -> None:
    ours, theirs = (product(library, a, b, ends) for library in (tt, torch))
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("a", "b", "options", "text"), [
    ((16, 8), (2, 8, 4), {}, "Have to provide offsets"),
    ((16, 8), (2, 8, 4), {"offs": "int64"}, "have to be int32"),
    ((8,), (2, 8, 4), {}, "mat_a has to be 2 or 3d"),
    ((2, 8, 8), (3, 8, 8), {}, "batched dimension has to match"),
    ((2, 8, 8), (2, 4, 8), {}, "contraction dimension"),
    ((2, 8, 8), (2, 8, 8), {"out_dtype": "float64"}, "must match `mat_a` dtype"),
    ((16, 8), (2, 8, 4), {"offs": "int32"}, "matrix batch sizes have to match"),
])  # fmt: skip
def test_grouped_mm_refuses_groups_that_do_not_fit(
    lib: Any, a: Any, b: Any, options: Any, text: str
) -> None:
    given = {name: lib.tensor([16], dtype=getattr(lib, dtype)) if name == "offs"
             else getattr(lib, dtype) for name, dtype in options.items()}  # fmt: skip
    with pytest.raises(RuntimeError, match=text):
        lib.nn.functional.grouped_mm(lib.ones(a), lib.ones(b), **given)


def test_policies_of_checkpoints_change_no_result(lib: Any) -> None:
    checkpoint = importlib.import_module(f"{lib.__name__}.utils.checkpoint")
    policies: list[Any] = [
        [lib.ops.aten.mm.default],
        lambda ctx, op, *args, **kwargs: checkpoint.CheckpointPolicy.PREFER_RECOMPUTE,
    ]
    for policy in policies:
        x = lib.arange(4.0).reshape(2, 2).requires_grad_()

        def contexts(policy: Any = policy) -> Any:
            return checkpoint.create_selective_checkpoint_contexts(policy)

        out = checkpoint.checkpoint(
            lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=contexts
        )
        out.sum().backward()
        y = x.detach().clone().requires_grad_()
        (y @ y).sin().sum().backward()
        assert lib.allclose(x.grad, y.grad)
    with pytest.raises(TypeError, match="either a function or a list of ops"):
        checkpoint.create_selective_checkpoint_contexts(3)


def test_skip_data_saves_a_file_without_values(lib: Any) -> None:
    whole, free = io.BytesIO(), io.BytesIO()
    state = {"a": lib.arange(3.0), "b": lib.ones(2, dtype=lib.int64)}
    lib.save(state, whole)
    with lib.serialization.skip_data():
        lib.save(state, free)
        with pytest.raises(RuntimeError, match="Cannot use skip_data=True"):
            lib.save(state, io.BytesIO(), _use_new_zipfile_serialization=False)
    assert len(free.getvalue()) == len(whole.getvalue())
    free.seek(0)
    found = lib.load(free)
    assert found["a"].tolist() == [0, 0, 0] and found["b"].dtype == lib.int64
    assert lib.serialization.get_crc32_options() is True
    assert lib.serialization.get_default_load_endianness() is None
    assert lib.serialization.get_default_mmap_options() == 2


@pytest.mark.parametrize("options", [
    {"mode": "bogus"}, {"mode": 3}, {"backend": "bogus"}, {"mode": "bogus", "backend": "inductor"},
], ids=str)  # fmt: skip
def test_compile_refuses_unknown_modes_and_backends(lib: Any, options: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="Unrecognized mode=|Invalid backend: 'bogus'"):
        lib.compile(len, **options)
