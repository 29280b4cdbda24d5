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
