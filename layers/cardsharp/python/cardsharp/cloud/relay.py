"""The generations of the poller: each begins one, and listens until it sees a later one.

So no second is without a listener, however unevenly the schedule starts them.
"""


class Relay:
    """The line of pollers as each of them sees it; methods raise `StoreError`.

    Of a home on this machine, which runs one poller at a time, there is nothing to keep.
    """

    def begin(self) -> int:
        """A new generation's number, one more than any before; here 0, always."""
        return 0

    def newest(self) -> int:
        """The number of the generation that began last; told late, a poller listens longer."""
        return 0
