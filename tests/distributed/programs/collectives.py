"""Every collective on every rank against what NumPy says of all ranks' numbers.

Runs on any number of ranks from 2 on, under PyTorch's gloo as well.
"""

import warnings

import numpy as np
import torch
import torch.distributed as dist

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
RANK, SIZE = dist.get_rank(), dist.get_world_size()
Op = dist.ReduceOp
DTYPES = {
    torch.float32: np.float32, torch.float64: np.float64, torch.float16: np.float16,
    torch.int32: np.int32, torch.int64: np.int64, torch.uint8: np.uint8, torch.int8: np.int8,
    torch.bool: np.bool_, torch.complex64: np.complex64, torch.complex128: np.complex128,
}  # fmt: skip


def numbers(rank, dtype, shape=(3, 4)):
    """A rank's own numbers; small and whole, so that sums are exact in every dtype."""
    made = np.random.default_rng(rank).integers(0, 4, shape)
    return (made * 1j if dtype.kind == "c" else made).astype(dtype)


def all_numbers(dtype, shape=(3, 4)):
    return [numbers(rank, dtype, shape) for rank in range(SIZE)]


def equal(got, expected):
    got = got.numpy() if isinstance(got, torch.Tensor) else got
    assert got.dtype == expected.dtype, (got.dtype, expected.dtype)
    np.testing.assert_array_equal(got, expected)


def raises(kind, text, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"{function.__name__} raised no {kind.__name__}: {text}")


REDUCTIONS = {
    Op.SUM: np.add, Op.PRODUCT: np.multiply, Op.MIN: np.minimum, Op.MAX: np.maximum,
    Op.BAND: np.bitwise_and, Op.BOR: np.bitwise_or, Op.BXOR: np.bitwise_xor,
}  # fmt: skip


def test_all_reduce():
    for numpys in DTYPES.values():
        kind = np.dtype(numpys).kind
        for op, function in REDUCTIONS.items():
            x = torch.from_numpy(numbers(RANK, np.dtype(numpys)))
            if kind == "c" and op is not Op.SUM:
                raises(ValueError, "on complex tensors", dist.all_reduce, x, op)
            elif kind == "f" and op in (Op.BAND, Op.BOR, Op.BXOR):
                raises(RuntimeError, "with non-integral dtype", dist.all_reduce, x, op)
            else:
                dist.all_reduce(x, op)
                equal(x, function.reduce(all_numbers(np.dtype(numpys)), dtype=numpys))
        x = torch.from_numpy(numbers(RANK, np.dtype(numpys)))
        if kind in "fc":
            dist.all_reduce(x, Op.AVG)
            expected = (np.sum(all_numbers(np.dtype(numpys)), 0) / SIZE).astype(numpys)
            np.testing.assert_allclose(
                x.numpy(), expected, rtol=1e-3 if numpys is np.float16 else 1e-6
            )
        else:
            raises(RuntimeError, "can't be cast to the desired output type",
                   dist.all_reduce, x, Op.AVG)  # fmt: skip


def test_strides():
    whole = torch.from_numpy(numbers(RANK, np.dtype(np.float32), (4, 3)).T.copy()).t()
    dist.broadcast(whole, SIZE - 1)
    equal(whole, numbers(SIZE - 1, np.dtype(np.float32), (4, 3)))
    base = torch.zeros(4, 6)
    part = base[:, ::2]
    part.copy_(torch.from_numpy(numbers(RANK, np.dtype(np.float32), (4, 3))))
    dist.all_reduce(part)
    equal(base[:, ::2], np.sum(all_numbers(np.dtype(np.float32), (4, 3)), 0))
    assert not base[:, 1::2].any()


def test_broadcast_and_reduce():
    for numpys in DTYPES.values():
        x = torch.from_numpy(numbers(RANK, np.dtype(numpys)))
        dist.broadcast(x, src=1)
        equal(x, numbers(1, np.dtype(numpys)))
    x = torch.from_numpy(numbers(RANK, np.dtype(np.int64)))
    dist.reduce(x, 1, Op.MAX)
    if RANK == 1:
        equal(x, np.maximum.reduce(all_numbers(np.dtype(np.int64))))


