"""A siamese network: contrastive and triplet losses, hard negatives, nearest neighbours."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 6, 5), nn.PReLU(), nn.MaxPool1d(2, stride=2),
            nn.Conv1d(6, 8, 3), nn.PReLU(8), nn.AdaptiveAvgPool1d(3),
        )  # fmt: skip
        self.fc = nn.Sequential(
            nn.Linear(24, 16), nn.LayerNorm(16), nn.Dropout(0.1), nn.Linear(16, 4)
        )

    def forward(self, x):
        x = self.conv(x)
        x = x.view(x.size(0), -1)
        return F.normalize(self.fc(x), p=2, dim=1)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, output1, output2, label):
        distance = F.pairwise_distance(output1, output2, keepdim=True)
        return torch.mean(
            (1 - label) * torch.pow(distance, 2)
            + label * torch.pow(torch.clamp(self.margin - distance, min=0.0), 2)
        )


time = torch.linspace(0, 1, 32)


def waves(labels):
    phase = torch.rand(len(labels), 1)
    signal = torch.sin(6.28 * ((labels.unsqueeze(1) + 1) * time + phase))
    return (signal + 0.1 * torch.randn_like(signal)).unsqueeze(1)


net = Embedder()
contrastive, triplet = ContrastiveLoss(), nn.TripletMarginLoss(margin=0.5, swap=True)
optimizer = torch.optim.NAdam(net.parameters(), lr=5e-3)
for step in range(12):
    labels = torch.randint(0, 3, (24,))
    other = torch.where(torch.rand(24) < 0.5, labels, (labels + 1) % 3)
    anchor, pair = net(waves(labels)), net(waves(other))
    different = (labels != other).float().unsqueeze(1)
    loss = contrastive(anchor, pair, different)
    distances = torch.cdist(anchor, anchor)
    same = labels[:, None] == labels[None, :]
    hardest = distances.masked_fill(same, float("inf")).argmin(dim=1)
    loss = loss + 0.5 * triplet(anchor, net(waves(labels)), anchor[hardest])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 3 == 2:
        print(f"loss {loss.item():.4f}")
net.eval()
with torch.inference_mode():
    gallery_labels = torch.arange(3).repeat_interleave(5)
    gallery, queries = net(waves(gallery_labels)), net(waves(torch.arange(3)))
    similarity = F.cosine_similarity(queries.unsqueeze(1), gallery.unsqueeze(0), dim=-1)
    values, nearest = similarity.topk(3, dim=1)
print(gallery_labels[nearest].mode(dim=1).values.tolist(), [f"{v:.3f}" for v in values[:, 0]])
