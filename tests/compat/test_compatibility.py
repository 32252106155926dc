"""Names that PyTorch programs use around the mathematics: settings, old types, what is not here."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, words
from tinytorch import nn

ON_NUMPY = pytest.mark.skipif(
    "config.getoption('--backend') != 'numpy'", reason="cpu means numpy there"
)


# -- names that NumPy also has ---------------------------------------------------------------------


@ON_NUMPY
def test_no_name_of_pytorchs_is_numpys(torch: Any) -> None:
    """Such a name would do something else, without a word."""
    from tinytorch.facade.library_fallback import library_names

    numpys = library_names(tt.zeros(1).backend)
    shared = [name for name in dir(torch) if name in numpys and callable(getattr(torch, name))]
    assert len(shared) > 150
    homes = {name: str(getattr(tt, name).__module__) for name in shared}
    assert [name for name, home in homes.items() if home.partition(".")[0] != "tinytorch"] == []


@pytest.mark.parametrize(
    "make",
    [
        lambda m: m.ones(2),
        lambda m: m.ones(2, dtype=m.int64),
        lambda m: m.Size([1]),
        lambda m: m.float32,
    ],
    ids=words,
)
def test_typename_is_pytorchs(torch: Any, make: Call) -> None:
    ours, theirs = (library.typename(make(library)) for library in (tt, torch))
    assert ours.rpartition(".")[2] == theirs.rpartition(".")[2]
    assert tt.typename(3) == torch.typename(3)


# -- functions of tensors ------------------------------------------------------------------------


def test_methods_that_are_functions_in_pytorch_are_here_too() -> None:
    x = tt.tensor([[1.0, 2.0]], requires_grad=True)
    assert tt.numel(x) == 2 and tt.is_floating_point(x) and tt.is_signed(x)
    assert not tt.is_complex(x) and tt.get_device(tt.ones(1, device="cpu")) == -1
    assert not tt.detach(x).requires_grad and tt.detach(x).data_ptr() == x.data_ptr()
    y = x * 2
    assert tt.detach_(y) is y and y.is_leaf


@pytest.mark.parametrize("alpha", [1, 2, -3])
def test_rsub_is_pytorchs(torch: Any, alpha: int) -> None:
    for a, b in (([1.0, 2.0], 5), ([1, 2], [3, 4])):
        results = []
        for library in (tt, torch):
            other = library.tensor(b) if isinstance(b, list) else b
            results.append(library.rsub(library.tensor(a), other, alpha=alpha).tolist())
        assert results[0] == results[1]
    x = tt.ones(2, requires_grad=True)
    tt.rsub(x, 5.0, alpha=alpha).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [-alpha, -alpha]


class Mine(tt.Tensor):
    """A user's class of tensors."""


def test_as_subclass_shares_memory_and_passes_gradients() -> None:
    x = tt.ones(2, requires_grad=True)
    mine = (x * 1).as_subclass(Mine)
    assert type(mine) is Mine
    (mine * 3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3.0, 3.0]
    plain = tt.zeros(2)
    plain.as_subclass(Mine)[0] = 5
    assert plain.tolist() == [5.0, 0.0]
    with pytest.raises(TypeError, match="a class that does not inherit from Tensor"):
        plain.as_subclass(int)  # type: ignore[type-var]


# -- the first names of tensors --------------------------------------------------------------------

KINDS = ["Float", "Double", "Half", "Long", "Int", "Short", "Char", "Byte", "Bool"]


@pytest.mark.parametrize("kind", KINDS)
def test_typed_tensor_classes_construct_as_pytorchs(torch: Any, kind: str) -> None:
    ours, theirs = (getattr(library, f"{kind}Tensor") for library in (tt, torch))
    for args in ([[1, 0]], [[[1, 0], [0, 1]]], [2, 3], [], [()], [np.ones(2)]):
        made, expected = ours(*args), theirs(*args)
        assert tuple(made.shape) == tuple(expected.shape)
        assert str(expected.dtype) == f"torch.{made.dtype.name}"
        if args and not isinstance(args[0], int):
            assert made.tolist() == expected.tolist()
    assert ours(tt.Size([2, 1])).shape == (2, 1)
    assert isinstance(ours(), ours) and not isinstance(tt.ones(1, dtype=tt.complex64), ours)
    assert not isinstance(3, ours) and isinstance(ours(), tt.Tensor)
    assert ours(2).type() == theirs(2).type() and ours.dtype is ours(1).dtype
    assert tt.zeros(2, dtype=tt.complex64).real.type(ours).dtype is ours.dtype
    assert tt.zeros(2).type(f"torch.{kind}Tensor").dtype is ours.dtype


