import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_tests_required"),
        ("deployments", "0010_causes_of_steps"),
    ]

    operations = [
        migrations.CreateModel(
            name="CreatedTopic",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=249, unique=True)),
                ("partitions", models.PositiveIntegerField()),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="created_topics",
                        to="accounts.workspace",
                    ),
                ),
            ],
        )
    ]
