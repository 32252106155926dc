"""``__torch_function__``: programs with classes and modes of their own, here and under PyTorch.

They follow the kinds that PyTorch's notes on extending it go through: a number that counts as a
matrix, tensors with something attached, classes that log, and the order in which they are asked.
"""

from __future__ import annotations

import copy
import importlib
import io
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tests.compat.calls_of_subclasses import CALLS
from tests.fresh import run
from tinytorch.core.torch_function import PLAIN

NAMESPACES = ("_C", "nn", "nn.functional", "overrides", "autograd", "func")
PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """File a program: what it returns must be the same under both libraries."""
    PROGRAMS[function.__name__] = function
    return function


def loaded(name: str) -> Any:
    library = importlib.import_module(name)
    for namespace in NAMESPACES:
        importlib.import_module(f"{name}.{namespace}")
    return library


def logging_class(t: Any, log: list[Any]) -> Any:
    """A subclass that notes which functions it is asked about."""

    class Logging(t.Tensor):  # type: ignore[name-defined,misc]
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            log.append(t.overrides.resolve_name(func))
            return super().__torch_function__(func, types, args, kwargs or {})

    return Logging


def duck_class(t: Any, name: str, log: list[Any], answers: Any = NotImplemented) -> Any:
    """A class that is no tensor and notes what it is asked."""

    def asked(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kinds = [kind.__name__ for kind in types]
        log.append((cls.__name__, t.overrides.resolve_name(func), kinds))
        return answers

    return type(name, (), {"__torch_function__": classmethod(asked)})


def told(call: Callable[[], Any]) -> str:
    """The type of what a call gives, or of its error."""
    try:
        return type(call()).__name__
    except (TypeError, RuntimeError, AttributeError) as error:
        return type(error).__name__


# -- classes with a table of functions -------------------------------------------------------------


@program
def number_that_counts_as_a_matrix(t: Any) -> Any:
    handled: dict[Any, Any] = {}

    def implements(function: Any) -> Any:
        return lambda own: handled.setdefault(function, own)

    class Diagonal:
        def __init__(self, n: int, value: float) -> None:
            self.n, self.value = n, value

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func not in handled or not all(issubclass(k, (t.Tensor, Diagonal)) for k in types):
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

        def tensor(self) -> Any:
            return self.value * t.eye(self.n)

    def whole(value: Any) -> Any:
        return value.tensor() if isinstance(value, Diagonal) else value

    @implements(t.mean)
    def mean(input: Any) -> Any:
        return float(input.value) / input.n

    @implements(t.mm)
    def mm(input: Any, mat2: Any) -> Any:
        return t.mm(whole(input), whole(mat2))

    @implements(t.nn.functional.mse_loss)
    def mse_loss(input: Any, target: Any, **options: Any) -> Any:
        return t.nn.functional.mse_loss(whole(input), whole(target))

    @implements(t.stack)
    def stack(tensors: Any, dim: int = 0) -> Any:
        return t.stack([whole(each) for each in tensors], dim)

    d, p = Diagonal(2, 3.0), t.ones(2, 2)
    return (
        t.nn.functional.mse_loss(d, p).tolist(), t.mean(d), t.mm(d, p).tolist(),
        t.mm(p, d).tolist(), t.stack([p, d]).tolist(),
        told(lambda: t.mul(d, p)), told(lambda: t.nn.functional.huber_loss(d, p)),
        told(lambda: p + d), told(lambda: t.cat([d, d])),
    )  # fmt: skip


@program
def tensor_with_something_attached(t: Any) -> Any:
    class Noted:
        def __init__(self, data: Any, note: str = "") -> None:
            self.data, self.note = t.as_tensor(data), note

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            notes = tuple(a.note for a in args if isinstance(a, Noted))
            plain = [getattr(a, "data", a) if isinstance(a, Noted) else a for a in args]
            return Noted(func(*plain, **(kwargs or {})), notes[0])

    x = Noted([[1.0, 2.0], [3.0, 4.0]], "mine")
    y = t.add(x, t.ones(2, 2))
    z = t.nn.functional.relu(t.mul(-t.ones(2, 2), x))
    return type(y).__name__, y.note, y.data.tolist(), z.note, z.data.tolist()


@program
def replaced_function_of_a_subclass(t: Any) -> Any:
    class Sub(t.Tensor):  # type: ignore[name-defined,misc]
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func in (t.Tensor.add, t.add):
                return "added"
            if func is t.sub or func is t.Tensor.numpy:
                return func.__name__
            return super().__torch_function__(func, types, args, kwargs or {})

    x = t.ones(2).as_subclass(Sub)
    return x + 1, t.ones(2) + x, t.add(x, x), t.sub(x, 1), type(x - 1).__name__, x.numpy()


# -- what they are asked about ---------------------------------------------------------------------


#: Python's operators of two operands, but for in-place ones that PyTorch does not ask about.
OPERATORS = [
    f"__{prefix}{name}__"
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    for prefix in ("", "r", "i")
] + [f"__{name}__" for name in "eq ne lt le gt ge getitem".split()]


@pytest.mark.torch
@pytest.mark.parametrize("operator", OPERATORS)
def test_torch_function_receives_the_function_that_pytorchs_receives(operator: str) -> None:
    def run(t: Any) -> Any:
        asked = []

        class Other:
            @classmethod
            def __torch_function__(
                cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                asked.append([name for name in dir(t.Tensor) if getattr(t.Tensor, name) is func])
                return "answered"

        x = t.ones(2, dtype=t.int64)
        method = getattr(x, operator, None)
        return None if method is None else method(Other()), asked

    own, torchs = run(loaded("tinytorch")), run(loaded("torch"))
    assert own[0] == torchs[0]
    assert set(*own[1]) <= set(*torchs[1])  # __div__ is __truediv__ there


@pytest.mark.torch
@pytest.mark.parametrize("call", CALLS, ids=words)
def test_torch_function_of_a_subclass_is_called_as_by_pytorch_and_results_have_its_class(
    call: Call,
) -> None:
    def run(t: Any) -> Any:
        log: list[Any] = []
        cls = logging_class(t, log)
        names = {
            "t": t, "F": t.nn.functional, "p": t.full((2, 2), 3.0),
            "x": t.full((2, 2), 2.0).as_subclass(cls),
            "i": t.ones(2, dtype=t.int64).as_subclass(cls),
            "r": t.ones(2).as_subclass(cls).requires_grad_(),
        }  # fmt: skip
        log.clear()
        result = call_with_names(call, names)
        public = [(name or "").replace("torch.functional.", "torch.") for name in log]
        parts = result if isinstance(result, (tuple, list)) else ()
        kind = "tuple" if parts else type(result).__name__
        return public, kind, [type(part).__name__ for part in parts]

    assert run(loaded("tinytorch")) == run(loaded("torch"))


@program
def a_subclass_without_a_word_of_its_own(t: Any) -> Any:
    class Base(t.Tensor):  # type: ignore[name-defined,misc]
        def twice(self) -> Any:
            return self * 2

        def clone(self, **options: Any) -> Any:
            return super().clone(**options)

    class More(Base):
        pass

    class Apart(t.Tensor):  # type: ignore[name-defined,misc]
        pass

    b, m, a = Base([1.0, 2.0]), More([3.0, 4.0]), Apart([1.0, 1.0])
    made = t.Tensor._make_subclass(Base, t.ones(2), True)
    results = [
        b + m, m + b, t.add(b, m), b.twice(), m.clone(), b[0], t.cat([b, m]), b.view(1, 2).T, made,
        t.Tensor.__new__(More, [1.0]), t.ones(2).as_subclass(More), Base(2, 3), b * t.ones(2),
        b * t.nn.Parameter(t.ones(2)), t.nn.Parameter(t.ones(2)) * 2, made.grad_fn, b.shape,
    ]  # fmt: skip
    return [type(r).__name__ for r in results], [told(lambda: b + a), told(lambda: t.add(b, a))]


@program
def order_of_being_asked(t: Any) -> Any:
    log: list[Any] = []
    first, second = duck_class(t, "First", log), duck_class(t, "Second", log)
    below = type("Below", (first,), {})
    tensor_class = logging_class(t, [])
    x = tensor_class([1.0])
    calls = [
        lambda: t.add(first(), second()), lambda: t.add(second(), first()),
        lambda: t.add(first(), below()), lambda: t.where(second(), first(), below()),
        lambda: t.cat([second(), first(), second()]), lambda: t.add(x, first()),
        lambda: t.add(input=first(), other=second()), lambda: t.ones(1) + first(),
    ]  # fmt: skip
    return [told(call) for call in calls], log


@program
def switched_off(t: Any) -> Any:
    log: list[Any] = []
    x = logging_class(t, log)([1.0, 2.0])
    log.clear()
    with t._C.DisableTorchFunctionSubclass():
        kinds = [type(x + 1).__name__, type(x.data).__name__, t.overrides.has_torch_function((x,))]
        on = t._C._is_torch_function_enabled()
    with t._C.DisableTorchFunction():
        kinds.append(type(t.sin(x)).__name__)

    class Quiet(t.Tensor):  # type: ignore[name-defined,misc]
        __torch_function__ = t._C._disabled_torch_function_impl

    quiet = t.ones(2).as_subclass(Quiet)
    kinds += [type(quiet * 2).__name__, type(t.stack([quiet])).__name__, type(quiet.data).__name__]
    return kinds, on, t._C._is_torch_function_enabled(), log


# -- modes -----------------------------------------------------------------------------------------


@program
def modes(t: Any) -> Any:
    log: list[Any] = []

    class Mode(t.overrides.TorchFunctionMode):  # type: ignore[name-defined,misc]
        def __init__(self, name: str) -> None:
            self.name = name

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            log.append((self.name, getattr(func, "__name__", "")))
            return func(*args, **(kwargs or {}))

    x = t.ones(2)
    with Mode("outer"):
        t.sin(x)
        with Mode("inner"):
            y = t.zeros(3) + 1
            t.nn.functional.linear(t.ones(2), t.ones(2, 2))
        t.cat([x, x])
        y.shape
    t.cos(x)

    class Swap(t.overrides.TorchFunctionMode):  # type: ignore[name-defined,misc]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            func = t.cos if func is t.sin else func
            return func(*args, **(kwargs or {}))

    leaf = t.ones(2, requires_grad=True)
    with Mode("grad"):
        t.autograd.grad(leaf.sum(), leaf)

    with Swap():
        swapped = t.sin(t.zeros(1)).tolist()
    return log, swapped, t.sin(t.zeros(1)).tolist(), type(y).__name__


# -- torch.overrides -------------------------------------------------------------------------------


@program
def questions(t: Any) -> Any:
    o, duck = t.overrides, duck_class(t, "Duck", [], "answer")
    x, p, s = t.ones(2), t.nn.Parameter(t.ones(2)), logging_class(t, [])([1.0])

    def double(value: Any) -> Any:
        if o.has_torch_function((value,)):
            return o.handle_torch_function(double, (value,), value)
        return 2 * value

    wrapped = o.wrap_torch_function(lambda value: (value,))(lambda value: value * 2)
    names = [t.add, t.Tensor.add, t.nn.functional.linear, t.Tensor.grad.__get__, print]
    return (
        [o.is_tensor_like(v) for v in (x, p, s, duck(), 1, None)],
        [o.has_torch_function((v,)) for v in (x, p, s, duck(), 1, None)],
        [o.has_torch_function_unary(s), o.has_torch_function_variadic(x, p)],
        [o.is_tensor_method_or_property(f) for f in (t.Tensor.add, t.add, t.Tensor.T.__get__)],
        [o.resolve_name(f) for f in names], double(duck()), double(x).tolist(), wrapped(duck()),
        t.add in o.get_overridable_functions()[t], t.tensor in o.get_ignored_functions(),
        o.get_testing_overrides()[t.add](x, x),
    )  # fmt: skip


# -- the rest of a program -------------------------------------------------------------------------


@program
def gradients_layers_and_copies(t: Any) -> Any:
    class Named(t.Tensor):  # type: ignore[name-defined,misc]
        pass

    leaf = t.ones(2).as_subclass(Named).detach().requires_grad_()
    (leaf * leaf).sum().backward()
    weight = t.nn.Parameter(t.ones(2, 2).as_subclass(Named))
    layer = t.nn.Linear(2, 2, bias=False)
    layer.weight = weight
    out = layer(t.ones(1, 2).as_subclass(Named))
    optimizer = t.optim.SGD(layer.parameters(), lr=0.5)
    out.sum().backward()
    optimizer.step()
    kept = Named([1.0, 2.0])
    kept.label = "label"
    mapped = t.func.vmap(lambda row: row * 2)(t.ones(2, 2).as_subclass(Named))
    return (
        type(leaf).__name__, type(leaf.grad).__name__, leaf.grad.tolist(), type(out).__name__,
        isinstance(weight, t.nn.Parameter), type(weight).__name__, len(list(layer.parameters())),
        layer.weight.tolist(), copy.copy(kept).label, type(copy.copy(kept)).__name__,
        repr(kept), repr(weight), mapped.tolist(),
    )  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_does_what_it_does_under_torch(name: str) -> None:
    assert PROGRAMS[name](loaded("tinytorch")) == PROGRAMS[name](loaded("torch"))


class Kept(tt.Tensor):
    """At the top of a module, so that it can be pickled."""


def test_subclasses_are_pickled_copied_and_saved_with_their_attributes() -> None:
    x: Any = Kept([1.0, 2.0])
    x.label = ["label"]
    buffer = io.BytesIO()
    tt.save(x, buffer)
    buffer.seek(0)
    saved = tt.load(buffer, weights_only=False)
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), saved):
        assert type(y) is Kept
        assert y.tolist() == [1.0, 2.0]
        assert y.label == ["label"] and y.label is not x.label


