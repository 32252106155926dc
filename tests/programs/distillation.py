"""A student learns from a teacher, averages of its weights are kept, and then it is pruned."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import prune
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4)).eval()
student = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
x = torch.randn(64, 6)
y = teacher(x).argmax(1)

optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, nesterov=True)
ema = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
swa = AveragedModel(student)
schedule = SWALR(optimizer, swa_lr=0.02, anneal_epochs=3)
temperature = 2.0
for epoch in range(6):
    for i, (batch, labels) in enumerate(zip(x.split(16), y.split(16))):
        with torch.no_grad():
            wanted = F.softmax(teacher(batch) / temperature, -1)
        logits = student(batch)
        soft = F.kl_div(F.log_softmax(logits / temperature, -1), wanted, reduction="batchmean")
        hard = F.cross_entropy(logits, labels, label_smoothing=0.1)
        loss = 0.5 * soft * temperature**2 + 0.5 * hard
        (loss / 2).backward()
        if i % 2:  # gradients of two batches make a step
            norm = nn.utils.clip_grad_norm_(student.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
            ema.update_parameters(student)
    if epoch > 2:
        swa.update_parameters(student)
        schedule.step()
    rate = optimizer.param_groups[0]["lr"]
    print(f"loss {loss.item():.5f} norm {norm.item():.4f} rate {rate:.4f}")

update_bn([(batch,) for batch in x.split(16)], swa)
for averaged in (swa.eval(), ema.eval()):
    print(f"averaged {F.cross_entropy(averaged(x), y).item():.5f}")

prune.l1_unstructured(student[0], "weight", amount=0.3)
prune.ln_structured(student[3], "weight", amount=0.25, n=2, dim=1)
print([name for name, _ in student[0].named_buffers()], student[3].weight_mask.sum().item())
optimizer.zero_grad()
F.cross_entropy(student(x), y).backward()
optimizer.step()
prune.remove(student[0], "weight")
print((student[0].weight == 0).sum().item(), prune.is_pruned(student[0]), swa.n_averaged.item())
