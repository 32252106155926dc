"""Modules and names below ``torch.distributed``: here, or on a list with the reason."""

from __future__ import annotations

import importlib
import warnings
from fnmatch import fnmatchcase

import pytest

from tests import torch_versions
from tests.compat import distributed_names as names
from tinytorch.compat.import_hook import TABLED
from tinytorch.compat.tables.distributed_names import TABLES

REASONS = (*names.LEFT_OUT, *names.NAMES_LEFT_OUT)


def test_the_import_hook_lists_the_modules_of_the_table() -> None:
    assert TABLED["distributed_names"].split() == list(TABLES)
    assert all(0 < len(why) <= 80 for why in REASONS)


def test_classes_and_functions_of_the_table_raise_when_used() -> None:
    for module, name in (
        ("rpc.api", "rpc_sync"),
        ("elastic.agent.server.api", "WorkerSpec"),
        ("_shard.sharded_tensor", "ShardedTensor"),
        ("_composable.replicate", "replicate"),
    ):
        value = getattr(importlib.import_module(f"tinytorch.distributed.{module}"), name)
        with pytest.raises(NotImplementedError, match=name):
            value()
    rendezvous = importlib.import_module("tinytorch.distributed.elastic.rendezvous")
    assert issubclass(rendezvous.RendezvousTimeoutError, Exception)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_every_module_and_name_is_here_or_left_out() -> None:
    if torch_versions.installed_version() != torch_versions.SINCE:
        pytest.skip("the table is of the names of one version")
    patterns = " ".join(names.LEFT_OUT.values()).split()
    left_out = {pair for text in names.NAMES_LEFT_OUT.values() for pair in names.parse_names(text)}
    idle, missing = {*patterns}, []
    for path, module in names.modules().items():
        found = [pattern for pattern in patterns if fnmatchcase(path, pattern)]
        idle -= {*found}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                here = importlib.import_module(f"tinytorch.distributed.{path}".rstrip("."))
        except ImportError:
            missing += [] if found else [path]
            continue
        lacking = {(path, name) for name in names.names(module) if not hasattr(here, name)}
        missing += sorted(lacking - left_out)
        left_out -= lacking
    assert not missing, "neither here nor left out"
    assert not idle and not left_out, "left out, and not missing"
