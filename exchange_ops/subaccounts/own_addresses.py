"""Deposit addresses of sub-accounts, so that a payout to one of them is recognised."""

from collections.abc import Collection

from exchange_ops.subaccounts.models import SubAccountAddress


def owners(addresses: Collection[str]) -> dict[str, tuple[int, str]]:
    """Of the addresses those of our sub-accounts: the account above it, and words for the sub-account."""
    rows = SubAccountAddress.objects.filter(address__in=addresses).exclude(address="").select_related("sub_account")
    return {
        row.address: (row.sub_account.account_id, f"deposit address of sub-account {row.sub_account}") for row in rows
    }
