from typing import Any

from django.db import migrations


def as_causes(apps: Any, schema_editor: Any) -> None:
    """Details of steps, which were sentences, become causes."""
    for row in apps.get_model("deployments", "Observation").objects.iterator():
        for step in row.steps:
            if isinstance(step.get("detail"), str):
                step["detail"] = {
                    "code": "", "message": step["detail"], "facts": {}, "cause": None,
                }  # fmt: skip
        row.save(update_fields=["steps"])


class Migration(migrations.Migration):
    dependencies = [("deployments", "0009_shadows")]

    operations = [migrations.RunPython(as_causes, migrations.RunPython.noop)]
