"""Lightning's ``strategy="ddp"``: the Trainer starts its second rank as ``python script.py``."""

import os
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", ".*num_workers.*")


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def validation_step(self, batch, index):
        x, y = batch
        self.log("accuracy", (self.net(x).argmax(1) == y).float().mean(), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.05)


if __name__ == "__main__":
    L.seed_everything(0)
    x = torch.randn(256, 4)
    y = (x[:, 0] > 0).long()
    data = TensorDataset(x, y)
    trainer = L.Trainer(
        max_epochs=4, strategy="ddp", devices=2, accelerator="cpu",
        logger=False, enable_checkpointing=False, default_root_dir=os.getcwd(),
        enable_progress_bar=False,
    )  # fmt: skip
    model = Classifier()
    loader = DataLoader(data, 32, shuffle=True, num_workers=1, persistent_workers=True)
    trainer.fit(model, loader, DataLoader(data, 64))
    accuracy = trainer.callback_metrics["accuracy"]
    assert accuracy > 0.8, accuracy
    weights = trainer.strategy.all_gather(model.net[0].weight.detach())
    assert torch.equal(weights[0], weights[1])
    # In one write: both ranks have one standard output.
    print(f"rank {trainer.global_rank} of {trainer.world_size}: done\n", end="", flush=True)