def test_typed_tensor_classes_accept_tensors_of_their_own_dtype_alone(torch: Any) -> None:
    x = tt.ones(2)
    tt.FloatTensor(x)[0] = 3
    assert x.tolist() == [3.0, 1.0]
    for library in (tt, torch):
        with pytest.raises(TypeError, match="expected"):
            library.FloatTensor(library.ones(2, dtype=library.int64))
        with pytest.raises(TypeError, match="expected|new"):
            library.ones(2).new(library.ones(2, dtype=library.int64))
        with pytest.raises(TypeError, match=r"new\(\): invalid data type 'str'"):
            library.FloatTensor("1")
        with pytest.raises(RuntimeError, match=r"negative dimension -1: \[2, -1\]"):
            library.FloatTensor(2, -1)


def test_the_tensor_class_accepts_the_arguments_of_pytorchs(torch: Any) -> None:
    for library in (tt, torch):
        for data in ([1, 2], (1, 2), np.ones(2), range(2), library.ones(2)):
            assert tuple(library.Tensor(data).shape) == (2,)
        assert library.Tensor(data=[1, 2], device="cpu").tolist() == [1.0, 2.0]
        sizes = np.int64(2), np.int64(3)
        assert tuple(library.Tensor(*sizes, device=library.device("cpu")).shape) == (2, 3)
        for data in ("a", b"ab", 1.5, None, True, {1: 2}, iter([1])):
            with pytest.raises(TypeError, match=r"new\(\): "):
                library.Tensor(data)
        with pytest.raises(TypeError, match=r"new\(\) received an invalid combination"):
            library.Tensor([1], dtype=library.float64)
        with pytest.raises(RuntimeError, match="expects device type: .* but device type: xpu"):
            library.Tensor([1], device="xpu")


def test_new_keeps_the_dtype_of_its_tensor(torch: Any) -> None:
    for library in (tt, torch):
        x = library.ones(1, dtype=library.int64)
        assert x.new([1, 2]).tolist() == [1, 2] and x.new([1, 2]).dtype is library.int64
        assert tuple(x.new(2, 3).shape) == (2, 3) and tuple(x.new().shape) == (0,)
        assert tuple(x.new(library.Size([4])).shape) == (4,)


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type:UserWarning")
def test_set_default_tensor_type_sets_the_default_dtype() -> None:
    try:
        tt.set_default_tensor_type(tt.DoubleTensor)
        assert tt.tensor(1.0).dtype is tt.float64
        tt.set_default_tensor_type("torch.FloatTensor")
        assert tt.tensor(1.0).dtype is tt.float32
    finally:
        tt.set_default_dtype(tt.float32)
    for wrong in (tt.LongTensor, "torch.LongTensor", "nonsense", 3):
        with pytest.raises(TypeError, match="only floating-point types are supported"):
            tt.set_default_tensor_type(wrong)


# -- where and how ---------------------------------------------------------------------------


@ON_NUMPY
def test_set_default_device_sets_the_device_of_new_tensors() -> None:
    from strictcupy.backend import pretended_cuda

    assert str(tt.get_default_device()) == "cpu"
    seen = []
    with pretended_cuda(2):
        try:
            tt.set_default_device("cuda:1")
            assert str(tt.get_default_device()) == "cuda:1" and str(tt.ones(1).device) == "cuda:1"
            assert tt.get_backend() == "cupy"
            with tt.device("cpu"):
                assert str(tt.get_default_device()) == "cpu"
            with pytest.raises(RuntimeError, match="device"):
                tt.set_default_device("cuda:9")
            with pytest.raises(RuntimeError, match="device"):
                tt.set_default_device("abacus")
            assert str(tt.get_default_device()) == "cuda:1"
        finally:
            tt.set_default_device(None)
        thread = threading.Thread(target=lambda: seen.append(str(tt.get_default_device())))
        thread.start()
        thread.join(300)
    assert seen == ["cpu"] and str(tt.get_default_device()) == "cpu"


