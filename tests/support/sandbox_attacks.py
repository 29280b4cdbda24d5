"""Programs that try to use more of the machine than a sandbox allows, in three languages."""

from typing import NamedTuple

QUESTION = b"question\n"

MEMORY = "it took more than 512 MB of memory"
FILES = "it made more than 10000 files in"
CPU_TIME = "it took 1 s of processor time for one question"  # the tests' limit
FORBIDDEN = "it made a system call that the sandbox forbids"
PROCESSES = "it tried to run more than 64 processes and threads"
REFUSED = "refused"  # answer of a program that the attack's error has reached


class Attack(NamedTuple):
    """Attack of a program, and what comes of it: a part of the answer or of the fault.

    With a `violation` the sandbox goes on, and the organiser reads that line. The code runs after
    the first question, and after it the program answers `escaped`.
    """

    language: str
    code: str
    outcome: str
    violation: str = ""

    @property
    def interpreter(self) -> str:
        """Program that runs the file."""
        return {"py": "python3", "js": "node", "sh": "sh"}[self.language]

    @property
    def file_name(self) -> str:
        """Name of the program's file."""
        return f"attack.{self.language}"

    @property
    def program(self) -> str:
        """Text of the program's file."""
        return _PROGRAMS[self.language].replace("ATTACK", self.code)


_PROGRAMS = {
    "py": """
import ctypes, fcntl, mmap, os, resource, signal, socket, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
sys.stdin.readline()
def attack():
    ATTACK
try:
    attack()
except (OSError, MemoryError, ValueError, RuntimeError) as error:
    print("refused", repr(error), flush=True)
else:
    print("escaped", flush=True)
sys.stdin.readline()
""",
    "js": """
const fs = require('fs'), { spawn } = require('child_process')
const { Worker } = require('worker_threads'), net = require('net')
fs.readSync(0, Buffer.alloc(999))
const escaped = () => { fs.writeSync(1, 'escaped\\n') }
const refused = error => { fs.writeSync(1, `refused ${error}\\n`) }
try { ATTACK } catch (error) { refused(error) }
setInterval(() => 0, 999)
""",
    "sh": "read line; ATTACK; echo escaped; read line\n",
}


def _python(code: str, outcome: str, violation: str = "") -> Attack:
    """Return an attack in Python, with its code indented as the program has it."""
    return Attack("py", code.strip().replace("\n", "\n    "), outcome, violation)


def _in_children(children: int, code: str, seconds: int = 60) -> str:
    """Return Python code that runs code in child processes and waits for some seconds."""
    return (
        f"for number in range({children}):\n    if os.fork() == 0:\n        "
        + code.replace("\n", "\n        ")
        + f"\n        time.sleep(60)\ntime.sleep({seconds})"
    )


_BURN = "end = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
_SOCKET_PAIRS = """
pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(100)]
for one, _ in pairs:
    one.setblocking(False)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    try:
        while True: one.send(bytes(9999))
    except BlockingIOError: pass
""".strip()
_LOOPBACK = """
server = socket.create_server(("127.0.0.1", 0))
ends = []
for _ in range(100):
    one = socket.create_connection(server.getsockname())
    ends += [one, server.accept()[0]]
    one.setblocking(False)
    try:
        while True: one.send(bytes(1 << 16))
    except BlockingIOError: pass
""".strip()
_DATAGRAMS = """
ends = []
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(200):
    ends.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    ends[-1].bind(("127.0.0.1", 0))
    for _ in range(200): sender.sendto(bytes(9000), ends[-1].getsockname())
""".strip()
_KEPT = 'kept = b"x" * (9 << 20)'
_PIPES = """
ends = [os.pipe() for _ in range(110)]
for _, end in ends:
    os.set_blocking(end, False)
    try:
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 1 << 20)
    except OSError: pass
    try:
        while True: os.write(end, bytes(1 << 16))
    except BlockingIOError: pass
""".strip()
_MACHINE_CODE = """
code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)  # may be run
code.write(bytes.fromhex("b889010000bb0000000031c931d2cd80c3"))  # int 0x80: semget of i386
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
"""

