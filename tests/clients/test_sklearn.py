"""scikit-learn fits tensors."""

from __future__ import annotations

import pytest

import tinytorch as tt

pytest.importorskip("sklearn")
linear_model, svm = (pytest.importorskip(f"sklearn.{name}") for name in ("linear_model", "svm"))
model_selection = pytest.importorskip("sklearn.model_selection")
preprocessing = pytest.importorskip("sklearn.preprocessing")
metrics = pytest.importorskip("sklearn.metrics")


def points() -> tuple[tt.Tensor, tt.Tensor]:
    tt.manual_seed(0)
    x = tt.randn(80, 3)
    return x, (x[:, 0] > 0).long()


def test_regression_finds_the_weights() -> None:
    x, _ = points()
    weights = tt.tensor([1.0, -2.0, 0.5])
    model = linear_model.LinearRegression().fit(x, x @ weights + 3)
    tt.testing.assert_close(tt.tensor(model.coef_), weights, atol=1e-4, rtol=0)
    assert abs(model.intercept_ - 3) < 1e-4


def test_classifiers_are_trained_on_tensors() -> None:
    x, y = points()
    train, test, wanted, hidden = model_selection.train_test_split(x, y, random_state=0)
    scaled = preprocessing.StandardScaler().fit(train)
    model = svm.SVC().fit(scaled.transform(train), wanted)
    found = tt.as_tensor(model.predict(scaled.transform(test)))
    assert metrics.accuracy_score(hidden, found) == (found == tt.as_tensor(hidden)).double().mean()
    assert metrics.accuracy_score(hidden, found) > 0.8


def test_metrics_accept_tensors() -> None:
    wanted, found = tt.tensor([1, 0, 1, 1]), tt.tensor([1, 0, 0, 1])
    assert metrics.f1_score(wanted, found) == pytest.approx(0.8)
    assert metrics.roc_auc_score(wanted, tt.tensor([0.9, 0.1, 0.8, 0.7])) == 1.0
    assert metrics.confusion_matrix(wanted, found).tolist() == [[1, 0], [1, 2]]
