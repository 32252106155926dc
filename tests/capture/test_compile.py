"""``compile`` as a call and as a decorator, its arguments, and ``OptimizedModule``."""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import importlib
import inspect
import io
import os
import subprocess
import sys
import warnings
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import tinytorch
from tinytorch import nn

tt: Any = tinytorch

ROOT = Path(__file__).parent.parent.parent


def make_net(lib: Any = tt) -> Any:
    return lib.nn.Sequential(
        lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4), lib.nn.ReLU(), lib.nn.Linear(4, 2)
    )


def test_compile_is_a_call_and_a_decorator() -> None:
    @tt.compile  # type: ignore[untyped-decorator]
    def one(x: Any) -> Any:
        """Add one."""
        return x + 1

    @tt.compile(fullgraph=True, mode="reduce-overhead")  # type: ignore[untyped-decorator]
    def two(x: Any, *, by: float = 2.0) -> Any:
        return x + by

    assert one.__name__ == "one" and one.__doc__ == "Add one."
    assert list(inspect.signature(two).parameters) == ["x", "by"]
    for i in range(3):
        x = tt.full((2,), float(i))
        assert one(x).tolist() == [i + 1.0] * 2 and two(x).tolist() == [i + 2.0] * 2
        assert two(x, by=5.0).tolist() == [i + 5.0] * 2
    again = tt.compile(one)
    assert again._torchdynamo_orig_callable is one._torchdynamo_orig_callable


@pytest.mark.parametrize("options", [
    {"mode": "max-autotune"}, {"backend": "eager"}, {"mode": "default", "backend": "inductor"},
    {"backend": len}, {"options": {"trace.enabled": True}}, {"dynamic": True}, {"dynamic": False},
    {"backend": "cudagraphs", "mode": "anything"}, {"backend": "numpy"}, {"backend": "reference"},
    {"mode": "check"}, {"disable": True}, {"fullgraph": True},
], ids=str)  # fmt: skip
def test_options_of_pytorchs_and_our_own_are_accepted(options: dict[str, Any]) -> None:
    net = make_net().eval()
    compiled = tt.compile(net, **options)
    for _ in range(3):
        x = tt.randn(5, 3)
        assert tt.allclose(compiled(x), net(x))
    assert (compiled is net) is options.get("disable", False)


@pytest.mark.parametrize("value", [len, max, str.upper, lambda: 3])
def test_functions_without_tensors_run(value: Any) -> None:
    args = {len: ([1, 2],), max: (1, 5), str.upper: ("a",)}.get(value, ())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = tt.compile(value)
        assert compiled(*args) == compiled(*args) == value(*args)


def test_what_cannot_be_compiled_raises() -> None:
    with pytest.raises(TypeError, match="expected a function or a Module"):
        tt.compile(3)
    with pytest.raises(RuntimeError, match="Either mode or options"):
        tt.compile(len, mode="default", options={})
    with pytest.raises(RuntimeError, match="Either mode or options"):
        nn.ReLU().compile(mode="default", options={})
    with pytest.raises(RuntimeError, match="Unrecognized mode=bogus"):
        tt.compile(len, mode="bogus")
    with pytest.raises(RuntimeError, match="Invalid backend: 'bogus'"):
        tt.compile(len, backend="bogus")


# -- modules -----------------------------------------------------------------------------------


def test_a_compiled_module_is_a_module_with_the_original_inside(lib: Any) -> None:
    net = make_net(lib)
    compiled = lib.compile(net, backend="eager")
    assert type(compiled).__name__ == "OptimizedModule" and isinstance(compiled, lib.nn.Module)
    assert isinstance(compiled, lib._dynamo.OptimizedModule) and compiled._orig_mod is net
    assert list(compiled.state_dict()) == [f"_orig_mod.{name}" for name in net.state_dict()]
    assert [n for n, _ in compiled.named_modules()] == [
        "", "_orig_mod", *(f"_orig_mod.{i}" for i in range(4))
    ]  # fmt: skip
    assert len(list(compiled.parameters())) == 6 and len(compiled) == 4
    assert repr(compiled).splitlines()[:2] == ["OptimizedModule(", "  (_orig_mod): Sequential("]


