from django.db import migrations, models

TABLES = {
    "exchange_ops_approval_second_factor": "exchange_ops_approval",
    "exchange_ops_thawvote_second_factor": "exchange_ops_thawvote",
    "exchange_ops_transferapproval_second_factor": "exchange_ops_transferapproval",
    "exchange_ops_transfer_quorum": "exchange_ops_transfer",
}
SQLITE = {
    "exchange_ops_approval_second_factor": (
        "CREATE TRIGGER exchange_ops_approval_second_factor BEFORE INSERT ON exchange_ops_approval WHEN "
        "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id"
        " AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND s.purpose = "
        "'approve-withdrawal' AND s.digest = NEW.digest OR NEW.stage = 'resolution' AND s.purpose = 'resolve-"
        "withdrawal')) BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor of this person, "
        "given for it'); END"
    ),
    "exchange_ops_thawvote_second_factor": (
        "CREATE TRIGGER exchange_ops_thawvote_second_factor BEFORE INSERT ON exchange_ops_thawvote WHEN NOT "
        "EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id"
        " AND s.at = NEW.at AND s.purpose = 'thaw-freeze') BEGIN SELECT RAISE(ABORT, 'a word counts only with"
        " a second factor of this person, given for it'); END"
    ),
    "exchange_ops_transferapproval_second_factor": (
        "CREATE TRIGGER exchange_ops_transferapproval_second_factor BEFORE INSERT ON "
        "exchange_ops_transferapproval WHEN NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup"
        " s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage"
        " <> 'resolution' AND s.purpose = 'approve-transfer' AND s.digest = NEW.digest OR NEW.stage = "
        "'resolution' AND s.purpose = 'resolve-transfer')) BEGIN SELECT RAISE(ABORT, 'a word counts only with"
        " a second factor of this person, given for it'); END"
    ),
    "exchange_ops_transfer_quorum": (
        "CREATE TRIGGER exchange_ops_transfer_quorum BEFORE UPDATE ON exchange_ops_transfer WHEN NEW.state = "
        "'sending' AND NEW.kind = 'to_user' AND (SELECT COUNT(DISTINCT a.person_id) FROM "
        "exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = "
        "a.person_id AND s.digest = a.digest AND s.purpose = 'approve-transfer' WHERE a.transfer_id = NEW.id "
        "AND a.digest = NEW.digest AND a.stage = 'review' AND a.verdict = 'approve') < NEW.quorum_required "
        "BEGIN SELECT RAISE(ABORT, 'money leaves for others only with every approval of exactly this "
        "content'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_approval_second_factor": (
        "CREATE FUNCTION exchange_ops_approval_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = "
        "NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution'"
        " AND s.purpose = 'approve-withdrawal' AND s.digest = NEW.digest OR NEW.stage = 'resolution' AND "
        "s.purpose = 'resolve-withdrawal')) THEN RAISE EXCEPTION 'a word counts only with a second factor of "
        "this person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END"
        " $body$; CREATE TRIGGER exchange_ops_approval_second_factor BEFORE INSERT ON exchange_ops_approval "
        "FOR EACH ROW EXECUTE FUNCTION exchange_ops_approval_second_factor()"
    ),
    "exchange_ops_thawvote_second_factor": (
        "CREATE FUNCTION exchange_ops_thawvote_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = "
        "NEW.person_id AND s.at = NEW.at AND s.purpose = 'thaw-freeze') THEN RAISE EXCEPTION 'a word counts "
        "only with a second factor of this person, given for it' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_thawvote_second_factor BEFORE INSERT ON exchange_ops_thawvote FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_thawvote_second_factor()"
    ),
    "exchange_ops_transferapproval_second_factor": (
        "CREATE FUNCTION exchange_ops_transferapproval_second_factor() RETURNS trigger LANGUAGE plpgsql AS "
        "$body$ BEGIN IF NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = "
        "NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution'"
        " AND s.purpose = 'approve-transfer' AND s.digest = NEW.digest OR NEW.stage = 'resolution' AND "
        "s.purpose = 'resolve-transfer')) THEN RAISE EXCEPTION 'a word counts only with a second factor of "
        "this person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END"
        " $body$; CREATE TRIGGER exchange_ops_transferapproval_second_factor BEFORE INSERT ON "
        "exchange_ops_transferapproval FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_transferapproval_second_factor()"
    ),
    "exchange_ops_transfer_quorum": (
        "CREATE FUNCTION exchange_ops_transfer_quorum() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state = 'sending' AND NEW.kind = 'to_user' AND (SELECT COUNT(DISTINCT a.person_id) FROM "
        "exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = "
        "a.person_id AND s.digest = a.digest AND s.purpose = 'approve-transfer' WHERE a.transfer_id = NEW.id "
        "AND a.digest = NEW.digest AND a.stage = 'review' AND a.verdict = 'approve') < NEW.quorum_required "
        "THEN RAISE EXCEPTION 'money leaves for others only with every approval of exactly this content' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transfer_quorum BEFORE UPDATE ON exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_transfer_quorum()"
    ),
}


def renew_triggers(apps, schema_editor):
    """Those of older migrations are made of what is declared now, so some of these may be there already."""
    connection = schema_editor.connection
    is_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        for name, statement in (SQLITE if is_sqlite else POSTGRESQL).items():
            if is_sqlite:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {TABLES[name]}; DROP FUNCTION IF EXISTS {name}()")
            cursor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0015_payout_proofs"), ("desk", "0003_row_witnesses")]

    operations = [
        # With a condition, so that SQLite makes an index and leaves the table, and its triggers, alone.
        migrations.AddConstraint(
            "approval",
            models.UniqueConstraint(
                condition=models.Q(("confirmation__isnull", False)),
                fields=("confirmation",),
                name="approval_one_per_second_factor",
            ),
        ),
        migrations.AddConstraint(
            "transferapproval",
            models.UniqueConstraint(
                condition=models.Q(("confirmation__isnull", False)),
                fields=("confirmation",),
                name="transferapproval_one_per_second_factor",
            ),
        ),
        migrations.AddConstraint(
            "thawvote",
            models.UniqueConstraint(
                condition=models.Q(("confirmation__isnull", False)),
                fields=("confirmation",),
                name="thawvote_one_per_second_factor",
            ),
        ),
        migrations.RunPython(renew_triggers, migrations.RunPython.noop),
    ]
