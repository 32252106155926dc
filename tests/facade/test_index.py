"""The generated index knows every name: what is not there is an error at once, and no import."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
from typing import Any

import pytest

import tinytorch as tt
from tests.fresh import run
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import NAMESPACES
from tinytorch.facade import resolve

#: Modules whose names an index or the backend's library answers for.
SPACES = (
    "", "fft", "linalg", "special", "numpy", "signal.windows", "nn.functional", "return_types",
)  # fmt: skip


def misses(names: tuple[str, ...]) -> None:
    import operator
    import sys

    import tinytorch as tt
    import tinytorch.facade.reexports  # the table of names that are looked for last

    first = set(sys.modules)
    assert not hasattr(tt, "nope") and set(sys.modules) == first
    x = tt.zeros(2)
    spaces = [operator.attrgetter(name)(tt) if name else tt for name in names]
    [dir(space) for space in spaces]  # reads the packages
    before = set(sys.modules)
    for owner in [*spaces, tt.Tensor, x]:
        for name in "nope", "zeross", "_nope":
            assert not hasattr(owner, name)
    dir(tt), tt.__all__, [dir(space) for space in spaces]
    print(*sorted(set(sys.modules) - before))


def test_an_unknown_name_imports_nothing() -> None:
    assert run(misses, SPACES) == ""


def test_a_star_imports_the_families_of_its_names() -> None:
    def program() -> None:
        import sys

        names: dict[str, object] = {}
        exec("from tinytorch.fft import *", names)
        families = "tinytorch.ops.fft.transforms", "tinytorch.ops.sort.sorting"
        print(callable(names["rfft"]), *(family in sys.modules for family in families))

    assert run(program) == "True True False"


def module(space: str) -> Any:
    """The public module of a namespace."""
    return importlib.import_module(f"tinytorch.{space}") if space else tt


@pytest.mark.parametrize("space", SPACES)
def test_an_unknown_name_is_an_attribute_error(space: str) -> None:
    with pytest.raises(AttributeError, match="no attribute 'n0pe'"):
        getattr(module(space), "n0pe")


@pytest.mark.parametrize(
    ("space", "name", "near"),
    [
        ("", "zeross", "zeros"),
        ("", "set_bakend", "set_backend"),
        ("", "polyvall", "polyval"),
        ("nn.functional", "croos_entropy", "cross_entropy"),
        ("linalg", "egih", "eigh"),
        ("return_types", "topkk", "topk"),
        ("signal.windows", "haming", "hamming"),
    ],
)
def test_a_misspelt_name_suggests_the_nearest(space: str, name: str, near: str) -> None:
    with pytest.raises(AttributeError, match=f"Did you mean: '{near}'"):
        getattr(module(space), name)


def test_only_similar_names_are_suggested() -> None:
    assert resolve.nearest("nope", ["ones", "one", "no", "cross_entropy"]) is None
    assert resolve.nearest("slied", ["sled", "like", "slided"]) == "slided"
    assert resolve.nearest("x", []) is None


def loaded() -> None:
    import json

    from tinytorch.core.tensor import Tensor
    from tinytorch.dispatch import registry
    from tinytorch.dispatch.op import NAMESPACES, OPS
    from tinytorch.facade import resolve
    from tinytorch.ops.results import RESULTS

    def names(value: type) -> list[str]:
        items = vars(value).items()
        return [name for name, item in items if not isinstance(item, resolve.LazyMethod)]

    before = {"": [*NAMESPACES[""]], "Tensor": names(Tensor), "return_types": [*RESULTS]}
    registry.load_all()
    spaces = {space: [*table] for space, table in NAMESPACES.items()}
    spaces["private"] = [name for name, op in OPS.items() if not op.public]
    after = spaces | {"Tensor": names(Tensor), "return_types": [*RESULTS]}
    print(json.dumps([before, after]))


def test_the_index_lists_every_name_of_each_namespace() -> None:
    before, after = json.loads(run(loaded))
    assert len(after[""]) > 800 and len(after["Tensor"]) > 500
    after.pop("numpy")  # not looked up here: importing the package registers all of them
    for space, names in after.items():
        indexed = {*registry.FAMILY_OF.get(space, ())}
        assert {*names} - indexed <= {*before.get(space, ())}, space
        assert indexed <= {*names}, space
    assert {*before[""]} <= {*registry.FAMILY_OF[""]}


def test_every_public_module_exists() -> None:
    for name in (*resolve.MODULES, *resolve.PRIVATE_MODULES):
        assert importlib.util.find_spec(f"tinytorch.{name}") is not None, name


def test_a_name_that_a_program_adds_to_a_namespace_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(NAMESPACES[""], "a_programs_own", lambda: 3)
    try:
        assert tt.a_programs_own() == 3 and "a_programs_own" in dir(tt)
    finally:
        vars(tt).pop("a_programs_own", None)
    monkeypatch.setitem(NAMESPACES["linalg"], "a_programs_norm", lambda: 4)
    try:
        assert tt.linalg.a_programs_norm() == 4 and "a_programs_norm" in dir(tt.linalg)
    finally:
        vars(tt.linalg).pop("a_programs_norm", None)


def test_a_named_result_is_there_before_its_operation_is_used() -> None:
    def program() -> None:
        import sys

        import tinytorch as tt
        from tinytorch.return_types import topk

        families = "tinytorch.ops.sort.sorting", "tinytorch.ops.linalg.qr"
        print(*(family in sys.modules for family in families))
        print("linalg_qr" in dir(tt.return_types), topk._fields)

    assert run(program) == "True False\nTrue ('values', 'indices')"
    assert inspect.isclass(tt.return_types.linalg_qr_out)


def test_get_overridable_functions_lists_functions_not_yet_used() -> None:
    def program() -> None:
        import tinytorch as tt

        found = tt.overrides.get_overridable_functions()
        print(tt.nn.functional.relu in found[tt.nn.functional], tt.fft.fft in found[tt.fft])

    assert run(program) == "True True"
