from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0006_beginning"),
    ]

    operations = [
        migrations.AddField(
            model_name="deployment",
            name="paused",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="deployment",
            name="draining",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="deployment",
            name="has_state",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="run",
            name="settings",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.RemoveConstraint(
            model_name="observation",
            name="known_observed_state",
        ),
        migrations.AlterField(
            model_name="observation",
            name="state",
            field=models.CharField(
                choices=[
                    ("new", "New"),
                    ("compiling", "Compiling"),
                    ("checking", "Checking"),
                    ("staging", "Staging"),
                    ("starting", "Starting"),
                    ("running", "Running"),
                    ("restarting", "Restarting"),
                    ("paused", "Paused"),
                    ("degraded", "Degraded"),
                    ("stopping", "Stopping"),
                    ("stopped", "Stopped"),
                    ("failed", "Failed"),
                    ("unknown", "Unknown"),
                ],
                default="new",
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            model_name="observation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
                            "new",
                            "compiling",
                            "checking",
                            "staging",
                            "starting",
                            "running",
                            "restarting",
                            "paused",
                            "degraded",
                            "stopping",
                            "stopped",
                            "failed",
                            "unknown",
                        ],
                    )
                ),
                name="known_observed_state",
            ),
        ),
    ]
