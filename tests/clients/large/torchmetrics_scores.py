"""torchmetrics: scores that are kept over batches, compared with scikit-learn's."""

import numpy as np
import sklearn.metrics
import torch
import torchmetrics
from torchmetrics import MetricCollection
from torchmetrics.classification import (
    BinaryAUROC,
    MulticlassAccuracy,
    MulticlassConfusionMatrix,
    MulticlassF1Score,
)
from torchmetrics.regression import MeanSquaredError, PearsonCorrCoef, R2Score, SpearmanCorrCoef

torch.manual_seed(0)
logits, labels = torch.randn(100, 3), torch.randint(0, 3, (100,))
found = logits.argmax(1)
scores = MetricCollection(
    {
        "accuracy": MulticlassAccuracy(3, average="micro"),
        "f1": MulticlassF1Score(3, average="macro"),
        "confusion": MulticlassConfusionMatrix(3),
    }
)
for part in range(0, 100, 25):
    scores.update(logits[part : part + 25], labels[part : part + 25])
result = scores.compute()
assert np.isclose(result["accuracy"], sklearn.metrics.accuracy_score(labels, found))
assert np.isclose(result["f1"], sklearn.metrics.f1_score(labels, found, average="macro"))
assert np.array_equal(result["confusion"], sklearn.metrics.confusion_matrix(labels, found))

probabilities, truth = torch.rand(100), torch.randint(0, 2, (100,))
auc = BinaryAUROC()(probabilities, truth)
assert np.isclose(auc, sklearn.metrics.roc_auc_score(truth, probabilities))

x, y = torch.randn(50), torch.randn(50)
assert np.isclose(MeanSquaredError()(x, y), ((x - y) ** 2).mean())
assert np.isclose(PearsonCorrCoef()(x, y), np.corrcoef(x, y)[0, 1], atol=1e-6)
assert np.isclose(R2Score()(x, y), sklearn.metrics.r2_score(y, x), rtol=1e-5)
assert -1 <= SpearmanCorrCoef()(x, y) <= 1

running = torchmetrics.MeanMetric()
for value in (1.0, 2.0, 6.0):
    running.update(value)
assert running.compute() == 3
state = torchmetrics.MeanMetric()
state.persistent(True)
running.persistent(True)
state.load_state_dict(running.state_dict())
assert torchmetrics.functional.pairwise_cosine_similarity(logits[:4]).shape == (4, 4)
image = torch.rand(1, 1, 16, 16)
assert np.isclose(
    torchmetrics.functional.image.structural_similarity_index_measure(image, image), 1
)
assert np.isclose(
    torchmetrics.functional.image.peak_signal_noise_ratio(image, image + 0.1, data_range=1.0),
    20,
    atol=1e-3,
)
print("done")
