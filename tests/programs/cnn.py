"""A small convolutional network with batch normalization, pooling and dropout."""

import torch
import torch.nn as nn

torch.manual_seed(1)


def block(channels_in, channels_out):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


class ConvNet(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self.features = nn.Sequential(block(1, 8), block(8, 16))
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.classifier = nn.Linear(16, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.features(x)
        x = torch.flatten(self.pool(x), 1)
        return self.classifier(x)


labels = torch.arange(64) % 4
images = torch.zeros(64, 1, 16, 16)
for i, label in enumerate(labels.tolist()):
    row, column = divmod(label, 2)
    images[i, 0, row * 8 : row * 8 + 8, column * 8 : column * 8 + 8] = 1.0
images += 0.3 * torch.randn_like(images)

net = ConvNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)

for epoch in range(6):
    net.train()
    for batch, target in zip(images.split(32), labels.split(32)):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(net(batch), target)
        loss.backward()
        optimizer.step()
    scheduler.step()
    print(f"loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.4f}")

net.eval()
with torch.no_grad():
    print(f"eval {loss_fn(net(images), labels).item():.3f}")
print(net.features[0][1].running_mean.abs().mean().item() > 0)
print(net.features[0][1].num_batches_tracked.item())
