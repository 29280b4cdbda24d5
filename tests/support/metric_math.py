"""Metric math and alarm rules: the few words of them that template.yaml uses.

Both are read as Python expressions of names, numbers, comparisons and calls of the functions
below; anything else is refused rather than guessed. As in CloudWatch, a missing value makes a
result missing, unless FILL replaces it.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping

from cardsharp.errors import ConfigError

Value = float | None

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def compute(expression: str, values: Mapping[str, Value]) -> Value:
    """The value of a metric-math expression in one period; None where it has none.

    Raises:
        ConfigError: it uses something that is not known here.
    """
    return _Math(values).value(_parsed(expression))


def holds(rule: str, alarms: Mapping[str, bool]) -> bool:
    """Whether a composite alarm's rule holds; `alarms` says which alarms are on.

    Raises:
        ConfigError: as `compute`, or the rule names an alarm that is not there.
    """
    states = {name: float(on) for name, on in alarms.items()}
    return bool(_Rule(states).value(_parsed(rule)))


def _parsed(text: str) -> ast.expr:
    spoken = re.sub(r"\b(AND|OR|NOT)\b", lambda word: word[0].lower(), text)
    try:
        return ast.parse(spoken.strip(), mode="eval").body
    except SyntaxError as error:
        raise ConfigError(f"The expression {text!r} cannot be read: {error.msg}.") from error


class _Math(ast.NodeVisitor):
    """Computes an expression; every method returns a value or None."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = values

    def value(self, node: ast.expr) -> Value:
        """What an expression comes to."""
        result: Value = self.visit(node)
        return result

    def visit_Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, int | float):
            raise ConfigError(f"A number is expected, not {node.value!r}.")
        return float(node.value)

    def visit_Name(self, node: ast.Name) -> Value:
        if node.id not in self.values:
            raise ConfigError(f"There is no metric with the id {node.id}.")
        return self.values[node.id]

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if left is None or right is None:
            return None
        return _ARITHMETIC[type(node.op)](left, right)

    def visit_Compare(self, node: ast.Compare) -> Value:
        left, right = self.value(node.left), self.value(node.comparators[0])
        if len(node.ops) != 1 or left is None or right is None:
            return None
        return float(_COMPARISONS[type(node.ops[0])](left, right))

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        parts = [self.value(part) for part in node.values]
        if any(part is None for part in parts):
            return None
        both = all if isinstance(node.op, ast.And) else any
        return float(both(parts))

    def visit_Call(self, node: ast.Call) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else "?"
        parts = [self.value(part) for part in node.args]
        if name == "FILL" and len(parts) == 2:
            return parts[1] if parts[0] is None else parts[0]
        if name == "IF" and len(parts) == 3:
            return None if parts[0] is None else parts[1 if parts[0] else 2]
        raise ConfigError(f"The function {name} is not known here; add it to {__name__}.")

    def generic_visit(self, node: ast.AST) -> Value:
        raise ConfigError(f"An expression may not use {type(node).__name__}.")


class _Rule(_Math):
    """Computes an alarm rule, in which alarms stand in quotation marks."""

    def visit_Call(self, node: ast.Call) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else "?"
        told = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if name not in {"ALARM", "OK"} or told not in self.values:
            raise ConfigError(f"The rule asks for {name}({told!r}), which is not there.")
        on = self.values[str(told)]
        return on if name == "ALARM" else float(not on)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        return float(not self.value(node.operand))
