# Two commands on a fresh machine: `make demo` and `make test`. Both set up .venv first; nothing else is needed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test bench fuzz lint docs dist clean

PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) install --editable . --group dev
	touch $@

demo: $(VENV)/.core
	@$(BIN)/prefixlint diff examples/agent.jsonl; code=$$?; [ $$code -le 1 ]

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.docs: $(VENV)/.core
	$(PIP) install --group docs
	touch $@

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site

dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/twine check --strict dist/*

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

fuzz: $(VENV)/.dev
	PREFIXLINT_FUZZ=50000 $(BIN)/python -m pytest -n auto tests/tokens tests/canon tests/diff tests/api/test_index_spark.py

clean:
	rm -rf $(VENV) dist build
