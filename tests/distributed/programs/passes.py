"""Forward and backward passes of DDP in unusual order: writes each rank's gradients or error.

Every gradient is a small integer or half of one: rank ``r`` of two has the input ``r + 1``.
"""

import contextlib
import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

MODES = {
    "default": {},
    "unused": {"find_unused_parameters": True},
    "static": {"static_graph": True},
    "views": {"gradient_as_bucket_view": True},
}
ERRORS = ("Expected to have finished reduction", "Your training graph has changed")


class Two(nn.Module):
    """Two weights, of which a call uses ``which``."""

    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(1))
        self.b = nn.Parameter(torch.ones(1))

    def forward(self, x, which="ab", fail=False):
        if fail:
            raise ValueError("in forward")
        found = {"a": self.a * x, "b": self.b * x * 10}
        return sum(found[name] for name in which) if which else x * 1


def grads(model):
    return [None if p.grad is None else p.grad.item() for p in model.parameters()]


# -- what passes do ----------------------------------------------------------------------------


def plain(m, x):
    m(x).sum().backward()


def forward_first(m, x):
    m(x)
    m(x).sum().backward()


def many_forwards_first(m, x):
    for _ in range(5):
        m(x)
    m(x).sum().backward()


def two_and_two(m, x):
    first, second = m(x), m(x * 2)
    first.sum().backward()
    second.sum().backward()


def two_and_two_reversed(m, x):
    first, second = m(x), m(x * 2)
    second.sum().backward()
    first.sum().backward()


def two_and_one(m, x):
    (m(x) + m(x * 2)).sum().backward()


def skipped_step(m, x):
    for step in range(4):
        loss = m(x).sum()
        if step != 1:
            loss.backward()


def evaluation_with_gradients(m, x):
    for _ in range(2):
        plain(m, x)
        m.eval()
        m(x), m(x)
        m.train()


def evaluation_without(m, x):
    for _ in range(2):
        plain(m, x)
        with torch.no_grad():
            m(x)


def forward_in_no_sync(m, x):
    with m.no_sync():
        m(x)
    m(x).sum().backward()


def accumulate(m, x):
    with m.no_sync():
        plain(m, x)
    plain(m, x)


def forward_inside_backward_outside(m, x):
    with m.no_sync():
        y = m(x)
    y.sum().backward()


def forward_outside_backward_inside(m, x):
    y = m(x)
    with m.no_sync():
        y.sum().backward()


def both_kinds_of_forward(m, x):
    outside = m(x)
    with m.no_sync():
        inside = m(x * 2)
    inside.sum().backward()
    outside.sum().backward()


def retain_graph(m, x):
    y = m(x).sum()
    y.backward(retain_graph=True)
    y.backward()


def three_passes(m, x):
    for _ in range(3):
        plain(m, x)


def zeroed_between(m, x):
    for _ in range(2):
        m.zero_grad()
        plain(m, x)


def zeroed_in_place(m, x):
    for _ in range(2):
        m.zero_grad(set_to_none=False)
        plain(m, x)


def part_of_the_parameters(m, x):
    for _ in range(2):
        m(x, "a").sum().backward()


def part_then_no_grad(m, x):
    m(x, "a").sum().backward()
    with torch.no_grad():
        m(x)


def part_then_no_sync(m, x):
    m(x, "a").sum().backward()
    with m.no_sync():
        m(x)


def part_and_part(m, x):
    m(x, "a").sum().backward()
    m(x, "b").sum().backward()


def part_by_rank(m, x):
    for _ in range(2):
        m(x, "ab"[dist.get_rank()]).sum().backward()


def part_after_no_sync(m, x):
    with m.no_sync():
        m(x, "b").sum().backward()
    m(x, "a").sum().backward()


def forward_of_the_part_alone(m, x):
    m(x, "a")
    plain(m, x)


def forward_of_all_then_part(m, x):
    m(x)
    m(x, "a").sum().backward()
    plain(m, x)


def no_parameters(m, x):
    m(x.clone().requires_grad_(), "").sum().backward()
    plain(m, x)


def failed_forward(m, x):
    with contextlib.suppress(ValueError):
        m(x, fail=True)
    plain(m, x)


def failed_backward(m, x):
    handle = m.module.a.register_hook(lambda grad: 1 / 0)
    with contextlib.suppress(ZeroDivisionError):
        m(x).sum().backward()
    handle.remove()
    m(x).sum().backward()


def graph_of_inputs(m, x):
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(m(x).sum(), x, create_graph=True)
    (slope * 3).sum().backward()


def frozen_later(m, x):
    m.module.b.requires_grad_(False)
    for _ in range(2):
        m(x).sum().backward()


def used_twice(m, x):
    m(m(x)).sum().backward()


def grads_of_parameters_alone(m, x):
    torch.autograd.grad(m(x).sum(), list(m.parameters()))
    plain(m, x)


def other_graph(m, x):
    plain(m, x)
    m(x, "a").sum().backward()
    plain(m, x)


def part_in_every_pass(m, x):
    for _ in range(3):
        m(x, "b").sum().backward()


PASSES = [value for value in list(globals().values()) if getattr(value, "__code__", None)
          and value.__code__.co_varnames[:2] == ("m", "x")]  # fmt: skip


def outcome(passes, options):
    model = DDP(Two(), **options)
    x = torch.tensor([float(dist.get_rank() + 1)])
    try:
        passes(model, x)
    except RuntimeError as error:
        said = [text for text in ERRORS if str(error).startswith(text)]
        return [*said, "raises", grads(model)]
    return grads(model)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    found = {
        f"{passes.__name__}/{mode}": outcome(passes, options)
        for passes in PASSES
        for mode, options in MODES.items()
    }
    Path(f"{sys.argv[1]}.{rank}").write_text(json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
