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
export SAM_CLI_TELEMETRY := 0
SOURCE ?= google-bert/bert-base-chinese
OUT ?= build/model
FLAGS ?=
IMAGE ?= tiankong
BASE ?= public.ecr.aws/lambda/python:3.13
MODEL ?= layers/model
ARCH ?= x86_64
EVENT ?= infra/events/direct.json
SAM := build/sam-venv/bin/sam
DOCKER ?= $(or $(wildcard /usr/bin/docker),docker)
CORPUS ?= build/corpus
TRAINING ?= build/training
MINUTES ?= 90

.DEFAULT_GOAL := help
.PHONY: bench bench-quick screenshots eval alarms check clean compare corpus coverage deploy emulator engine engine-stop export format help image local local-api lock precompute run schema serve smoke test test-all test-pythons train web

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

run: $(VENV)/.runtime ## fill the blanks of TEXT='…[MASK]…' with the real Lambda handler
	@$(BIN)/python -m handler

serve: $(VENV)/.serve ## page, API and documentation on http://127.0.0.1:8000
	TIANKONG_THREADS=$${TIANKONG_THREADS:-1} $(BIN)/python -m uvicorn --factory handler.entry:http_app --host 127.0.0.1 --port $${PORT:-8000} --no-server-header --no-access-log

emulator: $(VENV)/.dev build/emulator/rie ## the Lambda runtime emulator on http://127.0.0.1:9000
	$(BIN)/python -m tests.support.emulator

check: $(VENV)/.dev ## format, lint, types, import contracts, template, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/cfn-lint template.yaml infra/*.yaml
	$(BIN)/python -m tests.support.schema --check
	$(BIN)/python -m tests.support.lock --check

format: $(VENV)/.dev ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: $(VENV)/.dev build/emulator/rie build/cloud-venv/lock ## all tests that need no Docker and no browser
	$(BIN)/python -m pytest -m 'not docker and not browser and not node and not torch and not slow'

test-all: $(VENV)/.export $(VENV)/.browser build/emulator/rie build/cloud-venv/lock build/sam-venv/lock test-pythons ## every test, on every supported Python
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory handler/web/node_modules; else echo '!! no npm: the page is not built' >&2; fi
	$(BIN)/python -m pytest

test-pythons: ## unit, contract and functional tests on each Python found of 3.11, 3.12 and 3.13
	sh tests/pythons.sh

export: $(VENV)/.export ## turn SOURCE=<hub id or folder> into a proved int8 artifact in OUT=<folder>
	$(BIN)/python -m export "$(SOURCE)" --out "$(OUT)" $(FLAGS)

bench: $(VENV)/.export build/bench-venv/ready ## time everything beside its peers; with the embedded model in fp32 from CHECKPOINT=<folder>
	$(BIN)/python -m tests.benchmarks $(if $(CHECKPOINT),--checkpoint "$(CHECKPOINT)") $(FLAGS)

bench-quick: $(VENV)/.export build/bench-venv/ready ## the same with fewer peers and texts, in three minutes
	$(BIN)/python -m tests.benchmarks --quick --out build/bench-quick.json $(FLAGS)

compare: $(VENV)/.export ## answer TEXT='…[MASK]…' with the artifacts A=<folder> and B=<folder> side by side
	@$(BIN)/python -m export.compare "$(A)" "$(B)" "$$TEXT"

eval: $(VENV)/.dev ## measure idioms, verse and correction on the data in DATA=<folder>, with MODEL=<folder>
	$(BIN)/python -m export.evaluation.language --data "$(DATA)" --model "$(MODEL)" $(FLAGS)

corpus: $(VENV)/.corpus ## download the training text's packages and write it to CORPUS=<folder>
	$(BIN)/python -m export.train.corpus --out "$(CORPUS)"

train: $(VENV)/.export ## train the small model on CORPUS for MINUTES; goes on where it stopped in TRAINING=<folder>
	nice -n 19 $(BIN)/python -m export.train.train --corpus "$(CORPUS)" --out "$(TRAINING)" --minutes $(MINUTES) $(FLAGS)

