"""Call everything public with wrong arguments and print each error that shows more than its line.

A program of its own, because some of the calls succeed and change what is global. ``functions``
and ``methods`` say what is called.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import os
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import tinytorch as tt
from tinytorch.dispatch import registry

PACKAGE = str(Path(tt.__file__).parent) + os.sep
HEADER = "Traceback (most recent call last):"

SPACES = """
    tinytorch accelerator amp autograd autograd.forward_ad autograd.functional autograd.graph
    autograd.profiler backends backends.cudnn compiler cpu cuda cuda.amp distributed distributions
    distributions.constraints distributions.kl distributions.transforms export fft func functorch
    futures fx jit library linalg masked mps nested nn nn.attention nn.attention.flex_attention
    nn.functional nn.init nn.parallel nn.utils nn.utils.parametrizations nn.utils.parametrize
    nn.utils.prune nn.utils.rnn nn.utils.stateless numpy numpy.emath numpy.fft numpy.linalg
    numpy.polynomial numpy.random numpy.testing onnx optim optim.lr_scheduler optim.swa_utils
    overrides profiler quantization quasirandom random serialization signal.windows sparse special
    state storage testing types utils utils.checkpoint utils.data utils.dlpack utils.hooks xpu
""".split()
#: Those that wait for something, that a module calls, or whose lines are NumPy's own source.
LEFT_OUT = {
    "recv", "recv_object_list", "get", "wait", "barrier", "forward",
    "Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial",
}  # fmt: skip
#: Special methods that an expression calls.
EXPRESSIONS = [
    f"__{name}__"
    for name in (
        "call", "getitem", "setitem", "delitem", "len", "iter", "contains", "add", "radd", "iadd",
        "matmul", "rmatmul", "lt", "and", "or", "xor", "lshift", "pow", "floordiv", "divmod",
        "invert", "float", "bool", "int", "index", "complex", "round", "format", "array",
    )
]  # fmt: skip


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions and classes of the public modules, each once."""
    seen: set[int] = set()
    for space in SPACES:
        module = importlib.import_module(f"tinytorch.{space}".removesuffix(".tinytorch"))
        for name in getattr(module, "__all__", None) or dir(module):
            value = getattr(module, name)
            home = str(getattr(value, "__module__", None)).partition(".")[0]
            if name[0] == "_" or name.startswith("set_autocast") or name in LEFT_OUT:
                continue
            if callable(value) and home in ("tinytorch", "None") and id(value) not in seen:
                if not isinstance(value, types.ModuleType) and not is_of_others(value):
                    seen.add(id(value))
                    yield f"{space}.{name}", value


def is_of_others(value: Any) -> bool:
    """Whether calling it runs Python's own code: an error or an enum."""
    return isinstance(value, type) and issubclass(value, (BaseException, enum.Enum))


