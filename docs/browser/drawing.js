const SVG = "http://www.w3.org/2000/svg";
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 470, 12, 190];

const element = (id) => document.getElementById(id);

/** Draw the loss of each step and the mean of each epoch, on a logarithmic axis. */
export function drawLoss(losses, means, epochs) {
  const steps = (losses.length / means.length) * epochs;
  const low = Math.floor(Math.log10(Math.max(Math.min(...losses), 1e-4)));
  const high = Math.ceil(Math.log10(Math.max(...losses)));
  const across = (step) => LEFT + ((RIGHT - LEFT) * step) / steps;
  const up = (loss) =>
    BOTTOM - ((BOTTOM - TOP) * (Math.max(Math.log10(loss), low) - low)) / (high - low);
  const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x},${y}`).join("");
  const each = steps / epochs;
  element("loss").setAttribute("d", path(losses.map((loss, i) => [across(i + 1), up(loss)])));
  element("mean").setAttribute("d", path(means.map((loss, i) => [across((i + 0.5) * each), up(loss)])));
  drawGrid(low, high, (power) => up(10 ** power));
  element("caption").textContent = `${losses.length} steps, mean of the last epoch ${means.at(-1).toFixed(4)}`;
  element("chart").setAttribute("aria-label",
    `Training loss: from ${means[0].toFixed(3)} to ${means.at(-1).toFixed(3)} in ${means.length} epochs`);
}

function drawGrid(low, high, up) {
  const powers = Array.from({ length: high - low + 1 }, (_, i) => low + i);
  element("grid").replaceChildren(...powers.flatMap((power) => {
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("d", `M${LEFT},${up(power)}H${RIGHT}`);
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("x", LEFT - 6);
    text.setAttribute("y", up(power) + 4);
    text.textContent = power < 0 ? (10 ** power).toFixed(-power) : 10 ** power;
    return [line, text];
  }));
}

/** Draw digits in a list; under each stands what the network says and, where that is wrong, what it is. */
export function drawDigits({ pixels, predicted, labels }, list = element("digits")) {
  list.replaceChildren(...pixels.map((image, i) => {
    const right = predicted[i] === labels[i];
    const item = document.createElement("li");
    const text = document.createElement("span");
    text.className = right ? "right" : "wrong";
    text.textContent = right ? `${predicted[i]} ✓` : `${predicted[i]}, is ${labels[i]}`;
    item.append(drawDigit(image), text);
    return item;
  }));
}

function drawDigit(image) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 8;
  canvas.setAttribute("aria-hidden", "true");
  const rgba = image.flatMap((value) => [...Array(3).fill(255 * (1 - value)), 255]);
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(rgba), 8), 0, 0);
  return canvas;
}
