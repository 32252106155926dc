"""Find the names that programs can import from PyTorch's modules: imported or defined there.

``python -m tests.compat.let_through`` writes ``tinytorch/facade/reexports.py`` anew; it needs
PyTorch.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import textwrap
import typing
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

#: PyTorch's modules that are not looked into, and why.
LEFT_OUT = {
    "torch._dynamo. torch._inductor torch._export torch._functorch._a torch._functorch.c "
    "torch._functorch.partitioners torch._functorch.fx_minifier torch._functorch.benchmark_utils "
    "torch._guards torch._logging torch._refs torch._prims torch._decomp torch._numpy torch._lazy "
    "torch._native torch._higher_order_ops. torch._strobe torch._subclasses. torch._C torch._ops "
    "torch._classes torch._meta_registrations torch._library torch._custom_op torch.export "
    "torch.fx. torch.onnx. torch.package torch.nativert torch.jit._ torch.contrib":
        "parts of the compiler and its graphs, which no program imports names of others from",
    "torch.testing._internal torch._vendor torch.utils.hipify torch.utils.benchmark. "
    "torch.utils.tensorboard torch.utils.bottleneck torch.utils.model_dump torch.utils._sympy "
    "torch.utils._strobelight torch.utils.viz torch.utils.jit torch.utils._debug_mode":
        "PyTorch's own tests and tools",
    "torch.ao. torch.quantization. torch.nn.quant torch.nn.qat torch.nn.intrinsic torch.sparse._ "
    "torch.mtia torch.xpu torch.nested._ torch.distributed. torch.utils.data.datapipes "
    "torch.nn.utils._expanded_weights torch.profiler._":
        "devices, layouts and tools that are not here",
}  # fmt: skip
_SKIPPED = tuple(prefix for names in LEFT_OUT for prefix in names.split())
OWN = "tinytorch"
TABLE = Path(__file__).parents[2] / "tinytorch" / "facade" / "reexports.py"
ABSENT = object()


def modules() -> dict[str, ModuleType]:
    """Return PyTorch's modules by their names, all imported."""
    import torch

    for module in pkgutil.walk_packages(torch.__path__, "torch.", onerror=lambda name: None):
        if not module.name.startswith(_SKIPPED) and "run_" not in module.name:
            try:
                importlib.import_module(module.name)
            except (Exception, SystemExit):  # it needs another library, or is a program
                continue
    return {
        name: module
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] == "torch" and not name.startswith(_SKIPPED)
        and isinstance(module, ModuleType) and vars(module).get("__name__", name) == name
    }  # fmt: skip


def ours(path: str) -> Any:
    """Return our object for a dotted name of PyTorch's, or ``ABSENT``."""
    found: Any = importlib.import_module(OWN)
    parts = path.split(".")[1:]
    for at, part in enumerate(parts, 1):
        try:
            found = getattr(found, part)
        except Exception:
            try:
                found = importlib.import_module(".".join([OWN, *parts[:at]]))
            except Exception:
                return ABSENT
    return found


def our_module(name: str) -> ModuleType | None:
    """Return our module for PyTorch's ``name``, or None."""
    try:
        return importlib.import_module(f"{OWN}{name[5:]}")
    except Exception:
        return None


def home_and_name(value: Any) -> tuple[Any, Any]:
    """Return the ``__module__`` and ``__qualname__`` of a value, or None."""
    try:
        return getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    except Exception:  # a value that starts a device first
        return None, None


def host_place(value: Any) -> str | None:
    """Return ``module:name`` of an object of Python's or NumPy's, or None."""
    module, name = home_and_name(value)
    if isinstance(value, ModuleType):
        module, name = value.__name__, ""
    elif module == "typing":
        name = name or getattr(value, "_name", None)
    if not name and not isinstance(value, ModuleType):
        return None
    for home in filter(None, (str(module).lstrip("_"), module)):
        if home.partition(".")[0] not in {*sys.stdlib_module_names, "numpy"} - {"__main__"}:
            continue
        held = sys.modules.get(home)
        if held is not None and (not name or vars(held).get(name, ABSENT) is value):
            return f"{home}:{name}" if home != "builtins" else None
    return None