def test_attributes_are_those_of_the_original_module(lib: Any) -> None:
    net = make_net(lib)
    compiled = lib.compile(net, backend="eager")
    compiled.note = 3
    assert net.note == 3 and compiled.note == 3 and "note" not in vars(compiled)
    del compiled.note
    assert not hasattr(net, "note") and not hasattr(compiled, "note")
    assert compiled.eval() is compiled and not net.training and not net[1].training
    compiled.train()
    assert net.training and compiled.training
    compiled.training = False
    assert not net.training and net[1].training
    with pytest.raises(TypeError, match="does not support len"):
        len(lib.compile(lib.nn.Linear(1, 1), backend="eager"))
    assert "in_features" in dir(lib.compile(lib.nn.Linear(1, 1), backend="eager"))


def test_states_load_into_compiled_and_original_modules(lib: Any) -> None:
    net, other = make_net(lib), make_net(lib)
    compiled = lib.compile(net, backend="eager")
    compiled.load_state_dict(
        {f"_orig_mod.{name}": value for name, value in other.state_dict().items()}
    )
    assert lib.equal(net[0].weight, other[0].weight)
    file = io.BytesIO()
    lib.save(compiled.state_dict(), file)
    file.seek(0)
    fresh = lib.compile(make_net(lib), backend="eager")
    fresh.load_state_dict(lib.load(file))
    assert lib.equal(fresh._orig_mod[0].weight, net[0].weight)


def test_module_compile_keeps_the_module() -> None:
    net: Any = make_net()
    other = make_net()
    other.load_state_dict(net.state_dict())
    net.compile(fullgraph=True)
    assert type(net) is nn.Sequential and list(net.state_dict()) == list(other.state_dict())
    assert list(inspect.signature(net.forward).parameters) == ["input"]
    seen: list[Any] = []
    handle = net.register_forward_hook(lambda *args: seen.append(1))
    for _ in range(3):
        x = tt.randn(5, 3)
        assert tt.allclose(net(x), other(x))
    handle.remove()
    assert len(seen) == 3 and len(vars(net)["forward"]._compiled.entries) == 1
    assert all(map(tt.equal, net.buffers(), other.buffers()))
    twin: Any = copy.deepcopy(net)
    with tt.no_grad():
        twin[3].bias.add_(1)
    assert tt.allclose(twin.eval()(x), other.eval()(x) + 1)
    for shallow in (copy.copy(net), net._replicate_for_data_parallel()):
        assert vars(shallow)["forward"].module is shallow and shallow is not net
    file = io.BytesIO()
    tt.save(net, file)
    file.seek(0)
    loaded = tt.load(file, weights_only=False)
    assert tt.allclose(loaded.eval()(x), other(x)) and loaded.forward.module is loaded


def test_a_compiled_part_of_a_module_is_recorded_in_the_whole() -> None:
    net = make_net()
    reference = copy.deepcopy(net)
    net[3] = tt.compile(net[3])
    whole = tt.compile(net)
    for _ in range(3):
        x = tt.randn(5, 3)
        expected, found = reference(x), whole(x)
        assert tt.allclose(found, expected)
    assert not net[3].forward.entries and len(whole.forward.entries) == 1
    net[3](tt.randn(5, 4))
    assert len(net[3].forward.entries) == 1


def test_batch_norm_statistics_are_updated_at_each_call() -> None:
    net, other = make_net(), make_net()
    other.load_state_dict(net.state_dict())
    compiled = tt.compile(net)
    for _ in range(5):
        x = tt.randn(6, 3)
        assert tt.allclose(compiled(x), other(x))
    for a, b in zip(net.buffers(), other.buffers(), strict=True):
        assert tt.allclose(a, b)
    assert net[1].num_batches_tracked.item() == 5


