"""Train a small network on handwritten digits, and yield the values that the page draws."""

import tinytorch as tt
from tinytorch import nn, optim

EPOCHS, BATCH, SHOWN = 30, 32, 20


def load(path="digits.bin"):
    """Return images, `(1797, 8, 8)` in [0, 1], and labels, in a random order."""
    with open(path, "rb") as file:
        rows = tt.frombuffer(bytearray(file.read()), dtype=tt.uint8).reshape(-1, 65)
    rows = rows[tt.randperm(len(rows))]
    return rows[:, :64].reshape(-1, 8, 8) / 16, rows[:, 64].long()


def build():
    """Return the network: `(batch, 8, 8)` pixels to `(batch, 10)` logits."""
    layers = nn.Linear(64, 256), nn.GELU(), nn.Dropout(0.3), nn.Linear(256, 10)
    return nn.Sequential(nn.Flatten(), *layers)


def train(model, images, labels):
    """Train on three quarters; yield losses, and after each epoch the predictions for the rest."""
    split = len(images) * 3 // 4
    held_out, is_digit = images[split:], labels[split:]
    loss_fn = nn.CrossEntropyLoss()
    optimizer = optim.AdamW(model.parameters(), lr=4e-3)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.92)
    for epoch in range(1, EPOCHS + 1):
        losses = []
        model.train()
        for batch in tt.randperm(split).split(BATCH):
            optimizer.zero_grad()
            loss = loss_fn(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
        model.eval()
        with tt.no_grad():
            predicted = model(held_out).argmax(dim=1)
        yield {
            "epoch": epoch,
            "epochs": EPOCHS,
            "losses": losses,
            "accuracy": (predicted == is_digit).float().mean().item(),
            "predicted": predicted[:SHOWN].tolist(),
            "labels": is_digit[:SHOWN].tolist(),
            "pixels": held_out[:SHOWN].flatten(1).tolist(),
        }
