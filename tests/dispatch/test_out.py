"""``out=``: results written to tensors that exist, of functions made of other operations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tests.oracles import assert_all_close, flatten, host, libraries
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import OPS

ROWS = np.array([[3.0, -1.0, 2.5, 0.5], [4.0, 6.0, -5.0, 1.5], [0.25, 2.0, 8.0, -7.0]])
INDEX = np.array([[0, 2, 1, 0]])

CALLS: dict[str, Call] = {
    "aminmax": lambda m, x, i, **k: m.aminmax(x, dim=1, **k),
    "argsort": lambda m, x, i, **k: m.argsort(x, stable=True, dim=1, **k),
    "bucketize": lambda m, x, i, **k: m.bucketize(x, m.sort(x[0]).values, **k),
    "column_stack": lambda m, x, i, **k: m.column_stack((x, x), **k),
    "cummax": lambda m, x, i, **k: m.cummax(x, 1, **k),
    "cummin": lambda m, x, i, **k: m.cummin(x, 0, **k),
    "diag": lambda m, x, i, **k: m.diag(x, 1, **k),
    "diagonal_copy": lambda m, x, i, **k: m.diagonal_copy(x, **k),
    "diff": lambda m, x, i, **k: m.diff(x, **k),
    "dstack": lambda m, x, i, **k: m.dstack((x, x), **k),
    "float_power": lambda m, x, i, **k: m.float_power(x, 2, **k),
    "hstack": lambda m, x, i, **k: m.hstack((x, x), **k),
    "kthvalue": lambda m, x, i, **k: m.kthvalue(x, 2, **k),
    "ldexp": lambda m, x, i, **k: m.ldexp(x, x[0], **k),
    "log_softmax": lambda m, x, i, **k: m.log_softmax(x, 1, **k),
    "masked_select": lambda m, x, i, **k: m.masked_select(x, x > 0, **k),
    "max along": lambda m, x, i, **k: m.max(x, 1, **k),
    "max of two": lambda m, x, i, **k: m.max(x, -x, **k),
    "median": lambda m, x, i, **k: m.median(x, 1, **k),
    "min along": lambda m, x, i, **k: m.min(x, 0, keepdim=True, **k),
    "mode": lambda m, x, i, **k: m.mode(x, 0, **k),
    "msort": lambda m, x, i, **k: m.msort(x, **k),
    "nanmedian": lambda m, x, i, **k: m.nanmedian(x, 1, **k),
    "nanquantile": lambda m, x, i, **k: m.nanquantile(x, 0.3, dim=1, **k),
    "norm": lambda m, x, i, **k: m.norm(x, 2, dim=1, **k),
    "permute_copy": lambda m, x, i, **k: m.permute_copy(x, (1, 0), **k),
    "quantile": lambda m, x, i, **k: m.quantile(x, 0.3, dim=1, **k),
    "renorm": lambda m, x, i, **k: m.renorm(x, 2, 0, 1.0, **k),
    "scatter": lambda m, x, i, **k: m.scatter(x, 0, i, -x, **k),
    "scatter_reduce": lambda m, x, i, **k: m.scatter_reduce(x, 0, i, -x, "amin", **k),
    "searchsorted": lambda m, x, i, **k: m.searchsorted(m.sort(x).values, x, **k),
    "slice_scatter": lambda m, x, i, **k: m.slice_scatter(x, x[:1], 0, 1, 2, **k),
    "softmax": lambda m, x, i, **k: m.softmax(x, 1, **k),
    "sort": lambda m, x, i, **k: m.sort(x, 1, descending=True, **k),
    "std": lambda m, x, i, **k: m.std(x, 1, **k),
    "take_along_dim": lambda m, x, i, **k: m.take_along_dim(x, i, 0, **k),
    "topk": lambda m, x, i, **k: m.topk(x, 2, **k),
    "unsqueeze_copy": lambda m, x, i, **k: m.unsqueeze_copy(x, 0, **k),
    "var": lambda m, x, i, **k: m.var(x, 0, correction=0, **k),
    "vstack": lambda m, x, i, **k: m.vstack((x, x), **k),
}


def arguments(library: Any) -> tuple[Any, Any]:
    return library.tensor(ROWS.copy()), library.tensor(INDEX.copy())


def empties(library: Any, results: list[Any]) -> Any:
    """An empty tensor for each result, of the result's dtype."""
    outs = [library.tensor(np.zeros(0, host(r).dtype)) for r in results]
    return outs[0] if len(outs) == 1 else tuple(outs)


