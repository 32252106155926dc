"""The stand-in agrees with a real CuPy: with what was recorded of one, and with one installed here.

``strictcupy/contract.py`` says how the record is made. A line of it that differs on purpose is in
``STRICTER`` with the reason; a line that differs in its words alone is in ``OTHER_WORDS``.
"""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest
import strictcupy
from strictcupy import MANIFEST, contract, record_syncs
from strictcupy.contract import Library, Outcome

STRICTER = {
    "x[1.5]": "CuPy truncates a float index; NumPy, and so a backend-neutral op, refuses it",
    "x['a']": "the same line of CuPy",
    "xp.is_available()": "the recording machine had no GPU",
    "n ** -1": "CuPy computes what NumPy, and so a backend-neutral op, refuses",
    "at(xp.add, x, j, np.ones(3))": "an op must not hand CuPy a host array, which it takes here",
    "xp.zeros_like(np.ones(2))": "the same",
    "xp.einsum('ij,j', x, np.ones(3))": "the same",
    "xp.copyto(x.copy(), np.ones(3))": "CuPy refuses the host array's shape, not the array",
    "xp.trapz(x)": "not modelled: NumPy 2 has no such name",
    "xp.stack([x, x]).transpose(2, 1, 0).sum(0).strides": "CuPy sums an array in Fortran order by "
    "CUB, which writes in that order; the stand-in row by row, as CuPy does without CUB",
    "xp.fromiter([1, 2], 'f8')": "not modelled: it reads from the host",
}
OTHER_WORDS = {
    "x.item(0)", "x @ 2", "np.ones(3) @ x.T", "xp.sum(x, axis=0, out=np.ones(3))",
    "xp.sum([1, 2])", "xp.sum(2.0)", "xp.moveaxis(x, 0, 5)", "xp.broadcast_to(x, (5, 5))",
    "xp.split(x, 4)", "xp.zeros(-1)", "xp.zeros_like([1, 2])", "xp.matmul(x, np.ones((3, 1)))",
    "xp.matmul(x, 2)", "xp.dot(x, 2)", "xp.dot(v, [1, 2, 3])",
    # Lines that only a device reaches.
    "assign(x, 0, f)", "assign(x, ..., x.T)", "s.nonzero()", "x == 'a'", "x == [0, 1, 2]",
    "x < None", "b - b", "-b", "x + [1, 2, 3]", "x + None", "x + 'a'", "x + (1, 2, 3)",
    "x + x[:, :2]", "at(xp.add, b, j % 2, True)", "at(xp.add, u, j % 2, 1)",
    "at(xp.add, c, j % 2, 1)", "at(xp.subtract, x, j % 2, 1)", "at(xp.minimum, h, j % 2, 2)",
    "xp.max(z)", "xp.max(z, axis=0)", "xp.argmax(z)", "xp.concatenate([x, v])",
    "xp.concatenate([])", "xp.stack([x, v])", "xp.copyto(n.copy(), x)", "xp.sort(s)",
}  # fmt: skip
#: Lines whose numbers mean nothing: what a solver leaves where it failed.
UNSAID = {"xp.linalg.inv(S)", "xp.linalg.solve(S, v)"}
# CuPy has complex loops that mean nothing mathematically and that NumPy lacks.
COMPLEX_LOOPS = {"arctan2", "atan2", "copysign", "hypot", "i0", "nextafter"}

RECORD = json.loads(contract.RECORD.read_text(encoding="utf-8"))
STAND_IN = Library(strictcupy, strictcupy.cupyx, strictcupy.asarray)


def comparable(case: str, outcome: Outcome) -> Outcome:
    """Return what must agree: not the words where others say the same, not the waits.

    Nor the words of a line that only a GPU reaches while the record was made without one.
    """
    unheard = case not in RECORD["cases"]
    left_out = {"waits", "text"} if unheard or case in OTHER_WORDS else {"waits"}
    if case in UNSAID:
        left_out.add("values")
    return {key: value for key, value in outcome.items() if key not in left_out}


def test_the_record_and_the_manifest_are_of_one_cupy() -> None:
    assert RECORD["cupy"] == MANIFEST["cupy"] == strictcupy.__version__


def test_the_lists_of_exceptions_name_recorded_cases_only() -> None:
    assert set(STRICTER) | OTHER_WORDS | UNSAID <= set(contract.cases())


@pytest.mark.parametrize("case", RECORD["cases"])
def test_the_stand_in_has_the_recorded_outcome_of_each_case(case: str) -> None:
    if case in STRICTER:
        assert STAND_IN.evaluate(case) != RECORD["cases"][case], "no longer differs"
        return
    expected = comparable(case, RECORD["cases"][case])
    assert comparable(case, STAND_IN.evaluate(case)) == expected