def objects() -> list[Callable[[], Any]]:
    """Functions that make what programs hold in their hands."""
    nn, optim, data, distributions = tt.nn, tt.optim, tt.utils.data, tt.distributions

    def parameters() -> list[Any]:
        return [nn.Parameter(tt.ones(2))]

    def dataset() -> Any:
        return data.TensorDataset(tt.ones(2, 3))

    return [
        lambda: tt.ones(2, 3), lambda: tt.ones(2, 3, requires_grad=True),
        lambda: tt.numpy.ones((2, 3)), lambda: nn.Linear(2, 3), lambda: nn.Sequential(nn.ReLU()),
        lambda: nn.LSTM(2, 2), lambda: nn.ModuleList([nn.ReLU()]),
        lambda: nn.ModuleDict({"a": nn.ReLU()}), lambda: nn.ParameterList(parameters()),
        lambda: optim.SGD(parameters()), lambda: optim.Adam(parameters()),
        lambda: optim.LBFGS(parameters()),
        lambda: optim.lr_scheduler.StepLR(optim.SGD(parameters()), 1),
        lambda: distributions.Normal(0.0, 1.0), lambda: distributions.Categorical(tt.ones(3)),
        lambda: distributions.Gamma(1.0, 1.0), lambda: distributions.transforms.ExpTransform(),
        dataset, lambda: data.DataLoader(dataset()), lambda: data.RandomSampler(dataset()),
        tt.Generator, lambda: tt.device("cpu"), lambda: tt.ones(2).shape, lambda: tt.float32,
        lambda: tt.finfo(tt.float32), lambda: tt.ones(2).untyped_storage(), tt.amp.GradScaler,
        tt.futures.Future, lambda: (tt.ones(2, requires_grad=True) * 2).grad_fn,
        tt.distributed.HashStore, lambda: tt.numpy.poly1d([1, 2]),
        lambda: tt.numpy.random.default_rng(0), lambda: tt.numpy.random.RandomState(0),
        lambda: tt.numpy.add, lambda: tt.ones(2).sort(),
    ]  # fmt: skip


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each method of each of the ``objects``, on an object that no other call has changed."""
    for make in objects():
        cls = type(make())
        names = [name for name in dir(cls) if name[0] != "_" and name not in LEFT_OUT]
        for name in (*names, *(name for name in EXPRESSIONS if hasattr(cls, name))):
            if callable(inspect.getattr_static(cls, name)):
                yield f"{cls.__name__}.{name}", Method(make, name)


class Method:
    """A method of a new object."""

    def __init__(self, make: Callable[[], Any], name: str) -> None:
        self._make = make
        self._name = name

    def __call__(self, *args: Any, **options: Any) -> Any:
        return getattr(self._make(), self._name)(*args, **options)


OF_FUNCTIONS = (
    lambda f: f(object()), lambda f: f(object(), object()), lambda f: f(bogus=1), lambda f: f(-1),
    lambda f: f(tt.ones(2, 3)), lambda f: f(tt.ones(2, 3), object()), lambda f: f("a", "b"),
    lambda f: f(tt.ones(2, 3, 4), 9, 9, 9), lambda f: f(tt.ones(2, 3), tt.ones(4, 5)),
    lambda f: f(None), lambda f: f(1.5, 1.5), lambda f: f([1], [[1, 2], [3]]),
)  # fmt: skip
OF_METHODS = (
    lambda f: f(), lambda f: f(object()), lambda f: f(object(), object()), lambda f: f(bogus=1),
    lambda f: f(9), lambda f: f(-1), lambda f: f(tt.ones(4, 5)), lambda f: f("a"),
    lambda f: f(tt.ones(2, 3), object()), lambda f: f((9, 9, 9)), lambda f: f((slice(0, 2), 7)),
    lambda f: f((0, 0, 0, 0), 1),
)  # fmt: skip


def shown_too_much(error: BaseException) -> str | None:
    """Description of lines of a traceback that are not of this file, or None if there are none."""
    text = "".join(traceback.format_exception(error))
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("File ")]
    foreign = [line for line in lines if f'"{__file__}"' not in line]
    return (
        f"{text.count(HEADER)} tracebacks, {foreign}"
        if foreign or text.count(HEADER) != 1
        else None
    )


def main(what: str) -> None:
    """Print each call whose error shows too much, and how many raised."""
    warnings.simplefilter("ignore")
    registry.load_all()
    os.chdir(tempfile.mkdtemp())
    raised = 0
    calls = OF_FUNCTIONS if what == "functions" else OF_METHODS
    for name, function in functions() if what == "functions" else methods():
        for call in calls[crc32(name.encode()) % 2 :: 2]:  # half of them, not the same for each
            try:
                call(function)
            except Exception as error:
                raised += 1
                found = shown_too_much(error)
                if found:
                    print(f"{name}: {type(error).__name__}: {error}: {found}")
    print(raised)


if __name__ == "__main__":
    main(sys.argv[1])
