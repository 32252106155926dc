"""Every operation of PyTorch's test database on its first small sample.

PyTorch and tinytorch run in one process, in short turns, on one thread. The least time of the
processor over the turns is that without disturbance. A further column is the time in NumPy alone:
the calls of NumPy that the operation makes are recorded once, and then repeated without the
library.
"""

from __future__ import annotations

import contextlib
import statistics
import time
import timeit
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from .libraries import Libraries
from .report import ResultRow
from .timing import Effort, least_of, loops_for

MEAN = 1.5  # bound on the geometric mean of the ratios to PyTorch's time
SLOW, SLOW_ROWS = 3.0, 60  # at most so many rows may take more than this
OVER_NUMPY = 1.5  # bound for these rows, over NumPy's calls alone
ROUNDS, SECONDS = 5, 0.003  # at most so many turns of this length: there are hundreds of rows


# -- calls of NumPy, recorded ----------------------------------------------------------------


class CallRecorder:
    """List of the calls of NumPy, without those that NumPy itself makes inside them."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Callable[[], Any]]] = []
        self.inside = False

    def run(self, name: str, function: Any, args: Any, options: Any) -> Any:
        """Call a function of NumPy's with ordinary arrays, and record the call."""
        args, options = as_ndarray(args), as_ndarray(options)
        if self.inside:
            return function(*args, **options)
        self.inside = True
        try:
            result = function(*args, **options)
        finally:
            self.inside = False
        self.calls.append((name, partial(function, *args, **options)))
        return as_recorded(result)


RECORDER = CallRecorder()


