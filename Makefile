# Bare `make` prints the targets. Only Python 3.11+ (with pip) and make are needed.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLAY_STAMP := $(VENV)/.play-done
STAMP := $(VENV)/.setup-done
BROWSER := $(VENV)/.browser-done
SEARCH := layers/cardsharp/python/cardsharp/games/deadmansdraw/strategies/search/native
PLAY_GROUPS := --no-default-groups --extra emulator --group setup
# uv must not look for another Python or another environment than the one made here.
UV := UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv

# Hundreds of processes import the same modules: one process compiles them once for all.
unexport PYTHONDONTWRITEBYTECODE

# Many tests wait for a process or a socket: run two at a time for each processor.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 2)))

# The names that these variables had in 0.2.0; 0.4.0 drops them.
CONCURRENCY ?= $(AT_ONCE)
KEEP_RUNNING ?= $(STAY)
TURN_SECONDS ?= $(or $(TURN),$(TIMEOUT))

# Variables of `make play`: OPPONENT=champion MATCHES=20 STRATEGY=steady CLOUD=emulator SEED=7
PLAY_OPTIONS := $(if $(STRATEGY),--strategy $(STRATEGY)) $(if $(OPPONENT),--opponent $(OPPONENT)) \
  $(if $(MATCHES),--matches $(MATCHES)) $(if $(CLOUD),--cloud $(CLOUD)) $(if $(SEED),--seed $(SEED))

FAULT_SIMULATION := PYTHONPATH=tests:tests/samples/games $(BIN)/python -m fault_simulation

# Variables of `make evidence-chaos`:
# MATCHES=10000 STORE=SQLite TURN_SECONDS=7 CONCURRENCY=2 SEED=7 REPLAY=/tmp/night.log
CHAOS_OPTIONS := $(if $(MATCHES),--matches $(MATCHES)) $(if $(STORE),--store $(STORE)) \
  $(if $(TURN_SECONDS),--turn-seconds $(TURN_SECONDS)) $(if $(CONCURRENCY),--concurrency $(CONCURRENCY)) \
  $(if $(SEED),--seed $(SEED)) $(if $(REPLAY),--replay $(REPLAY))

# Variables of `make evidence-contest`: TEAMS=20 MATCHES=3 TURN_SECONDS=5 SEED=7 REPLAY=/tmp/cup.log
CONTEST_OPTIONS := $(if $(TEAMS),--teams $(TEAMS)) $(if $(MATCHES),--matches $(MATCHES)) \
  $(if $(TURN_SECONDS),--turn-seconds $(TURN_SECONDS)) $(if $(SEED),--seed $(SEED)) \
  $(if $(REPLAY),--replay $(REPLAY))

.PHONY: help play setup format clean lint types check precompile-tests test test-browser test-all \
  coverage build wheels check-deploy local-cloud bench bench-wakeup bench-connections bench-load \
  bench-games evidence evidence-model-check evidence-seeded-bugs evidence-mutation-test \
  evidence-fault-matrix evidence-rate-limits evidence-chaos evidence-contest \
  evidence-euchre-leaks evidence-research compiled gates cloud bench-wake bench-hold \
  bench-services research-test planted mutants faults-all limits explore chaos contest \
  probe-euchre

##@ Play

play: $(PLAY_STAMP) ## Play a match on this machine: OPPONENT= MATCHES= STRATEGY= CLOUD=emulator SEED=
	@$(BIN)/cardsharp play $(PLAY_OPTIONS)

##@ Develop

setup: $(STAMP) ## Create .venv with the cardsharp command and all development tools

# What playing needs comes first and alone: a player waits for no test tools.
$(PLAY_STAMP): pyproject.toml uv.lock requirements/uv.txt
	@echo "setting up $(VENV) (once, some seconds) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Cardsharp needs Python 3.11 or newer; try make PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --requirement requirements/uv.txt
	@$(UV) sync --quiet --locked --no-install-project $(PLAY_GROUPS)
	@$(UV) sync --quiet --locked --no-build-isolation $(PLAY_GROUPS)
	@touch $@

