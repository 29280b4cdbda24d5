"""Import-linter contract for modules that may import only what is listed.

`pyproject.toml` names it as the type `allow_list`. Its options:

- `importers`: the modules that are restricted, each with all its submodules.
- `allowed`: modules that they may import, each with all its submodules, and of other
  distributions and the standard library also single names (`random.Random`).
- `standard_library`: True if all modules of Python itself are allowed.
- `ignore_imports`, `unmatched_ignore_imports_alerting`: exceptions, as in import-linter's
  contracts.

A game is any package of `cardsharp.games` with a module `game`, so games need not be listed. A
name that begins with a dot is relative to a game's folder (`.rules`; `.` is the full folder);
in `allowed` this is the importer's game. A name without a dot never matches modules in a game's
folder.
"""

import ast
import sys
from collections.abc import Iterator

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.application.contract_utils import AlertLevel, remove_ignored_imports_and_report

GAMES = "cardsharp.games"


def within(module: str, package: str) -> bool:
    """Return True if a module is the package or lies in it."""
    return module == package or module.startswith(f"{package}.")


class AllowList(Contract):
    """Contract whose importers import only what is allowed.

    Only direct imports are checked; the imports of an allowed module need a separate contract.
    """

    importers = fields.SetField(subfield=fields.StringField())
    allowed = fields.SetField(subfield=fields.StringField())
    standard_library = fields.BooleanField(default=False)
    ignore_imports = fields.SetField(subfield=fields.ImportExpressionField(), required=False)
    unmatched_ignore_imports_alerting = fields.EnumField(AlertLevel, default=AlertLevel.ERROR)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Report every import that is not allowed, as `importer -> imported (line)`."""
        del verbose
        removed = remove_ignored_imports_and_report(
            graph, self.ignore_imports, self.unmatched_ignore_imports_alerting
        )
        self._games = {
            name.removesuffix(".game")
            for name in graph.find_children(GAMES)
            if f"{name}.game" in graph.modules
        }
        broken = sorted(
            f"{importer} -> {name} (l.{line})"
            for importer in graph.modules
            if any(self._meant(importer, pattern, importer) for pattern in self.importers)
            for name, line in _imported(graph, importer)
            if not self._may(importer, name)
        )
        return ContractCheck(not broken, {"broken": broken}, list(removed.warnings))

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports that are not allowed."""
        for line in check.metadata["broken"]:
            output.print_error(f"- {line}", bold=False)
        output.new_line()

    def _game(self, module: str) -> str | None:
        return next((game for game in self._games if within(module, game)), None)

    def _meant(self, module: str, pattern: str, importer: str) -> bool:
        game = self._game(module)
        if not pattern.startswith("."):
            return game is None and within(module, pattern)
        return (
            game is not None
            and game == self._game(importer)
            and within(module, f"{game}{pattern}".removesuffix("."))
        )

    def _may(self, importer: str, name: str) -> bool:
        known = self.standard_library and name.split(".", maxsplit=1)[0] in sys.stdlib_module_names
        return known or any(self._meant(name, pattern, importer) for pattern in self.allowed)


def _imported(graph: ImportGraph, importer: str) -> Iterator[tuple[str, int]]:
    """Yield a module's imports with their lines: internal modules, and names of external ones."""
    for module in graph.find_modules_directly_imported_by(importer):
        for detail in graph.get_import_details(importer=importer, imported=module):
            ours = not graph.is_module_squashed(module)
            names = [module] if ours else _names(detail["line_contents"], module)
            for name in names:
                yield name, detail["line_number"]


def _names(line: str, module: str) -> list[str]:
    """Return the full names of an import line, or only the module if the line is incomplete."""
    try:
        statement = ast.parse(line.strip()).body[0]
    except SyntaxError:
        return [line.split()[1]]
    if isinstance(statement, ast.ImportFrom):
        return [f"{statement.module}.{alias.name}" for alias in statement.names]
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names if within(alias.name, module)]
    return [module]
