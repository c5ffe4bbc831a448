"""The first row entry of a desk that was there before its rows were witnessed."""

from desk.audit import witness_chain
from desk.models import StepUp
from desk.rows import witnessed


def begin() -> None:
    """Witness every row that is there, and say up to which confirmation none has a code of its own."""
    oldest = StepUp.objects.order_by("-pk").values_list("pk", flat=True).first()
    if oldest is not None:
        witness_chain.append({"begun": {"confirmations": oldest}}, rules=False)
    for table in witnessed.tables():
        witnessed.note(table.model, table.model._base_manager.values_list("pk", flat=True))