MAIN_ATTACKS = {
    "shared pages of /dev/zero": _python(
        """
file, kept = os.open("/dev/zero", os.O_RDWR), []
for _ in range(6):
    kept.append(mmap.mmap(file, 128 << 20, mmap.MAP_SHARED))
    kept[-1].write(bytes(b"x" * (128 << 20)))
    kept[-1].madvise(mmap.MADV_DONTNEED)
""",
        MEMORY,
    ),
    "semaphores of System V": _python("libc.semget(0, 32000, 0o600)", FORBIDDEN),
    "message queues of System V": _python("libc.msgget(0, 0o600)", FORBIDDEN),
    "many empty files": _python(
        'for number in range(300_000): os.close(os.open(f"/tmp/{number}", os.O_CREAT))', FILES
    ),
    "buffers of local sockets": _python(_in_children(50, _SOCKET_PAIRS), MEMORY),
    "short-lived children whose end nobody awaits": _python(
        """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork() == 0:
        for _ in range(300_000): pass
        os._exit(0)
    time.sleep(0.005)
""",
        CPU_TIME,
    ),
    "orphans that compute": _python(
        """
for _ in range(2):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            while True: pass
        os._exit(0)
    os.wait()
time.sleep(60)
""",
        CPU_TIME,
    ),
    "a fork bomb": _python(
        """
made = []
try:
    while True: made.append(subprocess.Popen(["sleep", "9"]))
finally:
    for one in made: one.kill(), one.wait()
""",
        REFUSED,
        PROCESSES,
    ),
}
"""Attacks that the fast tests try, by name."""

