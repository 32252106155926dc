"""At most two lines of the package's below a user's, and all of them where that is asked for."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, called, words
from tests.fresh import process
from tinytorch.dispatch.op import NAMESPACES
from tinytorch.facade import resolve
from tinytorch.state.tracebacks import WRITTEN

F = tt.nn.functional
PACKAGE = str(Path(tt.__file__).parent) + os.sep

#: Calls that fail, of what is no operation or fails deep inside.
CALLS: list[Call] = [
    lambda x: x.cuda(),
    lambda x: x.sum(axis=9),
    lambda x: x.double() @ x.T,
    lambda x: x @ x,
    lambda x: F.conv2d(x, x),
    lambda x: F.cross_entropy(x, x[0]),
    lambda x: tt.nn.Linear(2, 2)(x),
    lambda x: tt.nn.Sequential(tt.nn.Linear(3, 3), tt.nn.Linear(2, 2))(x),
    lambda x: tt.nn.LSTM(2, 2)(x),
    lambda x: tt.nn.Conv2d(1, 1, 3)(x),
    lambda x: tt.nn.Embedding(2, 2)(tt.tensor([9])),
    lambda x: tt.nn.BatchNorm1d(3)(tt.ones(1, 3)),
    lambda: tt.nn.Linear(-1, 2),
    lambda: tt.nn.MultiheadAttention(3, 2),
    lambda: tt.nn.Linear(2, 2).load_state_dict({}),
    lambda: tt.nn.Linear(2, 2).to("bogus"),
    lambda: tt.nn.init.xavier_uniform_(tt.ones(2)),
    lambda: tt.nn.utils.clip_grad_norm_([tt.ones(2)], "a"),
    lambda x: x + tt.ones(5),
    lambda x: x.add_(tt.ones(5)),
    lambda x: 2 @ x,
    lambda x: x[9],
    lambda x: x.__setitem__(9, 1),
    lambda x: x.view(7),
    lambda x: x.to("bogus"),
    lambda x: x.numpy(1, 2, 3),
    lambda x: setattr(x, "grad", 3),
    lambda x: setattr(x, "data", 3),
    lambda x: x.backward(),
    lambda x: x.item(),
    lambda x: float(x),
    lambda x: bool(x),
    lambda x: x.imag,
    lambda: tt.zeros(-1),
    lambda: tt.tensor("a"),
    lambda: tt.tensor([[1], [2, 3]]),
    lambda: tt.device("bogus"),
    lambda: tt.manual_seed("a"),
    lambda: tt.set_backend("bogus"),
    lambda: tt.set_backend("cupy"),
    lambda: tt.set_default_dtype(3),
    lambda: tt.load("nothing"),
    lambda x: tt.optim.SGD([x], -1),
    lambda x: tt.optim.lr_scheduler.StepLR(x, 1),
    lambda: tt.distributions.Normal(0.0, -1.0),
    lambda: tt.distributions.Normal(0.0, 1.0).log_prob("a"),
    lambda x: tt.autograd.grad(x.sum(), x),
    lambda x: tt.autograd.functional.jacobian(lambda y: y.view(7), x),
    lambda x: tt.func.grad(lambda y: y)(x),
    lambda x: tt.func.vmap(lambda y: y.sum(5))(x),
    lambda x: tt.func.jacrev(lambda y: y.sum(5))(x),
    lambda: tt.utils.data.DataLoader([1], batch_size=-1),
    lambda: list(tt.utils.data.DataLoader([1, 2], collate_fn=lambda b: b.no)),
    lambda x: tt.numpy.sum(x, axis=9),
]


def error_of(call: Callable[..., Any], *args: Any, **options: Any) -> Exception | None:
    try:
        call(*args, **options)
    except Exception as error:
        return error
    return None


def runs_of_ours(error: Exception) -> Iterator[list[str]]:
    """The lines of the package's, a list for those that follow each other."""
    run: list[str] = []
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith((PACKAGE, WRITTEN)):
            run.append(f"{frame.filename}:{frame.lineno} {frame.name}")
        else:
            yield run
            run = []
    yield run


@pytest.mark.parametrize("call", CALLS, ids=words)
def test_two_lines_below_the_users(call: Call) -> None:
    for _ in range(2):  # a function is written when it is first called
        error = error_of(called, call, {"x": tt.ones(2, 3)})
        assert error is not None
        assert max(map(len, runs_of_ours(error))) in (1, 2), list(runs_of_ours(error))


resolve.load_all()


@pytest.mark.parametrize("space", sorted(NAMESPACES))
def test_two_lines_below_every_operation_with_a_wrong_argument(space: str) -> None:
    wrong, failed = object(), set()
    for name, function in NAMESPACES[space].items():
        for args in ((wrong,), (wrong, wrong), (tt.ones(2), wrong), (tt.ones(2, 3, 4), 9, 9, 9)):
            error = error_of(function, *args)
            if error is not None:
                failed.add(name)
                assert all(len(run) <= 2 for run in runs_of_ours(error)), (name, args)
    assert 2 * len(failed) >= len(NAMESPACES[space])  # most take none of it


def test_two_lines_below_every_method_with_a_wrong_argument() -> None:
    for name in dir(tt.Tensor):
        method = getattr(tt.Tensor, name)
        if callable(method) and not name.startswith("_"):
            error = error_of(method, tt.ones(2), object(), object())
            assert error is None or all(len(run) <= 2 for run in runs_of_ours(error)), name


def test_lines_of_a_users_function_that_is_called_back_stay() -> None:
    def inner(y: tt.Tensor) -> tt.Tensor:
        return y.view(7)

    def outer(y: tt.Tensor) -> tt.Tensor:
        return inner(y)

    error = error_of(tt.func.vmap(outer), tt.ones(2, 3))
    assert error is not None
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names.index("outer") < names.index("inner")


def test_what_failed_is_still_said() -> None:
    error = error_of(lambda: tt.nn.Linear(2, 2)(tt.ones(3, 5)))
    assert isinstance(error, RuntimeError)
    assert "mat1 and mat2 shapes cannot be multiplied (3x5 and 2x2)" in str(error)


def test_all_lines_where_they_are_asked_for() -> None:
    tt.set_traceback_filtering("off")
    try:
        error = error_of(lambda: tt.ones(2).sum(axis=9))
    finally:
        tt.set_traceback_filtering("on")
    assert error is not None
    assert max(map(len, runs_of_ours(error))) > 3
    with pytest.raises(ValueError, match="expected mode 'on' or 'off', got 'quiet'"):
        tt.set_traceback_filtering("quiet")


@pytest.mark.parametrize(("value", "least", "most"), [("", 1, 2), ("full", 4, 99)])
def test_the_environment_variable(value: str, least: int, most: int) -> None:
    def program() -> None:
        import tinytorch as tt

        tt.ones(2).sum(axis=9)

    done = process(program, TINYTORCH_TRACEBACK=value)
    lines = [line for line in done.stderr.splitlines() if PACKAGE in line or WRITTEN in line]
    assert least <= len(lines) <= most, done.stderr
