"""This machine's own addresses, which no proxy of the environment stands before."""

import os
from collections.abc import Mapping

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def loopback_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables by which libraries and child processes reach this machine directly.

    They are NO_PROXY in both spellings, with whatever the environment exempts already.
    """
    exempted = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    hosts = [host.strip() for host in exempted.split(",") if host.strip()]
    if hosts == ["*"]:
        return {}
    text = ",".join((*hosts, *(host for host in LOOPBACK if host not in hosts)))
    return {"no_proxy": text, "NO_PROXY": text}
