"""Lightning's Trainer with its defaults: summary, bar, checkpoints, a logger; predictions.

Then with PyTorch's profiler and TensorBoard's logger, which records the hyperparameters.
"""

import os
import tempfile
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", ".*num_workers.*")


class Classifier(L.LightningModule):
    def __init__(self, width=16):
        super().__init__()
        self.save_hyperparameters()
        self.example_input_array = torch.ones(2, 4)
        self.net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("accuracy", (self(x).argmax(1) == y).float().mean(), prog_bar=True)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.02)
        return {
            "optimizer": optimizer,
            "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 5),
        }


L.seed_everything(0)
x = torch.randn(256, 4)
y = (x[:, 0] > 0).long()
data = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
held = DataLoader(TensorDataset(x, y), batch_size=64)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    trainer = L.Trainer(max_epochs=8)
    model = Classifier()
    trainer.fit(model, data, held)
    assert trainer.callback_metrics["accuracy"] > 0.9, trainer.callback_metrics
    again = Classifier.load_from_checkpoint(trainer.checkpoint_callback.best_model_path)
    assert torch.equal(again(x), model(x))
    (found,) = [torch.cat(trainer.predict(again, DataLoader(x, batch_size=64)))]
    assert torch.equal(found, model(x))
    trainer.validate(model, held)
    summary = L.pytorch.utilities.model_summary.ModelSummary(model)
    assert summary.total_flops == 2 * 2 * (4 * 16 + 16 * 2), summary.total_flops
    more = L.Trainer(
        max_epochs=9,
        callbacks=[L.pytorch.callbacks.EarlyStopping("train_loss")],
        profiler="pytorch",
        logger=L.pytorch.loggers.TensorBoardLogger(folder, log_graph=True),
        gradient_clip_val=1.0,
        accumulate_grad_batches=2,
        enable_progress_bar=False,
    )
    more.fit(model, data, held, ckpt_path=trainer.checkpoint_callback.best_model_path)
    assert more.current_epoch == 9
    written = os.listdir(more.logger.log_dir)
    assert "hparams.yaml" in written and any("tfevents" in name for name in written), written
    assert any(name.endswith(".pt.trace.json") for name in written), written
    os.chdir("/")
print("done")
