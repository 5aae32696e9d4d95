"""Sizes of versions, drafts and tests, for the quotas."""

import json
from typing import Any

from django.db import migrations, models

FIELDS = {"Version": ["document"], "Draft": ["document"], "TopologyTest": ["inputs", "expected"]}


def measure(apps: Any, schema_editor: Any) -> None:
    """Measure the existing rows, one at a time: all together may not fit into memory."""
    for name, fields in FIELDS.items():
        rows = apps.get_model("topologies", name).objects
        for pk in rows.values_list("pk", flat=True).iterator():
            values = rows.values_list(*fields).get(pk=pk)
            size = sum(len(json.dumps(value, ensure_ascii=False).encode()) for value in values)
            rows.filter(pk=pk).update(size=size)


class Migration(migrations.Migration):
    dependencies = [("topologies", "0004_test_passes")]

    operations = [
        *(
            migrations.AddField(name, "size", models.PositiveIntegerField(default=0))
            for name in ("version", "draft", "topologytest")
        ),
        migrations.RunPython(measure, migrations.RunPython.noop),
    ]
