# What the makefiles of functions and layers share. SAM runs them in copies of their folders, but
# names each by the place where it lies.
ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)
LAMBDA_PYTHON ?= 3.13

# Lambda cannot keep bytecode beside our code, so what is not shipped is compiled at each cold
# start. Only a Python of the runtime's version can make it; without one all works, more slowly.
# $(1) is where Lambda mounts what is built.
FINISH = find "$(ARTIFACTS_DIR)" -name __pycache__ -prune -exec rm -r {} +; \
  if python$(LAMBDA_PYTHON) -c "" 2>/dev/null; then \
    python$(LAMBDA_PYTHON) -m compileall -q --invalidation-mode unchecked-hash -x pydantic/v1/ \
      -s "$(ARTIFACTS_DIR)" -p $(1) "$(ARTIFACTS_DIR)" || exit; \
  else echo "without bytecode: there is no python$(LAMBDA_PYTHON) on PATH that works"; fi; \
  chmod -R u=rwX,go=rX "$(ARTIFACTS_DIR)" \# Lambda runs as another user than the one who built

# The environment's own uv, or else one that is installed for this build alone.
OWN := $(ARTIFACTS_DIR)/.uv
UV := $(firstword $(wildcard $(ROOT)/.venv/bin/uv) $(shell command -v uv) $(OWN)/bin/uv)

# The packages of requirements $(1), by their hashes, in $(2). Console scripts name the building
# machine's Python; uv's own files are of no use there.
INSTALL = "$(UV)" pip install --quiet --requirement $(1) --require-hashes --no-deps \
  --only-binary :all: --link-mode copy --python-version $(LAMBDA_PYTHON) \
  $(if $(LAMBDA_PLATFORM),--python-platform $(LAMBDA_PLATFORM)) --target "$(2)" \
  && rm -rf "$(2)/bin" "$(2)/.lock" "$(OWN)"

$(OWN)/bin/uv:
	@python3 -m pip install --quiet --require-hashes --requirement "$(ROOT)/requirements/uv.txt" \
	  --target "$(OWN)"
