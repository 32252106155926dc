"""Modules that libraries import with PyTorch: what is real is as there, the rest says so."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.fresh import run
from tinytorch import nn
from tinytorch.facade.unsupported import Absent

# -- what is not there -----------------------------------------------------------------------

REFUSED = [
    "export.unflatten", "export.ShapesCollection",
    "profiler.ExecutionTraceObserver", "autograd.profiler.emit_nvtx", "sparse.spsolve",
    "library.opcheck", "ao.quantization.convert",
    "ao.quantization.QConfig", "_dynamo.export",
    "utils.cpp_extension.load", "utils.model_zoo.load_url",
    "distributed.fsdp.FullyShardedDataParallel", "distributed.fsdp.fully_shard",
    "distributed.tensor.distribute_tensor", "distributed.tensor.DTensor",
    "distributed.rpc.rpc_sync",
    "nn.parallel.scatter_gather.scatter",
    "_C.Graph", "_C.Value",
    "_subclasses.FakeTensor", "_subclasses.fake_tensor.FakeTensorMode",
]  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_absent_function_or_class_raises_when_it_is_used(name: str) -> None:
    module, _, member = name.rpartition(".")
    refused: Any = getattr(importlib.import_module(f"tinytorch.{module}"), member)
    if isinstance(refused, type):
        assert not isinstance(nn.Linear(1, 1), refused) and not isinstance(tt.ones(1), refused)

        class Derived(refused):  # type: ignore[misc]
            pass

        with pytest.raises(NotImplementedError):
            Derived(1)
    with pytest.raises(NotImplementedError, match=rf"{member}|hub"):
        refused(nn.Linear(1, 1))


def test_a_module_of_a_package_by_another_name_is_one_module() -> None:
    def program() -> None:
        import tinytorch._higher_order_ops.associative_scan as one

        import tinytorch.compat.higher_order_ops.associative_scan as other

        print(one is other)

    assert run(program) == "True"


def test_public_names_are_in_the_modules_of_pytorchs_files() -> None:
    for file, name in (("fx.node", "Node"), ("fx.graph_module", "GraphModule"),
                       ("fx.experimental.proxy_tensor", "get_proxy_mode"),
                       ("distributed.fsdp.wrap", "ModuleWrapPolicy"),
                       ("amp.grad_scaler", "OptState"),
                       ("distributed.tensor.placement_types", "Shard"),
                       ("utils.data._utils.collate", "default_collate"),
                       ("nn.modules.module", "_IncompatibleKeys"),
                       ("nn.modules.module", "_EXTRA_STATE_KEY_SUFFIX"),
                       ("onnx.symbolic_helper", "parse_args")):  # fmt: skip
        assert hasattr(importlib.import_module(f"tinytorch.{file}"), name), file


def test_importing_tinytorch_does_not_import_compatibility_modules() -> None:
    def program() -> None:
        import sys

        import tinytorch

        print(tinytorch.__name__, *sys.modules)

    loaded = run(program).split()
    for name in ("library", "fx", "futures", "multiprocessing", "onnx", "profiler", "_dynamo"):
        assert f"tinytorch.{name}" not in loaded


def test_absent_classes_have_no_instances() -> None:
    assert not isinstance(Absent, tt.Tensor)
    with pytest.raises(NotImplementedError, match="of PyTorch's"):
        Absent()


@pytest.mark.parametrize("name", [
    "_C", "distributed.rpc", "jit.annotations", "torch_version", "utils.data._utils", "quasirandom",
    "_higher_order_ops", "_subclasses", "export",
])  # fmt: skip
def test_modules_are_attributes_without_an_import(name: str) -> None:
    def program(name: str) -> None:
        import operator
        import types

        import tinytorch

        print(isinstance(operator.attrgetter(name)(tinytorch), types.ModuleType))

    assert run(program, name) == "True"


# -- functions of functions ----------------------------------------------------------------------


def cell(h: Any, x: Any) -> Any:
    h = h * 0.5 + x
    return h, {"out": h.sin()}


FUNCTIONS: dict[str, Any] = {
    "cond": lambda L, H: [L.cond(p, lambda x: x.cos(), lambda x: -x, (L.ones(2) / 3,))
                          for p in (True, 0, L.tensor([True]), L.tensor(0.0))],
    "while_loop": lambda L, H: L.while_loop(
        lambda i, x: i < x.shape[0], lambda i, x: (i + 1, x * (i + 1)),
        (L.tensor(0), L.tensor([1.0, 2.0, 3.0]))),
    "scan": lambda L, H: H.scan(cell, L.zeros(2), L.arange(6.0).view(3, 2)),
    "scan backwards": lambda L, H: H.scan(
        cell, L.zeros(3), L.arange(6.0).view(3, 2), dim=1, reverse=True)[0],
    "associative_scan": lambda L, H: H.associative_scan(
        lambda a, b: a * b + 1, L.arange(6.0).view(2, 3), 1, combine_mode="generic"),
    "associative_scan of trees": lambda L, H: H.associative_scan(
        lambda a, b: {"x": a["x"] + b["x"]}, {"x": L.arange(4.0)}, 0, reverse=True,
        combine_mode="generic")["x"],
    "map": lambda L, H: H.map(lambda x, y: x.sum() * y, L.arange(6.0).view(3, 2), L.tensor(2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_higher_order_operators_compute_their_definition(name: str) -> None:
    """PyTorch compiles some of them, and then their steps; here is what those are by definition."""
    ours = FUNCTIONS[name](tt, importlib.import_module("tinytorch._higher_order_ops"))
    x, half, total = tt.arange(6.0).view(3, 2), tt.zeros(2), []
    for row in x:
        half = half * 0.5 + row
        total.append(half)
    expected: Any = {
        "cond": [(tt.ones(2) / 3).cos(), -tt.ones(2) / 3, (tt.ones(2) / 3).cos(), -tt.ones(2) / 3],
        "while_loop": (tt.tensor(3), tt.tensor([6.0, 12.0, 18.0])),
        "scan": (half, {"out": tt.stack(total).sin()}), "scan backwards": x[:, 1] * 0.5 + x[:, 0],
        "associative_scan": tt.tensor([[0.0, 1.0, 3.0], [3.0, 13.0, 66.0]]),
        "associative_scan of trees": tt.tensor([6.0, 6.0, 5.0, 3.0]),
        "map": tt.tensor([2.0, 10.0, 18.0]),
    }[name]  # fmt: skip
    tt.testing.assert_close(ours, expected)


@pytest.mark.parametrize("call", [
    lambda L: L.cond("x", abs, abs), lambda L: L.cond(L.ones(2), abs, abs),
    lambda L: L.cond(L.tensor(True), 1, abs), lambda L: L.cond(L.tensor(True), abs, abs, (1,)),
    lambda L: L.while_loop(1, abs, ()),
])  # fmt: skip
def test_higher_order_operators_refuse_what_pytorchs_refuse(torch: Any, call: Any) -> None:
    texts = []
    for library in (tt, torch):
        with pytest.raises(RuntimeError) as caught:
            call(library)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_targets_of_a_move_are_sorted_out(torch: Any) -> None:
    for args, options in ((("cpu",), {}), (("float64",), {}), (("x",), {}), ((None, "half"), {}),
                          ((), {"memory_format": "channels_last"}),
                          (("cpu", "float64", True), {})):  # fmt: skip
        found = []
        for library in (tt, torch):
            given = [library.ones(1, device="cpu") if a == "x" else getattr(library, str(a), a)
                     if a != "cpu" else a for a in args]  # fmt: skip
            named = {key: getattr(library, value) for key, value in options.items()}
            found.append(repr(library._C._nn._parse_to(*given, **named)))
        assert found[0].replace("tinytorch", "torch") == found[1]
    assert tt._C._nn.gelu is tt.nn.functional.gelu and tt._C._is_fwd_grad_enabled()


@pytest.mark.filterwarnings("ignore:.*jit.script")  # PyTorch's own call of it
def test_functorch_transforms_active_is_true_inside_of_a_transform_alone(torch: Any) -> None:
    found = []
    for library in (tt, torch):
        func, seen = library.func, []

        def asks(x: Any, library: Any = library, seen: list[bool] = seen) -> Any:
            seen.append(library._C._are_functorch_transforms_active())
            assert not library._C._functorch.is_legacy_batchedtensor(x)
            return (x * x).sum()

        x = library.ones(1, 2)
        for transformed in (asks, func.grad(asks), func.vmap(asks), func.vmap(func.grad(asks)),
                            func.jacfwd(asks), func.jacrev(asks), asks):  # fmt: skip
            transformed(x)
        func.jvp(asks, (x,), (x,))
        func.vjp(asks, x)
        found.append(seen)
    assert found[0] == found[1] and found[0].count(False) == 2


def test_settings_of_the_compiler_hold_for_a_block() -> None:
    config: Any = importlib.import_module("tinytorch._dynamo").config
    before = dict(vars(config))
    with config.patch("verbose", True), config.patch({"disable": 1}, cache_size_limit=2):
        assert (config.verbose, config.disable, config.cache_size_limit) == (True, 1, 2)
    assert vars(config) == before

    @config.patch(suppress_errors=True)  # type: ignore[untyped-decorator]
    def asks() -> Any:
        return config.suppress_errors

    assert asks() and asks() and not config.suppress_errors
    with pytest.raises(KeyError), config.patch(verbose=True):
        raise KeyError
    assert vars(config) == before


def test_plain_tensors_are_not_fake_and_no_proxy_mode_is_active(torch: Any) -> None:
    for library in (tt, torch):
        root = library.__name__
        fake = importlib.import_module(f"{root}._subclasses.fake_tensor")
        proxies = importlib.import_module(f"{root}.fx.experimental.proxy_tensor")
        x = library.ones(2)
        assert not fake.is_fake(x) and proxies.get_proxy_mode() is None
        assert not isinstance(x, fake.FakeTensor)


def test_linalg_error_has_its_name_in_torch_c_too(torch: Any) -> None:
    for library in (tt, torch):
        assert library._C._LinAlgError is library.linalg.LinAlgError
        with pytest.raises(library._C._LinAlgError, match="singular"):
            library.linalg.solve(library.zeros(2, 2), library.ones(2))


def test_swap_tensors_exchanges_class_values_and_attributes(torch: Any) -> None:
    for library in (tt, torch):
        a, b = library.nn.Parameter(library.zeros(2)), library.ones(3)
        a.note = "a"
        first = a
        library.utils.swap_tensors(a, b)
        assert first is a and type(a) is library.Tensor and a.tolist() == [1, 1, 1]
        assert type(b) is library.nn.Parameter and b.note == "a" and b.requires_grad
        (b * 2).sum().backward()
        assert b.grad.tolist() == [2, 2] and not hasattr(a, "note")
        kept = weakref.ref(a)
        with pytest.raises(RuntimeError, match="Cannot swap t1 because it has weakref"):
            library.utils.swap_tensors(a, b)
        del kept


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own, of the old names
def test_autocast_switches_set_and_return_their_values(torch: Any) -> None:
    for library in (tt, torch):
        before = library.get_autocast_dtype("cpu")
        library.set_autocast_dtype("cpu", library.float16)
        assert library.get_autocast_cpu_dtype() is library.float16
        library.set_autocast_cpu_dtype(before)
        assert library.get_autocast_dtype("cuda") is library.float16
        counts = [library.autocast_increment_nesting(), library.autocast_increment_nesting(),
                  library.autocast_decrement_nesting(),
                  library.autocast_decrement_nesting()]  # fmt: skip
        assert counts == [1, 2, 1, 0]
        library.set_autocast_cpu_enabled(False)
        library.clear_autocast_cache()
        assert not library.is_autocast_enabled("cpu")


# -- what is asked and answered ----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_queries_of_capabilities_return_pytorchs_values_on_a_cpu(torch: Any) -> None:
    for library in (tt, torch):
        assert library.onnx.is_in_onnx_export() is False
        assert library.overrides.is_tensor_like(library.ones(1))
        assert not library.overrides.is_tensor_like(3.0)
        assert library.overrides.is_tensor_method_or_property(library.Tensor.add)
        assert not library.overrides.is_tensor_method_or_property(len)
        assert library.mps.device_count() == 0
        assert library.ao.quantization.QuantStub()(library.ones(1)).item() == 1.0
    assert not tt.xpu.is_available() and not tt.mps.is_available()
    assert tt.get_device_module("cpu") is tt.cpu


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
@pytest.mark.parametrize("settings", [
    dict(wait=1, warmup=1, active=2), dict(wait=0, warmup=0, active=1, repeat=2),
    dict(wait=2, warmup=1, active=1, repeat=1, skip_first=3),
    dict(wait=2, warmup=0, active=3, skip_first=1, skip_first_wait=1),
])  # fmt: skip
def test_schedules_of_the_profiler_are_pytorchs(torch: Any, settings: dict[str, int]) -> None:
    ours, theirs = (library.profiler.schedule(**settings) for library in (tt, torch))
    assert [ours(n).name for n in range(20)] == [theirs(n).name for n in range(20)]
    for library in (tt, torch):
        with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
            library.profiler.schedule(wait=0, warmup=0, active=0)


def test_a_part_of_a_program_may_have_a_name() -> None:
    with tt.profiler.record_function("part"):
        x = tt.ones(1) + 1

    @tt.autograd.profiler.record_function("whole")
    def double(y: tt.Tensor) -> tt.Tensor:
        return y * 2

    assert double(x).item() == 4.0


@pytest.mark.filterwarnings("ignore:.*runs eagerly")  # on other backends than NumPy
def test_set_stance_accepts_pytorchs_stances_alone() -> None:
    with tt.compiler.set_stance("force_eager"):
        pass
    with pytest.raises(RuntimeError, match="invalid torch.compile stance"):
        tt.compiler.set_stance("asleep")
    assert tt._dynamo.optimize("inductor", disable=True)(len) is len
    assert tt._dynamo.optimize("inductor")(lambda x: x + 1)(tt.zeros(1)).item() == 1.0
    assert tt._dynamo.disable(len)([1, 2]) == 2


def test_flatten_dense_tensors_is_inverted_by_unflatten(torch: Any) -> None:
    for library, parts in ((tt, tt._utils), (torch, torch._utils)):
        tensors = [library.arange(4.0).reshape(2, 2), library.ones(1)]
        flat = parts._flatten_dense_tensors(tensors)
        assert flat.tolist() == [0.0, 1.0, 2.0, 3.0, 1.0]
        back = parts._unflatten_dense_tensors(flat, tensors)
        assert [x.tolist() for x in back] == [x.tolist() for x in tensors]


def test_sparse_mm_and_addmm_accept_dense_matrices() -> None:
    a, b, c = tt.arange(6.0).reshape(2, 3), tt.ones(3, 2), tt.ones(2, 2)
    assert tt.equal(tt.sparse.mm(a, b), a @ b)
    assert tt.equal(tt.sparse.addmm(c, a, b, beta=2, alpha=3), 2 * c + 3 * (a @ b))


# -- values that come later -------------------------------------------------------------------


def test_futures_run_callbacks_and_chain_as_pytorchs(lib: Any) -> None:
    futures = lib.futures
    first, second = futures.Future(), futures.Future()
    seen: list[int] = []
    first.add_done_callback(lambda done: seen.append(done.value()))
    chained = first.then(lambda done: done.wait() + 1).then(lambda done: done.wait() * 10)
    both = futures.collect_all([first, second])
    threading.Timer(0.01, first.set_result, [4]).start()
    assert chained.wait() == 50 and seen == [4] and first.done() and not both.done()
    second.set_exception(ValueError("told"))
    for failed in (both, second):
        with pytest.raises(ValueError, match="told"):
            failed.wait()
    assert futures.collect_all([first]).wait()[0].value() == 4
    told: list[Any] = []
    third = futures.Future()
    third.add_done_callback(lambda done: 1 / 0)  # is logged
    third.add_done_callback(told.append)
    third.set_result(5)
    assert [done.value() for done in told] == [5]
    with pytest.raises(ValueError, match="told"):
        futures.wait_all([first, second])
    with pytest.raises(RuntimeError, match="mark a completed Future"):
        first.set_result(5)
    with pytest.raises(AssertionError, match="not an Exception"):
        futures.Future().set_exception("text")


def test_trees_are_taken_apart_by_the_kinds_of_containers() -> None:
    from tinytorch.utils import _pytree

    tree = {"a": 1, "b": (2, 3)}
    kind = _pytree._get_node_type(tree)
    node = _pytree.SUPPORTED_NODES[kind]
    children, context = node.flatten_fn(tree)
    assert children == [1, (2, 3)] and context == ["a", "b"]
    assert node.unflatten_fn(children, context) == tree and int not in _pytree.SUPPORTED_NODES
    assert _pytree._dict_unflatten(*_pytree._dict_flatten(tree)) == tree
    leaf = _pytree.LeafSpec()
    spec = _pytree.TreeSpec(kind, context, [leaf, _pytree.TreeSpec(tuple, None, [leaf, leaf])])
    assert spec == _pytree.tree_structure(tree)
    assert _pytree.tree_unflatten([1, 2, 3], spec) == tree


# -- processes ----------------------------------------------------------------------------------


def fail_in_one(index: int, text: str) -> None:
    if index == 1:
        raise ValueError(text)


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_errors_of_failed_processes_are_raised_in_the_parent() -> None:
    from tinytorch import multiprocessing

    def start(function: Any, *args: Any, count: int = 1) -> Any:
        return multiprocessing.start_processes(function, args, count, start_method="fork")

    with pytest.raises(multiprocessing.ProcessRaisedException, match="(?s)Process 1.*told"):
        start(fail_in_one, "told", count=2)
    with pytest.raises(multiprocessing.ProcessRaisedException, match="x{300000}"):
        start(fail_in_one, 300_000 * "x", count=2)  # more than a pipe holds
    with pytest.raises(multiprocessing.ProcessExitedException, match="exit code 3"):
        start(leave, count=2)
    with pytest.raises(multiprocessing.ProcessExitedException, match="signal SIGKILL") as found:
        start(die)
    assert (found.value.signal_name, found.value.exit_code) == ("SIGKILL", -9)
    assert start(fail_in_one, "") is None


def leave(index: int) -> None:
    sys.exit(3)


def die(index: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("name", ["function", "profiler", "variable"])
def test_modules_of_autograd_are_there_unasked(name: str) -> None:
    def program(name: str) -> None:
        import tinytorch as tt

        print(getattr(tt.autograd, name).__name__)

    assert run(program, name) == f"tinytorch.autograd.{name}"


def test_parts_of_distributed_import_and_raise_when_used() -> None:
    """Libraries import them where `distributed.is_available()`, and call `Replicate()` at once."""
    parts: dict[str, list[str]] = {
        "_functional_collectives": ["all_gather_tensor", "AsyncCollectiveTensor"],
        "tensor": ["distribute_tensor", "DTensor", "local_map"],
        "tensor.parallel": ["parallelize_module", "ColwiseParallel", "loss_parallel"],
        "tensor.parallel.style": ["RowwiseParallel"],
        "tensor.debug": ["CommDebugMode"],
        "pipelining": ["pipeline", "ScheduleGPipe"],
        "pipelining.schedules": ["Schedule1F1B"],
        "launcher.api": ["LaunchConfig", "elastic_launch"],
        "autograd": ["context"],
        "fsdp": ["FullStateDictConfig", "OffloadPolicy", "CustomPolicy"],
        "fsdp.wrap": ["enable_wrap"],
        "checkpoint.hf_storage": ["HuggingFaceStorageReader"],
        "checkpoint": ["async_save"],
    }
    for part, names in parts.items():
        module = importlib.import_module(f"tinytorch.distributed.{part}")
        for name in names:
            with pytest.raises(NotImplementedError, match=name):
                getattr(module, name)(None)


def test_record_writes_the_error_of_a_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tinytorch.distributed.elastic.multiprocessing.errors import record

    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(tmp_path / "error.json"))
    with pytest.raises(ZeroDivisionError):
        record(lambda x: 1 // x)(0)
    written = json.loads((tmp_path / "error.json").read_text())["message"]
    assert written["message"].startswith("ZeroDivisionError: ")
    assert "Traceback" in written["extraInfo"]["py_callstack"]
