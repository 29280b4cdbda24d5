"""Both homes of the functions on this machine: schedule, queue and emulator; never deployed."""
