"""What a replay would not repeat is found, and such calls run eagerly, each effect once."""

from __future__ import annotations

import datetime
import itertools
import logging
import queue
import random
import secrets
import time
import uuid
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch import nn
from tinytorch.capture.record_call import record_call

tt: Any = tinytorch

COUNT = 0
LOG: list[Any] = []
TABLE: dict[str, Any] = {}


def call(function: Callable[[Any], Any], x: Any, times: int) -> None:
    """Call a function several times."""
    for _ in range(times):
        function(x)


def count_up(x: Any) -> Any:
    global COUNT
    COUNT += 1
    return x * 2


def test_a_global_that_is_counted_up_counts_each_call() -> None:
    compiled = tt.compile(count_up)
    before = COUNT
    with pytest.warns(UserWarning, match=r"changes global 'COUNT'"):
        found = [compiled(tt.ones(1)).item() for _ in range(5)]
    assert found == [2.0] * 5 and before + 5 == COUNT


def append(x: Any) -> Any:
    LOG.append(float(x.shape[0]))
    return x * 2


def fill(x: Any) -> Any:
    TABLE[f"call {len(TABLE)}"] = x.shape
    return x * 2


@pytest.mark.parametrize(("function", "name"), [(append, "LOG"), (fill, "TABLE")])
def test_containers_that_are_filled_get_one_entry_for_each_call(
    function: Callable[[Any], Any], name: str
) -> None:
    LOG.clear()
    TABLE.clear()
    compiled = tt.compile(function)
    with pytest.warns(UserWarning, match=f"changes {name}"):
        call(compiled, tt.ones(3), 5)
    assert len(LOG) + len(TABLE) == 5


def test_attributes_closures_and_arguments_that_change_are_found() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x + self.calls

    module = Counter()
    compiled = tt.compile(module)
    with pytest.warns(UserWarning, match=r"changes Counter.calls"):
        assert [compiled(tt.zeros(1)).item() for _ in range(5)] == [1, 2, 3, 4, 5]

    total = 0

    def add(x: Any) -> Any:
        nonlocal total
        total += 1
        return x + total

    adding = tt.compile(add)
    with pytest.warns(UserWarning, match="changes closure variable 'total'"):
        assert [adding(tt.zeros(1)).item() for _ in range(5)] == [1, 2, 3, 4, 5]

    def collect(x: Any, into: list[Any]) -> Any:
        into.append(x)
        return x * 2

    collecting = tt.compile(collect)
    found: list[list[Any]] = [[] for _ in range(5)]
    with pytest.warns(UserWarning, match="changes an argument of type list"):
        assert len([collecting(tt.ones(1), each) for each in found]) == 5
    assert [len(each) for each in found] == [1] * 5


