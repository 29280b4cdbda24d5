# Bare `make` prints what there is. Only Python 3.11+ (with pip) and make are needed.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLAYS := $(VENV)/.play-done
STAMP := $(VENV)/.setup-done
BROWSER := $(VENV)/.browser-done
PLAY_GROUPS := --no-default-groups --extra emulator --group setup
# uv must not look for another Python or another environment than the one made here.
UV := UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv

# Hundreds of processes import the same modules: one compiles them and keeps that for all.
unexport PYTHONDONTWRITEBYTECODE

# Many tests wait for a process or a socket: two at a time a processor.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 2)))

WORLD := PYTHONPATH=tests:tests/samples/games $(BIN)/python -m world

# `make play` takes these: OPPONENT=champion MATCHES=20 STRATEGY=steady CLOUD=emulator SEED=7
PLAY := $(if $(STRATEGY),--strategy $(STRATEGY)) $(if $(OPPONENT),--opponent $(OPPONENT)) \
  $(if $(MATCHES),--matches $(MATCHES)) $(if $(CLOUD),--cloud $(CLOUD)) $(if $(SEED),--seed $(SEED))

# `make chaos` takes these: MATCHES=10000 STORE=SQLite TURN=7 AT_ONCE=2 SEED=7 REPLAY=/tmp/night.log
CHAOS := $(if $(MATCHES),--matches $(MATCHES)) $(if $(STORE),--home $(STORE)) \
  $(if $(TURN),--turn $(TURN)) $(if $(AT_ONCE),--at-once $(AT_ONCE)) \
  $(if $(SEED),--seed $(SEED)) $(if $(REPLAY),--replay $(REPLAY))

# `make contest` takes these: TEAMS=20 MATCHES=3 TIMEOUT=5 SEED=7 REPLAY=/tmp/cup.log
REHEARSAL := $(if $(TEAMS),--teams $(TEAMS)) $(if $(MATCHES),--matches $(MATCHES)) \
  $(if $(TIMEOUT),--turn $(TIMEOUT)) $(if $(SEED),--seed $(SEED)) $(if $(REPLAY),--replay $(REPLAY))

.PHONY: help setup play test test-all test-browser research-test planted mutants faults-all limits explore chaos contest coverage check compiled lint types format build gates cloud bench bench-wake bench-hold bench-load bench-services \
  probe-euchre clean

help: ## Print this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort \
	  | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

setup: $(STAMP) ## Make .venv with the cardsharp command and all tools in it

# What playing needs comes first and alone: a player waits for no test tools.
$(PLAYS): pyproject.toml uv.lock requirements/uv.txt
	@echo "setting up $(VENV) (once, some seconds) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Cardsharp needs Python 3.11 or newer; try make PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --requirement requirements/uv.txt
	@$(UV) sync --quiet --locked --no-install-project $(PLAY_GROUPS)
	@$(UV) sync --quiet --locked --no-build-isolation $(PLAY_GROUPS)
	@touch $@

$(STAMP): $(PLAYS)
	@echo "adding what tests and checks need to $(VENV) (once, about half a minute) ..."
	@$(UV) sync --quiet --locked --no-build-isolation
	@touch $@

play: $(PLAYS) ## Play a match on this machine: OPPONENT= MATCHES= STRATEGY= CLOUD=emulator SEED=
	@$(BIN)/cardsharp play $(PLAY)

# Checking the types keeps one processor busy: meanwhile the other compiles the tests for all workers.
test: setup .venv-sam/.setup-done ## Run all checks and all fast tests: what CI runs first, in about five minutes
	@$(MAKE) --no-print-directory -j 2 check compiled
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-browser: $(BROWSER) ## Look at the pages in a headless Chromium: TESTS=all for every recorded match
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal tests/browser $(if $(filter all,$(TESTS)),,-m "not slow")

$(BROWSER): $(STAMP) pyproject.toml uv.lock
	@echo "adding what drives a browser to $(VENV) (once, some seconds) ..."
	@$(UV) sync --quiet --locked --no-build-isolation --inexact --group browser
	@touch $@

test-all: check research-test .venv-sam/.setup-done ## Run everything: also duels, all recorded data, and fuzzing at full size
	@TESTS=all $(BIN)/pytest -n auto --dist worksteal --timeout 3600 -m "not timed"
	@TESTS=all $(BIN)/pytest -m timed
	@$(BIN)/pytest -n auto --dist worksteal --timeout 3600 -m slow research/tests
	@$(MAKE) --no-print-directory test-browser TESTS=all

