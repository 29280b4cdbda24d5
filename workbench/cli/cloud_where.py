"""Which deployed stack a command of `cardsharp cloud` is about."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.operate.stack import DEFAULT_NAME, Stack, account_clients, find_stack
from workbench.show.options import CommandOptions, Json
from workbench.show.output import print_json, print_lines


@dataclass(frozen=True, kw_only=True)
class StackOptions(CommandOptions):
    """Which stack, and how its answer is printed; the account is that of the environment."""

    stack: str = DEFAULT_NAME
    """The stack's name."""
    region: str | None = None
    """Its region; else AWS_DEFAULT_REGION."""
    as_json: Json = False

    def find(self) -> Stack:
        """The stack."""
        return find_stack(self.stack, account_clients(self.region))

    def tell(self, document: object, lines: Iterable[object]) -> None:
        """Print the document where JSON is asked for, else the lines."""
        if self.as_json:
            print_json(document)
        else:
            for line in lines:
                print_lines(str(line))

    def done(self, sentence: str) -> None:
        """Say what was done."""
        self.tell({"stack": self.stack, "done": sentence}, [sentence])


USUAL = StackOptions()  # the stack of the usual name, where the environment says
