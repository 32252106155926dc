"""Batches of loaders, numbers and derivatives have types; every line also runs."""

from __future__ import annotations

from typing import Any, NamedTuple, assert_type

import tinytorch as tt
from tinytorch import Tensor, func
from tinytorch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split


class Pair(NamedTuple):
    image: Tensor
    label: Tensor


class Pairs(Dataset[tuple[Tensor, int]]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return tt.ones(2), index


class Named(Dataset[Pair]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Pair:
        return Pair(tt.ones(2), tt.tensor(index))


class Fields(Dataset[dict[str, Tensor]]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"x": tt.tensor(index)}


def join(samples: list[tuple[Tensor, int]]) -> dict[str, Tensor]:
    return {"x": tt.stack([x for x, _ in samples])}


def count(loader: DataLoader[Any]) -> int:
    return sum(1 for _ in loader)


def total(x: Tensor) -> Tensor:
    return (x * x).sum()


loader = DataLoader(Pairs(), batch_size=2, shuffle=True)
for x, y in loader:
    assert_type(x, Tensor)
    assert_type(y, Tensor)
    assert x.shape == (2, 2) and y.shape == (2,)
for number, (x, y) in enumerate(loader):
    assert_type(number, int)
    assert_type(x, Tensor)
assert_type(next(iter(loader)), list[Tensor])
assert type(next(iter(loader))) is list

tensors = TensorDataset(tt.ones(4, 2), tt.ones(4))
x, y = next(iter(DataLoader(tensors, 2)))
assert_type(x, Tensor)
train, test = random_split(tensors, [3, 1])
assert_type(train, Subset[tuple[Tensor, ...]])
assert_type(next(iter(DataLoader(train))), list[Tensor])
assert_type(next(iter(DataLoader(Fields()))), dict[str, Tensor])
assert_type(next(iter(DataLoader(Named()))), Pair)
assert type(next(iter(DataLoader(Named())))) is Pair
assert_type(next(iter(DataLoader(Pairs(), collate_fn=join))), dict[str, Tensor])
assert_type(next(iter(DataLoader(Pairs(), batch_size=None))), Any)
print(count(loader), count(DataLoader(Pairs(), collate_fn=join)))

t = tt.ones(3, requires_grad=True)
assert_type(t.sum().item(), int | float | bool)
loss: float = total(t).item()
assert_type(func.grad(total)(t), Tensor)
assert_type(func.vmap(total)(tt.ones(2, 3)), Tensor)
assert_type(tt.autograd.grad(total(t), t), tuple[Tensor, ...])
assert_type(tt.nn.utils.clip_grad_norm_([t], 1.0), Tensor)
