// Python runs here, so that the page answers while it computes. Messages from the page have an
// `id`, which the answer repeats; what Python prints and what training reports has a `kind`.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const address = (name) => new URL(name, import.meta.url).href;
const say = (kind, value) => postMessage({ kind, value });

async function read(name) {
  const answer = await fetch(address(name));
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

function write(stream) {
  const decoder = new TextDecoder();
  return (bytes) => {
    say(stream, decoder.decode(bytes, { stream: true }));
    return bytes.length;
  };
}

/** Report the bytes of all that `load` fetches, while they arrive. */
async function countBytes(load) {
  const { fetch } = self;
  let bytes = 0;
  const counter = () => new TransformStream({
    transform(chunk, stream) {
      bytes += chunk.byteLength;
      say("bytes", bytes);
      stream.enqueue(chunk);
    },
  });
  self.fetch = async (...request) => {
    const answer = await fetch(...request);
    return new Response(answer.body.pipeThrough(counter()), answer);
  };
  return load().finally(() => { self.fetch = fetch; });
}

async function start() {
  say("state", "Loading Python");
  const python = await loadPyodide({ indexURL: address("pyodide/") });
  say("state", "Loading NumPy");
  await python.loadPackage("numpy", { messageCallback: () => {} });
  say("state", "Loading tinytorch");
  python.unpackArchive(await read("tinytorch.whl"), "wheel");
  for (const name of ["session.py", "digits.py", "digits.bin"]) {
    python.FS.writeFile(name, await read(name));
  }
  say("state", "Importing tinytorch");
  const { session } = python.pyimport("session");
  python.setStdout({ write: write("stdout") });
  python.setStderr({ write: write("stderr") });
  say("ready", session.banner());
  return { python, session };
}

const calls = {
  interruptBy: ({ python }, buffer) => python.setInterruptBuffer(buffer),
  isWhole: ({ session }, source) => session.is_whole(source),
  run: ({ session }, source) => session.run(source),
  complete: ({ session }, before) => JSON.parse(session.complete(before)),
  train: ({ session }) => session.train((seen) => say("epoch", JSON.parse(seen))),
};

const started = countBytes(start).catch((error) => {
  say("failed", String(error.message));
  throw error;
});

self.onmessage = async ({ data: { id, call, value } }) => {
  try {
    postMessage({ id, value: await calls[call](await started, value) });
  } catch (error) {
    postMessage({ id, error: String(error.message) });
  }
};