def test_lazy_modules_and_recurrent_layers() -> None:
    lazy = tt.compile(nn.LazyLinear(2), fullgraph=True)
    for _ in range(3):
        assert lazy(tt.ones(4, 3)).shape == (4, 2)
    lstm = nn.LSTM(3, 4, num_layers=2, batch_first=True)
    compiled = tt.compile(lstm, fullgraph=True)
    for _ in range(3):
        x = tt.randn(2, 5, 3)
        (expected, (h, c)), (found, (hidden, cell)) = lstm(x), compiled(x)
        assert tt.allclose(expected, found) and tt.allclose(h, hidden) and tt.allclose(c, cell)


# -- torch.compiler ----------------------------------------------------------------------------


def test_is_compiling_holds_while_a_call_is_recorded() -> None:
    compiled = tt.compile(lambda x: x + 1 if tt.compiler.is_compiling() else x + 2)
    assert [compiled(tt.zeros(1)).item() for _ in range(3)] == [1.0] * 3
    assert not tt.compiler.is_compiling() and not tt._dynamo.is_compiling()


def test_switches_of_pytorchs_compiler_are_imported_as_there(lib: Any) -> None:
    root = lib.__name__
    for name in ("_dynamo.config", "_inductor.config"):
        module = importlib.import_module(f"{root}.{name}")
        assert module is getattr(importlib.import_module(f"{root}.{name[:-7]}"), "config")
    before = lib._inductor.config.fx_graph_cache
    lib._inductor.config.fx_graph_cache = True
    lib._inductor.config.fx_graph_cache = before
    lib._inductor.config.triton.unique_kernel_names = True
    lib._logging.set_logs(recompiles=True)
    lib._logging.set_logs()
    with lib._dynamo.config.patch(recompile_limit=64):
        assert lib._dynamo.config.recompile_limit == 64
    assert lib._dynamo.config.recompile_limit == 8


def test_reset_forgets_recordings() -> None:
    compiled = tt.compile(lambda x: x + 1)
    compiled(tt.zeros(1))
    assert len(compiled._compiled.entries) == 1
    tt._dynamo.reset()
    assert not compiled._compiled.entries
    assert compiled(tt.zeros(1)).item() == 1.0


def test_stances_decide_what_is_recorded() -> None:
    compiled = tt.compile(lambda x: x + 1)
    with tt.compiler.set_stance("force_eager"):
        compiled(tt.zeros(1))
    assert not compiled._compiled.entries
    compiled(tt.zeros(1))
    with tt.compiler.set_stance("eager_on_recompile"):
        assert compiled(tt.zeros(2)).tolist() == [1.0, 1.0]
    with tt.compiler.set_stance("fail_on_recompile"):
        compiled(tt.zeros(1))
        with pytest.raises(tt._dynamo.exc.RecompileError, match="recorded anew"):
            compiled(tt.zeros(2))
    assert len(compiled._compiled.entries) == 1

    @tt.compiler.set_stance("force_eager")  # type: ignore[untyped-decorator]
    def outer() -> Any:
        return compiled(tt.zeros(2))

    assert outer().tolist() == [1.0, 1.0] and len(compiled._compiled.entries) == 1
    tt.compiler.set_stance("force_eager")
    try:
        compiled(tt.zeros(2))
    finally:
        tt.compiler.set_stance("default")
    assert len(compiled._compiled.entries) == 1
    with tt._dynamo.config.patch(disable=True):
        compiled(tt.zeros(2))
    with tt._dynamo.config.patch(error_on_recompile=True):
        with pytest.raises(tt._dynamo.exc.RecompileError):
            compiled(tt.zeros(2))
    assert len(compiled._compiled.entries) == 1


def test_disable_of_functions_and_modules() -> None:
    net = make_net()
    alone = tt.compiler.disable(net)
    assert isinstance(alone, tt._dynamo.OptimizedModule) and tt.equal(
        alone.eval()(tt.ones(1, 3)), net(tt.ones(1, 3))
    )
    function = tt.compiler.disable(lambda x: x + 1)
    compiled = tt.compile(function)
    assert compiled(tt.zeros(1)).item() == 1.0
    whole = tt.compile(lambda x: alone(x))
    with pytest.warns(UserWarning, match="compiler.disable"):
        whole(tt.ones(1, 3))


