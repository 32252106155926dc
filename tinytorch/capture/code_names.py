"""Names in code, and the code that is searched for them: which functions a program may call.

Code of this library, of NumPy and of Python's library is not searched.
"""

from __future__ import annotations

import dis
import functools
import io
import os
import sys
import time
from collections.abc import Iterable
from types import CodeType, ModuleType
from typing import Any, NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = sys.stdlib_module_names | {"tinytorch", "torch", "numpy"}
#: Functions of C whose results differ from call to call, or that act outside of the program.
IMPURE = {
    id(function): name
    for name, function in {
        "print": print, "input": input, "open": open, "time.time": time.time,
        "time.time_ns": time.time_ns, "time.perf_counter": time.perf_counter,
        "time.perf_counter_ns": time.perf_counter_ns, "time.monotonic": time.monotonic,
        "time.monotonic_ns": time.monotonic_ns, "time.process_time": time.process_time,
        "time.sleep": time.sleep, "os.urandom": os.urandom,
    }.items()
}  # fmt: skip
SUSPICIOUS = frozenset((
    "print", "input", "open", "write", "writelines", "urandom", "sleep", "now", "utcnow", "today",
    *(name.partition(".")[2] for name in IMPURE.values()),
)) - {""}  # fmt: skip
#: Modules of Python's without such functions.
PURE = frozenset((
    "math", "cmath", "functools", "typing", "collections", "itertools", "contextlib", "operator",
    "dataclasses", "abc", "enum", "types", "copy", "warnings", "random", "inspect", "__future__",
    "numbers", "builtins", "typing_extensions", "weakref", "re", "string",
))  # fmt: skip
#: Functions that read attributes, and globals, which the code does not name.
DYNAMIC = frozenset(("getattr", "hasattr", "vars", "dir", "attrgetter", "__dict__"))
EVALUATING = frozenset(("eval", "exec", "globals", "locals"))
_GLOBAL_CODES = frozenset((
    "LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS",
))  # fmt: skip


class CodeNames(NamedTuple):
    """Names in code, and in the code inside it.

    Attributes:
        globals: Names of globals and builtins.
        attributes: Names of attributes. Of code that calls ``getattr`` or the like all strings
            that could be one.
        imports: Names of modules that are imported.
    """

    globals: frozenset[str]
    attributes: frozenset[str]
    imports: frozenset[str]


@functools.lru_cache(1000)
def names_in(code: CodeType) -> CodeNames:
    """Return the names in code."""
    found, attributes, imports = set(), set(), set()
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        if name in _GLOBAL_CODES:
            found.add(value)
        elif "ATTR" in name or name in ("LOAD_METHOD", "IMPORT_FROM"):
            attributes.add(value)
        elif name == "IMPORT_NAME":
            imports.add(value)
            attributes.update(value.split("."))
        elif isinstance(value, CodeType):
            inner = names_in(value)
            found |= inner.globals
            attributes |= inner.attributes
            imports |= inner.imports
    if is_dynamic(found | attributes):
        attributes |= {c for c in code.co_consts if isinstance(c, str) and c.isidentifier()}
    return CodeNames(frozenset(found), frozenset(attributes), frozenset(imports))


def is_dynamic(names: Iterable[str]) -> bool:
    """Whether code with these names may read attributes that it does not name."""
    return not DYNAMIC.isdisjoint(names)


def is_library(name: str | None) -> bool:
    """Whether a module, by its name, is this library's, NumPy's or Python's."""
    return name is not None and name.partition(".")[0] in _LIBRARIES


def is_user_code(code: CodeType, module: str | None) -> bool:
    """Whether code is of the user's program or of another package.

    Args:
        code: Code of a function.
        module: ``__module__`` of the function.
    """
    file = code.co_filename
    return not file.startswith(PACKAGE) and (not is_library(module) or file.startswith("<doctest"))


def is_suspicious(value: Any) -> bool:
    """Whether a global is an impure function, or a module of Python's that may have some."""
    if isinstance(value, ModuleType):
        root = value.__name__.partition(".")[0]
        return root in sys.stdlib_module_names and root not in PURE
    return id(value) in IMPURE or isinstance(value, io.IOBase)
