"""Ignite: events, metrics and checkpoints around a loop."""

import tempfile

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import Accuracy, Loss
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 3)
batches = list(zip(x.split(16), (x[:, 0] > 0).long().split(16), strict=True))
model = nn.Linear(3, 2)
optimizer, criterion = torch.optim.SGD(model.parameters(), 0.5), nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, optimizer, criterion)
metrics = {"accuracy": Accuracy(), "loss": Loss(criterion)}
evaluator = create_supervised_evaluator(model, metrics)
losses = []


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate():
    losses.append(evaluator.run(batches).metrics["loss"])


with tempfile.TemporaryDirectory() as folder:
    saver = Checkpoint({"model": model}, DiskSaver(folder, require_empty=False), n_saved=1)
    trainer.add_event_handler(Events.COMPLETED, saver)
    trainer.run(batches, max_epochs=10)
    other = nn.Linear(3, 2)
    Checkpoint.load_objects({"model": other}, torch.load(saver.last_checkpoint))
assert torch.equal(other.weight, model.weight)
assert losses[-1] < losses[0] and evaluator.state.metrics["accuracy"] > 0.9
print("done")