class NameSurvey:
    """For each name of PyTorch's modules, the place of its counterpart here."""

    def __init__(self) -> None:
        self.theirs = modules()
        self.places: dict[int, list[str]] = defaultdict(list)
        for module, name, value in self._names():
            if callable(value) or isinstance(value, ModuleType | type):
                self.places[id(value)].append(f"{module}.{name}")
        self.answered = {name for name in self.theirs if our_module(name)}
        defined = {
            module
            for module, name, value in self._names()
            if home_and_name(value)[0] == module and self.our_place(module, name, value)
        }
        for module in defined:  # with the packages that it is in
            while module != "torch":
                self.answered.add(module)
                module = module.rpartition(".")[0]

    def _names(self) -> typing.Iterator[tuple[str, str, Any]]:
        for module, found in self.theirs.items():
            for name, value in list(vars(found).items()):
                if not name.startswith("__"):
                    yield module, name, value

    def our_place(self, module: str, name: str, value: Any) -> str | None:
        """Return ``module:name`` of our object that stands for PyTorch's, or None."""
        if isinstance(value, ModuleType):
            return f"{OWN}{value.__name__[5:]}:" if value.__name__ in self.answered else None
        for place in sorted(self.places[id(value)], key=len):
            home, _, last = place.rpartition(".")
            if place != f"{module}.{name}" and ours(place) is not ABSENT:
                return f"{OWN}{home[5:]}:{last}"
        return None

    def missing(self) -> dict[str, dict[str, str]]:
        """Return, by module, the places of objects whose names our module lacks."""
        found: dict[str, dict[str, str]] = {name: {} for name in sorted(self.answered)}
        for module, name, value in self._names():
            if module in self.answered and not hasattr(our_module(module), name):
                place = host_place(value) or self.our_place(module, name, value)
                if place is not None:
                    found[module][name] = place
        return found


def key(module: str) -> str:
    """Return the name of our module for PyTorch's ``module``, without the package's."""
    found = our_module(module)
    return (found.__name__ if found else f"{OWN}{module[5:]}")[10:]


def clauses(names: dict[str, str]) -> str:
    """Return a row of the table: each source and what is imported from it."""
    by_source: dict[str, list[str]] = defaultdict(list)
    for name, place in sorted(names.items()):
        source, _, last = place.partition(":")
        if source.partition(".")[0] == OWN:
            source = "/" + source[len(OWN) + 1 :].replace(".", "/")
        by_source[source].append(name if name == last else f"{name}={last}")
    return "; ".join(f"{source} {' '.join(found)}" for source, found in sorted(by_source.items()))


def write() -> None:
    """Regenerate the table."""
    TABLE.write_text(_HEAD + "FILES: Final[dict[str, str]] = {}\n")
    rows: dict[str, dict[str, str]] = {}
    for module, names in NameSurvey().missing().items():
        if names or not our_module(module):
            rows.setdefault(key(module), {}).update(names)
    lines = [line for name, found in sorted(rows.items()) for line in row(name, clauses(found))]
    TABLE.write_text("\n".join([f"{_HEAD}FILES: Final[dict[str, str]] = {{", *lines, _TAIL]))


def row(name: str, text: str) -> list[str]:
    """Return the lines of a row of the table."""
    if len(name) + len(text) < 88:
        return [f'    "{name}": "{text}",']
    lines = textwrap.wrap(text, 88, break_long_words=False, break_on_hyphens=False)
    return [
        f'    "{name}":',
        *(f'        "{line} "' for line in lines[:-1]),
        f'        "{lines[-1]}",',
    ]


_HEAD = '''"""Names that PyTorch's files import, and that programs import from these files.

Generated by ``tests/compat/let_through.py``. Each module has a row of sources, each with the names
that come from it: ``here=there`` if the two names differ, ``name=`` for the source itself. A source
that begins with a slash is a module of this package. A module without a file is made of its row.
"""

from typing import Final

'''

_TAIL = "}  # fmt: skip\n"

if __name__ == "__main__":
    write()
