"""Which public names of PyTorch's are here: ``python tests/compat/names.py`` lists those that are
neither in the library nor, with a reason, in ``names_left_out``.

It walks every public module of PyTorch's. A module's names are those that its ``__all__`` lists
or else those it defines; of a class, its public members, too, each where it is defined.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from enum import Enum
from functools import cache
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2])] if __name__ == "__main__" else []

from tests.compat.names_left_out import LEFT_OUT, UNTOUCHED  # noqa: E402


@cache
def left_out() -> dict[str, str]:
    """The reason for each name, or pattern that ends with a star, of the list."""
    found = {}
    for why, text in LEFT_OUT.items():
        for outer, names in re.findall(r"^ {8}(\S+):((?:.|\n {12})*)", text, re.MULTILINE):
            found.update({f"{outer}.{name}": why for name in names.split()})
    return found


def matching_entry(name: str) -> str | None:
    """Entry of the list that leaves a name out, or None."""
    star = f"{name.rpartition('.')[0]}.*"
    return name if name in left_out() else star if star in left_out() else None


def is_untouched(name: str) -> bool:
    """Whether a module is listed in ``UNTOUCHED``: its names are not compared."""
    return any(name in names.split() for names in UNTOUCHED)


def public_modules(name: str) -> Iterator[str]:
    """Yield the name of a package and of its public modules, without those of ``UNTOUCHED``."""
    yield name
    module = importlib.import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        inner = f"{name}.{found.name}"
        if not found.name.startswith("_") and not is_untouched(inner):
            yield from public_modules(inner) if found.ispkg else [inner]


def public_names(module: ModuleType) -> list[str]:
    """Names of a module's ``__all__`` or, without one, the public names that it defines."""
    if module.__name__ == "torch":  # whose list leaves out dtypes and modules
        mine = (n for n, v in vars(module).items() if not isinstance(v, ModuleType) or _own(v))
        return [name for name in mine if not name.startswith("_")]
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("_")]
    return [name for name, value in vars(module).items() if _defines(module, name, value)]


def _own(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] == "torch"


def _defines(module: ModuleType, name: str, value: Any) -> bool:
    if name.startswith("_") or isinstance(value, ModuleType):
        return False
    home = getattr(value, "__module__", None)
    return home == module.__name__ if isinstance(home, str) else inspect.isroutine(value)


def members(cls: type) -> Iterator[str]:
    """Yield the public members of a class and of its private bases up to the first public one."""
    if type(cls).__name__ == "tensortype":  # FloatTensor and such make tensors and have nothing
        return
    for base in cls.__mro__:
        private = base.__name__.startswith("_") or base.__module__.startswith("torch._")
        if base is not cls and not (base.__module__.startswith("torch") and private):
            return
        yield from (name for name in vars(base) if not name.startswith("_"))


def expected_names() -> dict[str, str]:
    """Every public name, ``"torch.nn.Linear"``, and the module or class that has it."""
    found: dict[str, str] = {}
    for name in [*public_modules("torch"), "functorch"]:
        module = importlib.import_module(name)
        found[name] = ""
        for own in public_names(module):
            found[f"{name}.{own}"] = name
            value = getattr(module, own, None)
            if inspect.isclass(value) and value.__module__ == name:
                found.update({f"{name}.{own}.{each}": f"{name}.{own}" for each in members(value)})
    return found


def is_here(name: str) -> bool:
    """Whether the library has what PyTorch calls ``name``."""
    parts = ("tinytorch" + name[5:] if name.startswith("torch") else f"tinytorch.{name}").split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if inspect.isclass(value) and _is_of_instances(value, part):
                return True
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


def _is_of_instances(cls: type, name: str) -> bool:
    """Whether it is an attribute of objects: ``__init__`` sets it, or the class declares it."""
    if any(name in vars(base).get("__annotations__", ()) for base in cls.__mro__):
        return True
    starts = [inspect.unwrap(vars(base).get("__init__")) for base in cls.__mro__]
    set_there = any(name in start.__code__.co_names for start in starts if isfunction(start))
    return set_there or (issubclass(cls, Enum) and name in ("name", "value"))


def compare() -> tuple[list[str], list[str], int, int]:
    """The names that are missing and on no list, those on the list that need not be, how many
    are missing and on it, and how many there are.

    What is in a class or module that is missing is missing with it.
    """
    missing, used, gone, count = [], set(), set(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = expected_names()
        for name, outer in names.items():
            if outer in gone or not is_here(name):
                gone.add(name)
            if name not in gone or outer in gone:
                continue
            entry = matching_entry(name)
            if entry is None:
                # An untouched module is a name of its package once something has imported it.
                if not is_untouched(name):
                    missing.append(name)
            else:
                used.add(entry)
                count += 1
    return missing, sorted(left_out().keys() - used), count, len(names)


def main() -> int:
    missing, idle, count, total = compare()
    sys.stdout.write("".join(f"{name}\n" for name in missing))
    sys.stdout.write("".join(f"no longer missing: {name}\n" for name in idle))
    sys.stdout.write(
        f"{total} names, {len(missing)} missing, {count} left out for {len(LEFT_OUT)} reasons\n"
    )
    return 1 if missing or idle else 0


if __name__ == "__main__":
    sys.exit(main())
