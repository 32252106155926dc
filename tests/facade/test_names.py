"""Look-up of ``tinytorch.NAME``: its order, and the names that tools see."""

from __future__ import annotations

import importlib
import inspect
import pickle
import threading
import traceback
import types
from typing import Any, NamedTuple

import numpy
import pytest

import tinytorch as tt
from tests.fresh import process, run
from tinytorch import backends
from tinytorch.backends.numpy import NumpyBackend
from tinytorch.facade.library_fallback import library_names
from tinytorch.state import current_backend


def test_operation_is_stored_after_first_look_up() -> None:
    function = tt.cat
    assert vars(tt)["cat"] is function


def test_imported_operation_follows_the_backend_of_the_call(other_library: str) -> None:
    from tinytorch import randn, zeros

    before = zeros(2).backend
    with tt.backend_context(other_library):
        assert {str(zeros(2).backend), str(randn(2).backend)} == {other_library}
    assert zeros(2).backend is before and str(before) == "numpy"


def test_module_is_imported_on_first_use() -> None:
    def program() -> None:
        import sys

        import tinytorch as tt

        before = "tinytorch.nn" in sys.modules
        tt.nn
        print(before, "tinytorch.nn" in sys.modules)

    assert run(program) == "False True"


def families_of(use: str) -> None:
    import sys

    import tinytorch as tt  # noqa: F401  # for what uses it

    eval(use)
    for family in ("sort.sorting", "fft.one_dimension"):
        if f"tinytorch.ops.{family}" in sys.modules:
            print(family)


@pytest.mark.parametrize("use", ["tt.tensor([2, 1]).sort()", "tt.Tensor.sort", "tt.sort"])
def test_only_the_family_of_a_name_is_imported(use: str) -> None:
    assert (run(families_of, "tt"), run(families_of, use)) == ("", "sort.sorting")


def test_a_method_whose_family_is_not_imported_counts_as_an_attribute() -> None:
    def program() -> None:
        import sys

        import tinytorch as tt

        x = tt.ones(2)
        print("tinytorch.ops.sort.sorting" in sys.modules, "sort" in dir(x))
        print(hasattr(x, "sorts"), "tinytorch.ops.sort.sorting" in sys.modules)
        print(hasattr(x, "sort"), "tinytorch.ops.sort.sorting" in sys.modules)

    assert run(program).splitlines() == ["False True", "False False", "True True"]


def test_an_attribute_of_a_family_that_is_not_imported_can_be_set() -> None:
    def program() -> None:
        import tinytorch as tt

        x = tt.tensor([1 + 2j])
        x.imag = tt.tensor([5.0])
        print(x)

    assert run(program) == "tensor([1.+5.j])"


def test_the_module_has_itself_under_pytorchs_name() -> None:
    assert tt.torch.special.gammainc is tt.special.gammainc
    assert "torch" not in dir(tt)


def test_a_dtype_name_is_looked_up_in_the_backend_and_never_stored() -> None:
    assert tt.float32.name == "float32"
    assert "float32" not in vars(tt)