FURTHER_ATTACKS = {
    # memory
    "memory of many processes": _python(_in_children(3, 'kept = b"x" * (180 << 20)'), MEMORY),
    "memory of orphans": _python(
        "if os.fork(): os._exit(0)\nos.setsid()\n" + _in_children(3, 'kept = b"x" * (180 << 20)'),
        "the program ended|512 MB",
    ),
    "files and memory together": _python(
        """
for number in range(16):
    open(f"/tmp/{number}", "wb").write(bytes(4 << 20)[:(4 << 20) - 9])
kept = b"x" * (470 << 20)
""",
        MEMORY,
    ),
    "folders": _python('for number in range(99_999): os.mkdir(f"/tmp/{number}")', FILES),
    "links": _python(
        'open("/tmp/a", "w")\nfor number in range(99_999): os.link("/tmp/a", f"/tmp/{number}")',
        FILES,
    ),
    "symbolic links in shared memory": _python(
        'for number in range(99_999): os.symlink("x" * 999, f"/dev/shm/{number}")',
        f"{REFUSED}|{FILES}",
    ),
    "attributes of files": _python(
        """
for number in range(9_000):
    open(f"/tmp/{number}", "w")
    for name in range(40): os.setxattr(f"/tmp/{number}", f"user.{name}", bytes(4_000))
""",
        f"{REFUSED}|{FILES}|{MEMORY}",
    ),
    "buffers of TCP": _python(_in_children(40, f"{_KEPT}\n{_LOOPBACK}"), MEMORY),
    # The kernel drops datagrams above its limit of 32 MB, so nothing has to be stopped.
    "buffers of UDP": _python(
        _in_children(40, f"{_KEPT}\n{_DATAGRAMS}", seconds=9), f"{MEMORY}|escaped"
    ),
    "buffers of pipes": _python(_in_children(55, f"{_KEPT}\n{_PIPES}"), MEMORY),
    "page tables": _python(
        """
for _ in range(3):
    if os.fork() == 0:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # takes no memory yet
        kept = mmap.mmap(-1, 1 << 37, flags, mmap.PROT_READ)
        for place in range(0, 1 << 37, 2 << 20): kept[place]
        break
time.sleep(60)
""",
        MEMORY,
    ),
    "a shared anonymous mapping": _python("mmap.mmap(-1, 600 << 20)", REFUSED),
    "memory files": _python('os.memfd_create("x")', REFUSED),
    "shared memory of System V": _python(
        "if libc.shmget(0, 600 << 20, 0o1600) < 0: raise OSError('shmget')", REFUSED
    ),
    "message queues of POSIX": _python(
        "libc.mq_open.restype = ctypes.c_int\n"
        "if libc.mq_open(b'/x', os.O_CREAT | os.O_RDWR, 0o600, 0) < 0: raise OSError('mq')",
        REFUSED,
    ),
    "a call of another architecture": _python(_MACHINE_CODE, FORBIDDEN),
    "another protocol of netlink": _python(
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)", REFUSED
    ),
    "a radio's socket": _python("socket.socket(9, socket.SOCK_DGRAM)", REFUSED),
    "memory behind closed streams": _python(
        "os.close(2)\n" + _in_children(3, 'kept = b"x" * (180 << 20)'), MEMORY
    ),
    # processes, processor time and rights
    "threads": _python(
        """
for _ in range(99): threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
""",
        REFUSED,
        PROCESSES,
    ),
    "children of children that compute": _python(
        """
def breed(depth):
    for _ in range(2):
        if depth and os.fork() == 0: breed(depth - 1)
    while True: pass
breed(4)
""",
        CPU_TIME,
    ),
    "threads that compute": _python(
        """
def burn():
    while True: sum(range(9999))
for _ in range(4): threading.Thread(target=burn, daemon=True).start()
time.sleep(60)
""",
        CPU_TIME,
    ),
    "a higher priority": _python("os.nice(-10)", REFUSED),
    "real time": _python("os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))", REFUSED),
    "more processes by its own limits": _python(
        "resource.setrlimit(resource.RLIMIT_NPROC, (999, 999))", REFUSED
    ),
    "protection from the kernel's killing": _python(
        'open("/proc/self/oom_score_adj", "wb", 0).write(b"-1000")', REFUSED
    ),
    "its control group": _python(
        'open("/sys/fs/cgroup/memory/memory.limit_in_bytes", "w")', REFUSED
    ),
    "a mount of the control groups": _python(
        'libc.mount(b"x", b"/tmp", b"cgroup", 0, b"memory")', FORBIDDEN
    ),
    "a stopped group of processes": _python(
        "os.kill(1, signal.SIGSTOP)\n" + _in_children(3, 'kept = b"x" * (180 << 20)'),
        f"{REFUSED}|{MEMORY}",
    ),
    "a flood of answers": _python(
        "for _ in range(999): os.write(1, bytes(1 << 16))", "wrote a line without a line break"
    ),
    # JavaScript
    "JavaScript: buffers": Attack(
        "js",
        "const kept = []; for (let i = 0; i < 9; i++) kept.push(Buffer.alloc(99e6, 1)); escaped()",
        f"{REFUSED}|512 MB|the program ended",
    ),
    "JavaScript: shared buffers": Attack(
        "js",
        "const kept = []; for (let i = 0; i < 9; i++) "
        "kept.push(new Uint8Array(new SharedArrayBuffer(99e6)).fill(1)); escaped()",
        f"{REFUSED}|512 MB|the program ended",
    ),
    "JavaScript: processes with memory": Attack(
        "js",
        "for (let i = 0; i < 4; i++) spawn(process.execPath, ['-e', "
        "'const kept = Buffer.alloc(170e6, 1); setTimeout(() => kept, 60000)'], "
        "{ detached: true, stdio: 'ignore' })",
        MEMORY,
    ),
    "JavaScript: many processes": Attack(
        "js",
        "let told = false; for (let i = 0; i < 99; i++) spawn('sleep', ['9']).on('error', "
        "error => { if (!told) { told = true; refused(error) } })",
        REFUSED,
        PROCESSES,
    ),
    "JavaScript: workers that compute": Attack(
        "js",
        "for (let i = 0; i < 2; i++) new Worker('for (;;) ;', { eval: true })",
        CPU_TIME,
    ),
    "JavaScript: many files": Attack(
        "js",
        "for (let i = 0; i < 99999; i++) fs.closeSync(fs.openSync('/tmp/' + i, 'w')); escaped()",
        FILES,
    ),
    "JavaScript: memory of WebAssembly": Attack(
        "js",
        "const kept = new WebAssembly.Memory({ initial: 9000, maximum: 60000 }); "
        "new Uint8Array(kept.buffer).fill(1); escaped()",
        f"{REFUSED}|512 MB|the program ended",
    ),
    # shell
    "shell: a fork bomb": Attack(
        "sh", "f() { sleep 3 & f | f; }; f 2> /dev/null", "the program ended|escaped", PROCESSES
    ),
    "shell: many files": Attack(
        "sh", "i=0; while [ $i -lt 99999 ]; do i=$((i+1)); : > /tmp/$i; done", FILES
    ),
    "shell: background loops": Attack(
        "sh", "(while :; do :; done) & (while :; do :; done) & sleep 60", CPU_TIME
    ),
    "shell: short-lived commands": Attack(
        "sh", "trap '' CHLD; while :; do /bin/true & done", f"{CPU_TIME}|the program ended"
    ),
    "shell: a full home": Attack(
        "sh", "head -c 99000000 /dev/zero > /tmp/big && exit; exit 7", "exit code 7"
    ),
    "shell: large commands": Attack(
        "sh",
        "for i in 1 2 3 4 5 6; do head -c 110000000 /dev/zero | sort > /dev/null & done; sleep 60",
        MEMORY,
    ),
}
"""Attacks that the slow tests try, by name."""


def memory_hog(pipe_bytes: int = 1 << 16) -> Attack:
    """Return a program that takes too much memory a moment after it has answered `ready`.

    Before its answer it changes the size of the pipe of its questions.
    """
    return _python(
        f"fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, {pipe_bytes})\n"
        'print("ready", flush=True)\n'
        "time.sleep(0.3)\n" + _in_children(3, 'kept = b"x" * (180 << 20)'),
        MEMORY,
    )
