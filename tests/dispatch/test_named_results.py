"""Results with names, as ``values, indices``: tuples written and pickled as torch's are."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words

CALLS = [
    ("max", lambda m, x: m.max(x, 1)),
    ("sort", lambda m, x: x.sort()),
    ("topk", lambda m, x: m.topk(x, 2)),
    ("cummax", lambda m, x: x.cummax(0)),
    ("frexp", lambda m, x: m.frexp(x)),
    ("aminmax", lambda m, x: m.aminmax(x)),
    ("linalg_slogdet", lambda m, x: m.linalg.slogdet(x)),
    ("slogdet", lambda m, x: m.slogdet(x)),
    ("linalg_eigh", lambda m, x: m.linalg.eigh(x @ x.T)),
]


def square(module: Any) -> Any:
    return module.tensor([[3.0, 0.5, 1.0], [0.25, 2.0, -1.0], [0.0, -0.5, 4.0]])


def test_every_field_begins_a_line() -> None:
    assert repr(tt.tensor([[1.0, 5.0], [7.0, 3.0]]).max(1)) == (
        "tinytorch.return_types.max(\nvalues=tensor([5., 7.]),\nindices=tensor([1, 0]))"
    )


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_text_is_the_one_torch_prints(torch: Any, name: str, call: Any) -> None:
    ours, theirs = repr(call(tt, square(tt))), repr(call(torch, square(torch)))
    assert name in theirs
    if name != "linalg_eigh":  # the sign of an eigenvector is LAPACK's choice
        assert ours.replace("tinytorch.", "torch.") == theirs
    else:
        assert ours.splitlines()[:2] == theirs.replace("torch.", "tinytorch.").splitlines()[:2]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_result_survives_pickling_with_its_type(name: str, call: Any) -> None:
    result = call(tt, square(tt))
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result) is getattr(tt.return_types, name)
    assert all(tt.equal(a, b) for a, b in zip(again, result, strict=True))


#: Of a library ``L`` and a result ``r`` of its ``max``.
USES: list[Call] = [
    lambda r: type(r)(r),
    lambda r: type(r)([3, 4]).indices,
    lambda r: type(r)(n for n in (1, 2)).values,
    lambda r: type(r)((1,)),
    lambda r: type(r)((1, 2, 3)),
    lambda r: type(r)(1),
    lambda r: type(r)(),
    lambda r: (r.n_fields, r.n_sequence_fields),
    lambda r: type(r).n_unnamed_fields,
    lambda L: L.return_types.linalg_svd((1, 2, 3))[2],
    lambda r: r + (1,),
    lambda r: r[:1],
    lambda L: L.return_types.linalg_svd(1, 2),
    lambda r: (len(r), r[-1], isinstance(r, tuple)),
]


@pytest.mark.parametrize("use", USES, ids=words)
def test_named_results_are_constructed_and_compared_as_pytorchs(torch: Any, use: Call) -> None:
    found = []
    for library in (tt, torch):
        result = library.max(library.tensor([1.0, 2.0]), 0)
        try:
            found.append(repr(call_with_names(use, {"L": library, "r": result})))
        except TypeError as error:
            found.append(str(error))
    assert found[0].replace("tinytorch.", "torch.") == found[1]


def test_a_field_is_not_written_to() -> None:
    result = tt.max(tt.tensor([1.0, 2.0]), 0)
    with pytest.raises(AttributeError):
        result.values = tt.zeros(())  # type: ignore[misc]


@pytest.mark.parametrize("name", ["max", "sort", "kthvalue", "linalg_eigh", "frexp"])
def test_results_of_out_have_pytorchs_type_name(torch: Any, name: str) -> None:
    texts = []
    for library in (tt, torch):
        x = square(library) + square(library).T
        call = getattr(library.linalg, "eigh") if name == "linalg_eigh" else getattr(library, name)
        given = {"kthvalue": (x, 1), "max": (x, 0)}.get(name, (x,))
        plain = call(*given)
        out = tuple(library.empty(0, dtype=part.dtype) for part in plain)
        written = call(*given, out=out)
        assert written[0] is out[0] and written[1] is out[1]
        assert type(plain) is getattr(library.return_types, name)
        assert type(written) is getattr(library.return_types, f"{name}_out")
        texts.append(repr(written).split("(")[0].rpartition(".")[2])
    assert texts[0] == texts[1] == f"{name}_out"


def test_results_of_out_survive_pickling() -> None:
    x = square(tt)
    out = (tt.empty(0), tt.empty(0, dtype=tt.int64))
    written = tt.max(x, 0, out=out)
    again = pickle.loads(pickle.dumps(written))
    assert type(again) is type(written) and tt.equal(again.indices, out[1])
