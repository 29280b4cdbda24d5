"""Which variables of a frame still matter where it stands: those that may be read from there on."""

import dis
from bisect import bisect_right
from functools import cache
from types import CodeType

_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RERAISE", "RAISE_VARARGS", "JUMP_FORWARD"}
_ENDS |= {"JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}


@cache
def live(code: CodeType, at: int) -> frozenset[str]:
    """The variables that some way on from the instruction at this offset reads.

    Some of them are written before they are read: what is not told apart here only costs states.
    """
    body = dis.Bytecode(code)
    steps = list(body)
    place = {step.offset: number for number, step in enumerate(steps)}
    handlers = [(one.start, one.end, one.target) for one in body.exception_entries]
    now = bisect_right([step.offset for step in steps], at) - 1
    todo, seen = [now + 1], {now}
    todo += [place[target] for start, end, target in handlers if start <= at < end]
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        step = steps[number]
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            todo.append(place[step.argval])
        if step.opname not in _ENDS:
            todo.append(number + 1)
        todo += [place[target] for start, end, target in handlers if start <= step.offset < end]
    names: set[str] = set()
    for number in seen:
        step = steps[number]
        if step.opname.startswith("LOAD_") and step.argval is not None:
            names.update(step.argval if isinstance(step.argval, tuple) else [step.argval])
    return frozenset(names & {*code.co_varnames, *code.co_cellvars, *code.co_freevars})