def test_other_backends_run_eagerly() -> None:
    compiled = tt.compile(lambda x: x + 1)
    with pytest.warns(UserWarning, match="on the backend 'meta'; only"):
        assert compiled(tt.zeros(2, device="meta")).shape == (2,)
    with pytest.raises(tt._dynamo.exc.Unsupported, match="meta"):
        tt.compile(lambda x: x + 1, fullgraph=True)(tt.zeros(2, device="meta"))
    mine = type("Mine", (tt.Tensor,), {})
    compiled = tt.compile(lambda x: x + 1)
    with pytest.warns(UserWarning, match="class Mine"):
        assert compiled(tt.ones(2).as_subclass(mine)).tolist() == [2.0, 2.0]


# -- arguments and results -----------------------------------------------------------------------


@dataclasses.dataclass
class Batch:
    """Arguments in a dataclass, with a method."""

    x: Any
    target: Any
    names: dict[str, str] = dataclasses.field(default_factory=dict)

    def difference(self) -> Any:
        return self.x - self.target


class Encoding(dict[str, Any]):
    """Dict with a method, as tokenizers return."""

    def scaled(self) -> Any:
        return self["x"] * self["scale"]


@dataclasses.dataclass
class ModelOutput(OrderedDict[str, Any]):
    """Result whose items are its attributes, as models of transformers return."""

    loss: Any
    logits: Any = None

    def __post_init__(self) -> None:
        self.update(loss=self.loss, logits=self.logits)


def test_dataclasses_and_dicts_of_other_classes_are_trees() -> None:
    def function(batch: Any, encoding: Any) -> Any:
        loss = batch.difference().square().sum() + encoding.scaled().sum()
        return ModelOutput(loss, Batch(loss * 2, None, batch.names))

    compiled = tt.compile(function, fullgraph=True)
    for i in range(6):
        x = tt.full((2,), float(i), requires_grad=True)
        batch = Batch(x, tt.ones(2), {"a": "b"})
        found = compiled(batch, Encoding(x=tt.ones(2), scale=2.0 if i < 3 else 4.0))
        assert type(found) is ModelOutput and list(found) == ["loss", "logits"]
        assert found.loss.item() == 2 * (i - 1) ** 2 + (4 if i < 3 else 8)
        assert found["loss"] is found.loss and found["logits"].names == {"a": "b"}
        (grad,) = tt.autograd.grad(found.logits.x, x)
        assert grad.tolist() == [4.0 * (i - 1)] * 2
    assert len(compiled._compiled.entries) == 2


def test_a_change_of_a_dataclass_of_the_arguments_is_a_side_effect() -> None:
    def function(batch: Any) -> Any:
        batch.names = {"seen": "yes"}
        return batch.x + 1

    compiled = tt.compile(function)
    with pytest.warns(UserWarning, match="an argument of type Batch"):
        compiled(Batch(tt.ones(2), tt.ones(2)))
    for _ in range(2):
        batch = Batch(tt.ones(2), tt.ones(2))
        assert compiled(batch).tolist() == [2.0, 2.0] and batch.names == {"seen": "yes"}


# -- explain and check -------------------------------------------------------------------------


def test_explain_describes_a_recording() -> None:
    net = make_net()
    found = tt.compiler.explain(net)(tt.randn(5, 3))
    assert (found.graph_count, found.graph_break_count) == (1, 0)
    assert sorted(found.ops_per_graph[0]).count("linear") == 2
    text = str(found)
    for part in ("Graph Count: 1", "linear x 2", "Forward:", "Backward:", "Guards:", "engine"):
        assert part in text
    broken = tt._dynamo.explain(lambda x: x * x.sum().item(), tt.ones(2))
    assert broken.graph_count == 0 and broken.graph_break_count == 1
    assert "test_compile.py" in broken.break_reasons[0] and "item" in str(broken)


