"""Objects whose pickles are kept: what the examples of the docstrings make, and further ones.

``collect`` runs the examples of every public class and keeps the instances of that class;
``extras`` adds tensors, arrays and generators in states that no example shows. ``describe`` says
in NumPy's arrays and texts what an object is, so that a kept pickle is compared with values that
were written when it was made, not with what the library says of itself today.
"""

from __future__ import annotations

import contextlib
import doctest
import hashlib
import importlib
import inspect
import io
import pickle
import pkgutil
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import tinytorch as tt
import tinytorch.numpy as tnp
import tinytorch.storage  # names the public module of UntypedStorage
from tests.docstrings import read_examples

#: Packages whose public classes are looked at.
PACKAGES = ("nn", "optim", "distributions", "numpy", "utils", "amp", "distributed", "func")
#: Arrays of more elements are described by a hash.
FEW = 16


def public_classes() -> Iterator[tuple[str, type]]:
    """Yield each public class of the library once, under the first name that reaches it."""
    seen: set[type] = set()
    for module in [tt, *_modules()]:
        for name in dir(module):
            with contextlib.suppress(AttributeError, ImportError, RuntimeError):
                value = getattr(module, name)
                if inspect.isclass(value) and not name.startswith("_") and value not in seen:
                    if value.__module__.partition(".")[0] in ("tinytorch", "torch"):
                        seen.add(value)
                        yield f"{module.__name__}.{name}", value


def _modules() -> Iterator[Any]:
    for package in PACKAGES:
        module = importlib.import_module(f"tinytorch.{package}")
        yield module
        for found in pkgutil.walk_packages(module.__path__, f"{module.__name__}."):
            if not any(part.startswith("_") for part in found.name.split(".")):
                with contextlib.suppress(ImportError):  # an extra that is not installed
                    yield importlib.import_module(found.name)


def example_objects(cls: Any) -> list[Any]:
    """Run the examples of a class and return the instances of it that they made."""
    test = read_examples(inspect.getdoc(cls) or "", cls.__name__)
    made: list[Any] = []
    start = cls.__init__

    def record(self: Any, *arguments: Any, **options: Any) -> None:
        start(self, *arguments, **options)
        if type(self) is cls:
            made.append(self)

    tt.manual_seed(0)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), mock(cls, record):
        warnings.simplefilter("ignore")
        runner.run(test, clear_globs=False)
    return made[:2] or [value for value in test.globs.values() if type(value) is cls]


@contextlib.contextmanager
def mock(cls: Any, record: Any) -> Iterator[None]:
    """Replace the ``__init__`` of a class that Python code defines."""
    own = vars(cls).get("__init__")
    if not inspect.isfunction(cls.__init__):
        yield
        return
    cls.__init__ = record
    try:
        yield
    finally:
        if own is None:
            del cls.__init__
        else:
            cls.__init__ = own


def collect() -> dict[str, Any]:
    """Return each object that can be pickled, under the name of its class and a number."""
    found = dict(extras())
    for name, cls in public_classes():
        for number, value in enumerate(example_objects(cls)):
            with contextlib.suppress(
                Exception
            ):  # an object that cannot be pickled is none of these
                pickle.loads(pickle.dumps(value))
                describe(value)
                found[f"{name}/{number}"] = value
    return found


def extras() -> Iterator[tuple[str, Any]]:
    """Yield tensors, arrays, parameters, trained modules, optimizers and generators."""
    tt.manual_seed(0)
    base = tt.arange(12.0).reshape(3, 4)
    for dtype in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16",
                  "float32", "float64", "complex64", "complex128"):  # fmt: skip
        yield f"tensor/{dtype}", base.to(getattr(tt, dtype))
    yield "tensor/view", base[1:, ::2]
    yield "tensor/shared", [base, base[0], base.T]
    yield "tensor/conjugate", tt.tensor([1 + 2j, 3 - 1j]).conj()
    yield "tensor/leaf", tt.ones(2, requires_grad=True)
    yield "tensor/scalar", tt.tensor(2.5)
    yield "tensor/empty", tt.empty(0, 3)
    yield "size", base.shape
    yield "dtype", tt.float32
    yield "device", tt.device("cpu")
    yield "layout", tt.strided
    yield "parameter", tt.nn.Parameter(tt.ones(2, 2))
    yield "storage", base.untyped_storage()
    yield "named tuple", base.max(1)
    yield "array/float", tnp.arange(6.0).reshape(2, 3)
    yield "array/view", tnp.arange(6.0)[::-2]
    yield "array/scalar", tnp.float64(2.5)
    yield "generator", tt.Generator().manual_seed(3)
    yield "generator/numpy", tnp.random.default_rng(3)
    yield "generator/RandomState", tnp.random.RandomState(3)
    yield "state", tt.get_state()
    yield from _training_states()


def _training_states() -> Iterator[tuple[str, Any]]:
    """Yield, by optimizer, a module after a few steps and the objects that hold their state."""
    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "LBFGS"):
        tt.manual_seed(1)
        model = tt.nn.Sequential(
            tt.nn.Linear(3, 4), tt.nn.BatchNorm1d(4), tt.nn.ReLU(), tt.nn.Linear(4, 1)
        )
        optimizer = getattr(tt.optim, name)(model.parameters(), lr=0.01)
        scheduler = tt.optim.lr_scheduler.StepLR(optimizer, 2)
        x = tt.randn(5, 3)

        def closure(model: Any = model, optimizer: Any = optimizer, x: Any = x) -> Any:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
            scheduler.step()
        yield f"training/{name}", [model, optimizer.state_dict(), scheduler.state_dict()]


def describe(value: Any, depth: int = 0) -> Any:
    """Return what an object is: classes, texts, numbers and NumPy's arrays, in containers."""
    if isinstance(value, tt.Tensor | tnp.ndarray):
        return _describe_tensor(value)
    if isinstance(value, np.ndarray | np.generic):
        return _describe_array(np.asarray(value))
    if isinstance(value, str | bytes | int | float | complex | None):
        return value
    if isinstance(value, dict):
        return {str(key): describe(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        kind = type(value).__name__
        return [kind, *(describe(each, depth + 1) for each in value)]
    if isinstance(value, tt.nn.Module):
        state = {key: describe(each) for key, each in value.state_dict().items()}
        return [_class_name(value), repr(value), value.training, state]
    if isinstance(value, tt.Generator):
        return [_class_name(value), describe(value.get_state())]
    text = repr(value)
    return [_class_name(value), text if " at 0x" not in text else "", _describe_state(value, depth)]


def _describe_tensor(value: Any) -> Any:
    tensor = tt.as_tensor(value).detach().resolve_conj()
    wide = tensor.to(tt.float32) if tensor.dtype is tt.bfloat16 else tensor
    grad = bool(getattr(value, "requires_grad", False))
    return [_class_name(value), str(value.dtype), grad, _describe_array(wide.cpu().numpy())]


def _describe_array(array: Any) -> Any:
    """Return an array of few numbers itself, of many their hash."""
    if array.size <= FEW:
        return np.array(array)
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return [array.dtype.str, array.shape, digest]


def _class_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _describe_state(value: Any, depth: int) -> Any:
    """Return what is public of an instance's dictionary, four levels deep."""
    state = getattr(value, "__dict__", {})
    if depth > 3:
        return None
    public = {key: each for key, each in state.items() if not key.startswith("_")}
    return {key: describe(each, depth + 1) for key, each in public.items() if not callable(each)}
