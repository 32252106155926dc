"""First use from several threads: whatever is loaded late is loaded once and whole."""

from __future__ import annotations

import pytest

from tests.fresh import process

pytestmark = pytest.mark.slow


def program(seed: int) -> None:
    import warnings

    from tests.facade.programs.first_use import main

    warnings.simplefilter("ignore")
    main(seed)


@pytest.mark.parametrize("seed", range(4))
def test_threads_may_use_everything_first(seed: int) -> None:
    done = process(program, seed)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
