from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0002_nothing_is_degraded"),
    ]

    operations = [
        migrations.RemoveField(model_name="run", name="process_started_at"),
        migrations.AddField(
            model_name="run",
            name="process_born",
            # Drivers end with the launcher: none lives while this runs.
            field=models.CharField(default="", max_length=80),
            preserve_default=False,
        ),
    ]