@pytest.fixture
def no_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the package that gives it were not installed."""
    monkeypatch.setattr(
        NumpyBackend,
        "supports",
        lambda self, dtype: dtype.dtype is not None and dtype.name != "bfloat16",
    )


@pytest.mark.usefixtures("no_bfloat16")
def test_dtype_the_backend_lacks_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match=r"'bfloat16'.*numpy.*no such dtype"):
        tt.bfloat16


def test_name_of_the_library_is_forwarded_and_never_stored() -> None:
    roots = tt.roots([1.0, -3.0, 2.0])
    assert isinstance(roots, tt.Tensor)
    assert roots.tolist() == pytest.approx([2.0, 1.0])
    assert "roots" not in vars(tt)


def test_forwarded_function_unwraps_tensors() -> None:
    out = tt.polyval(tt.tensor([1.0, 2.0]), tt.tensor([3.0]))
    assert isinstance(out, tt.Tensor)
    assert out.item() == 5.0


def test_class_of_the_library_is_forwarded_as_it_is() -> None:
    assert tt.poly1d is numpy.poly1d and "poly1d" not in vars(tt) and "poly1d" in dir(tt)
    line = tt.poly1d([2, 1])
    assert isinstance(line, tt.poly1d) and line(3) == 7
    x = tt.tensor([[1.0, 2.0]])
    assert [place for place, _ in tt.ndenumerate(x)] == [(0, 0), (0, 1)]
    assert tt.issubdtype(numpy.float32, tt.floating)
    with pytest.warns(UserWarning, match="no gradient flows"):
        tt.ndenumerate(x.requires_grad_())
    with pytest.raises(AttributeError, match="no attribute 'poly1x'.*Did you mean: 'poly1d'"):
        tt.poly1x
    star: dict[str, Any] = {}
    exec("from tinytorch import *", star)
    assert "poly1d" not in star


def test_forwarded_function_refuses_what_requires_grad() -> None:
    x = tt.tensor([0.5], requires_grad=True)
    with pytest.raises(RuntimeError, match="polyval is numpy's own function and not differ"):
        tt.polyval(tt.tensor([1.0, 2.0]), x)


class Pair(NamedTuple):
    first: Any
    second: Any


@pytest.fixture
def other_library(monkeypatch: pytest.MonkeyPatch) -> str:
    """A backend with float16 and without float64, whose library has other names than NumPy's."""
    library = types.ModuleType("abacus")
    vars(library).update({name: getattr(numpy, name) for name in {*numpy.__all__} - {"roots"}})
    vars(library).update(
        slide=lambda x, y=1: x + y,
        both_ways=lambda pair: Pair(pair.second, [pair.first]),
    )

    class Abacus(NumpyBackend):
        name = "abacus"

        def __init__(self) -> None:
            super().__init__()
            self.library = library

        def supports(self, dtype: Any) -> bool:
            return dtype.name != "float64" and (dtype.name == "bfloat16" or super().supports(dtype))

    monkeypatch.setattr(backends, "_registry", dict(backends._registry))
    tt.register_backend("abacus", Abacus)
    return "abacus"


@pytest.mark.usefixtures("no_bfloat16")
def test_names_of_the_library_and_dtypes_come_and_go_with_the_backend(other_library: str) -> None:
    def have() -> list[str]:
        asked = ("slide", "roots", "float64", "bfloat16", "zeros")
        listed = [name for name in asked if name in dir(tt)]
        assert listed == [name for name in asked if hasattr(tt, name)]
        return listed

    assert have() == ["roots", "float64", "zeros"]
    with tt.backend_context(other_library):
        assert have() == ["slide", "bfloat16", "zeros"]
        moved = tt.slide(tt.ones(2), y=tt.ones(2))
        assert isinstance(moved, tt.Tensor) and moved.tolist() == [2.0, 2.0]
        with pytest.raises(AttributeError, match=r"\(active backend: abacus\).*mean: 'slide'"):
            tt.slied
        with pytest.raises(AttributeError, match="the active backend, abacus, has no such dtype"):
            tt.float64
    assert have() == ["roots", "float64", "zeros"]


def test_forwarded_function_takes_and_gives_named_tuples(other_library: str) -> None:
    with tt.backend_context(other_library):
        found = tt.both_ways(Pair(tt.zeros(1), tt.ones(2)))
    assert isinstance(found, Pair)
    assert isinstance(found.first, tt.Tensor) and found.first.tolist() == [1.0, 1.0]
    assert isinstance(found.second[0], tt.Tensor)


def test_dir_lists_the_forwarded_names_of_the_active_backend() -> None:
    names = dir(tt)
    assert {"roots", "polyval", "zeros", "float32", "nn", "set_backend"} <= set(names)
    assert len(names) == len(set(names))


def test_misspelt_name_says_which_backend_and_what_was_meant() -> None:
    with pytest.raises(AttributeError) as info:
        tt.arrange
    assert str(info.value) == (
        "module 'tinytorch' has no attribute 'arrange' (active backend: numpy). "
        "Did you mean: 'arange'?"
    )


