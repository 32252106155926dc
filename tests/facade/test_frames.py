"""How many Python functions stand between a call and its work: few, so that each can be read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tests.fresh import run


def functions_entered(call: Callable[[], Any], until: str = "") -> int:
    """Number of Python functions that a call enters before the one called ``until``."""
    entered = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and until not in entered:
            entered.append(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        call()
    except (AttributeError, ValueError):
        pass
    finally:
        sys.setprofile(None)
    assert not until or until in entered
    return len(entered) - bool(until) - 1  # without the call itself


def backward() -> None:
    import tinytorch as tt
    from tests.facade.test_frames import functions_entered

    x = tt.ones(3, requires_grad=True)
    for _ in range(2):
        entered = functions_entered((x * 2).sum().backward, until="GraphTask.run")
    print(entered)


def test_backward_reaches_its_loop_in_few_functions() -> None:
    """In a process of its own: custom functions and other backends add to it."""
    assert int(run(backward)) <= 15


def unknown_names() -> None:
    import tinytorch as tt
    from tests.facade.test_frames import functions_entered

    for call in (lambda: tt.set_backend("cuppy"), lambda: tt.nope, lambda: tt.softmx):
        functions_entered(call)  # what is imported for the first error
        print(functions_entered(call))


def test_the_error_for_an_unknown_name_takes_few_function_calls() -> None:
    """In a process of its own: what installs a finder of distributions makes it slower."""
    assert max(map(int, run(unknown_names).split())) < 300
