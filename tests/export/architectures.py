"""ResNet-18 and a BERT encoder for sentences, written for ``tinytorch`` or ``torch``."""

from __future__ import annotations

import math
from typing import Any


def resnet18(lib: Any, classes: int = 10, width: int = 64) -> Any:
    """Return torchvision's ResNet-18 with random weights and statistics, in evaluation mode."""
    nn = lib.nn

    class BasicBlock(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(after)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(after)
            self.downsample = None
            if stride != 1 or before != after:
                conv = nn.Conv2d(before, after, 1, stride, bias=False)
                self.downsample = nn.Sequential(conv, nn.BatchNorm2d(after))

        def forward(self, x: Any) -> Any:
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            out += x if self.downsample is None else self.downsample(x)
            return self.relu(out)

    class ResNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            before = width
            for i, after in enumerate((width, 2 * width, 4 * width, 8 * width), 1):
                first = BasicBlock(before, after, 1 if i == 1 else 2)
                setattr(self, f"layer{i}", nn.Sequential(first, BasicBlock(after, after, 1)))
                before = after
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(before, classes)

        def forward(self, x: Any) -> Any:
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(lib.flatten(self.avgpool(x), 1))

    model = ResNet()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.2, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    return model.eval()


def minilm(lib: Any, layers: int = 6, width: int = 24, heads: int = 4, words: int = 50) -> Any:
    """Return a BERT encoder with mean pooling and normalization, as MiniLM for sentences."""
    nn, functional = lib.nn, lib.nn.functional

    class Attention(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
            self.dense, self.LayerNorm = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
            self.dropout = nn.Dropout(0.1)

        def forward(self, x: Any, mask: Any) -> Any:
            def heads_of(y: Any) -> Any:
                return y.view(*y.size()[:-1], heads, width // heads).permute(0, 2, 1, 3)

            query, key, value = (heads_of(f(x)) for f in (self.query, self.key, self.value))
            scores = lib.matmul(query, key.transpose(-1, -2)) / math.sqrt(width // heads)
            weights = self.dropout(functional.softmax(scores + mask, dim=-1))
            context = lib.matmul(weights, value).permute(0, 2, 1, 3).contiguous()
            context = context.view(*context.size()[:-2], width)
            return self.LayerNorm(self.dropout(self.dense(context)) + x)

    class Layer(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.attention, self.LayerNorm = Attention(), nn.LayerNorm(width, eps=1e-12)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any, mask: Any) -> Any:
            x = self.attention(x, mask)
            return self.LayerNorm(self.down(functional.gelu(self.up(x))) + x)

    class Encoder(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.word, self.position = nn.Embedding(words, width), nn.Embedding(64, width)
            self.kind, self.LayerNorm = nn.Embedding(2, width), nn.LayerNorm(width, eps=1e-12)
            self.register_buffer("position_ids", lib.arange(64).expand((1, -1)), persistent=False)
            self.layer = nn.ModuleList(Layer() for _ in range(layers))

        def forward(self, ids: Any, attention_mask: Any, types: Any) -> Any:
            positions = self.position(self.position_ids[:, : ids.size(1)])
            x = self.LayerNorm(self.word(ids) + positions + self.kind(types))
            mask = attention_mask[:, None, None, :].to(dtype=x.dtype)
            mask = (1.0 - mask) * lib.finfo(x.dtype).min
            for layer in self.layer:
                x = layer(x, mask)
            chosen = attention_mask.unsqueeze(-1).expand(x.size()).float()
            mean = lib.sum(x * chosen, 1) / lib.clamp(chosen.sum(1), min=1e-9)
            return functional.normalize(mean, p=2, dim=1)

    return Encoder().eval()
