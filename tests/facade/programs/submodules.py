"""Reach modules as attributes, each in a forked child in which nothing else was used before."""

import os
import sys
import threading
from pathlib import Path

import tinytorch as tt
from tinytorch.compat import import_hook

#: A function or class of the same name stands in the module's place, in PyTorch and NumPy too.
SHADOWED = {
    "autograd.gradcheck", "distributed._composable.fsdp.fully_shard", "nn.utils.spectral_norm",
    "nn.utils.weight_norm", "numpy.ndarray", "numpy.ufunc",
}  # fmt: skip
#: Folders that hold no public modules. ``tinytorch.state`` is a function.
INTERNAL = (
    "_state", "backends.numpy", "backends.rng", "checkpoint", "compat", "core", "dispatch",
    "facade", "graph", "numpy.functions", "ops", "state",
)  # fmt: skip


def modules():
    """Return the names of the public modules, and every fifth of those without a file."""
    root = Path(tt.__file__).parent
    paths = [path.relative_to(root).with_suffix("") for path in root.rglob("*.py")]
    names = {".".join(path.parts).removesuffix(".__init__") for path in paths}
    names |= {*sorted({*import_hook._TABLE_OF, *import_hook.ELSEWHERE} - names)[::5]}
    internal = {name for name in names if f"{name}.".startswith(tuple(f"{i}." for i in INTERNAL))}
    return sorted(names - internal - SHADOWED - {"__init__", "__main__"})


def reach(name):
    """Return the object at the end of a dotted path from the package."""
    found = tt
    for part in name.split("."):
        found = getattr(found, part)
    return found


def reach_from_threads(name, threads=16):
    """Return what each of several threads that start at once reaches, or its error."""
    start, found = threading.Barrier(threads), []

    def work():
        start.wait()
        try:
            found.append(type(reach(name)).__mro__[-2].__name__)
        except Exception as error:
            found.append(repr(error))

    every = [threading.Thread(target=work) for _ in range(threads)]
    for each in every:
        each.start()
    for each in every:
        each.join()
    return set(found)


def failures(names, attempt):
    """Return the names for which ``attempt`` in a child of this process is not a module."""
    failed = []
    for name in names:
        child = os.fork()
        if child == 0:
            try:
                result = attempt(name)
            except AttributeError as error:
                result = {repr(error)}
            if result != {"module"}:
                sys.stderr.write(f"{name}: {result}\n")
            os._exit(result != {"module"})
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            failed.append(name)
    return failed