class RecordedArray(np.ndarray):  # type: ignore[type-arg]
    """Array whose operators, methods and ufuncs are recorded."""

    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **options: Any) -> Any:
        return RECORDER.run(ufunc.__name__, getattr(ufunc, method), inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return RECORDER.run(func.__name__, func, args, kwargs)


def record_method(name: str) -> Callable[..., Any]:
    """Return a method of ``RecordedArray`` that records its call and calls that of ``ndarray``."""
    function = getattr(np.ndarray, name)
    return lambda self, *args, **options: RECORDER.run(name, function, (self, *args), options)


for _name in dir(np.ndarray):
    if callable(getattr(np.ndarray, _name)) and (
        not _name.startswith("_") or _name in ("__getitem__", "__setitem__")
    ):
        setattr(RecordedArray, _name, record_method(_name))


def as_ndarray(value: Any) -> Any:
    """Replace recorded arrays by ordinary ones, in nested arguments, too."""
    if isinstance(value, RecordedArray):
        return np.ndarray.view(value, np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(map(as_ndarray, value))
    return {key: as_ndarray(each) for key, each in value.items()} if type(value) is dict else value


def as_recorded(value: Any) -> Any:
    """Replace ordinary arrays by recorded ones."""
    if type(value) is np.ndarray:
        return value.view(RecordedArray)
    if type(value) in (list, tuple):
        return type(value)(map(as_recorded, value))
    return value


def register_recording_backend(tt: Any) -> None:
    """Register ``"recording"``, the NumPy backend on recorded arrays."""
    from tinytorch.backends.numpy import NumpyBackend

    class RecordingBackend(NumpyBackend):
        name = "recording"
        array_type = RecordedArray

        def served(self, name: str, value: Any) -> Any:
            if isinstance(value, type) or not callable(value) or isinstance(value, np.ufunc):
                return value
            return lambda *args, **options: RECORDER.run(name, value, args, options)

        def from_numpy(self, array: Any) -> Any:
            return as_recorded(array)

        def to_numpy(self, array: Any) -> Any:
            return as_ndarray(array)

    with contextlib.suppress(ValueError):  # it is registered
        tt.register_backend("recording", RecordingBackend)


# -- rows -------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """One call of an operation: in tinytorch, on the recording backend, in PyTorch."""

    name: str
    tinytorch: Callable[[], Any]
    recording: Callable[[], Any]
    torch: Callable[[], Any]


def samples(libraries: Libraries, parts: Sequence[str] = ()) -> Iterator[Sample]:
    """Yield the first float32 sample of every operation that both libraries compute.

    Args:
        libraries: tinytorch and PyTorch.
        parts: Texts of which a name contains one; default: all names.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    tt, torch = libraries["tinytorch"], libraries["torch"]
    register_recording_backend(tt)
    torch.manual_seed(0)
    for info in op_db:
        function = find_operation(tt, info.name)
        wanted = not parts or any(part in info.name for part in parts)
        if not wanted or info.variant_test_name or not callable(function):
            continue
        if torch.float32 not in info.dtypes:
            continue
        first = next(iter(info.sample_inputs("cpu", torch.float32, requires_grad=False)))
        calls = []
        for backend in "numpy", "recording":
            with tt.backend_context(backend):
                args = convert(tt, torch, (first.input, *first.args))
                calls.append(partial(function, *args, **convert(tt, torch, first.kwargs)))
        yield Sample(info.name, *calls, partial(info.op, first.input, *first.args, **first.kwargs))


def find_operation(tt: Any, name: str) -> Any:
    """Return the function of an operation, or the method; None if there is neither."""
    for root in (tt, tt.Tensor):
        with contextlib.suppress(AttributeError, NotImplementedError):
            found = attrgetter(name)(root)
            # "float" is a dtype and "byte" a class of NumPy; both are methods of tensors, too.
            if not isinstance(found, (tt.dtype, type)):
                return found
    return None


def convert(tt: Any, torch: Any, value: Any) -> Any:
    """Replace PyTorch's tensors, dtypes and devices by tinytorch's, in nested arguments, too."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided:
            return tt.tensor(value.detach().to_dense().numpy()).to_sparse(
                layout=convert(tt, torch, value.layout)
            )
        return tt.tensor(value.detach().numpy())
    if type(value) in (list, tuple):
        return type(value)(convert(tt, torch, each) for each in value)
    if type(value) is dict:
        return {key: convert(tt, torch, each) for key, each in value.items()}
    kinds = torch.dtype, torch.layout, torch.memory_format
    return getattr(tt, str(value).rpartition(".")[2]) if isinstance(value, kinds) else value


#: Errors of calls that a library does not support, or that cannot be repeated.
UNSUPPORTED = (
    ArithmeticError, AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip


def numpy_calls(sample: Sample) -> list[tuple[str, Callable[[], Any]]]:
    """Return the calls of NumPy that a sample makes; none if they cannot be repeated."""
    RECORDER.calls = []
    try:
        sample.recording()
        calls = RECORDER.calls
        for _ in range(3):  # a call may write to its arguments
            for _, call in calls:
                call()
    except UNSUPPORTED:
        return []
    return calls


def row(sample: Sample, effort: Effort) -> tuple[ResultRow, tuple[str, ...]] | None:
    """Measure an operation; None if a library cannot compute the sample.

    Returns:
        The row, and the names of NumPy's functions that the operation calls.
    """
    turns = {"tinytorch": sample.tinytorch, "torch": sample.torch}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for turn in turns.values():
                turn()
        except UNSUPPORTED:
            return None
        calls = numpy_calls(sample)
        functions = [call for _, call in calls]
        if calls:
            turns["numpy"] = lambda: [function() for function in functions]
        timers = {n: timeit.Timer(turn, timer=time.process_time) for n, turn in turns.items()}
        loops = {name: loops_for(timer, effort.seconds) for name, timer in timers.items()}
        values = least_of({n: partial(t.timeit, loops[n]) for n, t in timers.items()}, effort)
    seconds = {name: total / loops[name] for name, total in values.items()}
    return ResultRow(f"every: {sample.name}", "µs", seconds), tuple(name for name, _ in calls)


def measure(
    libraries: Libraries, effort: Effort, parts: Sequence[str] = ()
) -> list[tuple[ResultRow, tuple[str, ...]]]:
    """Measure all operations, the slowest in comparison with PyTorch first.

    Returns:
        Rows, each with the names of NumPy's functions that the operation calls.
    """
    tt, torch = libraries["tinytorch"], libraries["torch"]
    before = tt.get_num_threads(), torch.get_num_threads()
    for library in tt, torch:
        library.set_num_threads(1)
    effort = replace(
        effort, rounds=min(effort.rounds, ROUNDS), seconds=min(effort.seconds, SECONDS)
    )
    measured = [row(sample, effort) for sample in samples(libraries, parts)]
    for library, threads in zip((tt, torch), before, strict=True):
        library.set_num_threads(threads)
    return sorted(filter(None, measured), key=lambda pair: -(pair[0].ratio("torch") or 0))


def summary(measured: Sequence[tuple[ResultRow, tuple[str, ...]]]) -> list[str]:
    """Return lines with NumPy's calls in the rows slower than ``SLOW``, and the mean ratio.

    Args:
        measured: Result of ``measure``.
    """
    ratios = [row.ratio("torch") or 0 for row, _ in measured]
    slow = [(r, calls) for r, calls in measured if (r.ratio("torch") or 0) > SLOW]
    over = [r for r, _ in slow if (r.ratio("numpy") or OVER_NUMPY) >= OVER_NUMPY]
    lines = [f"{row.work}: {count_names(calls) or 'unknown'}" for row, calls in slow]
    return [
        f"rows over {SLOW:g}, with their calls of NumPy:",
        *lines,
        f"{len(measured)} operations: geometric mean {statistics.geometric_mean(ratios):.2f} of"
        f" PyTorch's time (at most {MEAN})",
        f"over {SLOW:g}: {len(slow)} (at most {SLOW_ROWS}), of which {len(over)} take more than"
        f" {OVER_NUMPY} of NumPy's calls alone",
    ]


def count_names(names: Sequence[str]) -> str:
    """Return names with their counts: ``"add×3 reshape"``."""
    counts = Counter(names).items()
    return " ".join(name if count == 1 else f"{name}×{count}" for name, count in counts)
