"""Filter of the system calls that a program in a sandbox may make, in the kernel's seccomp."""

import ctypes
import os
from collections.abc import Iterator

KILLED_SYSCALLS = (
    "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd mount umount2 pivot_root chroot "
    "move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns keyctl "
    "add_key request_key userfaultfd bpf perf_event_open open_by_handle_at init_module "
    "finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl "
    "syslog semget msgget"
)
"""System calls that no bot has a reason to make; they end the program.

They inspect other processes, change mounts and namespaces, or change the kernel itself. So they
could lead out of the sandbox. `semget` and `msgget` make objects of the kernel that outlive the
process.
"""

# Memory that these allocate belongs to no process, so only a control group counts it. They only
# fail: libraries try them and then use something else.
DENIED_SYSCALLS = "io_uring_setup io_setup memfd_create memfd_secret shmget"

_ALLOW, _KILL, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x50026
_NOT_EQUAL, _EQUAL, _GREATER_OR_EQUAL, _MASKED_EQUAL = 1, 4, 5, 7
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16  # `socket` would be slow to import
_CLONE_NAMESPACE_FLAGS = 0x7E020000  # all of clone's flags that make a namespace


class _Compare(ctypes.Structure):
    """Condition on an argument of a system call: `scmp_arg_cmp` of libseccomp."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


Rule = tuple[int, str] | tuple[int, str, _Compare] | tuple[int, str, _Compare, _Compare]


def open_seccomp_filter() -> int:
    """Return an open file with the filter of system calls in the form that bubblewrap reads.

    Raises `OSError` if libseccomp cannot make it.
    """
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.seccomp_init(_ALLOW))
    for action, name, *compares in _build_filter_rules():
        syscall_number = lib.seccomp_syscall_resolve_name(name.encode())
        array = (_Compare * len(compares))(*compares)
        if syscall_number >= 0:  # this machine has it
            lib.seccomp_rule_add_array(context, action, syscall_number, len(compares), array)
    file = os.memfd_create("filter")
    if lib.seccomp_export_bpf(context, file) != 0:
        raise OSError("libseccomp made no filter")
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _build_filter_rules() -> Iterator[Rule]:
    """Yield the filter's rules: an action, a system call, and conditions on its arguments."""
    yield from ((_KILL, name) for name in KILLED_SYSCALLS.split())
    yield from ((_EPERM, name) for name in DENIED_SYSCALLS.split())
    # The flags of clone3 lie in memory, where a filter cannot read them. With "not implemented",
    # libraries fall back to clone, whose flags are an argument.
    yield _ENOSYS, "clone3"
    for bit in range(17, 31):
        if _CLONE_NAMESPACE_FLAGS & 1 << bit:
            yield _KILL, "clone", _Compare(0, _MASKED_EQUAL, 1 << bit, 1 << bit)
    yield from _build_socket_rules()
    yield _EPERM, "mmap", _Compare(3, _MASKED_EQUAL, 0x21, 0x21)  # shared memory of no file
    for ioctl_code in (0x5412, 0x541C):  # TIOCSTI and TIOCLINUX write what a user would have typed
        yield _KILL, "ioctl", _Compare(1, _MASKED_EQUAL, 0xFFFFFFFF, ioctl_code)


def _build_socket_rules() -> Iterator[Rule]:
    """Yield the rules that leave only local sockets and those of the Internet.

    The others reach the host, as vsock does, or have buffers that no control group counts.
    """
    for family in range(_AF_NETLINK):
        if family not in {_AF_UNIX, _AF_INET, _AF_INET6}:
            yield _EPERM, "socket", _Compare(0, _EQUAL, family, 0)
    yield _EPERM, "socket", _Compare(0, _GREATER_OR_EQUAL, _AF_NETLINK + 1, 0)
    # Libraries ask netlink for the network's interfaces, with the protocol 0.
    netlink = _Compare(0, _EQUAL, _AF_NETLINK, 0)
    yield _EPERM, "socket", netlink, _Compare(2, _NOT_EQUAL, 0, 0)
    # TCP and UDP have the numbers 6 and 17; those above are of other transports.
    yield _EPERM, "socket", _Compare(2, _GREATER_OR_EQUAL, 18, 0)
