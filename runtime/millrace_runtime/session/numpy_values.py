"""Keeps numpy, pandas and pyarrow out of processes that do not use them.

PySpark converts arguments of calls into Java, and asks for each whether it is a value of numpy. For
that, it imports a module of its tests, and with it pandas and pyarrow: 40 MB of each driver, and
half a second of its start. No value is one of numpy's before somebody has imported numpy.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any


@dataclass
class IfImported:
    """A converter of PySpark's for values of numpy, asked only once numpy is there."""

    converter: Any

    def can_convert(self, value: object) -> bool:
        """Whether this converter converts the value."""
        return "numpy" in sys.modules and bool(self.converter.can_convert(value))

    def convert(self, value: object, gateway_client: Any) -> Any:
        """Convert the value to one of Java."""
        return self.converter.convert(value, gateway_client)


def convert_if_imported() -> None:
    """Replace PySpark's converters for values of numpy in this process."""
    from py4j.protocol import INPUT_CONVERTER
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

    for number, each in enumerate(INPUT_CONVERTER):
        if isinstance(each, NumpyArrayConverter | NumpyScalarConverter):
            INPUT_CONVERTER[number] = IfImported(each)
