"""The calls of NCCL, on the stand-ins for CuPy and for its ``nccl``, against NumPy."""

import numpy as np
import strictcupy.cuda

import tinytorch as tt
import tinytorch.distributed as dist
from tests.distributed import nccl_stand_in
from tinytorch.backends import register_backend

strictcupy.cuda.nccl = nccl_stand_in
register_backend("cupy", "strictcupy.backend:PretendedCuda", replace=True)
dist.init_process_group("nccl")
RANK, SIZE = dist.get_rank(), dist.get_world_size()
Op = dist.ReduceOp


def on_gpu(array):
    return tt.from_numpy(np.ascontiguousarray(array)).to("cuda")


def numbers(rank, dtype, shape=(3, 4)):
    made = np.random.default_rng(rank).integers(0, 4, shape)
    return (made * 1j if np.dtype(dtype).kind == "c" else made).astype(dtype)


def equal(got, expected):
    assert str(got.device).startswith("cuda"), got.device
    np.testing.assert_array_equal(got.cpu().numpy(), expected)


for dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, np.complex64):
    x, arrays = on_gpu(numbers(RANK, dtype)), [numbers(rank, dtype) for rank in range(SIZE)]
    dist.all_reduce(x)
    equal(x, np.add.reduce(arrays, dtype=dtype))
    x = on_gpu(numbers(RANK, dtype))
    dist.broadcast(x, 1)
    equal(x, arrays[1])
dtype = np.float32
arrays = [numbers(rank, dtype) for rank in range(SIZE)]
x = on_gpu(numbers(RANK, dtype))
for op, function in ((Op.PRODUCT, np.multiply), (Op.MIN, np.minimum), (Op.MAX, np.maximum)):
    y = x.clone()
    dist.all_reduce(y, op)
    equal(y, function.reduce(arrays))
y = x.clone()
dist.all_reduce(y, Op.AVG)
equal(y, sum(arrays) / SIZE)
y = x.t()
dist.all_reduce(y)
equal(y, sum(arrays).T)
y = on_gpu(numbers(RANK, dtype))
dist.reduce(y, 0)
equal(y, sum(arrays) if RANK == 0 else arrays[RANK])
x = on_gpu(numbers(RANK, dtype))
parts = [tt.zeros(3, 4, device="cuda") for _ in range(SIZE)]
dist.all_gather(parts, x)
for part, expected in zip(parts, arrays):
    equal(part, expected)
whole = tt.zeros(3 * SIZE, 4, device="cuda")
dist.all_gather_into_tensor(whole, x)
equal(whole, np.concatenate(arrays))
parts = [tt.zeros(3, 4, device="cuda") for _ in range(SIZE)] if RANK == 1 else None
dist.gather(x, parts, 1)
for part, expected in zip(parts or [], arrays):
    equal(part, expected)
y = tt.zeros(3, 4, device="cuda")
dist.scatter(y, [on_gpu(each) for each in arrays] if RANK == 1 else None, 1)
equal(y, arrays[RANK])
y = tt.zeros(3, 4, device="cuda")
dist.reduce_scatter(y, [x + rank for rank in range(SIZE)])
equal(y, sum(arrays) + SIZE * RANK)
y = tt.zeros(SIZE, 2, device="cuda")
dist.all_to_all_single(y, tt.full((SIZE, 2), float(RANK), device="cuda"))
equal(y, np.repeat(np.arange(SIZE, dtype=dtype), 2).reshape(SIZE, 2))
right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
y = tt.zeros(3, 4, device="cuda")
if RANK % 2:  # NCCL's messages wait for each other
    dist.send(x, right)
    dist.recv(y, left)
else:
    dist.recv(y, left)
    dist.send(x, right)
equal(y, arrays[left])
model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(4, 2).to("cuda"))
model(x).square().mean().backward()
grads = [tt.zeros_like(model.module.weight) for _ in range(SIZE)]
dist.all_gather(grads, model.module.weight.grad)
equal(grads[0], grads[1].cpu().numpy())
for refused, call in (
    ("with NCCL", lambda: dist.all_reduce(tt.ones(2, dtype=tt.int64, device="cuda"), Op.BXOR)),
    ("device type cpu", lambda: dist.all_reduce(tt.ones(2, device="cpu"))),
    ("from a rank that is named", lambda: dist.recv(x)),
):
    try:
        call()
    except RuntimeError as error:
        assert refused in str(error), error
    else:
        raise AssertionError(refused)
dist.barrier()
if RANK == 0:
    print(*sorted(set(nccl_stand_in.called)))
dist.destroy_process_group()