def test_default_generator_is_the_active_backends() -> None:
    tt.manual_seed(5)
    assert tt.default_generator.initial_seed() == 5
    assert "default_generator" in dir(tt) and "default_generator" not in vars(tt)


def test_set_num_threads_is_returned_by_get_num_threads(torch: Any) -> None:
    before = tt.get_num_threads()
    try:
        tt.set_num_threads(1)
        assert tt.get_num_threads() == 1
    finally:
        tt.set_num_threads(before)
    assert tt.get_num_threads() == before
    for setter in (tt.set_num_threads, torch.set_num_threads, tt.set_num_interop_threads):
        with pytest.raises((TypeError, RuntimeError), match="expects an int, but got str"):
            setter("2")
        with pytest.raises(RuntimeError, match="expects a positive integer"):
            setter(0)


def test_settings_are_remembered_as_by_pytorch(torch: Any) -> None:
    for library in (tt, torch):
        for mode, number in ((0, 0), ("warn", 1), ("error", 2), (2, 2), (1, 1), ("default", 0)):
            library.set_deterministic_debug_mode(mode)
            assert library.get_deterministic_debug_mode() == number
            assert library.are_deterministic_algorithms_enabled() == (number > 0)
            assert library.is_deterministic_algorithms_warn_only_enabled() == (number == 1)
        with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
            library.set_deterministic_debug_mode(5)
        with pytest.raises(TypeError, match="argument 'mode'.* must be bool, not int"):
            library.use_deterministic_algorithms(1)
        library.use_deterministic_algorithms(False)
        library.set_float32_matmul_precision("high")
        assert library.get_float32_matmul_precision() == "high"
        library.set_float32_matmul_precision("highest")
        library.set_warn_always(True)
        assert library.is_warn_always_enabled()
        library.set_warn_always(False)
    with pytest.raises(RuntimeError, match="highest, high, medium"):
        tt.set_float32_matmul_precision("low")


def test_a_switch_of_checkpoints_is_that_of_its_thread() -> None:
    calls = []

    def function(x: tt.Tensor) -> tt.Tensor:
        y = x.exp()
        calls.append(threading.current_thread().name)
        return y * 3

    def run() -> None:
        x = tt.ones(1, requires_grad=True)
        tt.utils.checkpoint.checkpoint(function, x, use_reentrant=False).backward()

    with tt.utils.checkpoint.set_checkpoint_early_stop(False):
        thread = threading.Thread(target=run, name="other")
        thread.start()
        thread.join()
        run()
    # What stops early does not come as far as the second note.
    assert calls == ["other", *2 * [threading.current_thread().name]]


def test_switches_of_backends_can_be_set() -> None:
    import tinytorch.backends.cudnn as cudnn

    assert cudnn is tt.backends.cudnn and not cudnn.is_available() and cudnn.version() is None
    cudnn.benchmark = True
    with cudnn.flags(enabled=True, benchmark=False, deterministic=True):
        assert not cudnn.benchmark and cudnn.deterministic
    assert cudnn.benchmark and not cudnn.deterministic and cudnn.enabled
    cudnn.benchmark = False
    tt.backends.cuda.matmul.allow_tf32 = True
    tt.backends.cuda.matmul.allow_tf32 = False
    switches = tt.backends
    assert not any((switches.mps.is_available(), switches.mps.is_built(),
                    switches.mkldnn.is_available(), switches.openmp.is_available()))  # fmt: skip


