// ONNX Runtime classifies the digits here, without Python. It is fetched at the first click.
import { drawDigits } from "./drawing.js";

const [HELD_OUT, ROW, SHOWN] = [400, 65, 20]; // digits, bytes of a digit and its label, pictures

const element = (id) => document.getElementById(id);

async function read(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** The digits that the network was not trained on: pixels in [0, 1], and labels. */
async function loadDigits() {
  const rows = (await read("digits.bin")).slice(-HELD_OUT * ROW);
  const starts = Array.from({ length: HELD_OUT }, (_, i) => i * ROW);
  return {
    pixels: starts.map((start) => Array.from(rows.subarray(start, start + ROW - 1), (v) => v / 16)),
    labels: starts.map((start) => rows[start + ROW - 1]),
  };
}

/** Return the logits of all images, which are one batch, and the milliseconds that they took. */
async function runModel(pixels) {
  const ort = await import("./onnxruntime-web/ort.wasm.bundle.min.mjs");
  ort.env.wasm.numThreads = 1; // more need memory that isolated pages alone may share
  const session = await ort.InferenceSession.create(await read("digits.onnx"));
  const images = new ort.Tensor("float32", pixels.flat(), [pixels.length, 1, 8, 8]);
  const started = performance.now();
  const { logits } = await session.run({ images });
  const time = performance.now() - started;
  await session.release();
  return { logits: logits.data, time };
}

function argmax(values) {
  return values.indexOf(Math.max(...values));
}

async function classify() {
  const { pixels, labels } = await loadDigits();
  const { logits, time } = await runModel(pixels);
  const predicted = labels.map((_, i) => argmax(logits.subarray(10 * i, 10 * i + 10)));
  const all = [...labels.keys()];
  const right = all.filter((i) => predicted[i] === labels[i]);
  const wrong = all.filter((i) => predicted[i] !== labels[i]);
  const shown = [...wrong.slice(0, SHOWN / 2), ...right].slice(0, SHOWN);
  const seen = { pixels, predicted, labels };
  for (const name in seen) seen[name] = shown.map((i) => seen[name][i]);
  drawDigits(seen, element("onnx-digits"));
  const percent = ((100 * right.length) / HELD_OUT).toFixed(1);
  return `${right.length} of ${HELD_OUT} digits correct (${percent} %) in ${time.toFixed(0)}\u00a0ms`;
}

const buttons = document.querySelectorAll("[data-onnx]");

async function start() {
  for (const button of buttons) button.disabled = true;
  element("onnx-progress").textContent = "Loading ONNX Runtime …";
  element("onnx-progress").scrollIntoView({ block: "center" });
  element("onnx-progress").textContent = await classify().catch((error) => String(error));
  for (const button of buttons) button.disabled = false;
}

for (const button of buttons) button.addEventListener("click", start);
