"""Credentials that are redacted in logs, also from Parameter Store with a short cache."""

import base64
from functools import cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, SecretStr, ValidationError

from cardsharp.core import redaction
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import SSMProvider

CACHE_TTL_SECONDS = 900  # a rotated secret is read after this time, or after a 401


class SecretNotSet(StoreError):
    """There is no such secret: nobody has set it yet."""


class _CredentialsBody(BaseModel):
    """JSON body of the parameter; other keys are ignored."""

    username: str
    password: SecretStr


def credentials_redacted_in_logs(user: str, password: str) -> Credentials:
    """Register a password for redaction in all logs, and return the credentials."""
    basic = base64.b64encode(f"{user}:{password}".encode()).decode()
    redaction.register_secrets(password, basic)
    return Credentials(user, password)


def fetch_credentials(name: str, *, force_fetch: bool = False) -> Credentials:
    """Return the credentials in a parameter; `force_fetch` bypasses the cache, as after a 401.

    Raises `ConfigError` if the secret is no JSON with username and password, `SecretNotSet` if
    there is no such secret, and `StoreError` if Parameter Store failed.
    """
    # Powertools' parameters need boto3, which is slow to import.
    from aws_lambda_powertools.utilities.parameters.exceptions import (  # noqa: PLC0415
        GetParameterError,
    )

    try:
        secret_json = ssm_provider().get(
            name, max_age=CACHE_TTL_SECONDS, force_fetch=force_fetch, decrypt=True
        )
    except GetParameterError as error:
        kind = SecretNotSet if "ParameterNotFound" in str(error) else StoreError
        raise kind(
            f"Parameter Store did not give the secret {name}: {error}. Set it with "
            "`cardsharp cloud rotate-secret`, or allow ssm:GetParameter in the role's policy."
        ) from error
    try:
        secret = _CredentialsBody.model_validate_json(str(secret_json))
    except ValidationError:
        # Without its cause, which would show the secret.
        raise ConfigError(
            f'The secret {name} must be a JSON like {{"username": "…", "password": "…"}}.'
        ) from None
    return credentials_redacted_in_logs(secret.username, secret.password.get_secret_value())


@cache
def ssm_provider() -> "SSMProvider":
    """Return the only provider of parameters, with its cache; raise as `aws.client` does."""
    from aws_lambda_powertools.utilities.parameters import (  # noqa: PLC0415 - as above
        SSMProvider,
    )

    from cardsharp.aws.client import RESPONSE_TIMEOUT_SECONDS, client  # noqa: PLC0415 - as above

    return SSMProvider(boto3_client=client("ssm", RESPONSE_TIMEOUT_SECONDS))