def test_layouts_and_memory_formats_are_accepted_and_described() -> None:
    x = tt.ones(1, 2, 3, 3)
    assert x.layout is tt.strided and tt.zeros(1, layout=tt.strided).layout == tt.strided
    assert isinstance(tt.strided, tt.layout)
    assert isinstance(tt.channels_last, tt.memory_format)
    assert x.to(memory_format=tt.channels_last).tolist() == x.tolist()
    assert x.contiguous(memory_format=tt.channels_last).tolist() == x.tolist()
    assert repr(tt.channels_last) == "tinytorch.channels_last"


def test_version_has_the_fields_of_pytorchs() -> None:
    assert tt.version.hip is None and (tt.version.cuda is None or "." in tt.version.cuda)


# -- what is not here ------------------------------------------------------------------------------


def test_script_returns_its_argument() -> None:
    layer = nn.Linear(2, 1)
    assert tt.jit.script(len) is len and tt.jit.script(layer) is layer


def test_torchscript_is_refused_and_its_marks_mean_nothing() -> None:
    made: tuple[Any, ...] = (tt.jit.ScriptModule, tt.jit.ScriptFunction)
    assert not isinstance(nn.Linear(1, 1), made) and not isinstance(tt.add, made)
    assert issubclass(tt.jit.ScriptModule, nn.Module)
    for refused in (tt.jit.freeze, *made):
        with pytest.raises(NotImplementedError, match="no TorchScript"):
            refused(len)

    @tt.jit.export
    @tt.jit._script_if_tracing
    @tt.jit._overload_method
    @tt.jit.script_if_tracing
    @tt.jit.unused
    @tt.jit.ignore
    def f() -> int:
        return 3

    assert f() == 3 and not tt.jit.is_scripting() and tt.jit.annotate(int, 2) == 2


def test_hub_downloads_nothing(torch: Any) -> None:
    with pytest.raises(NotImplementedError, match="fetch the file yourself"):
        tt.hub.load_state_dict_from_url("https://example.org/weights.pt")
    assert tt.hub._get_torch_home() == torch.hub._get_torch_home()


def test_tensors_are_grouped_for_optimizers() -> None:
    from tinytorch.utils._foreach_utils import _group_tensors_by_device_and_dtype as group

    a, b, c = tt.ones(1), tt.ones(1, dtype=tt.float64), tt.zeros(1)
    groups = group([[a, b, c], [c, None, a], []], with_indices=True)
    assert list(groups) == [(a.device, tt.float32), (b.device, tt.float64)]
    assert [places for _, places in groups.values()] == [[0, 2], [1]]
    assert groups[a.device, tt.float32][0][1][0] is c and not groups[b.device, tt.float64][0][2]
    assert not group([[a]])[a.device, tt.float32][1]


# -- mixed precision --------------------------------------------------------------------------


def test_deprecated_autocast_switches_work() -> None:
    assert not tt.is_autocast_cpu_enabled() and tt.get_autocast_gpu_dtype() is tt.float16
    assert tt.get_autocast_cpu_dtype() is tt.get_autocast_dtype("cpu")


def test_autocast_that_is_switched_off_changes_no_dtype() -> None:
    with tt.autocast("cpu", enabled=False) as entered:
        assert tt.ones(2).matmul(tt.ones(2)).dtype is tt.float32 and not tt.is_autocast_enabled()
    assert isinstance(entered, tt.amp.autocast)

    @tt.autocast("cpu", enabled=False)
    def double(x: tt.Tensor) -> tt.Tensor:
        return x * 2

    assert double(tt.ones(1)).tolist() == [2.0]


def test_autocast_is_switched_off_with_a_warning_where_pytorch_does(torch: Any) -> None:
    if not (tt.cuda.is_available() or torch.cuda.is_available()):
        for library in (tt, torch):
            with pytest.warns(UserWarning, match="CUDA is not available"):
                with library.autocast("cuda"):
                    assert library.ones(1).dtype is library.float32
            with pytest.warns(UserWarning, match="CUDA is not available"):
                assert not library.amp.GradScaler().is_enabled()
    for library in (tt, torch):
        with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype"):
            with library.autocast("cpu", dtype=library.float32):
                assert library.ones(1).dtype is library.float32


