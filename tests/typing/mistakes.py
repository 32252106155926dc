"""Mistakes that a type checker must report: in each line marked ``E``, and in no other."""

from __future__ import annotations

import tinytorch as tt
import tinytorch.nn.functional as F
from tinytorch import nn
from tinytorch import optm  # E
from tinytorch.nn import Liner  # E

x = tt.ones(2, 2)
tt.randon(3)  # E
tt.float23  # E
tt.nn.Liner(2, 3)  # E
F.rellu(x)  # E
tt.random.sead()  # E
tt.autograd.gradd(x)  # E
x.summ()  # E
x.shapes  # E
x.sum(dimm=0)  # E
tt.zeros(2, dtyp=tt.float32)  # E
tt.zeros("2")  # E
tt.sin("x")  # E
tt.max(x).values + 1  # E
x + "1"  # E
x["a"]  # E
tt.device(3.5)  # E
tt.zeros(2, dtype=3)  # E
x.requires_grad = "yes"  # E
length: str = x.shape[0]  # E
layer = nn.Linear(2, "3")  # E
layer(3)  # E
layer(x).summ()  # E
layer.wait  # E
layer.weigth = nn.Parameter(x)  # E


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(2, 2)

    def forward(self, x: tt.Tensor) -> tt.Tensor:
        return self.hiden(x)  # E


Net()(x, x)  # E
text: str = Net()(x)  # E
with tt.backend_context(3):  # E
    pass
tt.zeros_like(x, dtyp=tt.int64)  # E
tt.rand(2, generator=3)  # E
F.max_pool2d(x, 2, return_indices=True).shape  # E
tt.max(x, 1).vales  # E
tt.optim.SGD(layer, lr=0.1)  # E
tt.optim.SGD(["weight"], lr=0.1)  # E
tt.optim.Adm(layer.parameters())  # E
tt.linalg.svd(x).V  # E
tt.float32.is_floating  # E
tt.vmap(nn.functional.relu)(3)  # E
tt.vmap(nn.functional.relu)(x).summ()  # E
tt.func.grad(nn.functional.relu)("x")  # E