def stand_in_waits(case: str) -> bool:
    """Whether the host waits in a line; copies to the device are not waits."""
    names = STAND_IN.names()
    with record_syncs() as log:
        STAND_IN.run(case, names)
    return any(entry.kind != "upload" for entry in log)


@pytest.mark.skipif(not RECORD["device"], reason="recorded without a GPU: what waits is unknown")
def test_the_stand_in_waits_where_cupy_was_recorded_to_wait() -> None:
    # CuPy reads the array back to print it in an error, and does not count waits for a stream.
    recorded = {
        case: outcome["waits"]
        for case, outcome in RECORD["cases"].items()
        if "error" not in outcome and "synchronize" not in case
    }
    assert {case: stand_in_waits(case) for case in recorded} == recorded


def by_operands(table: dict[str, str]) -> dict[str, str]:
    return {key: result for result, keys in table.items() for key in keys.split()}


@pytest.mark.parametrize("name", contract.ufunc_names())
def test_ufunc_result_dtypes_are_the_recorded_ones(name: str) -> None:
    by_calling = contract.dtypes_by_calling(strictcupy)
    expected = by_operands(RECORD["ufuncs"][name])
    actual = {key: by_calling(name, tuple(key.split(","))) for key in expected}
    if name in COMPLEX_LOOPS:
        expected = {key: dtype for key, dtype in expected.items() if dtype not in ("F", "D")}
        actual = {key: actual[key] for key in expected}
    assert actual == expected


# Where CuPy imports, with a driver or without: the record and the manifest still hold.


@pytest.fixture(scope="module")
def installed() -> Library:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    library = contract.real_library()
    if library.xp.__version__ != RECORD["cupy"]:
        pytest.skip(f"CuPy {library.xp.__version__} is installed, the record is of another")
    return library


# A Stream that could not be made complains again when it is deleted.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_installed_cupy_has_the_outcomes_of_the_stand_in(installed: Library) -> None:
    differing = {}
    for case in contract.cases():
        outcome = installed.evaluate(case)
        if contract.reached_the_device(outcome) or case in STRICTER:
            continue
        expected = STAND_IN.evaluate(case)
        if comparable(case, outcome) != comparable(case, expected):
            differing[case] = (outcome, expected)
    assert not differing, in_lines(differing)


def in_lines(differing: dict[str, tuple[Outcome, Outcome]]) -> str:
    """The cases, one a line, then what CuPy and the stand-in make of each: a report may be cut."""
    details = [f"{case}: {cupys} for {ours}" for case, (cupys, ours) in differing.items()]
    return "\n".join([f"{len(differing)} differ:", *differing, *details])


def test_the_inverse_of_a_matrix_is_in_its_memory_order() -> None:
    strides = {"tuple": [{"int": "8"}, {"int": "24"}]}  # of CuPy 14.2 on an H200
    assert STAND_IN.evaluate("xp.linalg.inv(A.T).strides") == strides
    assert STAND_IN.evaluate("xp.linalg.inv(A).strides") == {"tuple": strides["tuple"][::-1]}


def test_installed_cupy_has_the_recorded_ufunc_dtypes(installed: Library) -> None:
    on_gpu = installed.xp.is_available()
    ask = contract.dtypes_by_calling if on_gpu else contract.dtypes_by_asking
    assert contract.ufunc_dtypes(contract.ufunc_names(), ask(installed.xp)) == RECORD["ufuncs"]


def test_installed_cupy_gives_the_manifest(installed: Library) -> None:
    from strictcupy import make_manifest

    for library in ("cupy.cuda.cufft", "cupyx.cusolver"):  # else what they refuse is not known
        try:
            importlib.import_module(library)
        except ImportError as error:
            pytest.skip(f"CUDA's libraries are not all here: {error}")
    current: Any = json.loads(json.dumps(make_manifest.manifest()))
    for section in ("dtypes", "random.Generator", "random.RandomState"):
        assert current[section] == MANIFEST[section]
    # The others depend on NumPy's names and Python's.
    for part in ("methods", "attributes"):
        assert current["ndarray"][part] == MANIFEST["ndarray"][part]
    on_gpu = installed.xp.is_available()
    for namespace, entries in MANIFEST["namespaces"].items():
        found = current["namespaces"][namespace]["names"]
        assert settled(found, on_gpu) == settled(entries["names"], on_gpu)


def settled(names: dict[str, Any], on_gpu: bool) -> dict[str, Any]:
    """The names without submodules, which are there once something has imported them.

    CuPy's ufuncs have loops for bfloat16, ``E``, where the package ``ml_dtypes`` is installed. On
    a GPU other calls get far enough to refuse an argument than where the manifest was written.
    """
    return {
        name: {
            **entry,
            "types": [types for types in entry.get("types", []) if "E" not in types],
            "refused": {} if on_gpu else entry.get("refused", {}),
        }
        for name, entry in names.items()
        if entry["kind"] != "module"
    }