def test_suggestion_is_printed_once() -> None:
    try:
        tt.arrange
    except AttributeError as error:
        text = "".join(traceback.format_exception(error))
    assert text.count("Did you mean") == 1


def test_interpreter_prints_the_suggestion_once() -> None:
    def program() -> None:
        import tinytorch as tt

        tt.arrange

    assert process(program).stderr.count("Did you mean") == 1


def test_underscore_name_fails_at_once() -> None:
    """Without an import but that of the table of the private names that PyTorch imports."""

    def program() -> None:
        import sys

        import tinytorch as tt

        before = set(sys.modules)
        print(hasattr(tt, "__wrapped__"), hasattr(tt, "_ipython_display_"))
        print(sorted(set(sys.modules) - before))

    assert run(program) == "False False\n['tinytorch.facade.reexports']"


@pytest.mark.parametrize("name", ["sum", "zeros", "tensor", "max", "randn"])
def test_a_functions_name_module_and_docstring_are_public(name: str) -> None:
    function = getattr(tt, name)
    assert function.__name__ == function.__qualname__ == name
    assert function.__module__ == "tinytorch"
    assert function.__doc__
    assert "xp" not in inspect.signature(function).parameters
    assert f"def {name}(" in inspect.getsource(function)


def test_a_method_has_the_signature_of_its_operation() -> None:
    assert list(inspect.signature(tt.ones(2).sum).parameters) == ["dim", "keepdim", "dtype", "out"]


def test_help_shows_signature_and_docstring() -> None:
    import pydoc

    text = pydoc.plain(pydoc.render_doc(tt.sum))
    assert "in module tinytorch" in text
    assert "Sum of all elements" in text


def test_function_pickles_by_name_into_a_fresh_process() -> None:
    data = pickle.dumps(tt.sum)
    assert pickle.loads(data) is tt.sum

    def program(data: bytes) -> None:
        import pickle

        function = pickle.loads(data)
        import tinytorch

        print(function is tinytorch.sum)

    assert run(program, data) == "True"


def test_function_of_the_library_is_one_and_pickles_by_name() -> None:
    assert tt.polyval is tt.polyval and tt.polyval.__module__ == "tinytorch"
    functions = [getattr(tt, name) for name in sorted(library_names(current_backend()))]
    functions = [each for each in functions if not isinstance(each, type)]
    assert functions and [pickle.loads(pickle.dumps(each)) for each in functions] == functions
    assert inspect.signature(tt.polyval) == inspect.signature(numpy.polyval)

    def program(data: bytes) -> None:
        import pickle

        print(pickle.loads(data)([1, 2], 3))

    assert run(program, pickle.dumps(tt.polyval)) == "tensor(5)"


def test_reload_keeps_the_identity_of_functions_and_classes() -> None:
    function, tensor = tt.sum, tt.Tensor
    importlib.reload(tt)
    assert tt.sum is function
    assert tt.Tensor is tensor


