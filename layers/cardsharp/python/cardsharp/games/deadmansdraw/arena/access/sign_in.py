"""Sign-in by a password: the one check of credentials, with its limit on wrong passwords.

Players and the organiser pass it at an arena, and the organiser at the organiser's page.
"""

from datetime import timedelta

from cardsharp.games.deadmansdraw.arena.access.auth import Authenticator, AuthRequest
from cardsharp.games.deadmansdraw.arena.access.throttling import LoginThrottle
from cardsharp.games.deadmansdraw.arena.access.users import User


class SignIn:
    """Check of credentials; wrong passwords are counted by the caller's address and by user.

    `address` is anything by which callers are told apart.
    """

    def __init__(self, authenticator: Authenticator, throttle: LoginThrottle) -> None:
        self._authenticator, self._throttle = authenticator, throttle

    def identify(self, request: AuthRequest, address: str) -> User | None:
        """Return the authenticated user, None if the credentials are not valid.

        Raises `TooManyWrongPasswords` if there were too many of them to check another one.
        """
        name = self._authenticator.claimed_user(request)
        if name is not None:
            self._throttle.check_attempt_allowed(address, name)
        return self._authenticator.authenticate(request)

    def trust_address(self, user: User, address: str) -> None:
        """Record that a user signed in from an address, which is never locked out for that user."""
        self._throttle.trust_login_address(address, user.id)

    def count_failure(self, request: AuthRequest, address: str) -> timedelta:
        """Count wrong credentials and return the delay of the response.

        Missing or malformed credentials and a stale nonce are no guess, and have no delay.
        """
        name = self._authenticator.claimed_user(request)
        if name is None or self._authenticator.has_stale_nonce(request):
            return timedelta()
        return self._throttle.record_failure_and_get_delay(address, name)

    def challenges(self, request: AuthRequest) -> tuple[str, str]:
        """Return the values of the two WWW-Authenticate headers: of Digest and of Basic."""
        return self._authenticator.challenges(request)
