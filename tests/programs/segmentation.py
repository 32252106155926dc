"""A small U-Net: skip connections, two ways to upsample, cross entropy with a Dice loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


def double_conv(inside, outside):
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(outside), nn.ReLU(inplace=True),
        nn.Conv2d(outside, outside, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(outside), nn.ReLU(inplace=True),
    )  # fmt: skip


class Up(nn.Module):
    def __init__(self, inside, outside, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Sequential(
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                nn.Conv2d(inside, outside, kernel_size=1),
            )
        else:
            self.up = nn.ConvTranspose2d(inside, outside, kernel_size=2, stride=2)
        self.conv = double_conv(2 * outside, outside)

    def forward(self, x, skipped):
        x = self.up(x)
        dy, dx = skipped.size(2) - x.size(2), skipped.size(3) - x.size(3)
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([skipped, x], dim=1))


class UNet(nn.Module):
    def __init__(self, bilinear):
        super().__init__()
        self.first = double_conv(1, 4)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), double_conv(4, 8))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), double_conv(8, 16))
        self.up1, self.up2 = Up(16, 8, bilinear), Up(8, 4, bilinear)
        self.last = nn.Conv2d(4, 2, kernel_size=1)

    def forward(self, x):
        a = self.first(x)
        b = self.down1(a)
        return self.last(self.up2(self.up1(self.down2(b), b), a))


def dice_loss(probability, target, epsilon=1e-6):
    shared = 2 * (probability * target).sum(dim=(-1, -2))
    sizes = probability.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    sizes = torch.where(sizes == 0, shared, sizes)
    return 1 - ((shared + epsilon) / (sizes + epsilon)).mean()


images = torch.rand(2, 1, 18, 22)
masks = (F.avg_pool2d(images, 5, 1, 2) > 0.45).long().squeeze(1)
one_hot = F.one_hot(masks, num_classes=2).permute(0, 3, 1, 2).float()
for bilinear in (True, False):
    net = UNet(bilinear).to(memory_format=torch.channels_last)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=1)
    for _ in range(4):
        logits = net(images)
        loss = F.cross_entropy(logits, masks) + dice_loss(logits.softmax(dim=1), one_hot)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        scheduler.step(-1.0)
        print(f"loss {loss.item():.4f} rate {optimizer.param_groups[0]['lr']:.1e}")
    print(f"std {logits.std().item():.4f}", tuple(logits.shape))
