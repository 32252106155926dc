"""Callbacks whose exceptions Python drops: C functions alone, which leave Ctrl-C pending."""

from __future__ import annotations

import ast
import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, MethodType

import pytest

import tinytorch as tt
from tests.fresh import run
from tinytorch.backends.weak_references import CallingRef, WeakValues

pytestmark = pytest.mark.slow

PACKAGE = Path(tt.__file__).parent
#: Names of the standard library whose callbacks are Python functions.
PYTHON_CALLBACKS = {
    "finalize", "WeakKeyDictionary", "WeakMethod", "WeakSet", "WeakValueDictionary",
}  # fmt: skip


def swallowing_code(path: Path) -> Iterator[str]:
    """Places of a source file where Python would drop what our code raises."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__del__":
            yield f"{path}:{node.lineno}: __del__"
        if isinstance(node, ast.ImportFrom) and node.module == "weakref":
            names = {each.name for each in node.names} & PYTHON_CALLBACKS
            yield from (f"{path}:{node.lineno}: weakref.{name}" for name in names)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "weakref":
            if node.attr in PYTHON_CALLBACKS:
                yield f"{path}:{node.lineno}: weakref.{node.attr}"
        if isinstance(node, ast.Call) and len(node.args) > 1:
            if ast.unparse(node.func) in ("ref", "weakref.ref", "weakref.proxy", "WeakRef"):
                yield f"{path}:{node.lineno}: callback of a weak reference"


def test_the_package_has_no_callbacks_in_python() -> None:
    found = [place for path in PACKAGE.rglob("*.py") for place in swallowing_code(path)]
    assert not found


@pytest.mark.parametrize("code", [
    "import weakref\nweakref.finalize(x, print)", "from weakref import WeakSet",
    "import weakref\nweakref.ref(x, print)", "class A:\n    def __del__(self): pass",
])  # fmt: skip
def test_callbacks_in_python_are_found(tmp_path: Path, code: str) -> None:
    (tmp_path / "code.py").write_text(code)
    assert len(list(swallowing_code(tmp_path / "code.py"))) == 1


def use_everything() -> None:
    import gc
    import weakref

    import tinytorch as tt
    from tinytorch.utils.data._workers import _running

    x = tt.ones(3, requires_grad=True)
    x.register_hook(print)
    y = tt.utils.checkpoint.checkpoint(tt.sin, x, use_reentrant=False)
    tt.autograd.graph.register_multi_grad_hook((x, y), lambda grads: None, mode="any")
    tt.autograd.graph.register_multi_grad_hook((x, y), lambda grads: None)
    faces = [y.grad_fn, y.grad_fn.next_functions]
    names = tt.utils.weak.WeakIdKeyDictionary({x: 1})
    with tt.utils.flop_counter.FlopCounterMode(display=False):
        tt.nn.Linear(3, 3)(x.detach()).sum()
    y.sum().backward(retain_graph=True)
    shared = tt.ones(3).share_memory_()
    passes = [
        iter(tt.utils.data.DataLoader(range(8), num_workers=1, multiprocessing_context=context))
        for context in ("thread", "fork")
    ]
    segment = shared.numpy().base
    while segment is not None and type(segment).__name__ != "Segment":
        segment = getattr(segment, "base", None)
    objects = gc.get_objects()
    alive = [each for each in objects if str(type(each).__module__).startswith("tinytorch")]
    alive += [x, y, *faces, names, *passes, *_running]
    alive += [segment] if segment is not None else []
    count, python = 0, set()
    for each in alive:
        for ref in weakref.getweakrefs(each):
            callback = ref.__callback__
            count += callback is not None
            if hasattr(getattr(callback, "__func__", callback), "__code__"):
                python.add((type(each).__name__, callback))
    print(count > 5, python)


@pytest.mark.filterwarnings("ignore:.*fork")
def test_no_living_object_has_a_callback_in_python() -> None:
    assert run(use_everything).splitlines()[-1] == "True set()"


class Value:
    """Object that can be referred to weakly."""


def test_entries_of_values_that_are_gone_are_removed() -> None:
    table: WeakValues[int, Value] = WeakValues()
    first, second = Value(), Value()
    table[1] = first
    assert table.setdefault(1, second) is first and table.get(1) is first and table.get(2) is None
    table[2] = second
    del first
    gc.collect()
    assert table.get(1) is None and len(table) == 1
    third = Value()
    assert table.setdefault(1, third) is third and table.get(1) is third and len(table) == 2
    for number in range(1000):
        table[number + 3] = Value()
    assert len(table.refs()) < 10


def test_a_value_stored_before_the_table_is_drained_is_kept() -> None:
    table: WeakValues[int, Value] = WeakValues()
    table[1] = Value()
    gc.collect()
    kept = Value()
    table._refs[1] = type(table._refs[1])(kept, table._dead.append, 1)  # as another thread would
    assert len(table) == 1 and table.get(1) is kept


def test_threads_write_to_one_table_at_once() -> None:
    table: WeakValues[int, Value] = WeakValues()
    kept = [Value() for _ in range(4)]

    def store(number: int) -> None:
        for _ in range(2000):
            table[number] = kept[number]
            table[number + 10] = Value()

    threads = [threading.Thread(target=store, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    gc.collect()
    assert [table.get(number) for number in range(4)] == kept and len(table) == 4


def test_a_function_is_called_when_the_object_is_gone() -> None:
    calls: list[int] = []
    x, y = Value(), Value()
    refs = [CallingRef(x, [1, 2].clear), CallingRef(x, calls.clear), CallingRef(y, calls.clear)]
    calls.append(3)
    assert not isinstance(refs[0].__callback__, (FunctionType, MethodType))
    refs.pop()
    del y  # its reference is gone before
    assert calls == [3] and refs[1]() is x
    del x
    gc.collect()
    assert calls == [] and refs[1]() is None
