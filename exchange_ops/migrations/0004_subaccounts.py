import desk.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('desk', '0002_guards_and_cache'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('exchange_ops', '0003_facts'),
    ]

    operations = [
        migrations.CreateModel(
            name='SubAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('exchange_id', models.BigIntegerField()),
                ('email', models.CharField(max_length=254)),
                ('status', models.CharField(max_length=40)),
                ('closed_as', models.CharField(blank=True, default='', max_length=10)),
                ('observed_at', models.DateTimeField()),
                ('missing_since', models.DateTimeField(null=True)),
                ('settings_shown', models.BooleanField(null=True)),
                ('payout_enabled', models.BooleanField(null=True)),
                ('description', models.CharField(blank=True, default='', max_length=255)),
                ('settings_at', models.DateTimeField(null=True)),
                ('balances_asked_at', models.DateTimeField(null=True)),
                ('balances_tried_at', models.DateTimeField(null=True)),
                ('balances_at', models.DateTimeField(null=True)),
                ('balances_problem', models.CharField(blank=True, default='', max_length=300)),
                ('wanted', models.CharField(blank=True, default='', max_length=10)),
                ('wanted_payout', models.BooleanField(null=True)),
                ('wanted_description', models.CharField(max_length=255, null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='subaccounts', to='exchange_ops.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'exchange_id'), name='subaccount_one_row'), models.CheckConstraint(condition=models.Q(('wanted__in', ('', 'active', 'frozen'))), name='subaccount_known_wish'), models.CheckConstraint(condition=models.Q(('closed_as__in', ('', 'frozen', 'disabled'))), name='subaccount_known_end')],
            },
        ),
        migrations.CreateModel(
            name='SubAccountAction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('freeze', 'Freeze'), ('activate', 'Activate'), ('settings', 'Change payout settings')], max_length=10)),
                ('lane', models.CharField(max_length=10)),
                ('wanted_payout', models.BooleanField(null=True)),
                ('wanted_description', models.CharField(max_length=255, null=True)),
                ('reason', models.CharField(max_length=500)),
                ('request_key', models.CharField(max_length=80)),
                ('digest', models.CharField(max_length=64)),
                ('before', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('requested', 'Waiting to be sent'), ('sending', 'Being sent'), ('accepted', 'Accepted, not seen yet'), ('unknown', 'Outcome unknown'), ('done', 'Done and seen'), ('refused', 'Refused by the exchange'), ('not_done', 'Not done'), ('cancelled', 'Taken back')], default='requested', max_length=20)),
                ('version', models.PositiveIntegerField(default=1)),
                ('attempt', models.PositiveIntegerField(default=0)),
                ('looks', models.PositiveIntegerField(default=0)),
                ('answer', models.CharField(blank=True, default='', max_length=10)),
                ('answered_at', models.DateTimeField(null=True)),
                ('lease_until', models.DateTimeField(null=True)),
                ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('confirmation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('sub_account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='actions', to='exchange_ops.subaccount')),
            ],
            options={
                'indexes': [models.Index(fields=['state', 'next_action_at'], name='subaccountaction_due'), models.Index(fields=['sub_account', '-id'], name='subaccountaction_newest')],
                'constraints': [models.UniqueConstraint(fields=('requested_by', 'request_key', 'sub_account'), name='subaccountaction_one_per_request_key'), models.UniqueConstraint(condition=models.Q(('state__in', ('requested', 'sending', 'accepted', 'unknown'))), fields=('sub_account', 'kind'), name='subaccountaction_one_open_of_a_kind'), models.UniqueConstraint(condition=models.Q(('state__in', ('sending', 'accepted', 'unknown'))), fields=('sub_account', 'lane'), name='subaccountaction_one_call_in_a_lane'), models.CheckConstraint(condition=models.Q(('kind', 'settings'), ('confirmation__isnull', False), _connector='OR'), name='subaccountaction_status_needs_a_second_factor'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'settings'), _negated=True), ('wanted_payout__isnull', False), ('wanted_description__isnull', False), _connector='OR'), name='subaccountaction_settings_change_something')],
            },
        ),
        migrations.CreateModel(
            name='SubAccountAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=20)),
                ('address', models.CharField(blank=True, default='', max_length=256)),
                ('payment_id', models.CharField(blank=True, default='', max_length=256)),
                ('problem', models.CharField(blank=True, default='', max_length=300)),
                ('requested_at', models.DateTimeField()),
                ('answered_at', models.DateTimeField(null=True)),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('sub_account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='addresses', to='exchange_ops.subaccount')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('sub_account', 'currency'), name='subaccountaddress_one_row')],
            },
        ),
        migrations.CreateModel(
            name='SubAccountBalance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=20)),
                ('wallet', models.CharField(max_length=10)),
                ('available', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                ('reserved', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                ('sub_account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='balances', to='exchange_ops.subaccount')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('sub_account', 'currency', 'wallet'), name='subaccountbalance_one_row')],
            },
        ),
        migrations.CreateModel(
            name='SubAccountCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveIntegerField()),
                ('version', models.PositiveIntegerField(help_text='version of the action that this call belongs to')),
                ('fingerprint', models.CharField(max_length=64)),
                ('prepared_at', models.DateTimeField()),
                ('send_by', models.DateTimeField()),
                ('sent_at', models.DateTimeField(null=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(choices=[('prepared', 'prepared'), ('sent', 'sent'), ('accepted', 'accepted'), ('refused', 'refused'), ('not_sent', 'not_sent'), ('unknown', 'unknown'), ('found', 'found'), ('absent', 'absent')], default='prepared', max_length=10)),
                ('http_status', models.PositiveIntegerField(null=True)),
                ('error_code', models.IntegerField(null=True)),
                ('detail', models.CharField(blank=True, default='', max_length=500)),
                ('action', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='exchange_ops.subaccountaction')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('action', 'attempt'), name='subaccountcall_one_per_attempt'), models.CheckConstraint(condition=models.Q(('outcome__in', ('prepared', 'sent', 'accepted', 'refused', 'not_sent', 'unknown', 'found', 'absent'))), name='subaccountcall_known_outcome')],
            },
        ),
        migrations.CreateModel(
            name='SubAccountEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('event', models.CharField(max_length=20)),
                ('from_state', models.CharField(blank=True, default='', max_length=20)),
                ('to_state', models.CharField(max_length=20)),
                ('evidence', models.JSONField(default=dict)),
                ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                ('at', models.DateTimeField()),
                ('action', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.subaccountaction')),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['version'],
                'constraints': [models.UniqueConstraint(fields=('action', 'version'), name='subaccountevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'created'), ('from_state', ''), ('to_state', 'requested')), models.Q(('event', 'claimed'), ('from_state', 'requested'), ('to_state', 'sending')), models.Q(('event', 'accepted'), ('from_state', 'sending'), ('to_state', 'accepted')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'requested')), models.Q(('event', 'lost'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'seen'), ('from_state', 'accepted'), ('to_state', 'done')), models.Q(('event', 'seen_unchanged'), ('from_state', 'accepted'), ('to_state', 'not_done')), models.Q(('event', 'seen'), ('from_state', 'unknown'), ('to_state', 'done')), models.Q(('event', 'seen_unchanged'), ('from_state', 'unknown'), ('to_state', 'requested')), models.Q(('event', 'seen_unchanged'), ('from_state', 'unknown'), ('to_state', 'not_done')), models.Q(('event', 'taken_back'), ('from_state', 'requested'), ('to_state', 'cancelled')), _connector='OR'), name='subaccountevent_is_a_move_of_the_table')],
            },
        ),
        migrations.CreateModel(
            name='SubAccountReading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField(null=True)),
                ('tried_at', models.DateTimeField(null=True)),
                ('read_at', models.DateTimeField(null=True)),
                ('problem', models.CharField(blank=True, default='', max_length=500)),
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='subaccount_reading', to='exchange_ops.account')),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
    ]
