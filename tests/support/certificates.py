"""Self-signed certificate for names that lead to this machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

OPENSSL = shutil.which("openssl")


def certificate_for(folder: Path, *names: str) -> tuple[Path, Path]:
    """Create a certificate for this machine and these names; return its file and its key's file."""
    if OPENSSL is None:
        pytest.skip("openssl, which makes the certificate, is missing")
    files = folder / "cert.pem", folder / "key.pem"
    request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=arena"]
    alternatives = ",".join(["DNS:localhost", "IP:127.0.0.1", *(f"DNS:{name}" for name in names)])
    output_options = ["-out", str(files[0]), "-keyout", str(files[1])]
    more = ["-addext", f"subjectAltName={alternatives}"]
    subprocess.run([OPENSSL, *request, *more, *output_options], check=True, capture_output=True)  # noqa: S603
    return files
