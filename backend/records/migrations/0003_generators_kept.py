import django.db.models.deletion
from django.db import migrations, models


def set_seconds(apps, schema_editor):
    """A generator ran from its creation to its end."""
    generators = apps.get_model("records", "Generator").objects
    for row in generators.exclude(ends_at=None):
        row.seconds = max(1, round((row.ends_at - row.created_at).total_seconds()))
        row.save(update_fields=["seconds"])


class Migration(migrations.Migration):
    dependencies = [("records", "0002_problems"), ("topologies", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="generator", name="seconds", field=models.PositiveIntegerField(null=True)
        ),
        migrations.AddField(
            model_name="generator",
            name="topology",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="generators",
                to="topologies.topology",
            ),
        ),
        migrations.RunPython(set_seconds, migrations.RunPython.noop),
    ]
