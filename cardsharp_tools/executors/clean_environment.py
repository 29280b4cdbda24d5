"""Environment variables for code that is not ours: an allow-list, and what a user adds to it.

A shell's environment often holds passwords and tokens. So a strategy file or a program gets only
the variables that a program plausibly needs, and those that `--pass-env NAME` names. A sandbox has
an environment of its own and gets none of them.
"""

import os
import re
from collections.abc import Iterable, Mapping

_ALLOWED_NAMES = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "PWD"),
        *("LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "TERM", "COLUMNS", "LINES"),
        *("LD_LIBRARY_PATH", "VIRTUAL_ENV", "CC", "CXX", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("NODE_PATH", "NODE_ENV", "JAVA_HOME", "CLASSPATH", "GOPATH", "GOROOT", "GOMAXPROCS"),
        *("RUST_BACKTRACE", "DOTNET_ROOT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "PERL5LIB"),
        *("JULIA_DEPOT_PATH", "JULIA_NUM_THREADS", "LUA_PATH", "LUA_CPATH", "R_HOME", "R_LIBS"),
        *("TORCH_HOME", "HF_HOME", "TF_CPP_MIN_LOG_LEVEL", "TF_FORCE_GPU_ALLOW_GROWTH"),
        # Ours: whether compiled engines are used. It is a switch and holds no secret.
        "CARDSHARP_NATIVE",
    )
)
_ALLOWED_PREFIXES = (
    *("LC_", "XDG_", "PYTHON", "CONDA_", "COVERAGE_"),
    *("OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "BLIS_", "NUMEXPR_", "VECLIB_", "NUMBA_"),
    *("CUDA_", "NVIDIA_", "HIP_", "ROCR_", "XLA_", "JAX_", "PYTORCH_"),
)
# A name with one of these words is not allowed by its prefix, e.g. PYTHON_PACKAGE_TOKEN.
_SECRET_NAME_PATTERN = re.compile(r"TOKEN|PASS|SECRET|CREDENTIAL|AUTH|KEY(?!BOARD)|COOKIE|SESSION_")

_passed_names: set[str] = set()


def pass_variables(names: Iterable[str]) -> None:
    """Pass the variables of these names on to other people's code, from now on."""
    _passed_names.update(names)


def passed_variables() -> tuple[str, ...]:
    """Return the names of the variables that are passed on in addition to the allow-list.

    A process of ours that starts other people's code gets them as a parameter.
    """
    return tuple(sorted(_passed_names))


def clean_environment(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return those of the variables that other people's code may see."""
    return {name: value for name, value in variables.items() if _is_allowed(name)}


def clean_own_environment() -> None:
    """Remove all other variables from this process; call it before a strategy file is imported."""
    for name in os.environ.keys() - clean_environment().keys():
        del os.environ[name]


def _is_allowed(name: str) -> bool:
    if name in _ALLOWED_NAMES or name in _passed_names:
        return True
    return name.startswith(_ALLOWED_PREFIXES) and not _SECRET_NAME_PATTERN.search(name)
