"""A function or class that PyTorch has under several names is one object here, too."""

from __future__ import annotations

import pytest

from tests.fresh import run

pytestmark = pytest.mark.torch


def _different() -> None:
    import importlib
    import pickle
    import sys
    from typing import Any

    for name in (
        "distributed.device_mesh distributed.nn nn.utils.parametrizations nn.utils.prune func "
        "optim.swa_utils utils.checkpoint utils.data.distributed utils._pytree masked"
    ).split():
        importlib.import_module(f"torch.{name}")
    searched = {name: sys.modules[name] for name in sorted(sys.modules) if name[:5] == "torch"}
    groups: dict[int, tuple[Any, dict[int, tuple[Any, str]]]] = {}
    for path, module in searched.items():
        try:
            ours = importlib.import_module(f"tiny{path}")
        except ImportError:
            continue
        for name, theirs in list(vars(module).items()):
            if name.startswith("_") or not callable(theirs) or not hasattr(ours, name):
                continue
            home = str(getattr(theirs, "__module__", None) or "torch")
            found = getattr(ours, name)
            if home.split(".")[0] in ("torch", "builtins") and callable(found):
                objects = groups.setdefault(id(theirs), (theirs, {}))[1]
                objects.setdefault(id(found), (found, f"{path}.{name}"))
    assert len(groups) > 2000

    def pickles(value: Any) -> bool:
        try:
            return pickle.loads(pickle.dumps(value)) is value
        except Exception:
            return False

    for theirs, objects in groups.values():
        names = [name for _, name in objects.values()]
        if len(names) > 1:
            print("several objects:", *names)
        elif pickles(theirs) and not pickles(next(iter(objects.values()))[0]):
            print("does not pickle:", *names)


def test_names_of_one_object_are_of_one_object() -> None:
    assert run(_different, PYTHONWARNINGS="ignore") == ""
