"""Confine this process, and those that it starts, to the files that a simulation needs.

Linux only (Landlock, since 5.19). A confined process can read the installed programs, the project's
packages and its own temporary folder, and write only the latter. It can neither read other folders,
such as the data folder with its secrets and checkpoints, nor the environment and the memory of
other processes, even if they belong to the same user.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import ssl
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from millrace_runtime import jars

#: folder that a confined process may write to; it is deleted by the process that set the variable
FOLDER = "MILLRACE_CONFINED_TO"

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_OLDEST = 2
_VERSION, _PATH_BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_CAPABILITY_VERSION, _DROP_FROM_BOUNDING_SET = 0x20080522, 24
#: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID
_KEPT_CAPABILITIES = 0b11111
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_READ = _EXECUTE | _READ_FILE | _READ_DIR
#: rights that a rule for a single file can have
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE
#: rights to change files that each version of Landlock added
_ALL = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14}
#: abstract sockets and signals, both only among confined processes
_SCOPES = {6: 0b11}
#: places of programs, libraries and system settings on Linux distributions
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc",
           "/proc", "/sys")  # fmt: skip
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64),
                ("scopes", ctypes.c_uint64))  # fmt: skip


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock that the system supports; 0 if there is no usable one."""
    if not sys.platform.startswith("linux"):
        return 0
    found = _call(_CREATE_RULESET, None, 0, _VERSION)
    # The first version prevents moving files between folders, which Spark does.
    return found if found >= _OLDEST else 0


def confine(folder: Path) -> bool:
    """Confine this process to the files of a simulation and to a folder that it may write to.

    Return whether the system supports that. Must be called before other threads start. Raises
    OSError if the system refuses it.
    """
    supported = version()
    if not supported:
        return False
    everything = sum(rights for since, rights in _ALL.items() if since <= supported)
    scopes = sum(kinds for since, kinds in _SCOPES.items() if since <= supported)
    size = ctypes.sizeof(_Ruleset) if scopes else ctypes.sizeof(ctypes.c_uint64)
    rules = _checked(_call(_CREATE_RULESET, ctypes.byref(_Ruleset(everything, 0, scopes)), size, 0))
    try:
        for path in readable():
            _allow(rules, path, _READ)
        for name in _DEVICES:
            _allow(rules, Path("/dev", name), _READ_FILE | _WRITE_FILE)
        _allow(rules, folder, everything)
        _drop_capabilities()
        _checked(_library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(_call(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
    return True


def readable() -> list[Path]:
    """Return the existing places that a simulation may read: programs, libraries and jars."""
    certificates = ssl.get_default_verify_paths()
    # Not imported: a session starts before the compiler is needed.
    packages = [importlib.util.find_spec(name) for name in ("millrace_compiler", "pyspark")]
    found = {
        *map(Path, (*_SYSTEM, sys.prefix, sys.base_prefix)),
        *(Path(each.origin).parents[1] for each in packages if each and each.origin),
        *_java(), jars.PACKAGE.parent, jars.cache_dir(), jars.operator_jar(),
        Path("/etc/resolv.conf").resolve().parent,
        *(Path(each) for each in (certificates.cafile, certificates.capath) if each),
        *(Path(os.environ[name]) for name in ("MILLRACE_JARS",) if os.environ.get(name)),
    }  # fmt: skip
    return [path for path in sorted(found) if path.exists()]


@cache
def _java() -> list[Path]:
    """Return the folder of the command `java`, which may be a script, and that of its Java."""
    java = Path(jars.java())
    # The script of `java_home.shim` links to the release file of its Java.
    release = java.parents[1] / "release"
    if release.is_symlink() and (release.resolve().parent / "bin" / "java").exists():
        return [java.parents[1], release.resolve().parent]
    shown = subprocess.run(
        [str(java), "-XshowSettings:properties", "-version"],
        capture_output=True, text=True, check=False, timeout=60,
    ).stderr  # fmt: skip
    home = re.search(r"java\.home = (.+)", shown)
    return [java.parents[1], *([Path(home.group(1).strip())] if home else [])]


def _drop_capabilities() -> None:
    """Give up all privileges of root except those on files, which Landlock limits.

    With CAP_PERFMON, for example, root could read the environment of every process.
    """
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    _checked(_library().capget(header, sets))
    if not any(sets):
        return
    for number in range(64):
        if not 1 << number & _KEPT_CAPABILITIES:
            # Numbers that this system does not know are refused.
            _library().prctl(_DROP_FROM_BOUNDING_SET, number, 0, 0, 0)
    for place in range(6):
        sets[place] &= _KEPT_CAPABILITIES if place < 3 else 0
    _checked(_library().capset(header, sets))


def _allow(rules: int, path: Path, rights: int) -> None:
    with suppress(FileNotFoundError):
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            kept = rights if path.is_dir() else rights & _OF_FILES
            rule = _Beneath(kept, opened)
            _checked(_call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0))
        finally:
            os.close(opened)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    library = _library()
    library.syscall.restype = ctypes.c_long
    return int(library.syscall(ctypes.c_long(number), *map(_argument, arguments)))


def _argument(value: object) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
