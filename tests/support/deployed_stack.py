"""Name of the stack at AWS that the tests with the marker `deployed` use."""

STACK_VARIABLE = "CARDSHARP_STACK"  # with the name of the stack; AWS's variables name the account
