"""Grad mode and inference mode, compared with torch's."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

tt = importlib.import_module("tinytorch.state")


MODES = {
    "no_grad": lambda lib: lib.no_grad(),
    "enable_grad": lambda lib: lib.enable_grad(),
    "inference": lambda lib: lib.inference_mode(),
    "no inference": lambda lib: lib.inference_mode(False),
    "set on": lambda lib: lib.set_grad_enabled(True),
    "set off": lambda lib: lib.set_grad_enabled(False),
}


def modes(lib):
    return lib.is_grad_enabled(), lib.is_inference_mode_enabled()


def run(lib, program, seen):
    """Run a program of nested scopes and setters; note the modes after every step."""
    for step in program:
        if isinstance(step, bool):
            lib.set_grad_enabled(step)
        else:
            mode, raises, inner = step
            try:
                with MODES[mode](lib):
                    seen.append(modes(lib))
                    run(lib, inner, seen)
                    if raises:
                        raise KeyError
            except KeyError:
                seen.append("raised")
        seen.append(modes(lib))
    return seen


steps = st.recursive(
    st.booleans(),
    lambda inner: st.tuples(
        st.sampled_from(sorted(MODES)), st.booleans(), st.lists(inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=300)
@given(st.lists(steps, max_size=4))
def test_nested_grad_modes_are_pytorchs(torch: Any, program):
    with torch.enable_grad(), tt.enable_grad():
        assert run(tt, program, []) == run(torch, program, [])
    assert modes(tt) == modes(torch) == (True, False)


@pytest.mark.parametrize("mode", sorted(MODES))
def test_modes_as_decorators_are_torchs(torch: Any, mode):

    def observed(lib):
        @MODES[mode](lib)
        def function(a, b=2):
            lib.set_grad_enabled(True)
            return a, b, modes(lib)

        @MODES[mode](lib)
        def generator():
            got = yield modes(lib)
            yield got, modes(lib)

        seen = [modes(lib), function(1), modes(lib)]
        waiting = generator()
        seen += [next(waiting), modes(lib), waiting.send("sent"), modes(lib)]
        waiting.close()
        return [*seen, modes(lib)]

    assert observed(tt) == observed(torch)


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        (tt.no_grad, (False, False)),
        (tt.inference_mode, (False, True)),
        (tt.no_grad(), (False, False)),
        (tt.inference_mode(), (False, True)),
        (tt.inference_mode(mode=True), (False, True)),
        (tt.set_grad_enabled(True), (True, False)),
    ],
)
def test_grad_modes_decorate_with_and_without_parentheses(decorator, expected):
    @decorator
    def named():
        """Documented."""
        return modes(tt)

    assert named() == expected
    assert (named.__name__, named.__doc__) == ("named", "Documented.")
    assert modes(tt) == (True, False)


def test_enable_grad_decorates_without_parentheses():
    @tt.enable_grad
    def inner():
        return modes(tt)

    with tt.no_grad():
        assert inner() == (True, False)
        assert modes(tt) == (False, False)


def test_a_decorated_coroutine_runs_in_its_grad_mode():
    @tt.no_grad
    async def body():
        await asyncio.sleep(0)
        return modes(tt)

    async def main():
        task = asyncio.create_task(body())
        await asyncio.sleep(0)
        return modes(tt), await task

    assert asyncio.run(main()) == ((True, False), (False, False))


def test_set_grad_enabled_lasts_and_as_a_context_does_not():
    tt.set_grad_enabled(False)
    assert not tt.is_grad_enabled()
    with tt.set_grad_enabled(True):
        assert tt.is_grad_enabled()
    assert not tt.is_grad_enabled()
    switch = tt.set_grad_enabled(True)
    assert tt.is_grad_enabled()
    with switch:
        assert tt.is_grad_enabled()
    assert not tt.is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_changes_nothing_outside():
    @tt.set_grad_enabled(False)
    def body():
        return tt.is_grad_enabled()

    assert tt.is_grad_enabled() and not body() and tt.is_grad_enabled()


def test_one_object_is_reusable_and_re_entrant():
    off = tt.no_grad()
    with off, tt.enable_grad(), off:
        assert not tt.is_grad_enabled()
    with off:
        assert not tt.is_grad_enabled()
    assert tt.is_grad_enabled()


def test_modes_that_are_not_bool_are_refused_with_torchs_words():
    for wrong in (1, "x", None):
        with pytest.raises(TypeError, match="argument 'enabled' .* must be bool, not") as caught:
            tt.set_grad_enabled(wrong)
        assert type(wrong).__name__ in str(caught.value)
        with pytest.raises(TypeError, match=r"inference_mode\(\): argument 'mode'"):
            tt.inference_mode(wrong)
    assert modes(tt) == (True, False)


def test_grad_enabled_and_inference_enabled_agree_with_the_public_functions():
    with tt.inference_mode():
        assert (tt.grad_enabled(), tt.inference_enabled()) == modes(tt) == (False, True)
    assert (tt.grad_enabled(), tt.inference_enabled()) == (True, False)


def test_modes_left_by_a_generator_closed_elsewhere():
    import threading

    def body():
        with tt.inference_mode():
            yield

    waiting = body()
    next(waiting)
    assert modes(tt) == (False, True)
    thread = threading.Thread(target=waiting.close)
    thread.start()
    thread.join(300)
    assert modes(tt) == (True, False)
