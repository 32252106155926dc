"""Changes of graphs, and modules made of them: PyTorch's tutorials run on both libraries."""

from __future__ import annotations

import copy
import pickle
import traceback
from typing import Any

import pytest

import tinytorch as tt
from tests.fx.programs import residual
from tests.fx.test_tracing import code, described, rows
from tinytorch import nn


def built(L: Any) -> Any:
    """A graph of x + relu(x), by hand, and a node that nothing uses."""
    graph = L.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(L.relu, (x,))
    graph.call_function(L.neg, (x,))
    graph.output(graph.call_method("add", (x, y)))
    return graph


def test_graphs_are_built_and_shown_as_in_pytorch(lib: Any) -> None:
    graph = built(lib)
    assert str(graph).replace("tinytorch", "torch").splitlines() == [
        "graph():",
        "    %x : [num_users=3] = placeholder[target=x]",
        "    %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})",
        "    %neg : [num_users=0] = call_function[target=torch.neg](args = (%x,), kwargs = {})",
        "    %add : [num_users=1] = call_method[target=add](args = (%x, %relu), kwargs = {})",
        "    return add",
    ]
    assert graph.eliminate_dead_code() and not graph.eliminate_dead_code()
    graph.lint()
    module = lib.fx.GraphModule({}, graph)
    assert module(-lib.ones(2)).tolist() == [-1, -1] and type(module).__name__ == "GraphModule"
    x, relu, add, output = graph.nodes
    assert list(reversed(graph.nodes)) == [output, add, relu, x] and len(graph.nodes) == 4
    assert x.next is relu and relu.prev is x and add.all_input_nodes == [x, relu]
    assert list(x.users) == [relu, add] and graph.output_node() is output
    assert graph.find_nodes(op="call_function", target=lib.relu) == [relu]


def test_nodes_move_change_and_vanish(lib: Any) -> None:
    graph = built(lib)
    x, relu, neg, add, output = graph.nodes
    with graph.inserting_after(relu):
        one, two = graph.call_function(lib.sin, (relu,)), graph.call_function(lib.cos, (relu,))
    assert [n.name for n in graph.nodes] == ["x", "relu", "cos", "sin", "neg", "add", "output"]
    with graph.inserting_before(x):
        graph.placeholder("first")
    add.replace_input_with(relu, one)
    assert add.args == (x, one) and list(relu.users) == [one, two]
    assert neg.replace_all_uses_with(one) == []
    assert relu.replace_all_uses_with(x, lambda user: user is two) == [two]
    add.args, add.kwargs = (two,), {"other": 3}
    add.insert_arg(1, 2)
    add.update_arg(1, one)
    add.update_kwarg("other", 4)
    assert add.args == (two, one) and add.kwargs == {"other": 4} and list(neg.users) == []
    for message, act in {
        "still had 1 users": lambda: graph.erase_node(one),
        "wrong graph": lambda: lib.fx.Graph().erase_node(neg),
    }.items():
        with pytest.raises(RuntimeError, match=message):
            act()
    graph.erase_node(neg)
    assert neg not in list(graph.nodes) and neg not in x.users
    output.prepend(one)  # used before
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        graph.lint()
    with pytest.raises(TypeError, match="object does not support mutation"):
        graph.call_function(lib.cat, ([x, x],)).args[0].append(x)
    other = lib.fx.Graph()
    other.call_function(lib.relu, (x,))
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        other.lint()
    with pytest.raises(AssertionError, match="is not in _legal_ops"):
        graph.create_node("call", "x")
    with pytest.raises(ValueError, match="a Callable is expected"):
        graph.create_node("call_function", "x")


def test_names_are_pytorchs(torch: Any) -> None:
    wanted = ["x", "x", "x_1", "x_5", "x", "ReLU", "a.b", "0", "max", "class", "__add__", "nan",
              "some words", "CamelCase", "x_5", "y_0", "y", "y",
              "z_3", "z", "z", "z_3", "a__b", "_", "max_1", "q_1", "q", "r_2", "r_1",
              "r"]  # fmt: skip
    found = [[g.create_node("call_method", name, (), {}).name for name in wanted]
             for g in (tt.fx.Graph(), torch.fx.Graph())]  # fmt: skip
    assert found[0] == found[1]


def test_attributes_that_are_missing_raise_and_warn(lib: Any) -> None:
    graph = lib.fx.Graph()
    graph.get_attr("foo.bar")
    module = lib.fx.GraphModule({"foo.bar": lib.ones(1)}, graph)
    assert list(module.state_dict()) == ["foo.bar"]
    with pytest.warns(UserWarning, match="no underlying reference in the owning GraphModule"):
        graph.get_attr("foo.baz")
    with pytest.raises(RuntimeError, match="references nonexistent attribute baz of foo"):
        graph.lint()
    with pytest.raises(RuntimeError, match="that target was not provided in ``root``"):
        lib.fx.GraphModule({}, graph)
    with pytest.raises(RuntimeError, match="passed for root"):
        lib.fx.GraphModule(1, graph)


