"""How a command line was meant: errors that say what to type, and help with its own examples."""

import re
from collections.abc import Iterator, Sequence

import cyclopts

SETTINGS = "cardsharp.toml"
"""A file in the current folder with options that need not be typed: a table a command."""

_NAMED = 3  # so many options are named that a lost word may belong to


def misused(error: cyclopts.CycloptsError) -> str:
    """What is wrong with a command line, and what it should have been."""
    error.verbose = False
    command = " ".join(("cardsharp", *(error.command_chain or ())))
    if isinstance(error, cyclopts.UnusedCliTokensError) and error.unused_tokens:
        word = error.unused_tokens[0]
        options = list(_options(error.app, word))[:_NAMED]
        meant = f" Is it for {' or '.join(options)}?" if options else ""
        return f"`{command}` has no place for '{word}'.{meant}"
    if isinstance(error, cyclopts.MissingArgumentError) and error.argument is not None:
        argument = _explained(error.app, error.argument)
        number, _ = argument.token_count()
        about = f" ({str(argument.parameter.help).rstrip('.')})" if argument.parameter.help else ""
        if argument.field_info.is_positional:
            return f"`{command}` needs {argument.name.lstrip('-').upper()}{about}."
        return f"{argument.name} needs {'a value' if number == 1 else f'{number} values'}{about}."
    text = str(error)
    return f"{SETTINGS} cannot be read: {text}." if text.startswith("TOMLDecode") else text


def _explained(app: cyclopts.App | None, asked: cyclopts.Argument) -> cyclopts.Argument:
    """An argument with what its field's docstring says, which is not read to run a command."""
    known = () if app is None else app.assemble_argument_collection(parse_docstring=True)
    return next((one for one in known if one.name == asked.name), asked)


def _options(app: cyclopts.App | None, word: str) -> Iterator[str]:
    """The options of a command that take this word: of text, or any for a number."""
    for one in () if app is None else app.assemble_argument_collection():
        takes = word.isdigit() or "str" in str(one.hint)
        if takes and one.show and not one.field_info.is_positional and one.token_count()[0] == 1:
            yield one.name


_EXAMPLE = re.compile(r"(?m)^  (cardsharp .*)$((?:\n {4,}.*)*)")


def narrow_examples(app: cyclopts.App, given: Sequence[str]) -> None:
    """Have a sub-command's help show those examples of its group that are its own."""
    chain, apps, _ = app.parse_commands([word for word in given if word not in app.help_flags])
    group = next((one for one in apps[::-1] if one.help_epilogue), None)
    if len(chain) < 2 or group is None or group is apps[-1]:  # noqa: PLR2004 - a group's command
        return
    start = " ".join(("cardsharp", *chain, ""))
    own = [
        found.group()
        for found in _EXAMPLE.finditer(str(group.help_epilogue))
        if f"{found[1]} ".startswith(start)
    ]
    apps[-1].help_epilogue = "\n".join(("Examples:", *own)) if own else " "