image: build/emulator/rie $(VENV)/.dev ## build the container image IMAGE=tiankong, with MODEL=<folder>, for ARCH=x86_64 or arm64
	@$(BIN)/python layers/fetch.py --machine $(ARCH)
	@# Where AWS's base image is neither there nor to be had, the tests' stand-in takes its place, and says so.
	@$(DOCKER) image inspect $(BASE) >/dev/null 2>&1 || $(DOCKER) pull -q --platform linux/$(ARCH:x86_64=amd64) $(BASE) \
	  || $(BIN)/python -m tests.support.base_image
	$(DOCKER) build $$($(DOCKER) buildx version >/dev/null 2>&1 && echo --load --provenance=false) \
	  --platform linux/$(ARCH:x86_64=amd64) --build-arg BASE=$(BASE) --build-arg MODEL=$(MODEL) \
	  -f layers/Dockerfile -t $(IMAGE) .

local: image build/sam-venv/lock ## answer EVENT=infra/events/direct.json with sam local invoke
	@$(SAM) build --parameter-overrides ModelFolder=$(MODEL) BaseImage=$(BASE) Architecture=$(ARCH) >/dev/null 2>build/sam.log || { cat build/sam.log; exit 1; }
	@AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-eu-central-1} AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local \
	  $(SAM) local invoke Function -e $(EVENT) --skip-pull-image \
	  --parameter-overrides Authorization=NONE Cache=Off 2>build/sam.log || { cat build/sam.log; exit 1; }

local-api: image build/sam-venv/lock ## the image behind the HTTP API of sam local, on http://127.0.0.1:3000
	@$(SAM) build >/dev/null 2>build/sam.log || { cat build/sam.log; exit 1; }
	@build/sam-venv/bin/python infra/expand.py .aws-sam/build/template.yaml .aws-sam/build/local-api.json
	AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-eu-central-1} AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local \
	  $(SAM) local start-api -t .aws-sam/build/local-api.json --host 127.0.0.1 --port $${PORT:-3000} \
	  --warm-containers EAGER --skip-pull-image --parameter-overrides Authorization=NONE Cache=Off

deploy: image build/sam-venv/lock ## build and deploy the stack; asks for what it must know
	$(SAM) build
	$(SAM) deploy --guided

alarms: build/sam-venv/lock ## deploy alarms and dashboard for the stack SERVICE=tiankong, mail to EMAIL=…
	$(SAM) deploy -t infra/alarms.yaml --stack-name $${SERVICE:-tiankong}-alarms --resolve-s3 --no-fail-on-empty-changeset \
	  --parameter-overrides Service=$${SERVICE:-tiankong} Email="$${EMAIL:-}"

smoke: ## check a deployment at URL=https://…
	@$(PYTHON) infra/smoke.py "$(URL)"

precompute: $(VENV)/.runtime ## fill the table TIANKONG_CACHE_TABLE with the answers to the templates in FILE=…
	@$(BIN)/python -m handler.precompute "$(FILE)"

engine: $(VENV)/.dev ## start a Docker engine of the project's own (needs root and docker.io)
	@$(BIN)/python -m tests.support.engine start

engine-stop: $(VENV)/.dev ## stop it
	@$(BIN)/python -m tests.support.engine stop

web: handler/web/node_modules ## build the page anew (needs node)
	cd handler/web && npm run --silent build

screenshots: $(VENV)/.browser ## draw the pictures of the page in docs/images/ (needs chromium and fonts-noto-cjk)
	$(BIN)/python -m tests.web.screenshots

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
	rm -rf $(VENV) build .aws-sam layers/runtime/wheels handler/web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage*

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

build/bench-venv/ready: pyproject.toml | $(BIN)/python
	@echo 'Installing the peers to measure against (1.7 GB, once) …'
	@rm -rf build/bench-venv && $(PYTHON) -m venv build/bench-venv
	@build/bench-venv/bin/python -m pip install --quiet --disable-pip-version-check $(firstword $(call extra,bench))
	@build/bench-venv/bin/python -m pip install --quiet --disable-pip-version-check $(call extra,bench)
	@touch $@

build/sam-venv/lock: locks/infra.txt | $(BIN)/python
	@echo 'Installing the SAM CLI and checkov (560 MB, once) …'
	@$(BIN)/python -m tests.support.tools sam && touch $@

build/cloud-venv/lock: locks/cloud.txt | $(BIN)/python
	@echo 'Installing the local cloud (120 MB, once) …'
	@$(BIN)/python -m tests.support.tools cloud && touch $@

$(VENV)/.browser: locks/browser.txt | $(VENV)/.dev
	@echo 'Installing what drives the browser (50 MB, once) …'
	@$(INSTALL) -r locks/browser.txt
	@touch $@

handler/web/node_modules: handler/web/package-lock.json
	@echo 'Installing what builds and tests the page (once) …'
	@cd handler/web && npm ci --silent --no-audit --no-fund
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