def test_submodules_are_added_and_removed(lib: Any) -> None:
    module = lib.fx.symbolic_trace(lib.nn.Sequential(lib.nn.Linear(2, 2)))
    assert module.add_submodule("a.b", lib.nn.ReLU()) and module.delete_submodule("a.b")
    assert not module.delete_submodule("zz") and not module.delete_submodule("a.b.c")
    assert not module.add_submodule("0.weight.x", lib.nn.ReLU())
    assert [name for name, _ in module.named_modules()] == ["", "0", "a"]
    module.delete_all_unused_submodules()
    assert [name for name, _ in module.named_modules()] == ["", "0"]


def test_copies_and_pickles_run_alone() -> None:
    module = tt.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    module.meta["note"] = 1
    next(iter(module.graph.nodes)).meta["shape"] = (1, 2)
    x = tt.ones(1, 2)
    before = module(x).tolist()
    copies = [copy.deepcopy(module), copy.copy(module), pickle.loads(pickle.dumps(module))]
    for made in copies:
        assert made.code == module.code and made(x).tolist() == before
        assert made.graph is not module.graph and made.graph.owning_module is made
        assert type(made) is not type(module) and type(made).__name__ == "Sequential"
        assert made.meta == {"note": 1}
        made.graph.erase_node(made.graph.output_node())
        made.graph.output(1)
        made.recompile()
        assert made(x) == 1 and module(x).tolist() == before
    weights = [dict(made.named_parameters())["0.weight"] for made in copies]
    original = dict(module.named_parameters())["0.weight"]
    assert [weight is original for weight in weights] == [False, True, False]
    assert next(iter(copies[0].graph.nodes)).meta == {"shape": (1, 2)}


def test_a_subclass_of_graph_module_keeps_its_class() -> None:
    made = copy.deepcopy(Named(nn.ReLU(), tt.fx.Tracer().trace(nn.ReLU())))
    assert isinstance(made, Named) and made.answer() == 42
    assert isinstance(pickle.loads(pickle.dumps(made)), Named)


class Named(tt.fx.GraphModule):
    """A graph module with a method."""

    def answer(self) -> int:
        return 42


def test_tracebacks_show_the_generated_line() -> None:
    module = tt.fx.symbolic_trace(lambda x: tt.mm(x, x))
    try:
        module(tt.ones(2))
    except RuntimeError:
        assert "mm = tinytorch.mm(x, x);  x = None" in traceback.format_exc()


def test_generated_code_is_transformed() -> None:
    module = tt.fx.symbolic_trace(lambda x: x + 1)
    with module.graph.on_generate_code(lambda former: lambda body: ["x = x * 10\n", *body]):
        module.recompile()
        assert module(tt.ones(1)).tolist() == [11]
    module.recompile()
    assert module(tt.ones(1)).tolist() == [2]


def test_readable_code(capsys: pytest.CaptureFixture[str]) -> None:
    module = tt.fx.symbolic_trace(lambda x: x + 1)
    text = module.print_readable()
    assert capsys.readouterr().out.strip() == text.strip()
    assert text.splitlines()[1:3] == ["    def forward(self, x):", "        add = x + 1;  x = None"]


# -- tutorials -------------------------------------------------------------------------------------


def fuse(L: Any, model: Any) -> Any:
    """The tutorial about fusing convolutions and batch norms."""
    from importlib import import_module

    fuse_pair = import_module(f"{L.__name__}.nn.utils.fusion").fuse_conv_bn_eval
    model = copy.deepcopy(model)
    traced = L.fx.symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in list(traced.graph.nodes):
        if node.op != "call_module" or node.args[0].op != "call_module":
            continue
        first, second = modules[node.args[0].target], modules[node.target]
        if isinstance(first, L.nn.Conv2d) and isinstance(second, L.nn.BatchNorm2d):
            if len(node.args[0].users) > 1:
                continue
            parent, _, name = node.args[0].target.rpartition(".")
            setattr(traced.get_submodule(parent), name, fuse_pair(first, second))
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    traced.recompile()
    traced.delete_all_unused_submodules()
    return traced