def test_racing_threads_see_one_function() -> None:
    def program() -> None:
        import threading

        import tinytorch as tt

        barrier, seen = threading.Barrier(8), []

        def look() -> None:
            barrier.wait()
            seen.append(tt.nextafter)

        threads = [threading.Thread(target=look) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(len(seen), len(set(map(id, seen))))

    assert run(program) == "8 1"


@pytest.mark.parametrize("round_", range(3))
def test_racing_threads_import_what_they_need(round_: int) -> None:
    """A module that imports a part of another package waits for the whole of that first."""

    def program() -> None:
        import threading

        import tinytorch as tt

        names = [
            "nn", "optim", "save", "fft", "special", "cuda", "autocast", "compile", "stft", "sort",
            "linalg", "utils", "random", "FloatTensor", "signal", "numpy", "autograd",
        ]  # fmt: skip
        barrier, errors = threading.Barrier(8), []

        def look(i: int) -> None:
            barrier.wait()
            for name in names[i * 2 :] + names[: i * 2]:
                try:
                    getattr(tt, name)
                except BaseException as error:
                    errors.append((name, error))

        threads = [threading.Thread(target=look, args=(i,), daemon=True) for i in range(8)]
        [thread.start() for thread in threads]
        [thread.join(300) for thread in threads]
        print(errors, any(thread.is_alive() for thread in threads))

    assert run(program) == "[] False"


def test_import_star_gives_the_operations() -> None:
    def program() -> None:
        names: dict[str, object] = {}
        exec("from tinytorch import *", names)
        zeros, set_backend, tensor = (names[each] for each in ("zeros", "set_backend", "Tensor"))
        print(zeros(2).sum().item(), callable(set_backend), tensor.__name__)

    assert run(program) == "0.0 True Tensor"


def test_import_star_hides_no_module_of_the_program() -> None:
    def program() -> None:
        import random

        import numpy

        own = {"numpy": numpy, "random": random}
        exec("from tinytorch import *", names := {**own})
        print(own.items() <= names.items(), "roots" in names)

    assert run(program) == "True False"


def test_import_star_gives_what_pytorchs_gives_of_the_same_names(torch: Any) -> None:
    modules = {name for name in dir(tt) if inspect.ismodule(getattr(tt, name))}
    missing = {name for name in torch.__all__ if name in dir(tt)} - {*tt.__all__}
    assert missing <= modules | {"default_generator"} and not modules & {*tt.__all__}


def test_import_loads_numpy_and_no_gpu_library() -> None:
    def program() -> None:
        import sys

        import tinytorch as tt

        dir(tt)
        print("numpy" in sys.modules, "cupy" in sys.modules)

    assert run(program) == "True False"


def test_plain_completer_lists_names_without_importing_cupy() -> None:
    def program() -> None:
        import rlcompleter
        import sys

        import tinytorch as tt

        completer = rlcompleter.Completer({"tt": tt})
        found = [completer.complete("tt.zero", i) for i in range(3)]
        print(found, "cupy" in sys.modules)

    out = run(program)
    assert "tt.zeros(" in out
    assert out.endswith("False")


def test_ipython_completes_names() -> None:
    pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.completer import IPCompleter, provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.user_ns["tt"] = tt
    completer: IPCompleter = shell.Completer
    with provisionalcompleter():
        names = {c.text for c in completer.completions("tt.zer", 6)}
    assert any(name.endswith("zeros") for name in names)


def test_a_thread_has_its_own_backend() -> None:
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(tt.get_backend()))
    thread.start()
    thread.join()
    assert seen == [tt.get_backend()]


@pytest.mark.parametrize("package", ["tinytorch", "torch"])
@pytest.mark.parametrize("name", [
    "autograd.gradcheck", "multiprocessing.spawn", "nn.utils.spectral_norm", "nn.utils.weight_norm",
])  # fmt: skip
def test_a_function_keeps_its_name_when_its_module_is_imported(package: str, name: str) -> None:
    """As in PyTorch, whose packages define the function after its module."""

    def program(package: str, name: str) -> None:
        import importlib
        import operator
        import types

        import tinytorch

        tinytorch.install_as_torch()
        function = getattr(importlib.import_module(f"{package}.{name}"), name.rpartition(".")[2])
        found = operator.attrgetter(name)(importlib.import_module(package))
        print(found is function and type(found) is types.FunctionType)

    assert run(program, package, name) == "True"


def test_no_module_made_of_pytorchs_names_takes_the_place_of_a_function() -> None:
    """``torch.multiprocessing.spawn`` is the function, and a module to ``import ... from``."""

    def program() -> None:
        import importlib
        import types

        from tinytorch.facade.reexports import FILES

        kept = []
        for path in FILES:
            package, _, name = f"tinytorch.{path}".rpartition(".")
            parent = importlib.import_module(package)
            before = getattr(parent, name, None)
            importlib.import_module(f"tinytorch.{path}")
            if before is not None and getattr(parent, name) is not before:
                print(path)
            elif isinstance(before, types.FunctionType):
                kept.append(path)
        print({"multiprocessing.spawn", "nn.parallel.replicate"} <= set(kept))

    assert run(program) == "True"
