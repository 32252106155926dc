"""The CIFAR tutorial's shape of program: a residual network, accuracy per class, a checkpoint."""

import io

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(12)
classes = ("bars", "stripes", "checks")


class Patterns(Dataset):
    def __init__(self, count, transform=None):
        self.targets = torch.randint(0, 3, (count,))
        self.transform = transform

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, idx):
        y, x = torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")
        image = [(x // 2) % 2, (y // 2) % 2, (x + y) % 2][self.targets[idx]].float()
        image = image.repeat(3, 1, 1)
        return (self.transform(image) if self.transform else image), self.targets[idx]


class Residual(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False, groups=2)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, planes, 1, stride=stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, num_classes=3):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.layers = nn.Sequential(Residual(4, 4), Residual(4, 8, stride=2))
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        x = self.pool(self.layers(self.stem(x)))
        return self.fc(torch.flatten(x, 1))


def augment(image):
    image = image + 0.3 * torch.randn(image.shape)
    if torch.rand(1).item() < 0.5:
        image = image.flip(-1)
    return (image - 0.5) / 0.5


trainloader = DataLoader(Patterns(60, augment), batch_size=12, shuffle=True, num_workers=0)
testloader = DataLoader(Patterns(30), batch_size=10, shuffle=False)
net = ResNet()
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
steps = len(trainloader)
scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=4, steps_per_epoch=steps)
for epoch in range(4):
    running_loss, correct = 0.0, 0
    for i, (inputs, labels) in enumerate(trainloader, 0):
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running_loss += loss.item()
        correct += outputs.argmax(1).eq(labels).sum().item()
    print(f"loss {running_loss / steps:.3f} lr {scheduler.get_last_lr()[0]:.4f}")
buffer = io.BytesIO()
torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, buffer)
buffer.seek(0)
checkpoint = torch.load(buffer)
restored = ResNet()
print(restored.load_state_dict(checkpoint["model"]))
optimizer.load_state_dict(checkpoint["optimizer"])
restored.eval()
right = {name: 0 for name in classes}
total = {name: 0 for name in classes}
with torch.no_grad():
    for images, labels in testloader:
        _, predictions = torch.max(restored((images - 0.5) / 0.5), 1)
        for label, prediction in zip(labels, predictions):
            right[classes[label]] += int(label == prediction)
            total[classes[label]] += 1
print(total, sum(right.values()) > 10)
