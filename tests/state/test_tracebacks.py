"""An error shows the program's lines and one message; a documented switch shows every line."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tests.fresh import process, search_path
from tests.state import wrong_arguments
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import NAMESPACES
from tinytorch.state.tracebacks import GENERATED

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


def shown(error: BaseException) -> str:
    """What a terminal shows of an error."""
    return "".join(traceback.format_exception(error))


def lines_of_ours(text: str) -> list[str]:
    """The lines of what a terminal shows that are the package's."""
    files = tuple(f'File "{start}' for start in (PACKAGE, GENERATED, "<string>"))
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line.startswith(files) and not line.endswith("<module>")]


@pytest.mark.parametrize("call", CALLS, ids=words)
def test_one_traceback_with_the_lines_of_the_program_alone(call: Call) -> None:
    for _ in range(2):  # a function is written when it is first called
        error = error_of(call_with_names, call, {"x": tt.ones(2, 3)})
        assert error is not None
        text = shown(error)
        assert text.count(wrong_arguments.HEADER) == 1, text
        assert not lines_of_ours(text), text


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: x[5], "IndexError: index 5 is out of bounds for dimension 0 with size 2"),
        (lambda x: x[0, 0, 0], "IndexError: too many indices for tensor of dimension 2"),
        (lambda x: x[0:2, 7], "IndexError: index 7 is out of bounds for dimension 1 with size 3"),
        (
            lambda: tt.tensor([[1], [1, 2]]),
            "ValueError: expected sequence of length 1 at dim 1 (got 2)",
        ),
        (lambda x: tt.softmx(x), "module 'tinytorch' has no attribute 'softmx'"),
    ],
    ids=["x[5]", "x[0, 0, 0]", "x[0:2, 7]", "ragged", "softmx"],
)
def test_messages_of_errors_are_pytorchs(call: Call, said: str) -> None:
    error = error_of(call_with_names, call, {"x": tt.ones(2, 3)})
    assert error is not None and said in shown(error).splitlines()[-1]


@pytest.mark.parametrize("what", ["functions", "methods"])
def test_one_line_for_every_wrong_argument_of_everything_public(what: str) -> None:
    done = subprocess.run(
        [sys.executable, wrong_arguments.__file__, what], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": search_path()},
    )  # fmt: skip
    *_, raised = done.stdout.splitlines()
    assert [line for line in done.stdout.splitlines() if " tracebacks, [" in line] == []
    assert int(raised) > 7_500


registry.load_all()


@pytest.mark.parametrize("space", sorted(NAMESPACES))
def test_one_line_for_every_operation_with_a_wrong_argument(space: str) -> None:
    wrong, failed = object(), set()
    for name, function in NAMESPACES[space].items():
        for args in ((wrong,), (wrong, wrong), (tt.ones(2), wrong), (tt.ones(2, 3, 4), 9, 9, 9)):
            error = error_of(function, *args)
            if error is not None:
                failed.add(name)
                assert not lines_of_ours(shown(error)), (name, args)
    assert 2 * len(failed) >= len(NAMESPACES[space])  # most take none of it


def test_an_error_that_the_program_handles_stays_in_the_chain() -> None:
    def program() -> None:
        try:
            {}["missing"]
        except KeyError:
            tt.ones(2)[5]

    error = error_of(program)
    assert error is not None
    assert shown(error).count("During handling of the above exception") == 1
    assert isinstance(error.__context__, KeyError)


def test_the_cause_of_a_users_own_error_stays() -> None:
    def broken(row: tt.Tensor) -> tt.Tensor:
        raise ValueError("mine") from KeyError("cause")

    error = error_of(tt.func.vmap(broken), tt.ones(2, 3))
    assert isinstance(error, ValueError) and isinstance(error.__cause__, KeyError)


def test_lines_of_a_users_function_that_is_called_back_stay() -> None:
    def inner(y: tt.Tensor) -> tt.Tensor:
        return y.view(7)

    def outer(y: tt.Tensor) -> tt.Tensor:
        return inner(y)

    error = error_of(tt.func.vmap(outer), tt.ones(2, 3))
    assert error is not None
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names.index("outer") < names.index("inner")


def test_the_message_of_an_error_in_a_layer_is_kept() -> None:
    error = error_of(lambda: tt.nn.Linear(2, 2)(tt.ones(3, 5)))
    assert isinstance(error, RuntimeError)
    assert "mat1 and mat2 shapes cannot be multiplied (3x5 and 2x2)" in str(error)


def test_all_lines_are_shown_if_full_tracebacks_are_on() -> None:
    tt.set_traceback_filtering("off")
    try:
        error = error_of(lambda: tt.ones(2).sum(axis=9))
    finally:
        tt.set_traceback_filtering("on")
    assert error is not None
    assert len(lines_of_ours(shown(error))) > 3
    with pytest.raises(ValueError, match="expected mode 'on' or 'off', got 'quiet'"):
        tt.set_traceback_filtering("quiet")


@pytest.mark.parametrize(("value", "least", "most"), [("", 0, 0), ("full", 4, 99)])
def test_the_environment_variable_sets_the_lines_of_a_traceback(
    value: str, least: int, most: int
) -> None:
    def program() -> None:
        import tinytorch as tt

        tt.ones(2).sum(axis=9)

    done = process(program, TINYTORCH_TRACEBACK=value)
    assert least <= len(lines_of_ours(done.stderr)) <= most, done.stderr
