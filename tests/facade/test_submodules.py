"""Every module is an attribute of its package from the first moment, on every thread."""

from __future__ import annotations

import os

import pytest

from tests.fresh import process

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a child for each module"),
]


def test_every_module_is_an_attribute_in_any_order(request: pytest.FixtureRequest) -> None:
    """Of the modules a third is reached, which ``--sample`` chooses."""

    def program(seed: int) -> None:
        import warnings

        from tests.facade.programs.submodules import failures, modules, reach

        warnings.simplefilter("ignore")

        chosen = modules()[seed % 3 :: 3]
        assert len(chosen) > 100
        assert not failures(chosen, lambda name: {type(reach(name)).__mro__[-2].__name__})

    done = process(program, request.config.getoption("--sample"))
    assert (done.returncode, done.stderr) == (0, "")


def test_sixteen_threads_reach_a_module_at_once() -> None:
    def program() -> None:
        import sys
        import warnings

        from tests.facade.programs.submodules import failures, modules, reach_from_threads

        warnings.simplefilter("ignore")

        sys.setswitchinterval(1e-6)
        nested = [name for name in modules() if "." in name and "._" not in name]
        assert len(nested) > 100 and not failures(nested[::8], reach_from_threads)

    done = process(program)
    assert (done.returncode, done.stderr) == (0, "")
