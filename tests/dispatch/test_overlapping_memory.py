"""In-place forms and ``out=`` where what is read shares memory with what is written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

Call = Callable[[Any, Any, Any], Any]

REFUSED = "some elements of the input tensor and the written-to tensor refer to a single memory"


def rows(m: Any) -> Any:
    return m.arange(1.0, 17.0).reshape(4, 4)


#: name: a tensor to write to, and one to read, of one memory.
PAIRS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "moved by one": lambda m: (lambda x: (x[1:], x[:-1]))(rows(m).view(-1)),
    "rows moved by one": lambda m: (lambda x: (x[1:], x[:-1]))(rows(m)),
    "moved in a detached tensor": lambda m: (lambda x: (x[1:], x.detach()[:-1]))(rows(m)),
    "transposed": lambda m: (lambda x: (x, x.t()))(rows(m)),
    "itself": lambda m: (lambda x: (x, x))(rows(m)),
    "all of it": lambda m: (lambda x: (x, x.view(4, 4)))(rows(m)),
    "every second": lambda m: (lambda x: (x[::2], x[1::2]))(rows(m).view(-1)),
    "with gaps": lambda m: (lambda x: (x[:8], x[::2]))(rows(m).view(-1)),
    "a row for all": lambda m: (lambda x: (x, x[:1]))(rows(m)),
    "another": lambda m: (rows(m), rows(m)),
}


def own_rows(m: Any, x: Any) -> Any:
    """For each element the number of its row."""
    return m.arange(len(x)).reshape((-1, *(1,) * (x.ndim - 1))).expand(x.shape)


#: name: writes to ``x`` what it makes of ``y``.
WRITERS: dict[str, Call] = {
    "add_": lambda m, x, y: x.add_(y),
    "+=": lambda m, x, y: x.__iadd__(y),
    "pow_": lambda m, x, y: x.pow_(y),
    "eq_": lambda m, x, y: x.eq_(y),
    "logical_and_": lambda m, x, y: x.logical_and_(y),
    "clamp_": lambda m, x, y: x.clamp_(y),
    "lerp_": lambda m, x, y: x.lerp_(y, 0.5),
    "addcmul_": lambda m, x, y: x.addcmul_(y, y),
    "addcdiv_ of one": lambda m, x, y: x.addcdiv_(x.clone(), y),
    "copy_": lambda m, x, y: x.copy_(y),
    "fill_": lambda m, x, y: x.fill_(y.flatten()[0]),
    "masked_fill_": lambda m, x, y: x.masked_fill_(y > 3, 0.0),
    "x[...] =": lambda m, x, y: x.__setitem__(Ellipsis, y),
    "x[1:] =": lambda m, x, y: x.__setitem__(slice(0, y.shape[0]), y),
    "x[indices] =": lambda m, x, y: x.__setitem__(m.arange(len(y)), y),
    "x[mask] =": lambda m, x, y: x.__setitem__(x > 0, y.flatten()[0]),
    "index_add_": lambda m, x, y: x.index_add_(0, m.arange(len(y)), y),
    "index_copy_": lambda m, x, y: x.index_copy_(0, m.arange(len(y)), y),
    "index_put_": lambda m, x, y: x.index_put_((m.arange(len(y)),), y),
    "scatter_": lambda m, x, y: x.scatter_(0, own_rows(m, y), y),
    "scatter_add_": lambda m, x, y: x.scatter_add_(0, own_rows(m, y), y),
    "put_": lambda m, x, y: x.put_(m.arange(y.numel()).reshape(y.shape), y),
    "relu_": lambda m, x, y: x.relu_(),
    "add to": lambda m, x, y: m.add(y, 1, out=x),
    "maximum to": lambda m, x, y: m.maximum(y, y.clone(), out=x),
    "exp to": lambda m, x, y: m.exp(y, out=x),
    "where to": lambda m, x, y: m.where(y > 3, y, y, out=x),
    "ldexp to": lambda m, x, y: m.ldexp(y, m.tensor(1.0), out=x),
    "scatter to": lambda m, x, y: m.scatter(y, 0, own_rows(m, y), y.clone(), out=x),
    "index_reduce to": lambda m, x, y: m.index_reduce(
        y, 0, m.arange(len(y)), y.clone(), "amax", out=x
    ),
    "take_along_dim to": lambda m, x, y: m.take_along_dim(y, own_rows(m, y), 0, out=x),
    "lerp to": lambda m, x, y: m.lerp(y, y.clone(), 0.5, out=x),
    "cat to": lambda m, x, y: m.cat([y], out=x),
    "gather to": lambda m, x, y: m.gather(y, 0, own_rows(m, y), out=x),
    "index_select to": lambda m, x, y: m.index_select(y, 0, m.arange(len(y)), out=x),
}


def answer(m: Any, writer: str, pair: str) -> Any:
    """What is in the memory afterwards, or that the call was refused."""
    x, y = PAIRS[pair](m)
    if x.shape != y.shape and writer.endswith(" to"):
        return "another shape, for which out= is made anew"
    try:
        WRITERS[writer](m, x, y)
    except RuntimeError as error:
        return "refused" if REFUSED in str(error) else "an error of another kind"
    return x.tolist()


@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("writer", WRITERS)
def test_writing_to_overlapping_memory_is_refused_where_pytorch_refuses_it(
    torch: Any, writer: str, pair: str
) -> None:
    ours, theirs = answer(tt, writer, pair), answer(torch, writer, pair)
    if isinstance(ours, str) or isinstance(theirs, str):
        assert ours == theirs
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_overlapping_memory_is_refused_before_anything_is_written() -> None:
    x = rows(tt)
    with pytest.raises(RuntimeError, match=REFUSED):
        x[1:] += x[:-1]
    with pytest.raises(RuntimeError, match=REFUSED):
        x.add_(x.t())
    assert x.tolist() == rows(tt).tolist() and x._version == 0


def test_out_that_overlaps_an_operand_of_addmm_is_refused(torch: Any) -> None:
    for m in (torch, tt):
        x, one = rows(m), m.eye(4)
        with pytest.raises(RuntimeError, match=REFUSED):
            m.addmm(x.t(), one, one, out=x)
        with pytest.raises(RuntimeError, match=REFUSED):
            m.addmv(x.view(-1)[:4], one, one[0], out=x.view(-1)[1:5])


def test_logsigmoid_reads_before_it_writes() -> None:
    x = tt.arange(5.0)
    wanted = tt.nn.functional.logsigmoid(x[:-1]).tolist()
    assert tt.nn.functional.logsigmoid(x[:-1], out=x[1:]).tolist() == wanted


def test_products_read_before_they_write() -> None:
    x = rows(tt)
    x.addmm_(x.t(), tt.eye(4))
    assert x.tolist() == (rows(tt) + rows(tt).t()).tolist()


def test_views_of_one_tensor_are_not_refused_in_inference_mode() -> None:
    with tt.inference_mode():
        x = rows(tt)
        x[2:] += x[:2]
        with pytest.raises(RuntimeError, match=REFUSED):
            x[1:] += x[:-1]
