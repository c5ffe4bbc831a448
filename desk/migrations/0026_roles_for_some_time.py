from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("desk", "0025_guards_of_threads")]

    operations = [
        migrations.AddField(
            model_name="person",
            name="grants_after",
            field=models.JSONField(editable=False, help_text="The grants from then on.", null=True),
        ),
        migrations.AddField(
            model_name="person",
            name="grants_until",
            field=models.DateTimeField(editable=False, help_text="When roles given for some time end.", null=True),
        ),
        migrations.AddField(model_name="personchange", name="until", field=models.DateTimeField(null=True)),
    ]
