"""What the interface for programs says of the approvals that groups have to give."""

from collections.abc import Iterable, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Tally


class GroupNeedOut(serializers.Serializer[Any]):
    """How many of the approvals have to come from one approval group."""

    group = serializers.CharField(read_only=True)
    approvals = serializers.IntegerField(read_only=True)


class GroupNeedsOut(serializers.Serializer[Any]):
    """Members of a request: which groups have to approve it, and what is missing. A subclass gives `tallies`."""

    group_needs = serializers.SerializerMethodField(help_text="The approvals that must come from approval groups.")
    missing_approvals = serializers.SerializerMethodField(
        help_text="What an undecided request still needs from approval groups, such as “1 of Board”; empty otherwise."
    )

    def tallies(self, rows: Iterable[Any]) -> Mapping[int, Tally]:
        """How far the approvals are of those of these requests that are undecided and need groups, by number."""
        raise NotImplementedError

    @extend_schema_field(GroupNeedOut(many=True))
    def get_group_needs(self, row: Any) -> list[dict[str, Any]]:
        """Name and number of each group."""
        needs = group_needs.from_json(row.group_needs)
        return [{"group": need.group, "approvals": need.approvals} for need in needs]

    def get_missing_approvals(self, row: Any) -> str:
        """What is missing in words, counted once for all rows of a list."""
        if not row.group_needs:
            return ""
        if "_tallies" not in self.__dict__:
            many = self.parent.instance if isinstance(self.parent, serializers.ListSerializer) else None
            self._tallies = self.tallies([row] if many is None else many)
        tally = self._tallies.get(row.pk)
        return tally.missing if tally else ""
