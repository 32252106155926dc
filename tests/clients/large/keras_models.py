"""Keras 3 on its PyTorch backend: layers, training, saving."""

import os
import tempfile

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)


def fit(model, x, y, loss, **options):
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
    history = model.fit(x, y, epochs=8, batch_size=32, verbose=0, **options)
    assert history.history["loss"][-1] < history.history["loss"][0], history.history["loss"]
    return model


x = rng.normal(size=(256, 8)).astype("float32")
y = (x.sum(1) > 0).astype("int64")
dense = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.1),
        keras.layers.Dense(2, activation="softmax"),
    ]
)
fit(dense, x, y, "sparse_categorical_crossentropy", validation_split=0.2)
loss, accuracy = dense.evaluate(x, y, verbose=0)
assert accuracy > 0.85, accuracy
assert isinstance(dense(x[:2]), torch.Tensor)

images = rng.normal(size=(64, 8, 8, 1)).astype("float32")
bright = (images.mean((1, 2, 3)) > 0).astype("float32")
conv = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
fit(conv, images, bright, "binary_crossentropy")

sequences = rng.normal(size=(64, 6, 3)).astype("float32")
lstm = keras.Sequential(
    [
        keras.Input((6, 3)),
        keras.layers.LSTM(8, return_sequences=True),
        keras.layers.Bidirectional(keras.layers.GRU(4)),
        keras.layers.Dense(1),
    ]
)
fit(lstm, sequences, sequences.sum((1, 2)), "mse")

inputs = keras.Input((6,), dtype="int32")
h = keras.layers.Embedding(20, 8)(inputs)
h = keras.layers.MultiHeadAttention(2, 4)(h, h)
h = keras.layers.LayerNormalization()(h)
outputs = keras.layers.Dense(20)(h)
tokens = rng.integers(0, 20, (64, 6))
attention = fit(
    keras.Model(inputs, outputs),
    tokens,
    tokens,
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)

with tempfile.TemporaryDirectory() as folder:
    for name, model, given in (
        ("dense", dense, x),
        ("lstm", lstm, sequences),
        ("conv", conv, images),
        ("attention", attention, tokens),
    ):
        path = f"{folder}/{name}.keras"
        model.save(path)
        again = keras.models.load_model(path)
        np.testing.assert_allclose(
            again.predict(given, verbose=0), model.predict(given, verbose=0), rtol=1e-5, atol=1e-6
        )
print("done")