def test_a_program_is_drawn_and_profiled_by_its_operations() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    found = tt.compiler.explain(net)(tt.randn(5, 3))
    text = str(tt.utils.draw(found.programs[0]))
    assert text.startswith("digraph {") and "linear\\n(5, 4)" in text and "tanh" in text
    assert text.count("input") >= 6 and "-> output0" in text
    compiled = tt.compile(net)
    compiled(tt.randn(5, 3))
    with tt.profiler.profile() as profile:
        compiled(tt.randn(5, 3)).sum().backward()
    names = [event.key for event in profile.key_averages()]
    assert "compiled Sequential: linear, tanh" in names
    assert any("CompiledFunctionBackward" in name for name in names)


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_profile_has_a_row_for_each_part_of_a_program(engine: str) -> None:
    def function(x: Any, w: Any) -> Any:
        return ((x * 2 + 1).tanh() @ w).exp().sum()

    compiled = tt.compile(function, backend=engine)
    x, w = tt.randn(300, 300, requires_grad=True), tt.randn(300, 300) / 300
    compiled(x, w)
    with tt.profiler.profile() as profile:
        result = compiled(x, w)
        (grad,) = tt.autograd.grad(result, x)
    assert tt.allclose(result, function(x, w), rtol=1e-4)
    assert tt.allclose(grad, tt.autograd.grad(function(x, w), x)[0], rtol=1e-4, atol=1e-6)
    rows = {event.key: event for event in profile.key_averages()}
    whole = next(row for name, row in rows.items() if name.startswith("compiled"))
    parts = [rows[name] for name in ("mul+add+tanh", "matmul", "exp+sum")]
    assert whole.cpu_time_total >= sum(part.cpu_time_total for part in parts) > 0
    assert any(name.startswith("tanh+mul") and name.endswith("(backward)") for name in rows)
    text = str(tt.compiler.explain(function)(x, w))
    assert "group mul+add+tanh: 300 x 300" in text and "360000 bytes of memory" in text


def test_check_mode_compares_gradients() -> None:
    hidden = ctypes.c_int(2)

    class Scaled(tt.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * hidden.value

    def apply(x: Any) -> Any:
        return Scaled.apply(x)

    checked = tt.compile(apply, mode="check")
    x = tt.ones(2, requires_grad=True)
    for _ in range(3):
        assert tt.autograd.grad(checked(x).sum(), x)[0].tolist() == [2.0, 2.0]
    hidden.value = 3
    with pytest.raises(RuntimeError, match="differs from the function"):
        checked(x)


def test_check_mode_runs_both_and_names_the_operation_that_differs() -> None:
    hidden = ctypes.c_int(2)  # a value that guards do not see

    def scale(x: Any) -> Any:
        return x.exp() * hidden.value + tt.rand(2)

    checked = tt.compile(scale, mode="check")
    tt.manual_seed(0)
    first = [checked(tt.ones(2)) for _ in range(3)]
    tt.manual_seed(0)
    assert all(map(tt.equal, first, [scale(tt.ones(2)) for _ in range(3)]))
    hidden.value = 3
    with pytest.raises(RuntimeError, match=r"first operation that differs is 'mul'"):
        checked(tt.ones(2))


def test_check_mode_compares_what_is_written() -> None:
    net = make_net()
    other = copy.deepcopy(net)
    checked = tt.compile(net, mode="check")
    for _ in range(4):
        x = tt.randn(5, 3)
        assert tt.allclose(checked(x), other(x))
    assert all(map(tt.allclose, net.buffers(), other.buffers()))


def test_the_import_of_tinytorch_loads_no_recorder() -> None:
    code = (
        "import sys, tinytorch as tt; tt.nn.Linear(2, 2)(tt.ones(1, 2)).sum().backward()\n"
        "assert not [n for n in sys.modules if n.startswith('tinytorch.capture.')], sys.modules\n"
        "tt.compiler.reset(); assert not tt.compiler.is_compiling()\n"
        "assert 'tinytorch.capture.recorder' not in sys.modules\n"
    )
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