research-test: setup ## Run the tests of research/
	@$(BIN)/pytest -n auto --dist worksteal -m "not slow" research/tests

explore: setup ## Explore all interleavings of the real code in small matches: JOBS=8 DOCUMENT=1
	@$(WORLD).explore $(if $(JOBS),--jobs $(JOBS)) $(if $(DOCUMENT),--document)

planted: setup ## Plant wrong rules in a clone with nothing beside it, and see each one caught
	@$(BIN)/pytest -n auto -q -rP tests/mutation

mutants: setup ## Change the code at random and count what the tests notice: TARGETS=euchre SAMPLE=60 SEED=1
	@$(UV) sync --quiet --locked --no-build-isolation --inexact --group mutants
	@for target in $(or $(TARGETS),deadmansdraw blef euchre attending stores); do \
	  $(BIN)/python tests/mutation/mutants.py $$target $(if $(SAMPLE),--sample $(SAMPLE)) \
	    $(if $(SEED),--seed $(SEED)); done

faults-all: setup ## Play every kind of fault at every I/O step, and pairs: PAIRS=1000 SEED=1
	@$(WORLD).kit $(if $(PAIRS),--pairs $(PAIRS)) $(if $(SEED),--seed $(SEED))

limits: setup ## Play at the arena's limit of requests on a clock of its own: LIMITS="--matches 20 --at-once 4"
	@$(WORLD).chaos --calm --home SQLite $(LIMITS)

contest: setup ## Rehearse a contest with all that goes wrong in one: TEAMS=20 MATCHES=3 TIMEOUT=5
	@$(WORLD).contest $(REHEARSAL)

chaos: setup ## Play matches while everything around them fails: MATCHES=200 TURN= AT_ONCE= SEED=
	@$(WORLD).chaos $(CHAOS)

coverage: setup .venv-sam/.setup-done ## Run the fast tests and say what no test reaches; fails below the floor
	@$(BIN)/pytest -n auto --dist worksteal -m "not slow" --cov --cov-report=
	@$(BIN)/coverage report

check: lint types ## Lint and type-check

compiled: setup
	@$(BIN)/pytest --collect-only -qq > /dev/null 2>&1 || true

lint: setup ## Lint, check the formatting, and who imports whom
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports --no-cache --no-logo

types: setup ## Type-check with mypy --strict
	@$(BIN)/mypy

format: setup ## Format the code and mend what the linter can
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

.venv-%/.setup-done: requirements/%.txt | setup
	@echo "setting up .venv-$* (once) ..."
	@$(PYTHON) -m venv --clear .venv-$*
	@$(BIN)/uv pip install --quiet --python .venv-$*/bin/python --require-hashes \
	  --requirement requirements/$*.txt
	@touch $@

build: setup .venv-sam/.setup-done ## Build what would be uploaded to AWS
	@$(BIN)/python -m workbench.build.sam

gates: setup .venv-sam/.setup-done .venv-checks/.setup-done ## Check template and artifacts
	@$(BIN)/python -m workbench.build.gates $(GATES)

cloud: setup .venv-sam/.setup-done ## Deploy the template into the emulator and have matches played there: STAY=1
	@$(BIN)/$(if $(STAY),python -m workbench.operate.trial,pytest -v tests/e2e/test_aws_cloud.py)

bench: bench-wake bench-hold bench-load bench-services ## Run all benchmarks

bench-wake: setup ## How fast an opponent's move reaches a waiting client
	@$(BIN)/python -m workbench.bench.arena_bench wake

bench-hold: setup ## Hold 1,000 waiting clients
	@$(BIN)/python -m workbench.bench.arena_bench hold

bench-load: setup ## Many matches at once, in all of which it is our turn: AT_ONCE="100 300 1000"
	@for number in $(or $(AT_ONCE),10 100 300 1000); do \
	  $(BIN)/python -m workbench.bench.load_bench $$number || exit; done

bench-services: setup ## What a request and a match of each hosted game take, and cost in the cloud
	@$(BIN)/python -m workbench.cost.games

probe-euchre: setup ## Do hidden cards change an answer of Euchre's engine? 200 deals of each kind
	@$(BIN)/cardsharp euchre probe

clean: ## Remove the environment and all caches
	@rm -rf $(VENV) .venv-sam .venv-checks .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis .mutants
