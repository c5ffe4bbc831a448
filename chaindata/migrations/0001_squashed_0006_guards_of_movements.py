import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from desk.database.operations import CreateModels, InstallTriggers

# The triggers as the last of the migrations that are replaced here left them.
SQLITE = {
    "chaindata_chainbroadcast_moves_with_event": (
        "CREATE TRIGGER chaindata_chainbroadcast_moves_with_event BEFORE UPDATE ON chaindata_chainbroadcast WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM chaindata_chainbroadcastevent e WHERE e.broadcast_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a "
        "transaction to be sent moves only together with the event of its new version'); END"
    ),
    "chaindata_chainbroadcast_content_fixed": (
        "CREATE TRIGGER chaindata_chainbroadcast_content_fixed BEFORE UPDATE ON chaindata_chainbroadcast WHEN NEW.txid "
        "IS NOT OLD.txid OR NEW.raw IS NOT OLD.raw OR NEW.size IS NOT OLD.size OR NEW.digest IS NOT OLD.digest OR "
        "NEW.explained IS NOT OLD.explained OR NEW.reason IS NOT OLD.reason OR NEW.requested_by_id IS NOT "
        "OLD.requested_by_id OR NEW.confirmation_id IS NOT OLD.confirmation_id OR NEW.created_at IS NOT OLD.created_at "
        "BEGIN SELECT RAISE(ABORT, 'what was asked for in a transaction to be sent is never edited'); END"
    ),
    "chaindata_chainbroadcast_begins": (
        "CREATE TRIGGER chaindata_chainbroadcast_begins BEFORE INSERT ON chaindata_chainbroadcast WHEN NEW.state <> "
        "'requested' OR NEW.version <> 1 OR NEW.sends <> 0 BEGIN SELECT RAISE(ABORT, 'a transaction to be sent begins "
        "as requested'); END"
    ),
    "chaindata_chainbroadcast_sent_once": (
        "CREATE TRIGGER chaindata_chainbroadcast_sent_once BEFORE UPDATE ON chaindata_chainbroadcast WHEN NEW.sends < "
        "OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) BEGIN SELECT RAISE(ABORT, 'a "
        "transaction is sent once at most'); END"
    ),
    "chaindata_chainbroadcastevent_no_edit": (
        "CREATE TRIGGER chaindata_chainbroadcastevent_no_edit BEFORE UPDATE ON chaindata_chainbroadcastevent WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "chaindata_chainbroadcast_no_removal": (
        "CREATE TRIGGER chaindata_chainbroadcast_no_removal BEFORE DELETE ON chaindata_chainbroadcast WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "chaindata_chainbroadcastevent_no_removal": (
        "CREATE TRIGGER chaindata_chainbroadcastevent_no_removal BEFORE DELETE ON chaindata_chainbroadcastevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "chaindata_watchedaddress_moves_with_event": (
        "CREATE TRIGGER chaindata_watchedaddress_moves_with_event BEFORE UPDATE ON chaindata_watchedaddress WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM chaindata_watchedaddressevent e WHERE e.watched_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a watched address moves "
        "only together with the event of its new version'); END"
    ),
    "chaindata_watchedaddress_content_fixed": (
        "CREATE TRIGGER chaindata_watchedaddress_content_fixed BEFORE UPDATE ON chaindata_watchedaddress WHEN "
        "NEW.address IS NOT OLD.address OR NEW.title IS NOT OLD.title OR NEW.purpose IS NOT OLD.purpose OR NEW.note IS "
        "NOT OLD.note OR NEW.added_by_id IS NOT OLD.added_by_id OR NEW.from_height IS NOT OLD.from_height OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a watched address is "
        "never edited'); END"
    ),
    "chaindata_watchedaddress_begins": (
        "CREATE TRIGGER chaindata_watchedaddress_begins BEFORE INSERT ON chaindata_watchedaddress WHEN NEW.state <> "
        "'watched' OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a watched address begins as watched'); END"
    ),
    "chaindata_watchedaddressevent_no_edit": (
        "CREATE TRIGGER chaindata_watchedaddressevent_no_edit BEFORE UPDATE ON chaindata_watchedaddressevent WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "chaindata_watchedaddress_no_removal": (
        "CREATE TRIGGER chaindata_watchedaddress_no_removal BEFORE DELETE ON chaindata_watchedaddress WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "chaindata_watchedaddressevent_no_removal": (
        "CREATE TRIGGER chaindata_watchedaddressevent_no_removal BEFORE DELETE ON chaindata_watchedaddressevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "chaindata_chainmovement_moves_with_event": (
        "CREATE TRIGGER chaindata_chainmovement_moves_with_event BEFORE UPDATE ON chaindata_chainmovement WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM chaindata_chainmovementevent e WHERE e.movement_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a movement of a watched "
        "address moves only together with the event of its new version'); END"
    ),
    "chaindata_chainmovement_content_fixed": (
        "CREATE TRIGGER chaindata_chainmovement_content_fixed BEFORE UPDATE ON chaindata_chainmovement WHEN "
        "NEW.watched_id IS NOT OLD.watched_id OR NEW.txid IS NOT OLD.txid OR NEW.change_sat IS NOT OLD.change_sat OR "
        "NEW.spends IS NOT OLD.spends OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was "
        "asked for in a movement of a watched address is never edited'); END"
    ),
    "chaindata_chainmovement_begins": (
        "CREATE TRIGGER chaindata_chainmovement_begins BEFORE INSERT ON chaindata_chainmovement WHEN NEW.state <> "
        "'seen' OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a movement of a watched address begins as seen'); END"
    ),
    "chaindata_chainmovementevent_no_edit": (
        "CREATE TRIGGER chaindata_chainmovementevent_no_edit BEFORE UPDATE ON chaindata_chainmovementevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "chaindata_chainmovement_no_removal": (
        "CREATE TRIGGER chaindata_chainmovement_no_removal BEFORE DELETE ON chaindata_chainmovement WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "chaindata_chainmovementevent_no_removal": (
        "CREATE TRIGGER chaindata_chainmovementevent_no_removal BEFORE DELETE ON chaindata_chainmovementevent WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "chaindata_chainbroadcast_moves_with_event": (
        "CREATE FUNCTION chaindata_chainbroadcast_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM chaindata_chainbroadcastevent e WHERE e.broadcast_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "transaction to be sent moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcast_moves_with_event BEFORE UPDATE ON chaindata_chainbroadcast FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcast_moves_with_event()"
    ),
    "chaindata_chainbroadcast_content_fixed": (
        "CREATE FUNCTION chaindata_chainbroadcast_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.txid IS DISTINCT FROM OLD.txid OR NEW.raw IS DISTINCT FROM OLD.raw OR NEW.size IS DISTINCT FROM OLD.size "
        "OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.explained IS DISTINCT FROM OLD.explained OR NEW.reason IS "
        "DISTINCT FROM OLD.reason OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id OR NEW.confirmation_id "
        "IS DISTINCT FROM OLD.confirmation_id OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION "
        "'what was asked for in a transaction to be sent is never edited' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcast_content_fixed BEFORE UPDATE ON chaindata_chainbroadcast FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcast_content_fixed()"
    ),
    "chaindata_chainbroadcast_begins": (
        "CREATE FUNCTION chaindata_chainbroadcast_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'requested' OR NEW.version <> 1 OR NEW.sends <> 0 THEN RAISE EXCEPTION 'a transaction to be sent "
        "begins as requested' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE "
        "TRIGGER chaindata_chainbroadcast_begins BEFORE INSERT ON chaindata_chainbroadcast FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcast_begins()"
    ),
    "chaindata_chainbroadcast_sent_once": (
        "CREATE FUNCTION chaindata_chainbroadcast_sent_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) THEN RAISE EXCEPTION 'a "
        "transaction is sent once at most' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER chaindata_chainbroadcast_sent_once BEFORE UPDATE ON chaindata_chainbroadcast FOR EACH "
        "ROW EXECUTE FUNCTION chaindata_chainbroadcast_sent_once()"
    ),
    "chaindata_chainbroadcastevent_no_edit": (
        "CREATE FUNCTION chaindata_chainbroadcastevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcastevent_no_edit BEFORE UPDATE ON chaindata_chainbroadcastevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcastevent_no_edit()"
    ),
    "chaindata_chainbroadcast_no_removal": (
        "CREATE FUNCTION chaindata_chainbroadcast_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER chaindata_chainbroadcast_no_removal BEFORE DELETE ON "
        "chaindata_chainbroadcast FOR EACH ROW EXECUTE FUNCTION chaindata_chainbroadcast_no_removal()"
    ),
    "chaindata_chainbroadcastevent_no_removal": (
        "CREATE FUNCTION chaindata_chainbroadcastevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcastevent_no_removal BEFORE DELETE ON chaindata_chainbroadcastevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcastevent_no_removal()"
    ),
    "chaindata_watchedaddress_moves_with_event": (
        "CREATE FUNCTION chaindata_watchedaddress_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM chaindata_watchedaddressevent e WHERE e.watched_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "watched address moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddress_moves_with_event BEFORE UPDATE ON chaindata_watchedaddress FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_watchedaddress_moves_with_event()"
    ),
    "chaindata_watchedaddress_content_fixed": (
        "CREATE FUNCTION chaindata_watchedaddress_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.address IS DISTINCT FROM OLD.address OR NEW.title IS DISTINCT FROM OLD.title OR NEW.purpose IS DISTINCT "
        "FROM OLD.purpose OR NEW.note IS DISTINCT FROM OLD.note OR NEW.added_by_id IS DISTINCT FROM OLD.added_by_id OR "
        "NEW.from_height IS DISTINCT FROM OLD.from_height OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE "
        "EXCEPTION 'what was asked for in a watched address is never edited' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddress_content_fixed BEFORE UPDATE ON chaindata_watchedaddress FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_watchedaddress_content_fixed()"
    ),
    "chaindata_watchedaddress_begins": (
        "CREATE FUNCTION chaindata_watchedaddress_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'watched' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a watched address begins as watched' USING "
        "ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddress_begins BEFORE INSERT ON chaindata_watchedaddress FOR EACH ROW EXECUTE FUNCTION "
        "chaindata_watchedaddress_begins()"
    ),
    "chaindata_watchedaddressevent_no_edit": (
        "CREATE FUNCTION chaindata_watchedaddressevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddressevent_no_edit BEFORE UPDATE ON chaindata_watchedaddressevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_watchedaddressevent_no_edit()"
    ),
    "chaindata_watchedaddress_no_removal": (
        "CREATE FUNCTION chaindata_watchedaddress_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER chaindata_watchedaddress_no_removal BEFORE DELETE ON "
        "chaindata_watchedaddress FOR EACH ROW EXECUTE FUNCTION chaindata_watchedaddress_no_removal()"
    ),
    "chaindata_watchedaddressevent_no_removal": (
        "CREATE FUNCTION chaindata_watchedaddressevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddressevent_no_removal BEFORE DELETE ON chaindata_watchedaddressevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_watchedaddressevent_no_removal()"
    ),
    "chaindata_chainmovement_moves_with_event": (
        "CREATE FUNCTION chaindata_chainmovement_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM chaindata_chainmovementevent e WHERE e.movement_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "movement of a watched address moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainmovement_moves_with_event BEFORE UPDATE ON chaindata_chainmovement FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainmovement_moves_with_event()"
    ),
    "chaindata_chainmovement_content_fixed": (
        "CREATE FUNCTION chaindata_chainmovement_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.watched_id IS DISTINCT FROM OLD.watched_id OR NEW.txid IS DISTINCT FROM OLD.txid OR NEW.change_sat IS "
        "DISTINCT FROM OLD.change_sat OR NEW.spends IS DISTINCT FROM OLD.spends OR NEW.created_at IS DISTINCT FROM "
        "OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a movement of a watched address is never edited' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainmovement_content_fixed BEFORE UPDATE ON chaindata_chainmovement FOR EACH ROW EXECUTE FUNCTION "
        "chaindata_chainmovement_content_fixed()"
    ),
    "chaindata_chainmovement_begins": (
        "CREATE FUNCTION chaindata_chainmovement_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'seen' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a movement of a watched address begins as seen' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainmovement_begins BEFORE INSERT ON chaindata_chainmovement FOR EACH ROW EXECUTE FUNCTION "
        "chaindata_chainmovement_begins()"
    ),
    "chaindata_chainmovementevent_no_edit": (
        "CREATE FUNCTION chaindata_chainmovementevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainmovementevent_no_edit BEFORE UPDATE ON chaindata_chainmovementevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainmovementevent_no_edit()"
    ),
    "chaindata_chainmovement_no_removal": (
        "CREATE FUNCTION chaindata_chainmovement_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER chaindata_chainmovement_no_removal BEFORE DELETE ON "
        "chaindata_chainmovement FOR EACH ROW EXECUTE FUNCTION chaindata_chainmovement_no_removal()"
    ),
    "chaindata_chainmovementevent_no_removal": (
        "CREATE FUNCTION chaindata_chainmovementevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "chaindata_chainmovementevent_no_removal BEFORE DELETE ON chaindata_chainmovementevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainmovementevent_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """All tables and triggers as version 0.7.0 had them; an older database passes through that version first."""

    initial = True
    dependencies = [
        ("desk", "0001_squashed_0016_keyed_requests"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='ChainAnswer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=80, unique=True)),
                    ('operation', models.CharField(max_length=60)),
                    ('arguments', models.JSONField()),
                    ('standing', models.CharField(default='absent', max_length=10)),
                    ('body', models.TextField(blank=True, default='')),
                    ('size', models.PositiveIntegerField(default=0)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('is_final', models.BooleanField(default=False)),
                    ('rests_on_height', models.BigIntegerField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('problem_at', models.DateTimeField(null=True)),
                    ('failures', models.PositiveIntegerField(default=0)),
                    ('asked_at', models.DateTimeField()),
                    ('woken_at', models.DateTimeField(null=True)),
                    ('due_at', models.DateTimeField(null=True)),
                    ('claimed_by', models.CharField(blank=True, default='', max_length=80)),
                    ('claimed_until', models.DateTimeField(null=True)),
                ],
                options={
                    'indexes': [models.Index(fields=['due_at', 'asked_at'], name='chainanswer_due'), models.Index(fields=['operation', 'due_at'], name='chainanswer_by_operation'), models.Index(fields=['asked_at'], name='chainanswer_by_age'), models.Index(fields=['rests_on_height'], name='chainanswer_by_height')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('standing__in', ('absent', 'found', 'missing', 'refused'))), name='chainanswer_standing'), models.CheckConstraint(condition=models.Q(models.Q(('standing', 'found'), _negated=True), models.Q(models.Q(('body', ''), _negated=True), ('read_at__isnull', False)), _connector='OR'), name='chainanswer_found_has_body')],
                },
            ),
            migrations.CreateModel(
                name='ChainHeader',
                fields=[
                    ('hash', models.CharField(max_length=64, primary_key=True, serialize=False)),
                    ('height', models.BigIntegerField()),
                    ('previous_hash', models.CharField(max_length=64)),
                    ('raw', models.CharField(max_length=160)),
                    ('time', models.BigIntegerField()),
                    ('chainwork', models.CharField(max_length=64)),
                    ('is_active', models.BooleanField(default=False)),
                    ('seen_at', models.DateTimeField()),
                ],
                options={
                    'indexes': [models.Index(fields=['height'], name='chainheader_by_height')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('is_active', True)), fields=('height',), name='chainheader_one_active')],
                },
            ),
            migrations.CreateModel(
                name='ChainReorganisation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('found_at', models.DateTimeField()),
                    ('common_height', models.BigIntegerField()),
                    ('old_tip', models.CharField(max_length=64)),
                    ('old_height', models.BigIntegerField()),
                    ('new_tip', models.CharField(max_length=64)),
                    ('new_height', models.BigIntegerField()),
                ],
                options={
                    'indexes': [models.Index(fields=['-found_at'], name='chainreorganisation_newest')],
                },
            ),
            migrations.CreateModel(
                name='ChainTip',
                fields=[
                    ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                    ('world', models.CharField(blank=True, default='', max_length=300)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('problem_at', models.DateTimeField(null=True)),
                    ('claimed_by', models.CharField(blank=True, default='', max_length=80)),
                    ('claimed_until', models.DateTimeField(null=True)),
                    ('header', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='chaindata.chainheader')),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='chaintip_one_row')],
                },
            ),
            migrations.CreateModel(
                name='ChainBroadcast',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('txid', models.CharField(db_index=True, max_length=64)),
                    ('raw', models.TextField()),
                    ('size', models.PositiveIntegerField()),
                    ('digest', models.CharField(max_length=64)),
                    ('explained', models.JSONField()),
                    ('reason', models.CharField(max_length=500)),
                    ('state', models.CharField(choices=[('requested', 'Waiting to be sent'), ('sending', 'Being sent'), ('sent', 'Sent'), ('found', 'On the network'), ('refused', 'Refused'), ('not_sent', 'Not sent'), ('unknown', 'Outcome unknown'), ('not_seen', 'Not seen')], max_length=12)),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('sends', models.PositiveSmallIntegerField(default=0)),
                    ('looks', models.PositiveIntegerField(default=0)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=300)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('confirmation', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='broadcasts', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'next_action_at'], name='chainbroadcast_due')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['requested', 'sending', 'sent', 'found', 'refused', 'not_sent', 'unknown', 'not_seen'])), name='chainbroadcast_known_state'), models.CheckConstraint(condition=models.Q(('sends__lte', 1)), name='chainbroadcast_is_sent_at_most_once'), models.CheckConstraint(condition=models.Q(('size__lte', 50000)), name='chainbroadcast_fits_one_call'), models.UniqueConstraint(condition=models.Q(('state__in', ('requested', 'sending', 'unknown', 'sent', 'found'))), fields=('txid',), name='chainbroadcast_one_under_way')],
                },
            ),
            migrations.CreateModel(
                name='ChainBroadcastEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('broadcast', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='chaindata.chainbroadcast')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('broadcast', 'version'), name='chainbroadcastevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'asked'), ('from_state', ''), ('to_state', 'requested')), models.Q(('event', 'found'), ('from_state', 'requested'), ('to_state', 'found')), models.Q(('event', 'claimed'), ('from_state', 'requested'), ('to_state', 'sending')), models.Q(('event', 'stopped'), ('from_state', 'requested'), ('to_state', 'not_sent')), models.Q(('event', 'accepted'), ('from_state', 'sending'), ('to_state', 'sent')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'found'), ('from_state', 'sending'), ('to_state', 'found')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'not_sent')), models.Q(('event', 'answer_lost'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'found'), ('from_state', 'unknown'), ('to_state', 'found')), models.Q(('event', 'not_seen'), ('from_state', 'unknown'), ('to_state', 'not_seen')), _connector='OR'), name='chainbroadcastevent_is_a_move_of_the_table')],
                },
            ),
            migrations.CreateModel(
                name='WatchedAddress',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('address', models.CharField(max_length=120)),
                    ('title', models.CharField(max_length=80)),
                    ('purpose', models.CharField(choices=[('reserve', 'Own reserve (cold storage)'), ('operations', 'Own operations'), ('counterparty', 'Counterparty'), ('other', 'Other')], max_length=12)),
                    ('note', models.CharField(blank=True, default='', max_length=300)),
                    ('from_height', models.BigIntegerField()),
                    ('settled_height', models.BigIntegerField()),
                    ('read_at', models.DateTimeField(null=True)),
                    ('balance_sat', models.BigIntegerField(null=True)),
                    ('unconfirmed_sat', models.BigIntegerField(null=True)),
                    ('reason', models.CharField(blank=True, default='', max_length=500)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=300)),
                    ('state', models.CharField(choices=[('watched', 'Watched'), ('stopped', 'No longer watched')], max_length=10)),
                    ('added_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'next_action_at'], name='watchedaddress_due')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['watched', 'stopped'])), name='watchedaddress_known_state'), models.CheckConstraint(condition=models.Q(('settled_height__gte', models.F('from_height'))), name='watchedaddress_reads_forward'), models.UniqueConstraint(condition=models.Q(('state', 'watched')), fields=('address',), name='watchedaddress_one_watch')],
                },
            ),
            migrations.CreateModel(
                name='ChainMovement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('txid', models.CharField(db_index=True, max_length=64)),
                    ('change_sat', models.BigIntegerField()),
                    ('spends', models.BooleanField()),
                    ('height', models.BigIntegerField(null=True)),
                    ('is_missing', models.BooleanField(default=False)),
                    ('reason', models.CharField(blank=True, default='', max_length=500)),
                    ('state', models.CharField(choices=[('seen', 'To review'), ('reviewed', 'Reviewed')], max_length=10)),
                    ('watched', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='movements', to='chaindata.watchedaddress')),
                ],
                options={
                    'indexes': [models.Index(fields=['watched', '-id'], name='chainmovement_newest'), models.Index(condition=models.Q(('state', 'seen')), fields=['id'], name='chainmovement_to_review')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['seen', 'reviewed'])), name='chainmovement_known_state'), models.UniqueConstraint(fields=('watched', 'txid'), name='chainmovement_one_per_transaction'), models.CheckConstraint(condition=models.Q(('state', 'seen'), models.Q(('reason', ''), _negated=True), _connector='OR'), name='chainmovement_reviewed_with_a_reason')],
                },
            ),
            migrations.CreateModel(
                name='WatchedAddressEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('watched', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='chaindata.watchedaddress')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('watched', 'version'), name='watchedaddressevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'began'), ('from_state', ''), ('to_state', 'watched')), models.Q(('event', 'stopped'), ('from_state', 'watched'), ('to_state', 'stopped')), _connector='OR'), name='watchedaddressevent_is_a_move_of_the_table')],
                },
            ),
            migrations.CreateModel(
                name='ChainMovementEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('movement', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='chaindata.chainmovement')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('movement', 'version'), name='chainmovementevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'seen'), ('from_state', ''), ('to_state', 'seen')), models.Q(('event', 'reviewed'), ('from_state', 'seen'), ('to_state', 'reviewed')), _connector='OR'), name='chainmovementevent_is_a_move_of_the_table')],
                },
            ),
        ),
        InstallTriggers(SQLITE, POSTGRESQL),
    ]
