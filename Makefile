# Every target does its own set-up. Needed on the machine: a C compiler, Rust (1.85 or newer) and Python (3.11 or newer)
# with its venv module; `tools` installs what is missing when it runs as root on Debian, else it says what to install.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
PYTHON_FT ?=
PYTHON_PEERS ?= $(PYTHON)
PYTEST_ARGS ?=

export PATH := $(PATH):$(HOME)/.cargo/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport CONDA_PREFIX PYTHONPATH PYTHONHOME

VENV := .venv
VENV_FT := .venv-ft
BIN := $(VENV)/bin
NATIVE_SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find crates -type f \( -name '*.rs' -o -name Cargo.toml \))
FT_TESTS = $(wildcard tests/test_window.py tests/test_permutation.py tests/test_loader*.py tests/test_resume.py)

.PHONY: help peers demo servers test test-rust test-loom test-python test-free-threaded lint bench docs build lock clean tools lint-tools

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 28

demo: build ## train on handwritten digits through the loader
	$(BIN)/headrace demo

test: test-rust test-loom test-python ## run every test

test-rust: | tools
	cargo test --locked -p headrace-core

# The model replaces the atomics of the whole crate, so it is built apart.
test-loom: | tools
	RUSTFLAGS="--cfg headrace_loom" CARGO_TARGET_DIR=target/loom cargo test --locked -p headrace-core --release loom

test-python: build servers
	$(BIN)/python -m pytest $(PYTEST_ARGS)

servers: | tools ## install the servers that the tests start; a test whose server is missing is skipped
	@missing=""; \
	command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing="$$missing nginx-light"; \
	command -v npm >/dev/null || missing="$$missing nodejs npm"; \
	if [ -n "$$missing" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			export DEBIAN_FRONTEND=noninteractive; \
			{ apt-get update -qq && apt-get install -y -qq --no-install-recommends $$missing; } </dev/null \
				|| echo "could not install$$missing: their tests will be skipped" >&2; \
		else \
			echo "some tests will be skipped; on Debian, install with: apt-get install$$missing" >&2; \
		fi; \
	fi
	$(PYTHON) tests/servers/install.py

test-free-threaded: | tools ## run the loader's tests on the interpreter PYTHON_FT
ifeq ($(strip $(PYTHON_FT)),)
	@echo "skipped: say which free-threaded interpreter to use, as in 'make test-free-threaded PYTHON_FT=python3.14t'"
else
	@$(MAKE) --no-print-directory $(VENV_FT)/.built
	PYTHON_GIL=0 $(VENV_FT)/bin/python -m pytest $(PYTEST_ARGS) $(FT_TESTS)
endif

lint: build lint-tools ## check style and types in both languages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest headrace._native
	cargo fmt --all --check
	PYO3_PYTHON="$(CURDIR)/$(BIN)/python" cargo clippy --locked --workspace --all-targets -- -D warnings

bench: build ## measure against a plain loop and the peers that are installed
	$(BIN)/python benchmarks/run.py

docs: build ## run every code block of the documentation
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests/test_docs.py

build: $(VENV)/.built ## make .venv and build the package into it

$(VENV)/.built: $(VENV)/.installed $(NATIVE_SOURCES) | tools
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --locked
	touch $@

$(VENV)/.installed: requirements/dev.txt | tools
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	touch $@

$(VENV_FT)/.built: $(VENV_FT)/.installed $(NATIVE_SOURCES) | tools
	VIRTUAL_ENV="$(CURDIR)/$(VENV_FT)" CARGO_TARGET_DIR=target/free-threaded $(VENV_FT)/bin/maturin develop --release --locked
	touch $@

$(VENV_FT)/.installed: requirements/free-threaded.txt | tools
	$(PYTHON_FT) -m venv --clear $(VENV_FT)
	$(VENV_FT)/bin/python -m pip install --quiet --require-hashes -r requirements/free-threaded.txt
	touch $@

peers: .venv-peers/.installed ## install the packages that the interoperability tests compare with (Python 3.12 or newer)

.venv-peers/.installed: requirements/peers.txt | tools
	$(PYTHON_PEERS) -m venv --clear .venv-peers
	.venv-peers/bin/python -m pip install --quiet --require-hashes -r requirements/peers.txt
	touch $@

lock: ## make the locks of requirements/ again (needs uv and npm)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
		--no-header requirements/dev.in -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.14 --generate-hashes --no-emit-index-url --no-annotate \
		--no-header -c requirements/dev.txt requirements/free-threaded.in -o requirements/free-threaded.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
		--no-header requirements/servers.in -o requirements/servers.txt
	cd requirements/azurite && npm install --package-lock-only --no-audit --no-fund
	uv pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-emit-index-url --no-annotate \
		--no-header --prerelease if-necessary-or-explicit requirements/peers.in -o requirements/peers.txt

clean: ## remove what the other targets made
	rm -rf $(VENV) $(VENV_FT) .venv-peers target demo-output python/headrace/_native.*.so

# An interpreter that is named with PYTHON= is the user's to complete; python3 is Debian's.
tools:
	@missing=""; \
	command -v cc >/dev/null || missing="$$missing gcc libc6-dev"; \
	command -v cargo >/dev/null || missing="$$missing cargo"; \
	if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then missing="$$missing python3 python3-venv"; fi; \
	if [ -n "$$missing" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			export DEBIAN_FRONTEND=noninteractive; \
			apt-get update -qq </dev/null; \
			apt-get install -y -qq --no-install-recommends $$missing </dev/null; \
		else \
			echo "missing on this machine; on Debian, install with: apt-get install$$missing" >&2; exit 1; \
		fi; \
	fi; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=python3.13 ..." >&2; exit 1; }; \
	minor="$$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')"; \
	if [ -n "$$minor" ] && [ "$$minor" -lt 85 ]; then \
		echo "$$(cargo --version) is older than 1.85; install a newer Rust with rustup (https://rustup.rs)" >&2; exit 1; \
	fi

lint-tools: | tools
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 \
		|| { command -v rustup >/dev/null && rustup component add rustfmt clippy; } \
		|| { echo "missing: rustfmt and clippy (Debian: apt-get install rustfmt rust-clippy)" >&2; exit 1; }
