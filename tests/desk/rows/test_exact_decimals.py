"""Amounts come back as they went in, on both engines."""

from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, models, transaction
from django.test.utils import isolate_apps

from desk import fields

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("SQL of our own")]

AMOUNTS = [
    "12345678901234567890.123456789012345678",
    "0.123456789012345678",
    "9",
    "10",
    "100.5",
    "0.1",
    "0.2",
    "0.000000000000000000000001",
    "999999999999999999999999999999999999.999999999999999999999999",
]


@pytest.fixture
def purse() -> Any:
    """A throw-away table with one amount, named and nullable."""
    # No app is named: one that is would be made ready once more, and its room be declared twice.
    with isolate_apps():

        class Purse(models.Model):  # noqa: DJ008
            label = models.CharField(max_length=20)
            amount = fields.ExactDecimalField(null=True, db_index=True)

            class Meta:
                app_label = "desk"
                db_table = "test_purse"
                constraints = [
                    models.CheckConstraint(condition=models.Q(amount__gte=0), name="purse_not_negative"),
                    models.UniqueConstraint(fields=["label", "amount"], name="purse_once"),
                ]

    with connection.schema_editor() as editor:
        editor.create_model(Purse)
    yield Purse
    with connection.schema_editor() as editor:
        editor.delete_model(Purse)


def _fill(purse: Any) -> None:
    for text in AMOUNTS:
        purse.objects.create(label=text[:12], amount=Decimal(text))


def test_every_digit_comes_back(purse: Any) -> None:
    _fill(purse)
    read = list(purse.objects.order_by("pk").values_list("amount", flat=True))
    assert [format(amount, "f") for amount in read] == AMOUNTS


def test_trailing_zeros_and_exponents_read_alike_on_both_engines(purse: Any) -> None:
    purse.objects.create(label="zeros", amount=Decimal("1.500"))
    purse.objects.create(label="exponent", amount=Decimal("1E+3"))
    purse.objects.create(label="nothing", amount=Decimal("0.000"))
    texts = [str(amount) for amount in purse.objects.order_by("pk").values_list("amount", flat=True)]
    assert texts == ["1.5", "1000", "0"]


def test_order_and_comparison_are_numeric(purse: Any) -> None:
    _fill(purse)
    read = list(purse.objects.order_by("amount").values_list("amount", flat=True))
    assert read == sorted(Decimal(text) for text in AMOUNTS)
    assert purse.objects.filter(amount__gt=Decimal("9.5"), amount__lt=Decimal("100.5")).get().amount == 10
    assert purse.objects.filter(amount=Decimal("9.00")).count() == 1
    assert purse.objects.filter(amount__range=(Decimal(9), Decimal(10))).count() == 2
    assert purse.objects.filter(amount__in=[Decimal("9.0"), Decimal("100.50")]).count() == 2
    assert purse.objects.aggregate(most=models.Max("amount"), least=models.Min("amount")) == {
        "most": Decimal(AMOUNTS[-1]),
        "least": Decimal("1E-24"),
    }


def test_sums_are_exact_and_may_outgrow_the_column(purse: Any) -> None:
    _fill(purse)
    purse.objects.create(label="none", amount=None)
    total = purse.objects.aggregate(total=fields.ExactSum("amount"))["total"]
    assert total == sum((Decimal(text) for text in AMOUNTS), Decimal(0))
    assert purse.objects.filter(label="nobody").aggregate(total=fields.ExactSum("amount"))["total"] is None
    grouped = purse.objects.filter(amount__lt=1).values("label").annotate(total=fields.ExactSum("amount"))
    assert {row["label"]: row["total"] for row in grouped}["0.1"] == Decimal("0.1")


def test_updates_and_bulk_writes_keep_every_digit(purse: Any) -> None:
    rows = purse.objects.bulk_create(
        [purse(label=str(number), amount=Decimal(f"{number}.000000000000000009")) for number in range(3)]
    )
    purse.objects.filter(label="0").update(amount=Decimal("3.000000000000000007"))
    rows[1].amount = Decimal("1.000000000000000000000002")
    purse.objects.bulk_update([rows[1]], ["amount"])
    read = dict(purse.objects.values_list("label", "amount"))
    assert read == {
        "0": Decimal("3.000000000000000007"),
        "1": Decimal("1.000000000000000000000002"),
        "2": Decimal("2.000000000000000009"),
    }


def test_constraints_compare_numbers_not_texts(purse: Any) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        purse.objects.create(label="owed", amount=Decimal("-0.000001"))
    purse.objects.create(label="same", amount=Decimal("2"))
    with pytest.raises(IntegrityError), transaction.atomic():
        purse.objects.create(label="same", amount=Decimal("2.000"))
    assert purse.objects.count() == 1


@pytest.mark.parametrize(
    "amount",
    [
        Decimal("0.0000000000000000000000001"),
        Decimal("1000000000000000000000000000000000000"),
        Decimal("1E+40"),
    ],
)
def test_what_would_be_rounded_is_refused(purse: Any, amount: Decimal) -> None:
    with pytest.raises(ValueError, match="would be rounded"):
        purse.objects.create(label="odd", amount=amount)
    row = purse.objects.create(label="fine", amount=1)
    with pytest.raises(ValueError, match="would be rounded"):
        purse.objects.filter(pk=row.pk).update(amount=amount)
    assert purse.objects.get().amount == 1


@pytest.mark.parametrize("amount", [0.1, float("nan"), Decimal("NaN"), Decimal("Infinity"), "NaN", "twelve", True, []])
def test_what_is_no_exact_number_is_refused(purse: Any, amount: object) -> None:
    with pytest.raises((ValidationError, TypeError, ValueError)):
        purse.objects.create(label="odd", amount=amount)
    assert not purse.objects.exists()


def test_sums_in_python_have_enough_digits() -> None:
    assert Decimal(AMOUNTS[0]) * 10**9 + Decimal(AMOUNTS[7]) == Decimal(
        "12345678901234567890123456789.012345678000000000000001"
    )
