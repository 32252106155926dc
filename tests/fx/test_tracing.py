"""Graphs of programs: the nodes, code and results are PyTorch's."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import tinytorch as tt
from tests.fx.programs import MODULES, PROGRAMS
from tinytorch import nn
from tinytorch.fx.proxy import TraceError


def described(value: Any) -> Any:
    """Return a value of either library in the same words."""
    if isinstance(value, (tuple, list)):
        return [described(each) for each in value]
    if isinstance(value, dict):
        return {key: described(each) for key, each in value.items()}
    text = getattr(value, "__name__", None) or str(value)
    return text.replace("tinytorch", "torch")


def rows(graph: Any) -> list[Any]:
    return [
        (n.op, n.name, *map(described, (n.target, n.args, n.kwargs)), len(n.users))
        for n in graph.nodes
    ]


def code(module: Any) -> str:
    text = str(module.code).replace("tinytorch", "torch")
    return text.replace("torch._C._nn.", "torch.nn.functional.")  # a private name for the same


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_have_pytorchs_nodes_and_code(name: str, torch: Any) -> None:
    ours, theirs = (L.fx.symbolic_trace(PROGRAMS[name](L)) for L in (tt, torch))
    assert rows(ours.graph) == rows(theirs.graph)
    assert code(ours) == code(theirs)
    text = str(theirs.graph).replace("torch._C._nn.", "torch.nn.functional.")
    assert str(ours.graph).replace("tinytorch", "torch") == text


@pytest.mark.parametrize("name", MODULES)
def test_modules_have_pytorchs_nodes_code_and_results(name: str, torch: Any) -> None:
    make, shape = MODULES[name]
    theirs = make(torch).eval()
    ours = make(tt).eval()
    ours.load_state_dict({k: tt.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    traced, other = tt.fx.symbolic_trace(ours), torch.fx.symbolic_trace(theirs)
    assert rows(traced.graph) == rows(other.graph)
    assert code(traced) == code(other)
    assert list(traced.state_dict()) == list(other.state_dict())
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    found = traced(tt.tensor(x.numpy()))
    assert found.tolist() == ours(tt.tensor(x.numpy())).tolist()
    assert tt.allclose(found, tt.tensor(other(x).detach().numpy()), atol=1e-5)


FAILING: dict[str, Any] = {
    "if": lambda x: x if x.sum() > 0 else -x, "for": lambda x: list(map(abs, x)),
    "not": lambda x: not x, "in": lambda x: 1 in x, "len": lambda x: len(x),
    "function": lambda x: len, "object": lambda x: object(), "key": lambda x: {x: 1},
    "int": lambda x: int(x), "item": lambda x: exec("x[0] = 1", {"x": x}),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_programs_that_cannot_be_traced_raise_pytorchs_errors(name: str, torch: Any) -> None:
    errors = []
    for library in (tt, torch):
        with pytest.raises(Exception) as caught:
            library.fx.symbolic_trace(FAILING[name])
        kind = caught.type
        errors.append((kind.__name__, str(caught.value).split("'builtin_")[0].split("<class")[0]))
    assert errors[0] == errors[1]


def test_control_flow_on_values_raises() -> None:
    with pytest.raises(TraceError, match="cannot be used as inputs to control flow"):
        tt.fx.symbolic_trace(lambda x: 1 if x else 0)


CONCRETE: list[tuple[Any, Any]] = [
    (lambda a, b: a * 2 if b else a, {"b": False}),
    (lambda a, b: a * 2 if b is None else a, {"b": None}),
    (lambda a, n: sum([a] * n), {"n": 2}),
    (lambda a, n: sum([a] * n), (None, 2)),
]


@pytest.mark.parametrize("case", range(len(CONCRETE)))
def test_concrete_arguments_have_pytorchs_code(case: int, torch: Any) -> None:
    function, concrete = CONCRETE[case]
    found = []
    for library in (tt, torch):
        given = concrete
        if isinstance(given, tuple):
            given = (library.fx.PH, *given[1:])
        found.append(code(library.fx.symbolic_trace(function, concrete_args=given)))
    assert found[0] == found[1]


def test_a_specialized_argument_is_checked() -> None:
    gm = tt.fx.symbolic_trace(lambda a, b: a * 2 if b else a, concrete_args={"b": False})
    assert gm(tt.ones(1), False).tolist() == [1.0]
    with pytest.raises(AssertionError, match="b has been specialized to have value False"):
        gm(tt.ones(1), True)


def test_arguments_with_structure_have_pytorchs_code_and_results(torch: Any) -> None:
    codes = []
    for library in (tt, torch):
        ph = library.fx.PH
        gm = library.fx.symbolic_trace(
            lambda d, x: {"sum": d["a"] + d["b"], "x": [x]},
            concrete_args={"d": {"a": ph, "b": ph}, "x": ph},
        )
        one = library.ones(1)
        found = gm({"a": one, "b": one * 2}, one)
        assert found["sum"].tolist() == [3.0] and found["x"][0] is one
        run = library.fx.Interpreter(gm).run({"a": one, "b": one * 2}, one)
        assert run["sum"].tolist() == [3.0]
        codes.append(code(gm))
    assert codes[0] == codes[1]


def test_leaf_modules_and_names_of_modules_are_the_tracers() -> None:
    class Tracer(tt.fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return module_qualified_name == "1"

    net = nn.Sequential(nn.ReLU(), nn.Sequential(nn.ReLU()))
    graph = Tracer().trace(net)
    assert [(n.op, n.target) for n in graph.nodes] == [
        ("placeholder", "input"), ("call_function", tt.relu), ("call_module", "1"),
        ("output", "output"),
    ]  # fmt: skip
    with pytest.raises(NameError, match="module is not installed as a submodule"):
        tt.fx.symbolic_trace(lambda x: nn.ReLU()(x))


def test_a_tracer_may_replace_proxies_of_parameters(torch: Any) -> None:
    for library in (tt, torch):
        tracer = library.fx.Tracer(param_shapes_constant=True)

        class Net(library.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.w = library.nn.Parameter(library.ones(2, 3))

            def forward(self, x: Any) -> Any:
                return x * self.w.shape[1] + self.w.numel() + self.w if self.w.ndim == 2 else x

        graph = tracer.trace(Net())
        assert [n.args for n in graph.nodes][2][1] == 3


def test_modules_know_their_place() -> None:
    graph = tt.fx.Tracer().trace(nn.Sequential(nn.Sequential(nn.ReLU())))
    node = next(iter(n for n in graph.nodes if n.op == "call_module"))
    assert [kind for _, kind in node.meta["nn_module_stack"].values()] == [
        nn.Sequential, nn.ReLU,
    ]  # fmt: skip


def helper(x: Any) -> Any:
    return x if x.sum() > 0 else -x


tt.fx.wrap("helper")


def test_wrapped_functions_are_recorded_and_not_entered() -> None:
    gm = tt.fx.symbolic_trace(lambda x: helper(x) + 1)
    assert [n.target for n in gm.graph.nodes][1] is helper
    assert gm(-tt.ones(2)).tolist() == [2.0, 2.0]
    again = tt.fx.symbolic_trace(gm)  # the generated code marks the function, too
    assert [n.target for n in again.graph.nodes][1] is helper
    with pytest.raises(NotImplementedError, match="top level of a module"):
        tt.fx.wrap("len")
    with pytest.raises(RuntimeError, match="Unsupported type for global function"):
        tt.fx.wrap(1)  # type: ignore[type-var]


def test_functions_of_a_tracer_are_recorded() -> None:
    graph = tt.fx.Tracer(autowrap_functions=(plain,)).trace(lambda x: plain(x))
    assert [n.name for n in graph.nodes] == ["x", "plain", "output"]
    assert len(tt.fx.Tracer().trace(lambda x: plain(plain(x))).nodes) == 4


def plain(x: Any) -> Any:
    return x + 1


def test_other_threads_see_no_patches() -> None:
    inside, done = threading.Event(), threading.Event()
    results: list[Any] = []

    def compute() -> None:
        inside.wait(300)
        results.append(nn.Sequential(nn.ReLU())(tt.ones(2)).tolist())
        done.set()

    thread = threading.Thread(target=compute)
    thread.start()

    class Net(nn.Module):
        def forward(self, x: Any) -> Any:
            inside.set()
            assert done.wait(300)
            return x + 1

    assert len(tt.fx.symbolic_trace(Net()).graph.nodes) == 3
    thread.join()
    assert results == [[1.0, 1.0]]


def test_a_failed_trace_restores_modules_and_functions() -> None:
    import math

    before = nn.Module.__call__, math.sqrt
    with pytest.raises(TraceError):
        tt.fx.symbolic_trace(FAILING["if"])
    assert (nn.Module.__call__, math.sqrt) == before
    assert "__getattribute__" not in vars(nn.Module)
    assert type(tt.nn.Linear(1, 1)(tt.ones(1))) is tt.Tensor


def test_traced_modules_train() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    traced = tt.fx.symbolic_trace(net)
    assert [p is q for p, q in zip(traced.parameters(), net.parameters(), strict=True)] == [
        True
    ] * 4
    x = tt.randn(4, 2)
    traced(x).sum().backward()
    grads = [p.grad.tolist() for p in net.parameters()]  # type: ignore[union-attr]
    net.zero_grad()
    net(x).sum().backward()
    assert grads == [p.grad.tolist() for p in net.parameters()]  # type: ignore[union-attr]