def test_an_operation_without_an_override_result_names_function_and_classes() -> None:
    duck = duck_class(loaded("tinytorch"), "Duck", [])
    for call in (tt.mean, tt.nn.functional.relu, lambda d: tt.nn.functional.mse_loss(d, d)):
        with pytest.raises(TypeError, match=r"no implementation found for '.*(mean|loss|relu)'"):
            call(duck())


def test_an_error_in_torch_function_is_raised_unchanged() -> None:
    class Broken:
        @classmethod
        def __torch_function__(cls, *args: Any) -> Any:
            raise ValueError("the answer's own")

    for call in (tt.sin, lambda b: tt.nn.functional.mse_loss(b, b), lambda b: tt.ones(2) * b):
        with pytest.raises(ValueError, match="the answer's own"):
            call(Broken())


def test_tensors_without_overrides_behave_as_before_beside_classes_with_them() -> None:
    x = tt.ones(2)
    with tt.overrides.BaseTorchFunctionMode():
        assert type(x + 1) is tt.Tensor
    assert type(vars(tt.Tensor)["sin"]) is type(tt.sin)
    assert type(Kept([1.0]) + 1) is Kept and type(x + 1) is tt.Tensor and type(x.t()) is tt.Tensor


def test_modes_do_not_disturb_plain_tensors_of_other_threads() -> None:
    x, done = tt.arange(3.0).reshape(1, 3), Event()

    def plain() -> None:
        while not done.is_set():
            assert x.mT.shape == (3, 1) and x.abs is not None and x.ndim == 2

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            found = [pool.submit(plain) for _ in range(2)]
            for _ in range(100):
                with tt.overrides.BaseTorchFunctionMode():
                    pass
            done.set()
            assert [future.result() for future in found] == [None] * 2
    finally:
        sys.setswitchinterval(interval)
    assert tt.Tensor in PLAIN


def test_methods_loaded_under_a_mode_call_the_mode() -> None:
    def loads_in_a_mode() -> None:
        import tinytorch as tt

        asked = []

        class Mode(tt.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                asked.append(func)
                return func(*args, **(kwargs or {}))

        x = tt.ones(2, 2)
        with Mode():
            tt.triu(x)
            x.triu()
        assert asked == [tt.triu, tt.Tensor.triu], asked
        print(x.triu().tolist())

    assert run(loads_in_a_mode) == "[[1.0, 1.0], [0.0, 1.0]]"


def test_defining_torch_dispatch_warns_that_it_is_not_called() -> None:
    with pytest.warns(UserWarning, match="__torch_dispatch__ will not be called") as seen:

        class Dispatching(tt.Tensor):
            @classmethod
            def __torch_dispatch__(cls, *args: object) -> None: ...

    assert seen[0].filename == __file__