# Without a C compiler the cross compiler of the registry builds the search, and without both plain
# Python searches.
$(STAMP): $(PLAY_STAMP) $(wildcard $(SEARCH)/*.[ch])
	@echo "adding what tests and checks need to $(VENV) (once, about half a minute) ..."
	@$(UV) sync --quiet --locked --no-build-isolation
	@if command -v "$${CC:-cc}" > /dev/null; then $(BIN)/python $(SEARCH)/build_library.py; \
	elif $(MAKE) --no-print-directory .venv-zig/.setup-done; then \
	  .venv-zig/bin/python $(SEARCH)/build_library.py; \
	else echo "without compiled search: there is neither a C compiler nor ziglang"; fi
	@touch $@

format: setup ## Format the code and fix what the linter can fix
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

clean: ## Remove the environments and all caches
	@rm -rf $(VENV) .venv-sam .venv-checks .venv-zig $(SEARCH)/*.so .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis .mutants

# The lines with two hash signs are the help; those of the family `evidence-` have three.
help: ## Print this help
	@awk -F ':.*## ' '/^##@ / {printf "%s%s\n", sep, substr($$0, 5); sep = "\n"} \
	  /^[a-z-]+:.*[^#]## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Check

lint: setup ## Lint, and check the formatting, the imports between packages, and names
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/python -m cardsharp_tools.build.naming_lint

types: setup ## Type-check with mypy --strict
	@$(BIN)/mypy

check: lint types

precompile-tests: setup
	@$(BIN)/pytest --collect-only -qq > /dev/null 2>&1 || true

# Type-checking keeps one processor busy: meanwhile the other lints, and compiles the tests for all
# workers.
test: setup .venv-sam/.setup-done ## Run lint, types and all fast tests, as CI does, in about five minutes
	@$(MAKE) --no-print-directory -j 3 types lint precompile-tests
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-browser: $(BROWSER) ## Test the pages in a headless Chromium: TESTS=all for every recorded match
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal tests/browser $(if $(filter all,$(TESTS)),,-m "not slow")

$(BROWSER): $(STAMP) pyproject.toml uv.lock
	@echo "adding what drives a browser to $(VENV) (once, some seconds) ..."
	@$(UV) sync --quiet --locked --no-build-isolation --inexact --group browser
	@touch $@

test-all: check evidence-research .venv-sam/.setup-done ## Run all tests, also duels, all recorded data and fuzzing at full size
	@TESTS=all $(BIN)/pytest -n auto --dist worksteal --timeout 3600 -m "not timed"
	@TESTS=all $(BIN)/pytest -m timed
	@$(BIN)/pytest -n auto --dist worksteal --timeout 3600 -m slow cardsharp_tools/research/tests
	@$(MAKE) --no-print-directory test-browser TESTS=all

coverage: setup .venv-sam/.setup-done ## Run the fast tests, print the lines that no test reaches, fail below the limit
	@$(BIN)/pytest -n auto --dist worksteal -m "not slow" --cov --cov-report=
	@$(BIN)/coverage report

##@ Deploy

.venv-%/.setup-done: requirements/%.txt | $(PLAY_STAMP)
	@echo "setting up .venv-$* (once) ..."
	@$(PYTHON) -m venv --clear .venv-$*
	@$(BIN)/uv pip install --quiet --python .venv-$*/bin/python --require-hashes \
	  --requirement requirements/$*.txt
	@touch $@

build: setup .venv-sam/.setup-done .venv-zig/.setup-done ## Build the files that a deployment uploads to AWS
	@$(BIN)/python -m cardsharp_tools.build.sam_build

# Builds the wheels for Linux on x86_64 and aarch64 into dist/ (README.md); the help has no room.
wheels: setup .venv-zig/.setup-done
	@for processor in x86_64 aarch64; do \
	  CARDSHARP_WHEEL_PROCESSOR=$$processor $(BIN)/python -m hatchling build -t wheel; done

check-deploy: setup .venv-sam/.setup-done .venv-checks/.setup-done .venv-zig/.setup-done ## Check the template and the built files: GATES= for one check
	@$(BIN)/python -m cardsharp_tools.build.gates $(GATES)

local-cloud: setup .venv-sam/.setup-done ## Deploy into the emulator and play matches there: KEEP_RUNNING=1
	@$(BIN)/$(if $(KEEP_RUNNING),python -m cardsharp_tools.operations.emulated_stack,pytest -v tests/e2e/test_aws_cloud.py)

##@ Measure

bench: bench-wakeup bench-connections bench-load bench-games ## Run all benchmarks

bench-wakeup: setup ## Measure how fast an opponent's move reaches a waiting client
	@$(BIN)/python -m cardsharp_tools.benchmarks.arena_benchmark wake

bench-connections: setup ## Measure an arena with 1,000 waiting clients
	@$(BIN)/python -m cardsharp_tools.benchmarks.arena_benchmark hold

bench-load: setup ## Measure many matches at once in one process: CONCURRENCY="100 300 1000"
	@for number in $(or $(CONCURRENCY),10 100 300 1000); do \
	  $(BIN)/python -m cardsharp_tools.benchmarks.load_benchmark $$number || exit; done

bench-games: setup ## Measure what matches use in the cloud, and store it for `cardsharp cost`
	@PYTHONPATH=tests $(BIN)/python -m support.cost_measurement

evidence: ## List the targets that measure behaviour under faults (CONTRIBUTING.md)
	@awk -F ':.*### ' '/^evidence-[a-z-]+:.*### / {printf "  make %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

evidence-model-check: setup ### Explore all interleavings of the real code in small matches: JOBS=8 DOCUMENT=1
	@$(FAULT_SIMULATION).model_checking $(if $(JOBS),--jobs $(JOBS)) $(if $(DOCUMENT),--document)

evidence-seeded-bugs: setup ### Break one rule after the other in a copy, and check that tests fail
	@$(BIN)/pytest -n auto -q -rP tests/mutation

evidence-mutation-test: setup ### Change the code at random and count the changes that tests notice: TARGETS=euchre SAMPLE=60 SEED=1
	@$(UV) sync --quiet --locked --no-build-isolation --inexact --group mutants
	@for target in $(or $(TARGETS),deadmansdraw blef euchre bot client stores); do \
	  $(BIN)/python tests/mutation/mutants.py $$target $(if $(SAMPLE),--sample $(SAMPLE)) \
	    $(if $(SEED),--seed $(SEED)); done

evidence-fault-matrix: setup ### Play every kind of fault at every I/O step, and pairs of faults: PAIRS=1000 SEED=1
	@$(FAULT_SIMULATION).fault_matrix $(if $(PAIRS),--pairs $(PAIRS)) $(if $(SEED),--seed $(SEED))

evidence-rate-limits: setup ### Play at the arena's request limits on virtual time, also with several teams behind one address: LIMITS="--matches 20 --concurrency 4" TEAMS=7
	@$(FAULT_SIMULATION).chaos --without-faults --store SQLite $(LIMITS)
	@$(FAULT_SIMULATION).shared_address $(if $(TEAMS),--teams $(TEAMS)) $(if $(SEED),--seed $(SEED))

evidence-chaos: setup ### Play matches while everything around them fails: MATCHES=200 TURN_SECONDS= CONCURRENCY= SEED=
	@$(FAULT_SIMULATION).chaos $(CHAOS_OPTIONS)

evidence-contest: setup ### Rehearse a contest with faults on virtual time: TEAMS=20 MATCHES=3 TURN_SECONDS=5
	@$(FAULT_SIMULATION).contest_simulation $(CONTEST_OPTIONS)

evidence-euchre-leaks: setup ### Check that hidden cards change no answer of Euchre's engine: 200 deals of each kind
	@$(BIN)/cardsharp euchre check-leaks

evidence-research: setup ### Run the fast tests of cardsharp_tools/research/
	@$(BIN)/pytest -n auto --dist worksteal -m "not slow" cardsharp_tools/research/tests

# The names that these targets had in 0.2.0; 0.4.0 drops them.
compiled: precompile-tests
gates: check-deploy
cloud: local-cloud
bench-wake: bench-wakeup
bench-hold: bench-connections
bench-services: bench-games
explore: evidence-model-check
planted: evidence-seeded-bugs
mutants: evidence-mutation-test
faults-all: evidence-fault-matrix
limits: evidence-rate-limits
chaos: evidence-chaos
contest: evidence-contest
probe-euchre: evidence-euchre-leaks
research-test: evidence-research
