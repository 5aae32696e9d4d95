from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("records", "0001_generators")]

    operations = [
        # A generator notes its problem again as long as it has one.
        migrations.RemoveField(model_name="generator", name="problem"),
        migrations.AddField(
            model_name="generator", name="problem", field=models.JSONField(null=True)
        ),
    ]
