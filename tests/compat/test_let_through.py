"""Names that PyTorch's files import and programs import from them: ``functional.Tensor``."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests import torch_versions
from tests.fresh import run
from tinytorch.facade import packages
from tinytorch.facade.reexports import FILES

#: Lines of public programs.
LINES = """
from torch.functional import Tensor
from torch.optim.lr_scheduler import Optimizer
from torch.nn import _reduction
from torch.nn.modules.transformer import _get_activation_fn
from torch._utils import ExceptionWrapper
from torch.nn.modules.conv import F, init, Parameter, Tensor, _single
from torch.nn.modules.module import OrderedDict, Tensor, Union
from torch.nn.functional import Tensor, Callable, Optional
from torch.optim.optimizer import required, defaultdict, chain
from torch.utils.data.dataloader import Dataset, Sampler, Any
from torch.distributions.normal import _standard_normal, math
from torch.signal.windows.windows import hann
from torch.nn.parallel.replicate import replicate
from torch.accelerator.memory import empty_cache
""".strip().splitlines()


@pytest.mark.parametrize("line", LINES)
def test_import_lines_of_programs_run_under_both_names(torch: Any, line: str) -> None:
    exec(line)
    exec(line.replace("torch", "tinytorch", 1))


@pytest.mark.parametrize("name", [name for name in FILES if name])
def test_the_names_of_one_row_are_one_object(name: str) -> None:
    module = importlib.import_module(f"tinytorch.{name}")
    for here, (home, there) in packages._sources(FILES[name]).items():
        source = importlib.import_module(home)
        assert getattr(module, here) is (getattr(source, there) if there else source)


@pytest.mark.torch
def test_every_module_answers_what_pytorchs_file_imports() -> None:
    def program() -> None:
        import warnings

        warnings.simplefilter("ignore")
        from tests.compat.let_through import NameSurvey

        survey = NameSurvey()
        assert len(survey.answered) > 200
        print({name: found for name, found in survey.missing().items() if found})

    if torch_versions.installed_version() != torch_versions.SINCE:
        pytest.skip("the table is of the names of one version")
    assert run(program, PYTHONWARNINGS="ignore") == "{}"


def test_a_name_that_is_nowhere_is_an_attribute_error() -> None:
    for name in (
        "nn.modules.conv",
        "functional",
        "nn",
        "masked.maskedtensor",
        "optim.lr_scheduler",
    ):
        module = importlib.import_module(f"tinytorch.{name}")
        with pytest.raises(AttributeError, match="has no attribute 'nothing'") as raised:
            module.nothing
        assert raised.value.name == "nothing"


def test_the_table_is_not_loaded_by_the_library_itself() -> None:
    def program() -> None:
        import sys

        import tinytorch as tt

        tt.nn.Linear(1, 1)(tt.ones(1)).backward()
        tt.optim.Adam
        tt.utils.data.DataLoader
        print("tinytorch.facade.reexports" in sys.modules)

    assert run(program) == "False"
