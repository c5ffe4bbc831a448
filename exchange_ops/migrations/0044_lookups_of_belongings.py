from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('exchange_ops', '0043_guards_of_brackets'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(condition=models.Q(('type', 'payin')), fields=['account', 'currency', 'address'], name='ledgerentry_by_paid_in'),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['hash'], name='ledgerentry_by_hash'),
        ),
        migrations.AddIndex(
            model_name='withdrawal',
            index=models.Index(fields=['account', 'currency', 'address'], name='withdrawal_by_address'),
        ),
        migrations.AddIndex(
            model_name='withdrawal',
            index=models.Index(fields=['hash'], name='withdrawal_by_hash'),
        ),
    ]
