"""Addresses of the pages about the chain."""

from django.urls import path

from chaindata import converters  # noqa: F401  # kinds of parts of addresses are registered there
from chaindata.broadcasts import views as broadcasts
from chaindata.cash_accounts import views
from chaindata.explorer.views import address, block, home, transaction
from chaindata.tokens import views as tokens
from chaindata.tools import views as tools
from chaindata.watching import views as watching

urlpatterns = [
    path("chain/", home.home, name="chain"),
    path("chain/block/<block:named>/", block.block, name="chain-block"),
    path("chain/tx/<hash:txid>/", transaction.transaction, name="chain-transaction"),
    path("chain/address/<coin_address:text>/", address.address, name="chain-address"),
    path("chain/tokens/", tokens.token_list, name="chain-tokens"),
    path("chain/tokens/<slug:token_id>/", tokens.token, name="chain-token"),
    path("chain/watched/", watching.watched_list, name="chain-watched"),
    path("chain/watched/new/", watching.new, name="chain-watched-new"),
    path("chain/watched/<int:watched_id>/", watching.watched, name="chain-watched-address"),
    path("chain/watched/<int:watched_id>/review/", watching.review, name="chain-watched-review"),
    path("chain/watched/<int:watched_id>/stop/", watching.stop, name="chain-watched-stop"),
    path("chain/cash-accounts/", views.cash_accounts, name="chain-accounts"),
    path("chain/tools/", tools.address, name="chain-tools"),
    path("chain/tools/transaction/", broadcasts.transaction, name="chain-tools-transaction"),
    path("chain/tools/script/", tools.script, name="chain-tools-script"),
    path("chain/tools/proof/", tools.proof, name="chain-tools-proof"),
    path("chain/tools/payload/", tools.payload, name="chain-tools-payload"),
    path("chain/tools/simple-ledger/", tools.ledger, name="chain-tools-ledger"),
    path("chain/tools/broadcasts/", broadcasts.broadcast_list, name="chain-broadcasts"),
    path("chain/tools/broadcasts/new/", broadcasts.new, name="chain-broadcast-new"),
    path("chain/tools/broadcasts/<int:broadcast_id>/", broadcasts.broadcast, name="chain-broadcast"),
]
