# Every target sets itself up: a fresh clone needs only make and Python 3.11 or newer.

# The first of these that runs; `make PYTHON=...` to choose another.
PYTHON ?= $(shell for python in python3.11 python3; do \
    $$python -c '' 2>/dev/null && echo $$python && break; done)
# Processes that share the tests.
WORKERS ?= 2

BIN := .venv/bin
# Written last, so that an install that was interrupted is not taken for a finished one.
INSTALLED := .venv/installed

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes

PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help .venv browser test faults check serve bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[.a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

.venv: $(INSTALLED) ## build the environment from requirements.txt

# The build backend goes first and --no-build-isolation makes source distributions use it: left alone,
# pip would fetch a backend that no hash in the lock vouches for.
$(INSTALLED): requirements.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "Cellmates needs Python 3.11 or newer: $(or $(PYTHON),python3) is older or missing;" \
	        "name one with: make PYTHON=..." >&2; exit 1; }
	rm -f $(INSTALLED)
	rm -rf .venv
	"$(PYTHON)" -m venv .venv
	sed -n '/^setuptools==/,/[^\\]$$/p' requirements.txt >.venv/backend.txt
	$(PIP_INSTALL) --only-binary :all: -r .venv/backend.txt
	$(PIP_INSTALL) --no-build-isolation -r requirements.txt
	@# The checkout itself is importable from anywhere with this environment's python.
	echo "$(CURDIR)" >"$$($(BIN)/python -c \
	    'import sysconfig; print(sysconfig.get_path("purelib"))')/checkout.pth"
	touch $(INSTALLED)

# The page is tried in a real browser, and its rules under Node: both are the system's packages.
browser:
	@command -v chromium >/dev/null && command -v node >/dev/null || { \
	    [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get --quiet update && \
	    apt-get --quiet --yes --no-install-recommends install chromium nodejs; } || { \
	    echo "The tests of the page need Chromium and Node:" \
	        "apt-get install chromium nodejs, or the like" >&2; exit 1; }

test: $(INSTALLED) browser ## run every test; cellmates must be covered branch for branch
	$(PYTEST) -m 'not exhaustive and not page' --ignore tests/faults --cov --cov-report=
	$(BIN)/python -m coverage report --include='cellmates/*' --fail-under=100
	$(BIN)/python -m coverage report --fail-under=95
	$(PYTEST) -m 'exhaustive or page' --ignore tests/faults

faults: $(INSTALLED) ## kill, break, flood and fuzz the server as tests can in four minutes
	$(PYTEST) tests/faults

check: $(INSTALLED) ## lint, format, types and import contracts, changing nothing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

serve: $(INSTALLED) ## serve games on this machine; settings are CELLMATES_* variables
	@$(BIN)/python -m server serve

bench: $(INSTALLED) browser ## measure all of it beside its rivals; takes three quarters of an hour
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.solver
	$(BIN)/python -m benchmarks

lock: $(INSTALLED) ## remake requirements.txt; with ARGS=--upgrade take newer versions
	$(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 \
	    --generate-hashes --custom-compile-command 'make lock' $(ARGS) \
	    --output-file requirements.txt requirements.in

clean: ## remove what the targets made
	rm -f $(INSTALLED)
	rm -rf benchmarks/rivals/node_modules .venv .coverage .coverage.* .hypothesis .*_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