def test_a_scaler_that_is_off_does_nothing() -> None:
    x = tt.ones(2, requires_grad=True)
    optimizer = tt.optim.SGD([x], lr=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaler = tt.amp.GradScaler("cuda", enabled=False)
    loss = x.sum()
    assert scaler.scale(loss) is loss and scaler.state_dict() == {} and scaler.get_scale() == 1.0
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert x.tolist() == [0.0, 0.0]


def test_a_scaler_scales_skips_and_adapts_as_pytorchs(torch: Any) -> None:
    traces = []
    for library in (tt, torch):
        x = library.ones(2, requires_grad=True)
        optimizer = library.optim.SGD([x], lr=0.1, momentum=0.9)
        scaler = library.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
        trace = []
        for factor in (1.0, float("inf"), 2.0, 0.5, float("nan"), 1.0):
            optimizer.zero_grad()
            scaler.scale((x * x * factor).sum()).backward()
            if factor == 2.0:
                scaler.unscale_(optimizer)
                with pytest.raises(RuntimeError, match="already been called"):
                    scaler.unscale_(optimizer)
            scaler.step(optimizer)
            with pytest.raises(RuntimeError, match="already been called since the last update"):
                scaler.step(optimizer)
            scaler.update()
            trace.append((*x.tolist(), scaler.get_scale()))
        with pytest.raises((AssertionError, RuntimeError), match="No inf checks"):
            scaler.update()
        state = scaler.state_dict()
        resumed = library.amp.GradScaler("cpu")
        resumed.load_state_dict(state)
        assert resumed.state_dict() == state
        with pytest.raises(RuntimeError, match="source state dict is empty"):
            resumed.load_state_dict({})
        outputs = resumed.scale([library.ones(1), (library.ones(1),)])
        traces.append((trace, state, outputs[1][0].item()))
    np.testing.assert_allclose(traces[0][0], traces[1][0], rtol=1e-6)
    assert traces[0][1:] == traces[1][1:]


def test_a_scaler_multiplies_half_precision_losses_as_pytorchs(torch: Any) -> None:
    kinds = []
    for library in (tt, torch):
        scaler = library.amp.GradScaler("cpu")
        half = [library.tensor(x, dtype=library.float16) for x in (0.5, [0.25, 0.5])]
        outputs = scaler.scale([*half, library.tensor(2.0, dtype=library.float64)])
        kinds.append([(str(x.dtype).rpartition(".")[2], x.tolist()) for x in outputs])
    assert kinds[0] == kinds[1]


def test_a_scaler_refuses_gradients_that_it_cannot_unscale(torch: Any) -> None:
    for library in (tt, torch):
        scaler = library.amp.GradScaler("cpu")
        weight = library.ones(1, dtype=library.float16, requires_grad=True)
        optimizer = library.optim.SGD([weight], lr=1.0)
        scaler.scale(weight.sum())
        with pytest.raises((AssertionError, RuntimeError), match="No inf checks were recorded for"):
            scaler.step(optimizer)
        scaler = library.amp.GradScaler("cpu")
        scaler.scale(weight.sum() * 1e-5).backward()
        with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
            scaler.step(optimizer)
        assert weight.tolist() == [1.0]


def test_a_scaler_stays_in_float32_and_can_be_adjusted(torch: Any) -> None:
    traces = []
    for library in (tt, torch):
        weight = library.ones(1, requires_grad=True)
        optimizer = library.optim.SGD([weight], lr=0.0)
        scaler = library.amp.GradScaler("cpu", init_scale=2.0**125, growth_interval=1)
        scaler.set_growth_factor(4.0)
        scaler.set_backoff_factor(0.125)
        trace = []
        for factor in (1e-38, 1e-38, float("inf"), 1e-38):
            optimizer.zero_grad()
            scaler.scale((weight * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            trace.append(scaler.get_scale())
        scaler.set_growth_interval(7)
        given = (scaler.get_growth_factor(), scaler.get_backoff_factor())
        traces.append((trace, *given, scaler.get_growth_interval()))
    assert traces[0] == traces[1]