def test_gathers():
    x = torch.from_numpy(numbers(RANK, np.dtype(np.float32)))
    arrays = all_numbers(np.dtype(np.float32))
    parts = [torch.zeros(3, 4) for _ in range(SIZE)]
    parts[0] = torch.zeros(4, 3).t()
    dist.all_gather(parts, x)
    for part, expected in zip(parts, arrays):
        equal(part, expected)
    whole = torch.zeros(3 * SIZE, 4)
    dist.all_gather_into_tensor(whole, x)
    equal(whole, np.concatenate(arrays))
    parts = [torch.zeros(3, 4) for _ in range(SIZE)] if RANK == 0 else None
    dist.gather(x, parts, dst=0)
    for part, expected in zip(parts or [], arrays):
        equal(part, expected)
    own = torch.zeros(3, 4)
    dist.scatter(own, [torch.from_numpy(e + 1) for e in arrays] if RANK == 1 else None, src=1)
    equal(own, arrays[RANK] + 1)


def test_reduce_scatter():
    give = [numbers(10 * RANK + to, np.dtype(np.float32)) for to in range(SIZE)]
    expected = sum(numbers(10 * of + RANK, np.dtype(np.float32)) for of in range(SIZE))
    out = torch.zeros(3, 4)
    dist.reduce_scatter(out, [torch.from_numpy(each) for each in give])
    equal(out, expected)
    out = torch.zeros(3, 4)
    dist.reduce_scatter_tensor(out, torch.from_numpy(np.concatenate(give)))
    equal(out, expected)


def test_all_to_all():
    rows = torch.arange(SIZE * 2, dtype=torch.float32).reshape(SIZE, 2) + 100 * RANK
    out = torch.zeros(SIZE, 2)
    dist.all_to_all_single(out, rows)
    equal(out, np.stack([np.arange(2, dtype=np.float32) + 2 * RANK + 100 * of
                         for of in range(SIZE)]))  # fmt: skip
    # Rank r sends r + 1 rows to rank 0 and one to each other.
    sent = [RANK + 1] + [1] * (SIZE - 1)
    received = [of + 1 for of in range(SIZE)] if RANK == 0 else [1] * SIZE
    out = torch.zeros(sum(received))
    dist.all_to_all_single(out, torch.full((sum(sent),), float(RANK)), received, sent)
    equal(out, np.repeat(np.arange(SIZE, dtype=np.float32), received))


def test_objects():
    found = [None] * SIZE
    dist.all_gather_object(found, {"rank": RANK, "text": "a" * RANK})
    assert found == [{"rank": r, "text": "a" * r} for r in range(SIZE)]
    given = [None, None] if RANK else [[1, 2], torch.ones(2)]
    dist.broadcast_object_list(given, src=0)
    assert given[0] == [1, 2] and given[1].tolist() == [1, 1]
    own = [None]
    dist.scatter_object_list(own, [f"for {r}" for r in range(SIZE)] if RANK == 0 else None, src=0)
    assert own == [f"for {RANK}"]
    found = [None] * SIZE if RANK == 1 else None
    dist.gather_object(RANK, found, dst=1)
    assert found == (list(range(SIZE)) if RANK == 1 else None)


