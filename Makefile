# Two commands on a fresh machine: `make demo` and `make test`. Both set up .venv first; nothing else is needed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test bench fuzz lint clean

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

demo: $(VENV)/.ready
	@$(BIN)/prefixlint diff examples/agent.jsonl; code=$$?; [ $$code -le 1 ]

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/run.py

fuzz: $(VENV)/.ready
	PREFIXLINT_FUZZ=50000 $(BIN)/python -m pytest -n auto tests/tokens tests/canon tests/diff

clean:
	rm -rf $(VENV) dist build