@pytest.mark.parametrize("name", CALLS)
def test_results_are_written_to_out(torch: Any, name: str) -> None:
    written = []
    for library in (tt, torch):
        call = CALLS[name]
        plain = call(library, *arguments(library))
        out = empties(library, flatten(plain))
        result = call(library, *arguments(library), out=out)
        assert_all_close(out, plain)
        assert all(a is b for a, b in zip(flatten(result), flatten(out), strict=True))
        written.append(out)
    assert_all_close(*written)


#: Functions whose ``out=`` may or may not have another dtype than the result.
OTHERS: dict[str, Call] = {
    **CALLS,
    "sin": lambda m, x, i, **k: m.sin(x, **k),
    "abs": lambda m, x, i, **k: m.abs(x, **k),
    "add": lambda m, x, i, **k: m.add(x, x, **k),
    "where": lambda m, x, i, **k: m.where(x > 0, x, -x, **k),
    "gather": lambda m, x, i, **k: m.gather(x, 0, i, **k),
    "tril": lambda m, x, i, **k: m.tril(x, **k),
    "triu": lambda m, x, i, **k: m.triu(x, **k),
    "take": lambda m, x, i, **k: m.take(x, i, **k),
    "mm": lambda m, x, i, **k: m.mm(x, x.t(), **k),
    "amax": lambda m, x, i, **k: m.amax(x, 1, **k),
    "argmax": lambda m, x, i, **k: m.argmax(x, 1, **k),
    "mean": lambda m, x, i, **k: m.mean(x, 1, **k),
    "cat": lambda m, x, i, **k: m.cat((x, x), **k),
    "linalg.inv": lambda m, x, i, **k: m.linalg.inv(x[:, :3], **k),
    "isposinf": lambda m, x, i, **k: m.isposinf(x, **k),
    "eq": lambda m, x, i, **k: m.eq(x, x, **k),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex64"])
def test_a_result_of_another_dtype_is_cast_or_refused_as_in_torch(
    torch: Any, name: str, dtype: str
) -> None:
    if name in ("std", "var") and dtype == "complex64":
        pytest.skip("PyTorch lacks the kernel that computes it in that dtype")
    written = []
    for library in (torch, tt):
        call = OTHERS[name]
        results = flatten(call(library, *arguments(library)))
        outs = [library.empty(0, dtype=getattr(library, dtype)) for _ in results]
        out = outs[0] if len(outs) == 1 else tuple(outs)
        if written == ["refused"]:
            joined = name in ("cat", "column_stack", "dstack", "hstack", "vstack")
            with pytest.raises(
                TypeError if joined and dtype == "int64" else RuntimeError,
                match="dtype|can't be cast",
            ):
                call(library, *arguments(library), out=out)
            return
        try:
            call(library, *arguments(library), out=out)
        except (RuntimeError, TypeError):
            written.append("refused")
        else:
            written.append(out)
    for ours, theirs in zip(*map(flatten, written), strict=True):  # some compute in the wider dtype
        assert host(ours).dtype == host(theirs).dtype
        np.testing.assert_allclose(host(ours), host(theirs), rtol=1e-4)


@pytest.mark.parametrize("name", ["sin", "add", "where", "gather", "tril", "mm", "cat", "amax"])
def test_a_tensor_with_elements_is_resized_with_a_warning(torch: Any, name: str) -> None:
    for library in (torch, tt):
        x, index = arguments(library)
        wanted = OTHERS[name](library, x, index)
        out = library.zeros(5, dtype=x.dtype)
        with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
            OTHERS[name](library, x, index, out=out)
        assert_all_close(out, wanted)


def test_created_tensors_resize_without_a_warning() -> None:
    out = tt.zeros(5)
    assert tt.ones(2, 3, out=out) is out and out.shape == (2, 3)


@pytest.mark.parametrize("name", CALLS)
def test_a_result_that_takes_part_in_a_graph_is_refused(name: str) -> None:
    x, index = arguments(tt)
    call = CALLS[name]
    plain = flatten(call(tt, x, index))
    x.requires_grad_()
    if not plain[0].is_floating_point():
        call(tt, x, index, out=empties(tt, plain))  # indices have no gradient
        return
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        call(tt, x, index, out=empties(tt, plain))


@pytest.mark.parametrize("name", [*CALLS, *OTHERS])
def test_a_tensor_that_requires_grad_is_written_only_without_recording(name: str) -> None:
    call = {**OTHERS, **CALLS}[name]
    plain = flatten(call(tt, *arguments(tt)))
    if not plain[0].is_floating_point():
        pytest.skip("the result cannot require grad")
    out = empties(tt, plain)
    for tensor in flatten(out):
        if tensor.is_floating_point():
            tensor.requires_grad_()
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        call(tt, *arguments(tt), out=out)
    with tt.no_grad():
        call(tt, *arguments(tt), out=out)


def test_comparisons_of_what_requires_grad_may_be_written() -> None:
    x = tt.tensor([1.0, -2.0], requires_grad=True)
    out = tt.zeros(2, dtype=tt.bool)
    assert tt.gt(x, 0, out=out) is out
    assert out.tolist() == [True, False]
    assert tt.argmax(x, 0, out=tt.zeros((), dtype=tt.int64)).item() == 0


ASKED_OF_GRAPHS: list[Call] = [
    lambda L, a, b, o: L.cat([a, b], out=o),
    lambda L, a, b, o: L.cat([b, a], out=o),
    lambda L, a, b: L.stack([a, b], out=L.empty(2, 2)),
    lambda L, a, b, o: L.hstack([a, b], out=o),
    lambda L, a, b, o: L.normal(b, a, out=o),
    lambda L, a, b, o: L.normal(a, b, out=o),
    lambda L, b, o: L.normal(b, 1.0, out=o),
    lambda L, b: L.normal(0.0, 1.0, (2,), out=b),
    lambda L, b: L.zeros(2, out=b),
    lambda L, b: L.arange(2.0, out=b),
    lambda L, b: L.ones(2, out=b),
    lambda L, b: L.rand(2, out=b),
    lambda L: L.eye(2, out=L.ones(2, 2, requires_grad=True)),
    lambda L, a, b: L.eq(a, 1, out=b),
    lambda L, b: L.eq(b, 1, out=L.empty(2, dtype=L.bool)),
    lambda L, a, b: L.logical_and(b, a, out=b),
    lambda L, a, b: L.special.bessel_j0(a, out=b),
    lambda L, a, b: L.sign(a, out=b),
    lambda L, a, b, o: L.where(a > 0, a, b, out=o),
    lambda L, a, b: L.heaviside(a, a, out=b),
    lambda L, a, b: L.complex(a, b, out=L.empty(2, dtype=L.complex64)),
    lambda L, a, b: L.bucketize(b, a, out=L.empty(2, dtype=L.int64)),
    lambda L, a, b: L.add(a, a, out=b),
    lambda L, b, o: L.nn.functional.normalize(b, dim=0, out=o),
    lambda L, a, b: L.nn.functional.normalize(a, dim=0, out=b),
]


@pytest.mark.parametrize("call", ASKED_OF_GRAPHS, ids=words)
def test_out_that_requires_grad_is_refused_where_pytorch_refuses_it(torch: Any, call: Call) -> None:
    assert _refusal(tt, call) == _refusal(torch, call)


def _refusal(library: Any, call: Call) -> str:
    names = {"L": library, "a": library.ones(2), "o": library.empty(0)}
    names["b"] = library.ones(2, requires_grad=True)
    try:
        result = call_with_names(call, names)
    except RuntimeError as error:
        return str(error).partition("(): ")[2].replace("...", "")[:70]
    return f"{result.requires_grad} {result.grad_fn}"


def test_out_must_be_as_many_tensors_as_results() -> None:
    with pytest.raises(TypeError, match="argument 'out' must be a tuple of 2 Tensors"):
        tt.sort(tt.ones(2), out=tt.zeros(2))  # type: ignore[call-overload]
    with pytest.raises(RuntimeError, match="result type Double can't be cast"):
        tt.std(tt.ones(2, dtype=tt.float64), out=tt.zeros((), dtype=tt.int64))


@pytest.mark.parametrize(
    ("given", "out", "text"),
    [
        ("complex64", "complex64", None),
        ("complex64", "float64", None),
        ("complex64", "int64", "result type Float can't be cast to the desired output type Long"),
        ("float32", "float64", "to have dtype"),
    ],
)
def test_magnitudes_go_into_any_dtype_that_holds_them(
    given: str, out: str, text: str | None
) -> None:
    z = tt.tensor([3 + 4j, 1j] if given == "complex64" else [-5.0, 1.0])
    target = tt.zeros(2, dtype=getattr(tt, out))
    if text is None:
        assert tt.abs(z, out=target) is target and target.tolist() == [5, 1]
        return
    with pytest.raises(RuntimeError, match=text):
        tt.abs(z, out=target)
    assert target.tolist() == [0, 0]


def test_powers_of_matrices_go_into_wider_floats() -> None:
    matrix, target = tt.tensor([[1.0, 1.0], [0.0, 1.0]]), tt.zeros(2, 2, dtype=tt.float64)
    for n in (0, 1, 3, -1):
        assert tt.linalg.matrix_power(matrix, n, out=target) is target
        assert target.tolist() == [[1.0, n], [0.0, 1.0]]
    with pytest.raises(RuntimeError, match="to be safely castable from Float dtype"):
        tt.linalg.matrix_power(matrix, 2, out=target.int())


def _in_place() -> list[str]:
    """The in-place forms of operations of several tensors that broadcast."""
    registry.load_all()
    return sorted(
        name
        for name, op in OPS.items()
        if op.inplace and op.public and op.is_elementwise and len(op.plan.operands) > 1
    )


@pytest.mark.torch
@pytest.mark.parametrize("name", ["copy", *_in_place()])
def test_an_in_place_result_has_the_shape_of_its_target(name: str) -> None:
    for dtype in ("float32", "int64", "bfloat16"):
        for shape in ((1, 2), (2, 2), (3, 1, 2), (2,), (1,)):
            for count in (1, 2):
                outcomes = []
                for library in libraries():
                    x = library.ones(2, dtype=getattr(library, dtype))
                    others = [library.ones(shape, dtype=x.dtype)] * count
                    try:
                        outcomes.append(getattr(x, f"{name}_")(*others).shape)
                    except (RuntimeError, TypeError):
                        outcomes.append(None)
                if outcomes[1] is None and shape in ((2,), (1,)):
                    continue  # refused for another reason
                assert outcomes[0] == outcomes[1], (dtype, shape, count)


@pytest.mark.torch
@pytest.mark.parametrize("call", [
    lambda L, t, u: L.add(t, u, out=t), lambda L, t, u: L.addcmul(t, u, u, out=t),
    lambda L, t, u: L.maximum(t, u, out=t), lambda L, t, u: L.where(u > 0, t, u, out=t),
    lambda L, t, u: L.div(u, t, out=t), lambda L, t, u: L.eq(t, u, out=t),
    lambda L, t, u: L.clamp(t, u, out=t), lambda L, t, u: L.atan2(u, t, out=t),
    lambda L, t, u: L.max(t, u, out=t), lambda L, t, u: L.min(u, t, out=t),
    lambda L, t, u: L.logical_or(t, u, out=t), lambda L, t, u: L.lerp(t, u, u, out=t),
    lambda L, t, u: L.lerp(u, u, t, out=t), lambda L, t, u: L.heaviside(t, u, out=t),
    lambda L, t, u: L.ldexp(t, u, out=t), lambda L, t, u: L.kron(t, u, out=t),
    lambda L, t, u: L.outer(t, t, out=t), lambda L, t, u: L.special.gammainc(t, u, out=t),
    lambda L, t, u: L.masked_select(u, u > 0, out=u), lambda L, t, u: L.float_power(t, u, out=t),
    lambda L, t, u: L.where(t > 0, t, u, out=t), lambda L, t, u: L.logaddexp(t, u, out=t),
], ids=words)  # fmt: skip
def test_out_that_is_an_operand_is_not_resized(call: Call) -> None:
    for library in libraries():
        t, u = library.ones(2), library.ones(2, 2)
        with pytest.raises(RuntimeError):
            call(library, t, u)
        if library is tt:  # PyTorch resizes it for kron before it raises
            assert t.tolist() == [1, 1]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("call", [
    lambda L, t: L.logsumexp(t, 0, out=t), lambda L, t: L.cumsum(t, 0, out=t),
    lambda L, t: L.softmax(t, 0, out=t), lambda L, t: L.amax(t, 0, out=t),
    lambda L, t: L.diff(t, n=0, out=t), lambda L, t: L.kron(t, L.ones(1), out=t),
    lambda L, t: L.inner(t, L.tensor(2.0), out=t), lambda L, t: L.quantile(t, t[0], out=t),
], ids=words)  # fmt: skip
def test_reductions_may_write_to_what_they_read(call: Call) -> None:
    results = [call(library, library.ones(2)) for library in libraries()]
    assert results[0].shape == results[1].shape


WRITTEN: list[Call] = [
    lambda L, b, v: b.__setitem__(L.tensor([1]), v), lambda b, v: b.__setitem__([1], v),
    lambda L, b, v: b.__setitem__((L.tensor([1]),), v), lambda b, v: b.__setitem__(1, v),
    lambda L, b, v: b.__setitem__(L.tensor([False, True, False]), v),
    lambda L, b, v: b.__setitem__(L.tensor([False, True, True]), v.expand(2)),
    lambda L, b, v: b.__setitem__(L.tensor(1), v), lambda b, v: b.__setitem__(slice(1, 2), v),
    lambda L, b, v: b.__setitem__(L.tensor([1]), v[0]), lambda b, v: b.__setitem__(..., v),
    lambda L, b, v: b.index_put_((L.tensor([1]),), v), lambda b, v: b.copy_(v),
    lambda L, b, v: b.scatter_(0, L.tensor([1]), v), lambda b, v: b.fill_(v[0]),
    lambda L, b, v: b.scatter_add_(0, L.tensor([1]), v), lambda b, v: b.add_(v),
    lambda L, b, v: b.index_copy_(0, L.tensor([1]), v), lambda b, v: b.mul_(v),
    lambda L, b, v: b.index_add_(0, L.tensor([1]), v), lambda b, v: b.eq_(v),
    lambda L, b, v: b.put_(L.tensor([1]), v), lambda b, v: b.div_(v), lambda b, v: b.pow_(v),
    lambda L, b, v: L.select_scatter(b, v[0], 0, 1), lambda b, v: b.clamp_(min=v),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("call", WRITTEN, ids=words)
def test_written_values_are_cast_or_refused_as_in_pytorch(call: Call) -> None:
    names = ("bool", "uint8", "int64", "bfloat16", "float32", "float64")
    for own, given in itertools.product(names, repeat=2):
        outcomes: list[Any] = []
        for library in libraries():
            b = library.tensor([0, 1, 2]).to(getattr(library, own))
            v = library.tensor([5.7]).to(getattr(library, given))
            try:
                result = call_with_names(call, {"L": library, "b": b, "v": v})
                outcomes.append((b if result is None else result).double().tolist())
            except (RuntimeError, NotImplementedError):
                outcomes.append(None)
        assert outcomes[0] == outcomes[1], (own, given)
