"""Steps of a generative adversarial network: two optimizers, detach, binary cross entropy."""

import torch
import torch.nn as nn

torch.manual_seed(6)
latent, size = 8, 16


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        m.weight.data.normal_(0.0, 0.1)
        m.bias.data.fill_(0)


netG = nn.Sequential(
    nn.Linear(latent, 32), nn.BatchNorm1d(32), nn.ReLU(True), nn.Linear(32, size), nn.Tanh()
)
netD = nn.Sequential(nn.Linear(size, 32), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 1))
netG.apply(weights_init)
netD.apply(weights_init)

criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=0.002, betas=(0.5, 0.999))
fixed_noise = torch.randn(4, latent)

for step in range(12):
    real = torch.sin(torch.linspace(0, 6.28, size) + torch.rand(32, 1) * 6.28)

    netD.zero_grad()
    label = torch.full((32, 1), 1.0, dtype=real.dtype)
    errD_real = criterion(netD(real), label)
    errD_real.backward()
    noise = torch.randn(32, latent)
    fake = netG(noise)
    label.fill_(0.0)
    errD_fake = criterion(netD(fake.detach()), label)
    errD_fake.backward()
    optimizerD.step()

    netG.zero_grad()
    label.fill_(1.0)
    errG = criterion(netD(fake), label)
    errG.backward()
    optimizerG.step()
    print(f"d {errD_real.item() + errD_fake.item():.4f} g {errG.item():.4f}")

with torch.no_grad():
    sample = netG(fixed_noise).detach().cpu()
print(sample.shape)

alpha = torch.rand(32, 1)
mixed = (alpha * real + (1 - alpha) * fake.detach()).requires_grad_(True)
scores = netD(mixed)
gradients = torch.autograd.grad(
    outputs=scores,
    inputs=mixed,
    grad_outputs=torch.ones_like(scores),
    create_graph=True,
    retain_graph=True,
)[0]
penalty = ((gradients.norm(2, dim=1) - 1) ** 2).mean()
netD.zero_grad()
penalty.backward()
print(f"penalty {penalty.item():.4f} grad {netD[0].weight.grad.norm().item():.4f}")
