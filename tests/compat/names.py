"""Which public names of PyTorch's are here: ``python tests/compat/names.py`` lists those that are
not, neither in the library nor, with a reason, in ``names_left_out``.

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
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2])] if __name__ == "__main__" else []

from tests.compat.names_left_out import LEFT_OUT, UNTOUCHED  # noqa: E402


def reason(name: str) -> str | None:
    """The line of the list that a name is on, its pattern; None if it is on none."""
    return next((line for line in LEFT_OUT if _on(line, name)), None)


@cache
def _pattern(line: str) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(each).replace(r"\*", ".*") for each in line.split()))


def _on(line: str, name: str) -> bool:
    """Whether a name is one of a line's patterns, where ``*`` stands for anything."""
    return _pattern(line).fullmatch(name) is not None


def public_modules(name: str) -> Iterator[str]:
    """A package and all below it that no line of the list leaves out."""
    yield name
    module = importlib.import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        inner = f"{name}.{found.name}"
        if not found.name.startswith("_") and not any(_on(line, inner) for line in UNTOUCHED):
            yield from public_modules(inner) if found.ispkg else [inner]


def public_names(module: ModuleType) -> list[str]:
    """Those that a module lists or, where it lists none, defines."""
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
    """What a class defines in public, and private bases of it that no public one has, too."""
    if type(cls).__name__ == "tensortype":  # FloatTensor and such make tensors and have nothing
        return
    for base in cls.__mro__:
        private = base.__name__.startswith("_") or base.__module__.startswith("torch._")
        if base is not cls and not (base.__module__.startswith("torch") and private):
            return
        yield from (name for name in vars(base) if not name.startswith("_"))


def wanted() -> dict[str, str]:
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
            if part in getattr(value, "__annotations__", ()):  # an attribute of instances
                return True
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


def compare() -> tuple[list[str], Counter[str], int]:
    """The names that are missing and on no line, those on each line, and how many there are.

    What is in a class or module that is missing is missing with it.
    """
    missing, listed, gone = [], Counter(dict.fromkeys(LEFT_OUT, 0)), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = wanted()
        for name, outer in names.items():
            line = None
            if outer in gone:
                gone.add(name)
            elif not is_here(name):
                gone.add(name)
                line = reason(name)
                if line is None:
                    missing.append(name)
            if line is not None:
                listed[line] += 1
    return missing, listed, len(names)


def main() -> int:
    missing, listed, count = compare()
    idle = [line for line, times in listed.items() if not times]
    print(*missing, *(f"no longer needed: {line}" for line in idle), sep="\n")
    print(f"{count} names, {len(missing)} missing, {listed.total()} on {len(listed)} lines")
    return 1 if missing or idle else 0


if __name__ == "__main__":
    sys.exit(main())