def test_convolutions_and_batch_norms_fuse(torch: Any) -> None:
    ours, theirs = residual(tt).eval(), residual(torch).eval()
    ours.load_state_dict({k: tt.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    fused, other = fuse(tt, ours), fuse(torch, theirs)
    assert code(fused) == code(other) and rows(fused.graph) == rows(other.graph)
    assert list(fused.state_dict()) == list(other.state_dict())
    x = torch.randn(2, 2, 5, 5, generator=torch.Generator().manual_seed(0))
    expected = theirs(x).detach().numpy()
    assert tt.allclose(fused(tt.tensor(x.numpy())), tt.tensor(expected), atol=1e-5)


def test_operators_are_replaced(lib: Any) -> None:
    module = lib.fx.symbolic_trace(lambda x, y: (x + y, lib.add(x, y), x.add(y)))
    patterns = {lib.add, "add", __import__("operator").add}
    for node in list(module.graph.nodes):
        if any(node.target == pattern for pattern in patterns):
            with module.graph.inserting_after(node):
                made = module.graph.call_function(lib.bitwise_and, node.args, node.kwargs)
                node.replace_all_uses_with(made)
            module.graph.erase_node(node)
    module.recompile()
    assert [r.tolist() for r in module(lib.tensor([3]), lib.tensor([6]))] == [[2]] * 3


def test_an_interpreter_sees_every_node_and_a_shape_propagator_its_value(torch: Any) -> None:
    from importlib import import_module

    found = []
    for library in (tt, torch):
        seen: list[str] = []

        class Profiler(library.fx.Interpreter):  # type: ignore[misc, name-defined]
            def run_node(self, n: Any) -> Any:
                seen.append(n.name)
                return super().run_node(n)

            def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
                return super().call_module(target, args, kwargs)

        model = residual(library).eval()
        module = library.fx.symbolic_trace(model)
        x = library.ones(2, 2, 5, 5)
        result = Profiler(module).run(x)
        assert library.allclose(result, model(x))
        shapes = import_module(f"{library.__name__}.fx.passes.shape_prop").ShapeProp(module)
        shapes.propagate(x)
        metas = [n.meta["tensor_meta"] for n in module.graph.nodes]
        found.append((seen, [described((m.shape, m.dtype, m.stride, m.memory_format,
                                        m.requires_grad)) for m in metas]))  # fmt: skip
    assert found[0] == found[1]


def test_interpreters_collect_values_and_name_the_node_of_an_error(lib: Any) -> None:
    module = lib.fx.symbolic_trace(lambda x, y=3: lib.mm(x, x) + y)
    runner = lib.fx.Interpreter(module)
    assert runner.run(lib.ones(1, 1)).tolist() == [[4]]
    assert [n.name for n in runner.env] == ["output"]
    keeper = lib.fx.Interpreter(module, garbage_collect_values=False)
    x, y, mm, add, output = module.graph.nodes
    assert keeper.run(None, 1, initial_env={mm: lib.zeros(1)}).tolist() == [1]
    assert list(keeper.env) == [mm, x, y, add, output]
    with pytest.raises(RuntimeError, match=r"(?s)matrix.*While executing %mm"):
        runner.run(lib.ones(2))
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        runner.run()


def test_a_transformer_rewrites(torch: Any) -> None:
    found = []
    for library in (tt, torch):

        class Swap(library.fx.Transformer):  # type: ignore[misc, name-defined]
            def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
                new = library.neg if target is library.sigmoid else target
                return super().call_function(new, args, kwargs)

            def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
                return super().call_method("relu" if target == "neg" else target, args, kwargs)

        module = library.fx.symbolic_trace(
            library.nn.Sequential(library.nn.Linear(1, 1), library.nn.ReLU())
        )
        found.append(code(Swap(module).transform()))
        made = Swap(library.fx.symbolic_trace(lambda x: library.sigmoid(x.neg() + 1))).transform()
        assert made(library.ones(1)).tolist() == [-2]
        found.append(code(made))
    assert found[:2] == found[2:]


REWRITES: dict[str, Any] = {
    "two": lambda L: (
        lambda x, w1, w2: L.cat([L.cat([w1, w2]).sum(), L.cat([w2, w1]).sum()]) + x,
        lambda a, b: L.cat([a, b]).sum(), lambda a, b: L.stack([a, b]),
    ),
    "chain": lambda L: (
        lambda x: L.relu(L.relu(L.relu(x))), lambda a: L.relu(a), lambda a: L.sigmoid(a) * 2,
    ),
    "used outside": lambda L: (
        lambda x: (L.relu(x) + 1, L.relu(x).neg()), lambda a: L.relu(a) + 1, lambda a: a,
    ),
    "overlap": lambda L: (
        lambda x: x + 1 + 1 + 1, lambda a: a + 1 + 1, lambda a: a + 2,
    ),
    "methods": lambda L: (
        lambda x: x.view(2, -1).t() @ x, lambda a: a.view(2, -1).t(), lambda a: a.reshape(-1, 2),
    ),
    "several results": lambda L: (
        lambda x: L.sin(x) + L.cos(x), lambda a: (L.sin(a), L.cos(a)), lambda a: (a, a * 2),
    ),
    "same input": lambda L: (
        lambda x, y: (x * x, x * y), lambda a: a * a, lambda a: a**2,
    ),
    "none": lambda L: (lambda x: x + 1, lambda a: a + 2, lambda a: a),
    "keywords": lambda L: (
        lambda x: (L.sum(x, dim=1), L.sum(x, dim=0)), lambda a: L.sum(a, dim=0), lambda a: a.max(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REWRITES)
def test_patterns_are_replaced_as_in_pytorch(name: str, torch: Any) -> None:
    found = []
    for library in (tt, torch):
        program, pattern, replacement = REWRITES[name](library)
        module = library.fx.symbolic_trace(program)
        matches = library.fx.replace_pattern(module, pattern, replacement)
        module.graph.lint()
        maps = [{str(k): str(v) for k, v in m.nodes_map.items()} for m in matches]
        found.append((code(module), [str(m.anchor) for m in matches], maps))
    assert found[0] == found[1]


def test_a_replacement_brings_its_modules() -> None:
    module = tt.fx.symbolic_trace(nn.Sequential(nn.ReLU()))

    class Old(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.add_module("0", nn.ReLU())

        def forward(self, x: Any) -> Any:
            return self._modules["0"](x)  # type: ignore[misc]

    class New(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Linear(1, 1)

        def forward(self, x: Any) -> Any:
            return self.scale(x)

    new = tt.fx.symbolic_trace(New())
    assert len(tt.fx.replace_pattern(module, tt.fx.symbolic_trace(Old()), new)) == 1
    assert [name for name, _ in module.named_modules()] == ["", "scale"]
    with pytest.raises(AssertionError, match="expected a replacement with 1 inputs"):
        tt.fx.replace_pattern(module, new, lambda a, b: a)


def test_filters_choose_the_places() -> None:
    from tinytorch.fx.subgraph_rewriter import replace_pattern_with_filters

    module = tt.fx.symbolic_trace(lambda x: (x + 1) * (x + 2))
    found = replace_pattern_with_filters(
        module, lambda a: a + 1, lambda a: a - 1, ignore_literals=True,
        match_filters=[lambda match, graph, pattern: match.returning_nodes[0].args[1] == 2],
    )  # fmt: skip
    assert [str(each.anchor) for each in found] == ["add"] and len(found[0].replacements) == 1
    assert module(tt.full((1,), 5.0)).tolist() == [24.0]


def test_proxies_made_by_hand_build_a_graph(lib: Any) -> None:
    """As e3nn generates its code."""
    graph = lib.fx.Graph()
    tracer = lib.fx.proxy.GraphAppendingTracer(graph)
    x = lib.fx.Proxy(graph.placeholder("x", lib.Tensor), tracer=tracer)
    w = lib.fx.Proxy(graph.get_attr("w"), tracer=tracer)
    out = lib.einsum("ij,j->i", [x, w]).reshape(x.shape[:1])
    graph.output(lib.cat([out, out]).node, lib.Tensor)
    module = lib.fx.GraphModule({"w": lib.ones(2)}, graph, class_name="Product")
    assert module(lib.ones(3, 2)).tolist() == [2.0] * 6 and type(module).__name__ == "Product"


def test_features_are_extracted(torch: Any) -> None:
    """As torchvision does: names of nodes by module, and outputs at some of them."""
    found = []
    for library in (tt, torch):

        class Paths(library.fx.Tracer):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.current, self.names = "", {}

            def call_module(self, m: Any, forward: Any, args: Any, kwargs: Any) -> Any:
                outer, self.current = self.current, self.path_of_module(m)
                try:
                    if not self.is_leaf_module(m, self.current):
                        return forward(*args, **kwargs)
                    return self.create_proxy("call_module", self.current, args, kwargs)
                finally:
                    self.current = outer

            def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *_):  # type: ignore[no-untyped-def]
                proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr)
                self.names[proxy.node] = f"{self.current}/{proxy.node.name}"
                return proxy

        tracer = Paths()
        model = residual(library).eval()
        graph = tracer.trace(model)
        names = list(tracer.names.values())
        module = library.fx.GraphModule(tracer.root, graph, "Features")
        wanted = [n for n in graph.nodes if tracer.names.get(n, "").endswith(("down_1", "relu"))]
        output = graph.output_node()
        with graph.inserting_after(list(graph.nodes)[-2]):
            graph.output(dict(zip("ab", wanted, strict=True)))
        graph.erase_node(output)
        graph.eliminate_dead_code()
        module.recompile()
        x = library.ones(1, 2, 5, 5)
        assert library.equal(module(x)["b"], model.down(x))
        found.append((names, rows(graph)))
    assert found[0] == found[1]
