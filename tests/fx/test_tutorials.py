"""Programs with the ideas of PyTorch's tutorials about ``fx``, on both libraries."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.export.architectures import resnet18
from tests.fx.programs import network


def profile(L: Any, model: Any, *args: Any) -> tuple[Any, list[tuple[str, str]], dict[str, int]]:
    """Run a model by an interpreter that measures each node; return the result and the rows."""

    class Profiler(L.fx.Interpreter):  # type: ignore[misc, name-defined]
        def __init__(self, module: Any) -> None:
            super().__init__(module)
            self.seconds: dict[Any, list[float]] = {}

        def run_node(self, n: Any) -> Any:
            start = time.perf_counter()
            found = super().run_node(n)
            self.seconds.setdefault(n, []).append(time.perf_counter() - start)
            return found

    profiler = Profiler(L.fx.symbolic_trace(model))
    with L.no_grad():
        result = profiler.run(*args)
    assert all(len(each) == 1 and each[0] >= 0 for each in profiler.seconds.values())
    kinds: dict[str, int] = {}
    for node in profiler.seconds:
        kinds[node.op] = kinds.get(node.op, 0) + 1
    return result, [(node.op, node.name) for node in profiler.seconds], kinds


def test_a_profiling_interpreter_sees_resnets_nodes_by_pytorchs_names(torch: Any) -> None:
    found = []
    for library in (tt, torch):
        model = resnet18(library, width=8)
        x = library.ones(2, 3, 32, 32)
        result, names, kinds = profile(library, model, x)
        with library.no_grad():
            assert library.allclose(result, model(x), atol=1e-6)
        found.append((names, kinds))
    assert found[0] == found[1]
    assert found[0][1] == {
        "placeholder": 1, "call_module": 60, "call_function": 9, "output": 1
    }  # fmt: skip


RULES: dict[Any, Any] = {
    "relu": lambda L, x: (x > 0) * x,
    "gelu": lambda L, x: 0.5 * x * (1 + L.erf(x / 2**0.5)),
    "softmax": lambda L, x, dim: L.exp(x) / L.exp(x).sum(dim, keepdim=True),
}


def decompose(L: Any, model: Any) -> Any:
    """Replace functions by others: each node runs on proxies, which record what it does."""
    graph = L.fx.Graph()
    tracer = L.fx.proxy.GraphAppendingTracer(graph)
    env: dict[Any, Any] = {}
    for node in L.fx.symbolic_trace(model).graph.nodes:
        rule = RULES.get(getattr(node.target, "__name__", None))
        if node.op == "call_function" and rule:
            args = [
                L.fx.Proxy(env[a], tracer) if isinstance(a, L.fx.Node) else a for a in node.args
            ]
            env[node] = rule(L, *args, **node.kwargs).node
        else:
            env[node] = graph.node_copy(node, lambda old: env[old])
    return L.fx.GraphModule(model if hasattr(model, "modules") else {}, graph)


def smooth_program(L: Any) -> Any:
    def program(x: Any) -> Any:
        y = L.relu(x - 1) + L.nn.functional.gelu(x)
        return L.softmax(y, dim=1)

    return program


def test_functions_are_decomposed_through_proxies(torch: Any) -> None:
    found = []
    for library in (tt, torch):
        program = smooth_program(library)
        module = decompose(library, program)
        x = library.linspace(-2, 3, 12).view(3, 4)
        assert library.allclose(module(x), program(x), atol=1e-6)
        names = [node.name for node in module.graph.nodes]
        assert not {"relu", "gelu", "softmax"} & {*names}
        found.append((names, module(x).tolist()))
    assert found[0][0] == found[1][0]
    assert found[0][1] == [pytest.approx(row, rel=1e-5) for row in found[1][1]]


def test_a_part_of_a_graph_becomes_a_module_of_its_own(torch: Any) -> None:
    """Nodes up to a name in one module, those after it in another, without ``split_module``."""
    found = []
    for library in (tt, torch):
        model = resnet18(library, width=8)
        whole = library.fx.symbolic_trace(model)
        nodes = list(whole.graph.nodes)
        cut = next(node for node in nodes if node.name == "layer2_1_relu_1")
        first, second = library.fx.Graph(), library.fx.Graph()
        env: dict[Any, Any] = {}
        for node in nodes[: nodes.index(cut) + 1]:
            env[node] = first.node_copy(node, lambda old: env[old])
        first.output(env[cut])
        env = {cut: second.placeholder("features")}
        for node in nodes[nodes.index(cut) + 1 :]:
            env[node] = second.node_copy(node, lambda old: env[old])
        parts = [library.fx.GraphModule(model, graph) for graph in (first, second)]
        for part in parts:
            part.graph.lint()
        x = library.ones(1, 3, 32, 32)
        assert library.allclose(parts[1](parts[0](x)), model(x), atol=1e-6)
        both = library.nn.Sequential(*parts)
        kept = sum(p.numel() for p in both.parameters())
        assert kept == sum(p.numel() for p in model.parameters())
        found.append([[n.name for n in part.graph.nodes] for part in parts])
    assert found[0] == found[1]


def test_a_custom_tracer_chooses_the_leaves(torch: Any) -> None:
    found = []
    for library in (tt, torch):

        class Blocks(library.fx.Tracer):  # type: ignore[misc, name-defined]
            def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
                return type(m).__name__ == "BasicBlock" or super().is_leaf_module(
                    m, module_qualified_name
                )

        model = resnet18(library, width=8)
        graph = Blocks().trace(model)
        module = library.fx.GraphModule(model, graph)
        x = library.ones(1, 3, 32, 32)
        assert library.allclose(module(x), model(x), atol=1e-6)
        found.append([(n.op, n.name, str(n.target)) for n in graph.nodes if "layer" in n.name])
    assert found[0] == found[1] and len(found[0]) == 8


def test_ranges_of_the_profiler_become_nodes_of_a_graph(torch: Any) -> None:
    found = []
    for library in (tt, torch):
        operators = library.ops.profiler
        graph = library.fx.Graph()
        x = library.fx.Proxy(graph.placeholder("x"))
        enter = (operators._record_function_enter, ("range",))
        handle = library.fx.Proxy(graph.call_function(*enter))
        y = library.relu(x)
        assert isinstance(operators._record_function_exit(handle), library.fx.Proxy)
        graph.output(y.node)
        module = library.fx.GraphModule(library.nn.Module(), graph)
        with library.autograd.profiler.profile() as profile:
            module(library.ones(2))
        names = [event.name for event in profile.function_events]
        assert "range" in names
        ranges = [str(node.target) for node in graph.nodes if "record" in node.name]
        found.append(([(node.op, node.name) for node in graph.nodes], ranges))
    assert found[0] == found[1]


def rewritten_program(L: Any) -> tuple[Any, Any, Any]:
    """A program, a pattern in it, and what replaces the pattern."""

    def program(x: Any) -> Any:
        y = L.cat([x, L.relu(x)], dim=0)
        return L.sum(L.relu(y) + 1, dim=0) / L.numel(y)

    def pattern(y: Any) -> Any:
        return L.nn.functional.softplus(y) + 1

    def replacement(y: Any) -> Any:
        return L.log(1 + L.exp(y)) * 2

    return program, pattern, replacement


def test_a_transformer_and_a_pattern_rewrite_a_traced_model(torch: Any) -> None:
    found = []
    for library in (tt, torch):

        class Smooth(library.fx.Transformer):  # type: ignore[misc, name-defined]
            def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
                if target is library.relu:
                    return library.nn.functional.softplus(*args)
                return super().call_function(target, args, kwargs)

        program, pattern, replacement = rewritten_program(library)
        module = Smooth(library.fx.symbolic_trace(program)).transform()
        matches = library.fx.replace_pattern(module, pattern, replacement)
        x = library.linspace(-1, 1, 6).view(2, 3)
        found.append((len(matches), [n.name for n in module.graph.nodes], module(x).tolist()))
    assert found[0][:2] == found[1][:2] and found[0][0] == 1
    assert found[0][2] == pytest.approx(found[1][2], rel=1e-5)


@pytest.mark.parametrize("make", [resnet18, network])
def test_modules_are_written_as_packages(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tt.manual_seed(0)
    model = tt.nn.Sequential(tt.nn.Conv2d(3, 2, 3), tt.nn.ReLU()) if make is resnet18 else make(tt)
    module = tt.fx.symbolic_trace(model).eval()
    name = f"written_{make.__name__}"
    module.to_folder(tmp_path / name, "Written")
    monkeypatch.syspath_prepend(tmp_path)
    made = importlib.import_module(name).Written()
    x = tt.randn(2, 3, 5, 5) if make is resnet18 else tt.randn(2, 3)
    assert tt.equal(made(x), module(x)) and not made.training
    assert {*made.state_dict()} == {*module.state_dict()}
    text = (tmp_path / name / "module.py").read_text()
    assert "def forward(self, " in text and ("Conv2d(3, 2" in text) == (make is resnet18)
    del sys.modules[name], sys.modules[f"{name}.module"]


def test_code_that_cannot_be_imported_is_not_written(tmp_path: Path) -> None:
    def outer(x: Any) -> Any:
        return x

    graph = tt.fx.Graph()
    graph.output(graph.call_function(outer, (graph.placeholder("x"),)))
    with pytest.raises(ValueError, match="to_folder: the code uses .*outer.* cannot be imported"):
        tt.fx.GraphModule({}, graph).to_folder(tmp_path / "local")
    structured = tt.fx.symbolic_trace(
        lambda x: x["a"], concrete_args={"x": {"a": tt.fx.PH, "b": tt.fx.PH}}
    )
    with pytest.raises(ValueError, match="arguments with structure"):
        structured.to_folder(tmp_path / "tree")
