import { drawDigits, drawLoss } from "./drawing.js";

const element = (id) => document.getElementById(id);
const input = element("input");
const FRAGMENT = "#code=";

// -- Python, in its worker ----------------------------------------------------------------------

let worker, interrupts, waiting, next = 0;

/** Start Python in a new worker; calls that the old one has not answered fail. */
function startPython() {
  worker?.terminate();
  const unanswered = waiting ?? new Map();
  waiting = new Map();
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => (data.kind ? receive(data) : settle(data));
  worker.onerror = (event) => receive({ kind: "failed", value: event.message || "no worker" });
  element("loading").hidden = false;
  element("loading").value = 0;
  setReady(false);
  // Memory that page and worker share is there on isolated pages alone.
  interrupts = self.crossOriginIsolated ? new Uint8Array(new SharedArrayBuffer(1)) : null;
  if (interrupts) ask("interruptBy", interrupts).catch(() => {}); // it fails if Python does
  for (const { reject } of unanswered.values()) reject(new Error("Python was stopped"));
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

function receive({ kind, value }) {
  if (kind === "epoch") showEpoch(value);
  else if (kind === "bytes") element("loading").value = value;
  else if (kind === "state") element("state").textContent = `${value} …`;
  else if (kind === "ready") {
    element("loading").hidden = true;
    write("said", `${value}\n`);
    setReady(true);
  } else if (kind === "failed") {
    element("loading").hidden = true;
    element("state").textContent = "Python could not start";
    write("stderr", `${value}\n`);
  } else write(kind, value);
}

function setReady(ready) {
  const starters = document.querySelectorAll("#run, #complete, [data-example], [data-train]");
  for (const button of starters) button.disabled = !ready;
  element("stop").disabled = true;
  element("stop").textContent = "Stop";
  if (ready) element("state").textContent = "Python is ready";
}

/** Call Python, which is busy until then. Undefined if it was stopped or failed. */
async function work(call, value) {
  const called = worker;
  setReady(false);
  element("state").textContent = "Python is busy";
  element("stop").disabled = false;
  interrupts?.fill(0);
  try {
    return await ask(call, value);
  } catch (error) {
    if (worker === called) write("stderr", `${error.message}\n`);
  } finally {
    if (worker === called) setReady(true);
  }
}

/** Interrupt Python, which keeps its variables; if it cannot be, or is already, start it anew. */
function stop() {
  if (interrupts && element("stop").textContent === "Stop") {
    const SIGINT = 2;
    interrupts.fill(SIGINT);
    element("stop").textContent = "Start Python anew";
    element("state").textContent = "Interrupting Python …";
    return;
  }
  write("said", "\nPython starts anew. Your variables are lost.\n");
  element("progress").textContent = "";
  startPython();
}

element("stop").addEventListener("click", stop);
element("stopping").textContent = self.crossOriginIsolated
  ? "Stop interrupts Python and keeps your variables."
  : "Stop starts Python anew, and your variables are lost: this server does not send the headers " +
    "that an interrupt needs.";

// -- the REPL -----------------------------------------------------------------------------------

const typed = [];
let place = 0;

/** Add text to the log; consecutive text of one stream is one block. */
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

/** Return the text of the box and empty it. */
function take() {
  const source = input.value;
  setInput("");
  return source;
}

/** Run complete code; put other code back, before what was typed meanwhile. */
async function enter() {
  const form = element("form");
  const inside = input.selectionEnd < input.value.length;
  if (element("run").disabled) return;
  if (inside || form.ariaBusy === "true") return breakLine();
  const source = take();
  form.ariaBusy = "true";
  const whole = await ask("isWhole", source).catch(() => false);
  form.ariaBusy = "false";
  if (whole && !element("run").disabled) return run(source);
  const later = input.value;
  setInput(source);
  if (!whole) breakLine();
  insert(later);
}

/** Begin the next line with the indentation of this one, or one level more after a colon. */
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

/** Whether a key has the page's meaning; otherwise it has the browser's. */
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
  if (!event.ctrlKey || event.key !== "Enter") keys[event.key]();
  else if (!element("run").disabled) run();
});
input.addEventListener("input", () => {
  fit();
  showMatches([]);
});
element("form").addEventListener("submit", (event) => event.preventDefault());
element("run").addEventListener("click", () => run());
element("complete").addEventListener("click", complete);

for (const button of document.querySelectorAll("[data-example]")) {
  button.addEventListener("click", async () => {
    const source = await readText(`examples/${button.dataset.example}.py`);
    if (element("run").disabled) return; // another example was faster
    run(source);
    element("form").scrollIntoView({ block: "nearest" });
  });
}

async function readText(path) {
  return (await fetch(path)).text();
}

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

async function train() {
  element("progress").textContent = "Training …";
  element("progress").scrollIntoView({ block: "center" });
  [losses, means] = [[], []];
  const complete = await work("train");
  element("after").hidden = complete === undefined;
  if (complete === false) element("progress").textContent += ", interrupted";
  if (complete === undefined) element("progress").textContent = "";
}

for (const button of document.querySelectorAll("[data-train]")) {
  button.addEventListener("click", train);
}

element("source").closest("details").addEventListener("toggle", async () => {
  element("source").textContent ||= await readText("digits.py");
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

/** Put the code of a link into the box, without running it. */
function openLink() {
  if (location.hash.startsWith(FRAGMENT)) {
    setInput(decodeURIComponent(location.hash.slice(FRAGMENT.length)));
  }
}

addEventListener("hashchange", openLink);
openLink();
element("loading").max = await (await fetch("bytes.json")).json();
startPython();