def test_messages():
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    x, y = torch.full((2, 2), float(RANK)), torch.zeros(2, 2)
    works = [dist.isend(x, right, tag=5), dist.irecv(y, left, tag=5)]
    for work in works:
        work.wait()
    equal(y, np.full((2, 2), left, np.float32))
    z = torch.zeros(2, 2)
    ops = [dist.P2POp(dist.irecv, z, left), dist.P2POp(dist.isend, x, right)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    equal(z, np.full((2, 2), left, np.float32))
    if RANK == 0:
        got = torch.zeros(1)
        assert sorted(dist.recv(got) for _ in range(SIZE - 1)) == list(range(1, SIZE))
    else:
        dist.send(torch.ones(1), 0)
    raises(ValueError, "should not be the same as the rank of the current process",
           dist.send, x, RANK)  # fmt: skip


def test_works():
    x = torch.full((1000,), float(RANK))
    work = dist.all_reduce(x, async_op=True)
    assert work.wait() and work.is_completed()
    assert x[0] == sum(range(SIZE))
    work = dist.all_reduce(torch.full((3,), 2.0), async_op=True)
    doubled = work.get_future().then(lambda done: done.value()[0] * 2)
    work.wait()
    equal(doubled.wait(), np.full(3, 4.0 * SIZE, np.float32))


def test_groups():
    pair = dist.new_group([1, 0])
    alone = dist.new_group([SIZE - 1])
    if RANK in (0, 1):
        assert dist.get_process_group_ranks(pair) == [0, 1] and dist.get_rank(pair) == RANK
        x = torch.full((2,), float(RANK))
        dist.all_reduce(x, group=pair)
        assert x.tolist() == [1, 1]
        dist.broadcast(x, src=1, group=pair)
        raises(ValueError, "is not part of group", dist.get_group_rank, pair, SIZE)
    else:
        assert dist.get_rank(pair) == -1 == dist.get_world_size(pair)
        dist.all_reduce(torch.ones(1), group=pair)
    if RANK == SIZE - 1:
        assert dist.get_global_rank(alone, 0) == SIZE - 1
    raises(ValueError, "is out of range", dist.new_group, [0, SIZE])
    raises(ValueError, "duplicate entries", dist.new_group, [0, 0])
    mine, groups = dist.new_subgroups(1)
    assert dist.get_process_group_ranks(mine) == [RANK] and len(groups) == SIZE
    dist.barrier()
    dist.monitored_barrier()


def test_refusals():
    one = torch.ones(2)
    raises(TypeError, "Expected parameter `tensor` of type torch.Tensor", dist.all_reduce, [1])
    raises(TypeError, "", dist.all_reduce, one, "sum")
    raises(RuntimeError, "invalid root rank: 77", dist.broadcast, one, 77)
    raises(ValueError, "Must specify global_rank or group_rank", dist.broadcast, one)
    raises(ValueError, "roup x is not", dist.broadcast, one, 0, "x")
    raises(RuntimeError, f"(expected length {SIZE}, got 1)", dist.all_gather, [one], one)
    wrong = [one] * (SIZE - 1) + [torch.ones(3)]
    raises(RuntimeError, f"invalid tensor size at index {SIZE - 1}", dist.all_gather, wrong, one)
    raises(ValueError, "different dtypes", dist.all_gather, [one] * SIZE, one.int())
    raises(TypeError, "of type List[torch.Tensor]", dist.all_gather, one, one)
    raises(RuntimeError, "must be world size", dist.reduce_scatter, one, [one])
    raises(RuntimeError, "Split sizes doesn't match", dist.all_to_all_single, one, one,
           [3] * SIZE, [3] * SIZE)  # fmt: skip
    raises(RuntimeError, "Number of tensor splits", dist.all_to_all_single, one, one, [2], [2])
    raises(IndexError, "", dist.batch_isend_irecv, [])
    raises(ValueError, "Expected ``op`` to be of type", dist.P2POp, dist.all_reduce, one, 1)
    raises(ValueError, "twice", dist.init_process_group, "gloo")
    if RANK:
        raises(ValueError, "must NOT be specified on non-destination ranks", dist.gather, one,
               [one] * SIZE, 0)  # fmt: skip
        raises(ValueError, "must NOT be specified on non-source ranks", dist.scatter, one,
               [one] * SIZE, 0)  # fmt: skip
    else:
        raises(ValueError, "must be specified on destination rank", dist.gather, one, None, 0)
        raises(ValueError, "must be specified on source rank", dist.scatter, one, None, 0)


if not dist.is_mpi_available():
    del test_strides  # gloo reads what lies apart in memory as if it did not
    del test_refusals  # and ends the process at some of these
for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        dist.barrier()
        if RANK == 0:
            print(name, "passed", flush=True)
dist.destroy_process_group()
raises(ValueError, "Default process group has not been initialized", dist.barrier)
