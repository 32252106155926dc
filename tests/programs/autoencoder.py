"""A denoising convolutional autoencoder: transposed convolutions, a rate that falls on plateaus."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1),
            nn.BatchNorm2d(8),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ReLU(True),
            nn.Flatten(),
            nn.Linear(16 * 3 * 3, 10),
        )
        self.decoder = nn.Sequential(
            nn.Linear(10, 16 * 3 * 3),
            nn.ReLU(True),
            nn.Unflatten(1, (16, 3, 3)),
            nn.ConvTranspose2d(16, 8, 3, stride=2, padding=1, output_padding=1),
            nn.ReLU(True),
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False),
            nn.Conv2d(8, 1, 3, padding="same", padding_mode="reflect"),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.kaiming_normal_(m.weight.data, mode="fan_out", nonlinearity="relu")
    elif classname.find("BatchNorm") != -1:
        nn.init.constant_(m.weight, 1)
        nn.init.constant_(m.bias, 0)


grid = torch.stack(torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij"))
centres = torch.rand(64, 2, 1, 1) * 8 + 2
images = (((grid - centres) ** 2).sum(1, keepdim=True) < 6).float()
loader = DataLoader(TensorDataset(images), batch_size=16, shuffle=True)
model = AutoEncoder()
model.apply(weights_init)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
criterion = nn.MSELoss()
for epoch in range(5):
    running = 0.0
    for (img,) in loader:
        noisy = (img + 0.2 * torch.randn_like(img)).clamp(0, 1)
        output = model(noisy)
        loss = criterion(output, img)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        running += loss.item() * img.size(0)
    scheduler.step(running / len(loader.dataset))
    print(f"loss {running / len(loader.dataset):.5f} lr {optimizer.param_groups[0]['lr']:.4f}")
model.eval()
with torch.no_grad():
    codes = model.encoder(images)
print(codes.shape, model(images[:1]).shape, f"{codes.std().item():.2f}")
