"""What a report of a fault says of the machine."""

from __future__ import annotations

import numpy
import pytest

import tinytorch as tt


def test_collect_env_names_the_versions(capsys: pytest.CaptureFixture[str]) -> None:
    tt.utils.collect_env.main()
    text = capsys.readouterr().out
    assert text == tt.utils.collect_env.get_pretty_env_info() + "\n"
    assert tt.__version__ in text and numpy.__version__ in text
