"""A GAN with spectral and weight normalisation, averaged generator weights, hinge loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(11)
generator = nn.Sequential(
    weight_norm(nn.Linear(4, 24)), nn.SiLU(), orthogonal(nn.Linear(24, 24)), nn.SiLU(),
    nn.Linear(24, 2),
)  # fmt: skip
discriminator = nn.Sequential(
    spectral_norm(nn.Linear(2, 24)), nn.LeakyReLU(0.2), spectral_norm(nn.Linear(24, 1))
)
averaged = AveragedModel(generator, multi_avg_fn=get_ema_multi_avg_fn(0.8))
optimizer_g = torch.optim.Adam(generator.parameters(), lr=5e-3, betas=(0.0, 0.9))
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=1e-2, betas=(0.0, 0.9))
print(generator[0])
print(list(discriminator.state_dict()))
for step in range(20):
    angle = 6.2832 * torch.rand(32)
    real = torch.stack([angle.cos(), angle.sin()], dim=1)
    fake = generator(torch.randn(32, 4))
    loss_d = F.relu(1 - discriminator(real)).mean()
    loss_d = loss_d + F.relu(1 + discriminator(fake.detach())).mean()
    optimizer_d.zero_grad()
    loss_d.backward()
    optimizer_d.step()
    loss_g = -discriminator(generator(torch.randn(32, 4))).mean()
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
    averaged.update_parameters(generator)
    if step % 5 == 4:
        print(f"step {step} d {loss_d.item():.4f} g {loss_g.item():.4f}")
weight = generator[2].weight
print((weight @ weight.T - torch.eye(24)).abs().max().item() < 1e-4, int(averaged.n_averaged))
print([f"{v:.3f}" for v in averaged(torch.ones(1, 4))[0].tolist()])
