# Commands of the project; `make help` lists them. Everything is installed into .venv/ on first use.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUNTIME_LOCK := layers/runtime/requirements.txt
# Complete lists with hashes: nothing is resolved and nothing unlisted gets in.
INSTALL := $(PIP) install --quiet --require-hashes --no-deps
# As typed, $ included, and through the environment: neither make nor a shell may interpret a sentence.
override TEXT := $(value TEXT)
export TEXT
SOURCE ?= google-bert/bert-base-chinese
OUT ?= build/model
FLAGS ?=
CORPUS ?= build/corpus
TRAINING ?= build/training
MINUTES ?= 90

.DEFAULT_GOAL := help
.PHONY: help run serve emulator check format test test-all test-pythons export compare corpus train coverage lock schema clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

run: $(VENV)/.runtime ## fill the blanks of TEXT='…[MASK]…' with the real Lambda handler
	@$(BIN)/python -m handler

serve: $(VENV)/.serve ## API and documentation on http://127.0.0.1:8000
	TIANKONG_THREADS=$${TIANKONG_THREADS:-1} $(BIN)/python -m uvicorn --factory handler.entry:http_app --host 127.0.0.1 --port $${PORT:-8000} --no-server-header --no-access-log

emulator: $(VENV)/.dev build/emulator/rie ## the Lambda runtime emulator on http://127.0.0.1:9000
	$(BIN)/python -m tests.support.emulator

check: $(VENV)/.dev ## format, lint, types, import contracts, template, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/cfn-lint template.yaml
	$(BIN)/python -m tests.support.schema --check
	$(BIN)/python -m tests.support.lock --check

format: $(VENV)/.dev ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: $(VENV)/.dev build/emulator/rie ## all tests that need no Docker and no browser
	$(BIN)/python -m pytest -m 'not docker and not browser and not node and not torch and not slow'

test-all: $(VENV)/.export build/emulator/rie test-pythons ## every test, on every supported Python
	$(BIN)/python -m pytest

test-pythons: ## unit, contract and functional tests on each Python found of 3.11, 3.12 and 3.13
	sh tests/pythons.sh

export: $(VENV)/.export ## turn SOURCE=<hub id or folder> into a proved int8 artifact in OUT=<folder>
	$(BIN)/python -m export "$(SOURCE)" --out "$(OUT)" $(FLAGS)

compare: $(VENV)/.export ## answer TEXT='…[MASK]…' with the artifacts A=<folder> and B=<folder> side by side
	@$(BIN)/python -m export.compare "$(A)" "$(B)" "$$TEXT"

corpus: $(VENV)/.corpus ## download the training text's packages and write it to CORPUS=<folder>
	$(BIN)/python -m export.train.corpus --out "$(CORPUS)"

train: $(VENV)/.export ## train the small model on CORPUS for MINUTES; goes on where it stopped in TRAINING=<folder>
	nice -n 19 $(BIN)/python -m export.train.train --corpus "$(CORPUS)" --out "$(TRAINING)" --minutes $(MINUTES) $(FLAGS)

coverage: $(VENV)/.dev build/emulator/rie ## branch coverage of handler/
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q -m 'not docker and not browser and not node and not torch and not slow'
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

schema: $(VENV)/.dev ## write docs/openapi.json anew
	$(BIN)/python -m tests.support.schema

lock: ## resolve the dependencies anew (needs uv)
	$(PYTHON) -m tests.support.lock

clean: ## remove the environment and everything built
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage*

$(BIN)/python:
	@echo 'Making the environment in $(VENV)/ …'
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=…")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: $(RUNTIME_LOCK) | $(BIN)/python
	@echo 'Installing what running needs (about 60 MB, once) …'
	@$(INSTALL) -r $(RUNTIME_LOCK)
	@touch $@

$(VENV)/.serve: locks/serve.txt $(VENV)/.runtime
	@echo 'Installing the local server …'
	@$(INSTALL) -r locks/serve.txt
	@touch $@

$(VENV)/.dev: locks/dev.txt $(VENV)/.serve
	@echo 'Installing what the tests need (about 150 MB, once) …'
	@$(INSTALL) -r locks/dev.txt
	@touch $@

# The requirements of an extra of pyproject.toml, one a line. Not locked with hashes: torch comes as another file on
# each kind of machine, and nothing of this ships.
extra = $(shell $(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["$(1)"])')

$(VENV)/.export: pyproject.toml | $(VENV)/.dev
	@echo 'Installing torch and what else the export needs (about 300 MB, once) …'
	@$(PIP) install --quiet $(call extra,export)
	@touch $@

$(VENV)/.corpus: pyproject.toml | $(VENV)/.dev
	@echo 'Installing what the corpus needs …'
	@$(PIP) install --quiet $(call extra,corpus)
	@touch $@

# The Runtime Interface Emulator is a static binary inside the wheel of the SAM CLI; the CLI itself is not installed.
build/emulator/rie: locks/emulator.txt | $(BIN)/python
	@echo 'Fetching the Lambda runtime emulator …'
	@mkdir -p build/emulator
	@$(PIP) download --quiet --no-deps --require-hashes -r locks/emulator.txt --dest build/emulator
	@$(BIN)/python -c 'import glob, platform, shutil, zipfile; \
	  wheel = zipfile.ZipFile(glob.glob("build/emulator/aws_sam_cli-*.whl")[0]); \
	  name = "samcli/local/rapid/aws-lambda-rie-" + {"aarch64": "arm64"}.get(platform.machine(), platform.machine()); \
	  shutil.copyfileobj(wheel.open(name), open("build/emulator/rie", "wb"))'
	@chmod +x $@ && rm -f build/emulator/*.whl
