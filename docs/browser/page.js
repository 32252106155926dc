import { drawDigits, drawLoss } from "./drawing.js";

const element = (id) => document.getElementById(id);
const input = element("input");
const FRAGMENT = "#code=";

// -- Python, in its worker ----------------------------------------------------------------------

let worker, waiting, next = 0;

function startPython() {
  worker?.terminate();
  const asked = waiting ?? new Map();
  waiting = new Map();
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => (data.kind ? hear(data) : settle(data));
  worker.onerror = (event) => hear({ kind: "failed", value: event.message || "no worker" });
  setReady(false);
  for (const { reject } of asked.values()) reject(new Error("Python was stopped"));
}

function ask(call, value) {
  const id = ++next;
  worker.postMessage({ id, call, value });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function settle({ id, value, error }) {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  error === undefined ? resolve(value) : reject(new Error(error));
}

function hear({ kind, value }) {
  if (kind === "epoch") showEpoch(value);
  else if (kind === "state") element("state").textContent = `${value} …`;
  else if (kind === "ready") {
    write("said", `${value}\n`);
    setReady(true);
  } else if (kind === "failed") {
    element("state").textContent = "Python could not start";
    write("stderr", `${value}\n`);
  } else write(kind, value);
}

function setReady(ready) {
  for (const id of ["run", "complete", "train"]) element(id).disabled = !ready;
  element("stop").disabled = true;
  if (ready) element("state").textContent = "Python is ready";
}

/** Ask, and say that Python is busy until it has answered. False if it was stopped or failed. */
async function work(call, value) {
  const asked = worker;
  element("state").textContent = "Python is busy";
  element("stop").disabled = false;
  const error = await ask(call, value).then(() => null, (error) => error);
  if (worker !== asked) return false; // Python was stopped
  if (error) write("stderr", `${error.message}\n`);
  if (!waiting.size) setReady(true);
  return !error;
}

// -- the REPL -----------------------------------------------------------------------------------

const typed = [];
let place = 0;

/** Add text to the log; what one stream says in a row stands in one block. */
function write(kind, text) {
  const log = element("log");
  if (kind === "typed" || log.lastChild?.className !== kind) {
    log.append(document.createElement("pre"));
    log.lastChild.className = kind;
  }
  log.lastChild.textContent += text;
  log.scrollTop = log.scrollHeight;
}

function setInput(text, cursor = text.length) {
  input.value = text;
  input.setSelectionRange(cursor, cursor);
  fit();
}

function fit() {
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
}

function insert(text, from = input.selectionStart) {
  input.setRangeText(text, from, input.selectionEnd, "end");
  fit();
}

function run(source = take()) {
  showMatches([]);
  const text = source.trimEnd();
  if (!text.trim()) return;
  typed.push(text);
  place = typed.length;
  write("typed", text);
  work("run", text);
}

/** What stands in the box, which is empty then. */
function take() {
  const source = input.value;
  setInput("");
  return source;
}

/** Run what is whole; what is not comes back, before what was typed meanwhile. */
async function enter() {
  const form = element("form");
  const inside = input.selectionEnd < input.value.length;
  if (element("run").disabled) return;
  if (inside || form.ariaBusy === "true") return breakLine();
  const source = take();
  form.ariaBusy = "true";
  const whole = await ask("isWhole", source).catch(() => false);
  form.ariaBusy = "false";
  if (whole) return run(source);
  const later = input.value;
  setInput(source);
  breakLine();
  insert(later);
}

/** Begin the next line as far in as this one, or further where a block begins. */
function breakLine() {
  const line = input.value.slice(0, input.selectionStart).split("\n").at(-1);
  insert(`\n${line.match(/^\s*/)[0]}${line.trimEnd().endsWith(":") ? "    " : ""}`);
}

function recall(step) {
  place = Math.min(Math.max(place + step, 0), typed.length);
  setInput(typed[place] ?? "");
}

async function complete() {
  const before = input.value.slice(0, input.selectionStart);
  const { start, matches } = await ask("complete", before);
  if (before !== input.value.slice(0, input.selectionStart)) return; // typed on meanwhile
  const shared = matches.reduce(common, matches[0] ?? "");
  if (shared.length > before.length - start) insert(shared, start);
  showMatches(matches.length > 1 ? matches : [], start);
  input.focus();
}

function common(one, other) {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}

function showMatches(matches, start) {
  const list = element("matches");
  list.replaceChildren(...matches.map((match) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = match.split(".").at(-1);
    button.onclick = () => {
      insert(match, start);
      showMatches([]);
      input.focus();
    };
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  list.hidden = !matches.length;
}

const keys = {
  Enter: enter,
  Tab: complete,
  ArrowUp: () => recall(-1),
  ArrowDown: () => recall(1),
  Escape: () => showMatches([]),
};

/** Whether a key does here what the page says; otherwise it does what it does everywhere. */
function isOurs(event) {
  const { value, selectionStart, selectionEnd } = input;
  if (event.isComposing || event.altKey || event.metaKey) return false;
  if (event.key === "Enter") return !event.shiftKey;
  if (event.key === "Tab") return !event.shiftKey && /[\w.]$/.test(value.slice(0, selectionStart));
  if (event.key === "ArrowUp") return !value.slice(0, selectionStart).includes("\n");
  if (event.key === "ArrowDown") return !value.slice(selectionEnd).includes("\n");
  return event.key in keys;
}

input.addEventListener("keydown", (event) => {
  if (!isOurs(event)) return;
  event.preventDefault();
  event.ctrlKey && event.key === "Enter" ? run() : keys[event.key]();
});
input.addEventListener("input", () => {
  fit();
  showMatches([]);
});
element("form").addEventListener("submit", (event) => event.preventDefault());
element("run").addEventListener("click", () => run());
element("complete").addEventListener("click", complete);
element("stop").addEventListener("click", () => {
  write("said", "\nStopped: Python starts anew, what it held is gone.\n");
  element("progress").textContent = "";
  startPython();
});

// -- digits -------------------------------------------------------------------------------------

let losses, means;

function showEpoch({ epoch, epochs, accuracy, ...seen }) {
  losses.push(...seen.losses);
  means.push(seen.losses.reduce((sum, loss) => sum + loss, 0) / seen.losses.length);
  drawLoss(losses, means, epochs);
  drawDigits(seen);
  const percent = (100 * accuracy).toFixed(1);
  element("progress").textContent = `Epoch ${epoch} of ${epochs}: ${percent} % of held-out digits`;
}

element("train").addEventListener("click", async () => {
  element("train").disabled = true;
  element("progress").textContent = "Training …";
  [losses, means] = [[], []];
  if (await work("train")) element("after").hidden = false;
  else element("progress").textContent = "";
});

element("source").closest("details").addEventListener("toggle", async () => {
  element("source").textContent ||= await (await fetch("digits.py")).text();
});

// -- the link -----------------------------------------------------------------------------------

element("share").addEventListener("click", async () => {
  const link = new URL(location.href);
  link.hash = FRAGMENT + encodeURIComponent(input.value || typed.join("\n"));
  element("link").value = link.href;
  element("shared").hidden = false;
  element("link").select();
  const copied = navigator.clipboard?.writeText(link.href).then(() => true, () => false);
  element("copied").textContent = (await copied) ? "Copied" : "";
});

/** Put a link's code where it can be read before it is run. */
function openLink() {
  if (location.hash.startsWith(FRAGMENT)) {
    setInput(decodeURIComponent(location.hash.slice(FRAGMENT.length)));
  }
}

addEventListener("hashchange", openLink);
openLink();
startPython();
