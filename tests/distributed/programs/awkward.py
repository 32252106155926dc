"""Reductions of NaNs, infinities and signed zeros: every rank has the same bits."""

import warnings

import numpy as np
import torch
import torch.distributed as dist

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
RANK, SIZE = dist.get_rank(), dist.get_world_size()
nan, inf = float("nan"), float("inf")
AWKWARD = [nan, -nan, inf, -inf, 0.0, -0.0, 1.0, -2.0, 0.1, 1e-40, -1e-40, 3e38]
Op = dist.ReduceOp


def numbers(rank, dtype):
    order = np.random.default_rng(rank).permutation(200) % len(AWKWARD)
    return torch.tensor([AWKWARD[place] for place in order]).to(dtype)


def bits(tensor):
    return tensor.contiguous().view(torch.uint8).tolist()


for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
    arrays = [numbers(rank, dtype) for rank in range(SIZE)]
    for op in (Op.MAX, Op.MIN, Op.SUM, Op.PRODUCT, Op.AVG):
        result = numbers(RANK, dtype)
        dist.all_reduce(result, op)
        found = [None] * SIZE
        numeric = torch.where(torch.isnan(result), torch.zeros_like(result), result)
        dist.all_gather_object(found, (bits(numeric), torch.isnan(result).tolist()))
        assert all(each == found[0] for each in found), (dtype, op)
        if op in (Op.MAX, Op.MIN):
            expected = arrays[0]
            for each in arrays[1:]:
                expected = (torch.maximum if op is Op.MAX else torch.minimum)(expected, each)
            torch.testing.assert_close(result, expected, rtol=0, atol=0, equal_nan=True)
            part = torch.zeros(200, dtype=dtype)
            dist.reduce_scatter(part, [numbers(RANK, dtype)] * SIZE, op)
            assert bits(torch.nan_to_num(part)) == bits(torch.nan_to_num(result)), (dtype, op)
            assert bits(torch.isnan(part)) == bits(torch.isnan(result))
            root = numbers(RANK, dtype)
            dist.reduce(root, SIZE - 1, op)
            assert RANK < SIZE - 1 or bits(root) == bits(result)
dist.destroy_process_group()