def test_what_the_first_call_creates_is_no_reason() -> None:
    """A cache that is filled once: the second call records, the third replays."""

    class Cached(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table: Any = None

        def forward(self, x: Any) -> Any:
            if self.table is None:
                self.table = tt.arange(3.0)
            return x + self.table

    module = Cached()
    compiled = tt.compile(module)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(5):
            assert compiled(tt.full((3,), float(i))).tolist() == [i, i + 1, i + 2]
    assert len(compiled.forward.entries) == 1 and not compiled.forward.breaks
    module.table = tt.zeros(3)
    assert compiled(tt.ones(3)).tolist() == [1.0] * 3


NUMBERS = np.random.default_rng(0)
OWN = random.Random(0)
COUNTER = itertools.count()
ITEMS = iter(range(1000))


ENUMERATED, CYCLE = enumerate(range(1000)), itertools.cycle(range(1000))
MAPPED, QUEUE = map(float, range(1000)), queue.SimpleQueue[int]()
WAITING: Any = queue.Queue()
MADE = (i for i in range(1000))
for _number in range(100):
    QUEUE.put(_number)
    WAITING.put(_number)


@pytest.mark.parametrize("draw", [
    lambda: random.random(), lambda: float(np.random.rand()), lambda: float(NUMBERS.random()),
    lambda: OWN.random(), lambda: next(COUNTER), lambda: next(ITEMS), lambda: next(ENUMERATED)[0],
    lambda: next(CYCLE), lambda: next(MAPPED), lambda: next(MADE), lambda: WAITING.get(),
    lambda: QUEUE.get(),
], ids=["random", "numpy.random", "Generator", "Random", "count", "iterator", "enumerate", "cycle",
        "map", "generator", "Queue", "SimpleQueue"])  # fmt: skip
def test_draws_of_python_and_numpy_are_drawn_at_each_call(draw: Callable[[], float]) -> None:
    compiled = tt.compile(lambda x: x + draw())
    with pytest.warns(UserWarning, match="runs eagerly: it (changes|calls)"):
        found = [compiled(tt.zeros(1, dtype=tt.float64)).item() for _ in range(6)]
    assert len(set(found)) == 6


def test_draws_of_this_library_are_drawn_anew_and_leave_the_generator_as_eager_code_does() -> None:
    own = tt.Generator().manual_seed(3)

    def draw(x: Any) -> Any:
        y = nn.functional.dropout(x, 0.5) + tt.randn(4) * tt.rand(4, generator=own)
        return y + tt.randint(5, (4,)) + tt.randperm(4) + tt.empty(4).uniform_()

    compiled = tt.compile(draw)
    results = []
    for function in (draw, compiled):
        tt.manual_seed(0)
        own.manual_seed(3)
        results.append([function(tt.ones(4)) for _ in range(5)] + [tt.rand(2)])
    for expected, found in zip(*results, strict=True):
        assert tt.equal(expected, found)
    assert len(compiled._compiled.entries) == 1


def test_what_is_printed_is_printed_at_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    def show(x: Any) -> Any:
        print("shape", tuple(x.shape))
        return x * 2

    compiled = tt.compile(show)
    with pytest.warns(UserWarning, match=r"it calls print\(\) at .*test_side_effects.py:"):
        call(compiled, tt.ones(2), 4)
    assert capsys.readouterr().out == "shape (2,)\n" * 4


def test_code_that_does_not_print_at_this_call_is_recorded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def show(x: Any, verbose: bool) -> Any:
        if verbose:
            print("seen")
        return x * 2

    compiled = tt.compile(show)
    for _ in range(3):
        compiled(tt.ones(2), False)
    assert len(compiled._compiled.entries) == 1 and not compiled._compiled.breaks
    with pytest.warns(UserWarning, match="print"):
        call(lambda x: compiled(x, True), tt.ones(2), 3)
    assert capsys.readouterr().out == "seen\n" * 3


def test_the_clock_is_read_at_each_call() -> None:
    def stamp(x: Any) -> Any:
        return x + time.perf_counter()

    compiled = tt.compile(stamp)
    with pytest.warns(UserWarning, match="perf_counter"):
        found = [compiled(tt.zeros(1, dtype=tt.float64)).item() for _ in range(4)]
    assert sorted(set(found)) == found


def test_dates_and_unique_numbers_are_made_at_each_call() -> None:
    for make in (
        lambda: datetime.datetime.now().timestamp(), lambda: uuid.uuid4().int % 10**9,
        lambda: secrets.randbelow(10**9),
    ):  # fmt: skip
        compiled = tt.compile(lambda x, make=make: x + make())
        with pytest.warns(UserWarning, match=r"it (calls|changes)"):
            found = [compiled(tt.zeros(1, dtype=tt.float64)).item() for _ in range(4)]
        assert len(set(found)) > 1


class Messages(logging.Handler):
    """Handler that stores messages."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record.getMessage())


@pytest.mark.filterwarnings("ignore:.*secrets|.*getrandbits|.*urandom:UserWarning")
def test_a_module_in_a_closure_may_draw() -> None:
    import secrets

    compiled = tt.compile(lambda x: x + secrets.randbelow(10**9))
    assert len({compiled(tt.zeros(1, dtype=tt.int64)).item() for _ in range(4)}) > 1


def test_containers_from_outside_are_returned_themselves() -> None:
    named: list[Any] = [1, tt.ones(1)]
    compiled = tt.compile(
        lambda x, options: (x * options["scale"], options, {"named": named}), fullgraph=True
    )
    for _ in range(3):
        given: dict[str, Any] = {"scale": 2.0, "of": [tt.zeros(1)]}
        found, options, others = compiled(tt.ones(2), given)
        assert found.tolist() == [2, 2] and options is given and others["named"] is named


def test_messages_are_logged_at_each_call() -> None:
    logger, messages = logging.getLogger("a program"), Messages()
    logger.addHandler(messages)
    logger.setLevel("INFO")

    def log(x: Any) -> Any:
        logger.info("called")
        return x * 2

    compiled = tt.compile(log)
    with pytest.warns(UserWarning, match="it calls time"):
        call(compiled, tt.ones(1), 4)
    assert messages.found == ["called"] * 4


def test_attributes_of_functions_and_classes_are_counted_at_each_call() -> None:
    class Calls:
        count = 0

    def count(x: Any) -> Any:
        Calls.count += 1
        count.calls = getattr(count, "calls", 0) + 1  # type: ignore[attr-defined]
        return x + Calls.count * count.calls  # type: ignore[attr-defined]

    compiled = tt.compile(count)
    with pytest.warns(UserWarning, match="it changes"):
        assert [compiled(tt.zeros(1)).item() for _ in range(5)] == [1, 4, 9, 16, 25]


REPLACING: dict[str, Callable[[Any], Any]] = {
    "data": lambda x: setattr(x, "data", tt.zeros(2)),
    "t_": lambda x: x.t_(),
    "resize_": lambda x: x.resize_(2),
    "requires_grad_": lambda x: x.requires_grad_(),
    "unsqueeze_": lambda x: x.unsqueeze_(0),
}


@pytest.mark.parametrize("name", REPLACING)
def test_tensors_that_get_other_memory_or_another_shape_do_at_each_call(name: str) -> None:
    def change(x: Any) -> Any:
        REPLACING[name](x)
        return x + 1

    compiled = tt.compile(change)
    with pytest.warns(UserWarning, match="of an input"):
        compiled(tt.ones(2, 3))
    for _ in range(3):
        x, y = tt.ones(2, 3), tt.ones(2, 3)
        assert tt.equal(change(x), compiled(y)) and x.shape == y.shape
        assert x.requires_grad is y.requires_grad and tt.equal(x, y)


def test_files_are_written_at_each_call(tmp_path: Any) -> None:
    with open(tmp_path / "log", "w") as file:

        def log(x: Any) -> Any:
            file.write("x")
            return x * 2

        compiled = tt.compile(log)
        with pytest.warns(UserWarning, match="write"):
            call(compiled, tt.ones(2), 4)
    assert (tmp_path / "log").read_text() == "xxxx"


# -- reading values ----------------------------------------------------------------------------

READERS: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x * x.sum().item(),
    "bool": lambda x: x * 2 if x.sum() > 0 else x * 3,
    "int": lambda x: x * int(x.sum()),
    "float": lambda x: x * float(x.sum()),
    "tolist": lambda x: x * sum(x.tolist()),
    "numpy": lambda x: x * float(x.detach().numpy().sum()),
    "nonzero": lambda x: x[x > 0.5].sum() + x,
    "index": lambda x: x * list(range(11))[x.long().sum()],
    "contains": lambda x: x * (2 if 5.0 in x else 3),
    "unique": lambda x: x + x.unique().numel(),
    "repr": lambda x: x * len(repr(x)),
}


@pytest.mark.parametrize("name", READERS)
def test_a_value_that_is_read_is_read_at_each_call(name: str) -> None:
    function = READERS[name]
    compiled = tt.compile(function)
    inputs = [tt.tensor(values) for values in ([1.0, 2.0], [-3.0, 1.0], [5.0, 5.0], [0.0, 0.0])]
    with pytest.warns(UserWarning, match=r"reads a value of a tensor, at .*test_side_effects"):
        found = [compiled(x) for x in inputs]
    for x, y in zip(inputs, found, strict=True):
        assert tt.equal(function(x), y), name
    strict = tt.compile(function, fullgraph=True)
    with pytest.raises(tt._dynamo.exc.Unsupported, match="fullgraph=True: .*reads a value"):
        strict(inputs[0])
    with pytest.raises(tt._dynamo.exc.Unsupported):
        strict(inputs[0])


def test_nothing_happens_twice_in_a_call_with_a_break() -> None:
    seen: list[float] = []
    state = tt.zeros(1)

    def step(x: Any) -> Any:
        seen.append(1.0)
        state.add_(1)
        if x.sum() > 0:
            seen.append(2.0)
        tt.rand(1)
        return x + state

    compiled = tt.compile(step)
    tt.manual_seed(0)
    with pytest.warns(UserWarning):
        found = [compiled(tt.zeros(1)).item() for _ in range(3)]
    after = tt.rand(1)
    tt.manual_seed(0)
    tt.rand(3)
    assert found == [1.0, 2.0, 3.0] and seen == [1.0] * 3 and tt.equal(after, tt.rand(1))


def test_an_error_of_the_function_is_raised_as_it_is_and_nothing_is_recorded() -> None:
    def fail(x: Any) -> Any:
        if x.shape[0] == 3:
            raise KeyError("three")
        return x @ tt.ones(2)

    compiled = tt.compile(fail)
    with pytest.raises(KeyError, match="three"):
        compiled(tt.ones(3))
    with pytest.raises(RuntimeError, match="size|shape"):
        compiled(tt.ones(4))
    assert not compiled._compiled.entries and compiled(tt.ones(2)).item() == 2.0


def test_checks_of_values_raise_at_a_replay() -> None:
    def look_up(x: Any, i: Any) -> Any:
        return nn.functional.embedding(i, x)

    compiled = tt.compile(look_up)
    x = tt.arange(6.0).reshape(3, 2)
    for values in ([0, 1], [2, 0]):
        i = tt.tensor(values)
        assert tt.equal(compiled(x, i), x[i])
    with pytest.raises(IndexError):
        look_up(x, tt.tensor([0, 5]))
    with pytest.raises(IndexError):
        compiled(x, tt.tensor([0, 5]))


# -- hooks -------------------------------------------------------------------------------------


def test_hooks_of_modules_run_at_each_call() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    compiled = tt.compile(net)
    x = tt.ones(1, 2)
    compiled(x)
    seen: list[Any] = []
    handle = net[0].register_forward_hook(lambda *args: seen.append(1))
    with pytest.warns(UserWarning, match="a module has a hook"):
        call(compiled, x, 3)
    assert len(seen) == 3
    handle.remove()
    compiled(x)
    assert len(seen) == 3
    strict = tt.compile(net, fullgraph=True)
    strict(x)
    net[1].register_full_backward_hook(lambda *args: None)
    with pytest.raises(tt._dynamo.exc.Unsupported, match="hook"):
        strict(x)


def test_hooks_of_all_modules_run_at_each_call() -> None:
    net = nn.Linear(2, 2)
    compiled = tt.compile(net)
    compiled(tt.ones(1, 2))
    seen: list[Any] = []
    handle = tt.nn.modules.module.register_module_forward_hook(lambda m, *args: seen.append(m))
    try:
        compiled(tt.ones(1, 2))
    finally:
        handle.remove()
    assert net in seen


def test_hooks_on_tensors_that_the_function_makes_run_at_each_backward() -> None:
    seen: list[Any] = []

    def watch(x: Any) -> Any:
        y = x * 2
        y.register_hook(lambda grad: seen.append(1))
        return y * y

    compiled = tt.compile(watch)
    x = tt.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="a hook is registered"):
        call(lambda x: compiled(x).sum().backward(), x, 3)
    assert len(seen) == 3


def test_functions_that_are_excluded_run_at_each_call() -> None:
    seen: list[float] = []

    @tt.compiler.disable(reason="it logs")  # type: ignore[untyped-decorator]
    def log(x: Any) -> None:
        seen.append(1.0)

    def step(x: Any) -> Any:
        log(x)
        return x * 2

    compiled = tt.compile(step)
    with pytest.warns(UserWarning, match="compiler.disable excludes"):
        call(compiled, tt.ones(1), 3)
    assert len(seen) == 3

    def broken(x: Any) -> Any:
        tt._dynamo.graph_break()
        return x * 2

    with pytest.raises(tt._dynamo.exc.Unsupported, match="graph_break"):
        tt.compile(broken, fullgraph=True)(tt.ones(1))


def test_calls_that_grow_a_cache_are_not_recorded_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Cached(nn.Module):
        """Layer that keeps its inputs, as attention does while it generates text."""

        cache: Any = None

        def forward(self, x: Any) -> Any:
            self.cache = x if self.cache is None else tt.cat([self.cache, x])
            return self.cache.sum()

    recorded = []

    def record(*args: Any) -> Any:
        recorded.append(args)
        return record_call(*args)

    monkeypatch.setattr("tinytorch.capture.compiled.record_call", record)
    layer = Cached()
    compiled = tt.compile(layer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in range(1, 61):
            layer.cache = None
            assert compiled(tt.ones(length)).item() == length
    assert len(recorded) <= 2 * tt._dynamo.config.recompile_limit
