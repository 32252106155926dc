// Run tests under the browser's Python, in Node: `node suite.mjs PACKAGES PYODIDE [pytest's arguments]`.
// PACKAGES is a folder that holds pytest, PYODIDE one with Pyodide and its NumPy.
import { fileURLToPath, pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [packages, pyodide, ...options] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(resolve(pyodide, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: resolve(pyodide) + "/", env: { HOME: "/tmp" } });
await python.loadPackage("numpy", { messageCallback: () => {} });
const root = fileURLToPath(new URL("../../", import.meta.url));
for (const [path, folder] of [["/packages", resolve(packages)], ["/suite", root]]) {
  python.FS.mkdir(path);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, path);
}
python.globals.set("options", python.toPy(options));
process.exitCode = python.runPython(`
import os, sys
os.chdir("/suite")
sys.dont_write_bytecode = True
sys.path[:0] = ["/suite", "/packages"]
import pytest
int(pytest.main(["-p", "no:cacheprovider", "--capture=sys", "-p", "tests.browser.without_threads", *options]))
`);
