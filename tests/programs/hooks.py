"""Hooks on modules and tensors, feature extraction, freezing, named parameters, nn.init."""

from collections import OrderedDict, defaultdict

import torch
from torch import nn

torch.manual_seed(13)
model = nn.Sequential(
    OrderedDict(
        [
            ("conv1", nn.Conv1d(2, 4, 3, padding=1)),
            ("act1", nn.GELU()),
            ("norm", nn.GroupNorm(2, 4)),
            ("conv2", nn.Conv1d(4, 3, 3, stride=2)),
            ("flat", nn.Flatten()),
            ("head", nn.LazyLinear(2)),
        ]
    )
)
x = torch.randn(8, 2, 12)
model(x)


@torch.no_grad()
def init(m):
    if isinstance(m, (nn.Conv1d, nn.Linear)):
        nn.init.xavier_uniform_(m.weight, gain=nn.init.calculate_gain("relu"))
        nn.init.normal_(m.bias, std=0.01)


model.apply(init)
nn.init.orthogonal_(model.head.weight)
nn.init.trunc_normal_(model.conv2.weight, std=0.2)

activations, gradients = {}, defaultdict(list)


def save(name):
    def hook(module, inputs, output):
        activations[name] = output.detach()

    return hook


handles = [m.register_forward_hook(save(n)) for n, m in model.named_children()]
handles.append(
    model.conv2.register_full_backward_hook(
        lambda module, grad_in, grad_out: gradients["conv2"].append(grad_out[0].norm().item())
    )
)
handles.append(model.register_forward_pre_hook(lambda module, args: (args[0] * 0.5,)))
for name, p in model.named_parameters():
    if name.startswith("conv1"):
        p.requires_grad = False
    elif name.endswith("bias"):
        p.register_hook(lambda grad: grad.clamp(-0.01, 0.01))

trainable = filter(lambda p: p.requires_grad, model.parameters())
optimizer = torch.optim.Adamax(trainable, lr=0.02)
target = (x.mean((1, 2)) > 0).long()
before = model.conv1.weight.clone()
for step in range(6):
    optimizer.zero_grad()
    out = model(x)
    out.retain_grad()
    loss = nn.functional.nll_loss(nn.functional.log_softmax(out, dim=1), target)
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.4f} grad {out.grad.abs().sum().item():.4f}")
print([f"{v:.4f}" for v in gradients["conv2"]][:3])
print({name: tuple(a.shape) for name, a in activations.items()})
print(torch.equal(before, model.conv1.weight), model.head.bias.grad.abs().max().item() <= 0.01)
for handle in handles:
    handle.remove()
activations.clear()
model(x)
print(len(activations), len(list(model.named_parameters())), model.head)
