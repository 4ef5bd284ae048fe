# Every target sets up what it needs; a machine with Python 3.11 and pip is enough.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test locked lint bench build audit reliability docs results clean
.DEFAULT_GOAL := demo

# torch first and exactly: any range would fetch another build with gigabytes of CUDA.
$(VENV)/.base: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (about two minutes on a fresh machine) …"
	@$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev,docs,full,text,edf,web,log,tables,cluster]"
	@touch $@

demo: $(VENV)/.base  ## the main job: gaze for pictures that the demo draws itself
	@$(BIN)/stdiffeye demo generate --out demo

test: $(VENV)/.dev lint
	@$(BIN)/pytest -n 2 --dist worksteal

# The same with exactly the files of requirements-lock.txt, each checked by its SHA-256 (Linux on x86-64, Python 3.11).
locked:
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement requirements-lock.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(VENV)/.base $(VENV)/.dev
	@$(MAKE) test

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: $(VENV)/.dev
	@for file in benchmarks/bench_*.py; do echo "── $$file"; $(BIN)/python $$file || exit 1; done

build: $(VENV)/.dev  ## the wheel, a bill of materials (CycloneDX) and the licences of all dependencies, in dist/
	@$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@$(BIN)/python docs/scripts/sbom.py --out dist

audit: $(VENV)/.dev  ## known weaknesses of the locked packages; needs an index that can be reached
	@$(BIN)/pip install --quiet --disable-pip-version-check pip-audit
	@$(BIN)/pip-audit --requirement requirements-lock.txt --require-hashes --disable-pip

reliability: $(VENV)/.dev  ## attacks on everything, and docs/reliability.md of them; two hours
	@$(BIN)/python benchmarks/reliability.py

$(VENV)/.docs: $(VENV)/.base
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

docs: $(VENV)/.docs  ## the site, in site/; warnings are errors, nothing is fetched
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Look at site/index.html"

# Where the data sets lie: STDIFFEYE_DATA. Stores, features and runs are kept in WORK, where a second call goes on.
WORK    ?= reproduced
MINUTES ?= 30
JOBS    ?= $(shell getconf _NPROCESSORS_ONLN)
RESULTS ?= datasets extractors lifting-constants figure3 models modalities table1 likelihood statistics qualitative ablations
results: $(VENV)/.dev  ## every number and figure of docs/results; MINUTES of the processor per system and set
	@for name in $(RESULTS); do $(BIN)/stdiffeye reproduce $$name --work $(WORK) --minutes $(MINUTES) --jobs $(JOBS) || exit 1; done

clean:
	rm -rf $(VENV) demo site build dist *.egg-info
