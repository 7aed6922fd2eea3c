# make setup   create a virtual environment in .venv with all dependencies
# make demo    set up, then run the whole demo on the embedded data
# make test    set up, then lint, check types and run all tests except the slow ones
# make test-browser  test the pages of the audit and the map in headless Chromium, which is installed if possible
# make docs    build the documentation as a site in site/, and check its links
# All are safe to repeat: dependencies are reinstalled only if pyproject.toml or constraints.txt changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH := .venv-bench
BENCH_STAMP := $(BENCH)/.installed
PIP_FLAGS := --disable-pip-version-check --quiet --progress-bar off

.PHONY: setup demo test test-slow test-browser chromium docs lint bench clean

setup: $(STAMP)
	@echo "set up: $(BIN)/unshortcut $$($(BIN)/unshortcut --version)"

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "unshortcut needs Python 3.11 or newer; name one with PYTHON=..."; exit 1; }
	@echo "setting up $(VENV): torch and the other dependencies, about 6 GB, a few minutes"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e '.[dev]'
	@# grad-cam asks for OpenCV without its contributed modules, in the same folder: ours comes last.
	@$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt --no-deps --force-reinstall \
		opencv-contrib-python-headless
	@touch $@

demo: setup
	@echo "running the demo: three to five minutes on two cores, something to look at in one"
	@$(BIN)/unshortcut demo --out demo

test: setup lint
	@echo "running the tests: about ten minutes on two cores"
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: setup
	@echo "running the slow tests"
	@$(BIN)/python -m pytest -m slow --timeout 1800

test-browser: setup
	@$(BIN)/python -c 'import playwright' 2>/dev/null \
		|| $(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e '.[browser]'
	@command -v chromium >/dev/null || $(MAKE) --no-print-directory chromium
	@echo "running the tests in a browser"
	@$(BIN)/python -m pytest -m browser tests/browser

chromium:
	@test "$$(id -u)" = 0 && command -v apt-get >/dev/null || { \
		echo "the browser tests need Chromium: install your system's package 'chromium'"; exit 1; }
	@echo "installing Debian's chromium"
	@{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes \
		--no-install-recommends chromium; } >/dev/null

docs: setup
	@$(BIN)/python -c 'import material' 2>/dev/null \
		|| $(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@$(BIN)/python -m tests.docs.site.check site
	@echo "to read and search it: $(BIN)/python -m http.server --directory site"

lint: setup
	@echo "checking style and types"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

$(BENCH_STAMP): pyproject.toml constraints.txt benchmarks/requirements.txt
	@echo "setting up $(BENCH): the project beside its peers"
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@$(BENCH)/bin/python -m pip install $(PIP_FLAGS) -c constraints.txt -e '.[cluster]' -r benchmarks/requirements.txt
	@$(BENCH)/bin/python -m pip install $(PIP_FLAGS) -c constraints.txt --no-deps --force-reinstall \
		imagecorruptions opencv-contrib-python-headless
	@touch $@

bench: $(BENCH_STAMP)
	@echo "running every benchmark beside its peers: about 15 minutes on two cores"
	@for module in views probe solver features imaging step finetune corruptions; do $(BENCH)/bin/python -m benchmarks.$$module || exit 1; done

clean:
	rm -rf $(VENV) $(BENCH) site .mypy_cache .pytest_cache .ruff_cache
