"""skorch: a network as an estimator of scikit-learn's, in a grid search and a pipeline."""

import pickle

import numpy as np
import torch
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EarlyStopping, EpochScoring, LRScheduler
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(8, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 2)
        )

    def forward(self, x):
        return self.layers(x).softmax(-1)


x, y = make_classification(200, 8, random_state=0)
x, y = x.astype(np.float32), y.astype(np.int64)
net = NeuralNetClassifier(
    Net,
    max_epochs=20,
    lr=0.2,
    verbose=0,
    iterator_train__shuffle=True,
    callbacks=[
        EarlyStopping(patience=10),
        EpochScoring("roc_auc", lower_is_better=False),
        ("lr", LRScheduler("StepLR", step_size=15)),
    ],
)
model = make_pipeline(StandardScaler(), net).fit(x, y)
assert model.score(x, y) > 0.85, model.score(x, y)
assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(x), model.predict(x))
net.set_params(callbacks=None, verbose=0)
search = GridSearchCV(net, {"module__width": [4, 16], "lr": [0.1]}, cv=2, scoring="accuracy")
search.fit(x, y)
assert search.best_score_ > 0.7, search.best_score_
assert cross_val_score(net, x, y, cv=2).mean() > 0.7

inputs, target = make_regression(200, 8, noise=0.1, random_state=0)
inputs, target = inputs.astype(np.float32), target.astype(np.float32)[:, None] / 100
regressor = NeuralNetRegressor(
    nn.Linear, module__in_features=8, module__out_features=1, max_epochs=50, lr=0.05, verbose=0
).fit(inputs, target)
assert regressor.score(inputs, target) > 0.95
print("done")
