"""Public methods and constants in the class files of a jar, read without a Java."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PUBLIC, STATIC, SYNTHETIC = 0x0001, 0x0008, 0x1000
#: bytes of an entry of the constant pool after its tag; 1 (text) has a length of its own
_SIZES = {7: 2, 8: 2, 16: 2, 19: 2, 20: 2, 15: 3, 3: 4, 4: 4, 9: 4, 10: 4, 11: 4, 12: 4, 17: 4,
          18: 4, 5: 8, 6: 8}  # fmt: skip
_OF_EVERY_CLASS = {"<init>", "<clinit>", "equals", "hashCode", "toString", "valueOf", "values"}


class ClassFile:
    """The names in a class file (Java Virtual Machine Specification, chapter 4)."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 8
        self._constants = self._pool()
        self.access, _, _, interfaces = self._take(">HHHH")
        self._at += 2 * interfaces
        self.fields = list(self._members())
        self._methods = list(self._members())

    @property
    def methods(self) -> set[str]:
        """Names of its public methods, without those that every class or enumeration has."""
        return {
            name for access, name, _ in self._methods if access & PUBLIC and not access & SYNTHETIC
        } - _OF_EVERY_CLASS

    def texts(self, suffix: str) -> set[str]:
        """Values of its public constants whose names end with `suffix`."""
        constants = [each for each in self.fields if each[0] & PUBLIC and each[0] & STATIC]
        return {str(value) for _, name, value in constants if name.endswith(suffix) and value}

    def _take(self, layout: str) -> Any:
        found = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return found

    def _pool(self) -> list[Any]:
        (size,) = self._take(">H")
        pool: list[Any] = [None]
        while len(pool) < size:
            (tag,) = self._take(">B")
            if tag == 1:
                (length,) = self._take(">H")
                pool.append(self._data[self._at : self._at + length].decode("utf-8", "replace"))
                self._at += length
                continue
            data = self._data[self._at : self._at + _SIZES[tag]]
            self._at += _SIZES[tag]
            pool.append(int.from_bytes(data) if tag in (7, 8) else None)
            if tag in (5, 6):  # a long or a double takes two places
                pool.append(None)
        return pool

    def _members(self) -> Iterator[tuple[int, str, str | None]]:
        (count,) = self._take(">H")
        for _ in range(count):
            access, name, _, attributes = self._take(">HHHH")
            value = None
            for _ in range(attributes):
                kind, length = self._take(">HI")
                if self._constants[kind] == "ConstantValue":
                    (place,) = struct.unpack_from(">H", self._data, self._at)
                    text = self._constants[place]
                    value = self._constants[text] if isinstance(text, int) else None
                self._at += length
            yield access, self._constants[name], value


def public_classes(jar: Path, folder: str) -> Iterator[tuple[str, ClassFile]]:
    """Yield the public classes below a folder, by their path in it, without internal ones."""
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.namelist():
            inside = entry.startswith(f"{folder}/") and entry.endswith(".class")
            if inside and "/internals/" not in entry:
                found = ClassFile(archive.read(entry))
                if found.access & PUBLIC:
                    yield entry.removeprefix(f"{folder}/").removesuffix(".class"), found
