"""Formats of orders in Avro and Protobuf, and a value of each."""

from __future__ import annotations

import json
from typing import Any

from tests.registry import Registry

AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "item", "type": "string"},
            {"name": "n", "type": ["null", "int"]},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW", "OLD"]}},
            {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 3}},
            {"name": "either", "type": ["int", "string"]},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {
                "name": "price",
                "type": {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2},
            },
            {"name": "days", "type": {"type": "map", "values": {"type": "int", "logicalType":
             "date"}}},
        ],
    }
)  # fmt: skip
PROTOBUF = """syntax = "proto3";
import "google/protobuf/timestamp.proto";
enum Kind { NONE = 0; SOME = 1; }
message Order {
  string item = 1;
  optional int32 n = 2;
  Kind kind = 3;
  repeated int64 counts = 4;
  google.protobuf.Timestamp at = 5;
  uint64 size = 6;
  map<int32, string> names = 7;
  map<bool, int64> flags = 8;
  map<uint64, Kind> kinds = 9;
}
"""
SCHEMAS = {"avro": AVRO, "protobuf": PROTOBUF}
VALUES: dict[str, dict[str, Any]] = {
    "avro": {
        "item": "tea", "n": 2, "kind": "OLD", "code": "YWJj",
        "either": {"member0": None, "member1": "x"}, "at": 1_000, "price": 1.25,
        "days": {"first": "2026-01-01"},
    },
    "protobuf": {
        "item": "tea", "n": 2, "kind": "SOME", "counts": [1, 2], "at": 1_000, "size": 2**64 - 1,
        "names": {"-7": "seven"}, "flags": {"true": 2**63 - 1}, "kinds": {str(2**64 - 1): "SOME"},
    },
}  # fmt: skip


def format_of(name: str, registry: Registry | None) -> dict[str, str]:
    if registry is None:
        return {"format": name, "schema": SCHEMAS[name]}
    return {"format": name, "registry": registry.url, "subject": f"{name}-value"}
