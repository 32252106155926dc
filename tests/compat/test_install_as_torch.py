"""``install_as_torch``: what the runner does for a script, for a notebook or a REPL."""

from __future__ import annotations

import importlib.util

import pytest

import tinytorch as tt
from tests.fresh import program, run
from tests.runner import Runner


def stand_in() -> None:
    import pickle

    import tinytorch as tt

    tt.install_as_torch()
    tt.install_as_torch()
    import torch
    import torch.nn.functional as functional
    from torch.utils.data import DataLoader

    print(torch is tt, functional is tt.nn.functional, DataLoader is tt.utils.data.DataLoader)
    print(torch.__version__, torch.float32, torch.ones(2, 3).shape, torch.Tensor, torch.bfloat16)
    print(pickle.loads(pickle.dumps(torch.nn.Linear(2, 1))))


def test_torch_is_tinytorch_until_it_is_taken_back() -> None:
    assert run(stand_in).splitlines() == [
        "True True True",
        f"2.13.0+tinytorch.{tt.__version__} torch.float32 torch.Size([2, 3]) "
        "<class 'torch.Tensor'> "
        "torch.bfloat16",
        "Linear(in_features=2, out_features=1, bias=True)",
    ]


def take_back() -> None:
    import sys

    import tinytorch as tt

    def facts() -> tuple[object, ...]:
        modules = {name for name in sys.modules if name.partition(".")[0] == "torch"}
        shown = str(tt.ones(2).shape), str(tt.float32), str(tt.Tensor), tt.__name__
        named = [name for name in ("bfloat16", "chalf", "float8_e5m2") if name in vars(tt)]
        return modules, shown, named, list(sys.path), len(sys.meta_path), str(tt.__version__)

    tt.uninstall_as_torch()
    before = facts()
    tt.install_as_torch()
    import torch.nn

    assert torch.nn is tt.nn and facts() != before
    tt.uninstall_as_torch()
    tt.uninstall_as_torch()
    print(facts() == before)


def test_everything_is_as_it_was_afterwards() -> None:
    assert run(take_back) == "True"


def pytorch_before_and_after() -> None:
    import tinytorch as tt

    tt.install_as_torch()
    import torch

    print("tinytorch" in torch.__version__)
    tt.uninstall_as_torch()
    import torch

    print("tinytorch" in torch.__version__)
    try:
        tt.install_as_torch()
    except RuntimeError as error:
        print(str(error).partition(" from ")[0])


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_pytorch_is_found_again_and_not_replaced() -> None:
    assert run(pytorch_before_and_after).splitlines() == [
        "True",
        "False",
        "tinytorch cannot stand in for torch: this process has imported torch",
    ]


def cells() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    for cell in (
        "import tinytorch as tt; tt.install_as_torch()",
        "import torch; x = torch.tensor([1.0, 2.0], requires_grad=True)",
        "(x * x).sum().backward(); print(x.grad, x.dtype)",
    ):
        shell.run_cell(cell).raise_error()


def test_the_cells_of_a_notebook_run_on_tinytorch_installed_as_torch() -> None:
    pytest.importorskip("IPython", reason="it runs the cells")
    assert run(cells).splitlines()[-1] == "tensor([2., 4.]) torch.float32"


def test_packaging_tools_find_a_torch(runner: Runner) -> None:
    def child() -> None:
        import importlib.metadata as metadata

        import torch

        print(metadata.version("torch") == torch.__version__, metadata.metadata("torch")["Name"])
        torch.uninstall_as_torch()
        # After the uninstallation, no distribution of tinytorch's is found.
        found = metadata.distributions(name="torch")
        print([each.read_text("METADATA") for each in found if "tinytorch" in each.version])

    assert runner.output("-c", program(child)).splitlines() == ["True torch", "[]"]
