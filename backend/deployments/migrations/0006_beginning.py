from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0005_outages"),
    ]

    operations = [
        migrations.AddField(
            model_name="deployment",
            name="beginning",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
