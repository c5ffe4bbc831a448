"""Every operation of the desk's interface. Written by `manage.py client_package`: don't edit it."""

from collections.abc import Iterator

from countersign_client import shapes
from countersign_client.transport import Transport


class Operations(Transport):
    """One method for each operation, by its name in the description; what is refused raises a `Problem`."""

    def balances_list(
        self,
    ) -> shapes.BalanceList:
        """The account's balances in both wallets, each with the time of its last sync."""
        answer: shapes.BalanceList = self.ask("GET", "/api/v1/balances/")
        return answer

    def brackets_list(
        self,
        *,
        before: int | None = None,
        outcome: str | None = None,
        range: str | None = None,
        since: str | None = None,
        symbol: str | None = None,
        until: str | None = None,
        view: str | None = None,
        zone: str | None = None,
    ) -> shapes.BracketPage:
        """Brackets on the account, fifty per page, newest first."""
        query = {
            "before": before,
            "outcome": outcome,
            "range": range,
            "since": since,
            "symbol": symbol,
            "until": until,
            "view": view,
            "zone": zone,
        }
        answer: shapes.BracketPage = self.ask("GET", "/api/v1/brackets/", query=query)
        return answer

    def brackets_all(
        self,
        *,
        before: int | None = None,
        outcome: str | None = None,
        range: str | None = None,
        since: str | None = None,
        symbol: str | None = None,
        until: str | None = None,
        view: str | None = None,
        zone: str | None = None,
    ) -> Iterator[shapes.BracketOut]:
        """Every row of `brackets_list`, page after page as they are needed."""
        page = self.brackets_list(
            before=before,
            outcome=outcome,
            range=range,
            since=since,
            symbol=symbol,
            until=until,
            view=view,
            zone=zone,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def brackets_read(
        self,
        bracket_id: int,
    ) -> shapes.BracketOut:
        """One bracket, with its orders as last synced."""
        answer: shapes.BracketOut = self.ask("GET", f"/api/v1/brackets/{self.part(bracket_id)}/")
        return answer

    def brackets_end(
        self,
        bracket_id: int,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.BracketOut:
        """End a bracket: open entry and stop orders are cancelled. The filled position stays open without a stop."""
        answer: shapes.BracketOut = self.ask(
            "POST", f"/api/v1/brackets/{self.part(bracket_id)}/end/", idempotency_key=idempotency_key
        )
        return answer

    def chain_address(
        self,
        text: str,
    ) -> shapes.ChainAddressOut:
        """One address, in any format; retry in a few seconds while `balance` is null."""
        answer: shapes.ChainAddressOut = self.ask("GET", f"/api/v1/chain/addresses/{self.part(text)}/")
        return answer

    def chain_block(
        self,
        named: str,
    ) -> shapes.ChainBlockOut:
        """One block by hash or height; retry in a few seconds while `block` is null."""
        answer: shapes.ChainBlockOut = self.ask("GET", f"/api/v1/chain/blocks/{self.part(named)}/")
        return answer

    def chain_tip(
        self,
    ) -> shapes.ChainTipOut:
        """The latest block, as last received by the desk."""
        answer: shapes.ChainTipOut = self.ask("GET", "/api/v1/chain/tip/")
        return answer

    def chain_transaction(
        self,
        txid: str,
    ) -> shapes.ChainTransactionOut:
        """One transaction by ID; retry in a few seconds while `transaction` is null."""
        answer: shapes.ChainTransactionOut = self.ask("GET", f"/api/v1/chain/transactions/{self.part(txid)}/")
        return answer

    def chain_watched_list(
        self,
        *,
        before: int | None = None,
    ) -> shapes.WatchedAddressPage:
        """Watched and formerly watched addresses, 50 per page, newest first."""
        query = {
            "before": before,
        }
        answer: shapes.WatchedAddressPage = self.ask("GET", "/api/v1/chain/watched/", query=query)
        return answer

    def chain_watched_all(
        self,
        *,
        before: int | None = None,
    ) -> Iterator[shapes.WatchedAddressOut]:
        """Every row of `chain_watched_list`, page after page as they are needed."""
        page = self.chain_watched_list(
            before=before,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def chain_watched_create(
        self,
        body: shapes.WatchIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.WatchedAddressOut:
        """Start watching an address. Requires treasury or an administrator with access to all accounts."""
        answer: shapes.WatchedAddressOut = self.ask(
            "POST", "/api/v1/chain/watched/", body=body, idempotency_key=idempotency_key
        )
        return answer

    def chain_watched_read(
        self,
        watched_id: int,
    ) -> shapes.WatchedAddressOut:
        """One watched address, in its current state."""
        answer: shapes.WatchedAddressOut = self.ask("GET", f"/api/v1/chain/watched/{self.part(watched_id)}/")
        return answer

    def chain_movements_list(
        self,
        watched_id: int,
        *,
        before: int | None = None,
    ) -> shapes.ChainMovementPage:
        """Movements on a watched address since watching began, 50 per page, newest first."""
        query = {
            "before": before,
        }
        answer: shapes.ChainMovementPage = self.ask(
            "GET", f"/api/v1/chain/watched/{self.part(watched_id)}/movements/", query=query
        )
        return answer

    def chain_movements_all(
        self,
        watched_id: int,
        *,
        before: int | None = None,
    ) -> Iterator[shapes.ChainMovementOut]:
        """Every row of `chain_movements_list`, page after page as they are needed."""
        page = self.chain_movements_list(
            watched_id,
            before=before,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def chain_movements_review(
        self,
        watched_id: int,
        body: shapes.MovementReviewIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.MovementsReviewedOut:
        """Mark one movement, or all incoming ones, as reviewed. Requires an operator, treasury or an administrator."""
        answer: shapes.MovementsReviewedOut = self.ask(
            "POST", f"/api/v1/chain/watched/{self.part(watched_id)}/review/", body=body, idempotency_key=idempotency_key
        )
        return answer

    def chain_watched_stop(
        self,
        watched_id: int,
        body: shapes.WatchStopIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.WatchedAddressOut:
        """Stop watching an address. Its movements are kept; unreviewed ones still need review."""
        answer: shapes.WatchedAddressOut = self.ask(
            "POST", f"/api/v1/chain/watched/{self.part(watched_id)}/stop/", body=body, idempotency_key=idempotency_key
        )
        return answer

    def currencies_list(
        self,
    ) -> shapes.CurrencyList:
        """Every currency of the exchange, and whether it can be paid out now."""
        answer: shapes.CurrencyList = self.ask("GET", "/api/v1/currencies/")
        return answer

    def deposit_addresses_list(
        self,
        *,
        currency: str,
    ) -> shapes.DepositAddressList:
        """The deposit addresses of one currency as they were last read, the newest first."""
        query = {
            "currency": currency,
        }
        answer: shapes.DepositAddressList = self.ask("GET", "/api/v1/deposit-addresses/", query=query)
        return answer

    def deposit_addresses_create(
        self,
        body: shapes.AddressIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.AddressRequestOut:
        """Request a new deposit address (at most five per currency in 24 hours). It is sent to the exchange only
        once.
        """
        answer: shapes.AddressRequestOut = self.ask(
            "POST", "/api/v1/deposit-addresses/", body=body, idempotency_key=idempotency_key
        )
        return answer

    def funds_list(
        self,
    ) -> shapes.FundsList:
        """Bank and trading account balances, with their value."""
        answer: shapes.FundsList = self.ask("GET", "/api/v1/funds/")
        return answer

    def keys_list(
        self,
    ) -> shapes.KeyList:
        """The API keys of the exchange accounts, disabled ones last."""
        answer: shapes.KeyList = self.ask("GET", "/api/v1/keys/")
        return answer

    def keys_read(
        self,
        key_id: int,
    ) -> shapes.KeyOut:
        """One key, in its current state."""
        answer: shapes.KeyOut = self.ask("GET", f"/api/v1/keys/{self.part(key_id)}/")
        return answer

    def ledger_list(
        self,
        *,
        before: int | None = None,
        currency: str | None = None,
        movement: str | None = None,
        origin: str | None = None,
        range: str | None = None,
        since: str | None = None,
        status: str | None = None,
        text: str | None = None,
        type: str | None = None,
        until: str | None = None,
        zone: str | None = None,
    ) -> shapes.LedgerEntryPage:
        """The exchange's ledger as last synced, 50 entries per page, most recently changed first."""
        query = {
            "before": before,
            "currency": currency,
            "movement": movement,
            "origin": origin,
            "range": range,
            "since": since,
            "status": status,
            "text": text,
            "type": type,
            "until": until,
            "zone": zone,
        }
        answer: shapes.LedgerEntryPage = self.ask("GET", "/api/v1/ledger/", query=query)
        return answer

    def ledger_all(
        self,
        *,
        before: int | None = None,
        currency: str | None = None,
        movement: str | None = None,
        origin: str | None = None,
        range: str | None = None,
        since: str | None = None,
        status: str | None = None,
        text: str | None = None,
        type: str | None = None,
        until: str | None = None,
        zone: str | None = None,
    ) -> Iterator[shapes.LedgerEntryOut]:
        """Every row of `ledger_list`, page after page as they are needed."""
        page = self.ledger_list(
            before=before,
            currency=currency,
            movement=movement,
            origin=origin,
            range=range,
            since=since,
            status=status,
            text=text,
            type=type,
            until=until,
            zone=zone,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def margin_list(
        self,
    ) -> shapes.MarginList:
        """All isolated margin accounts, with their positions, as last synced."""
        answer: shapes.MarginList = self.ask("GET", "/api/v1/margin/")
        return answer

    def margin_actions_list(
        self,
        *,
        before: int | None = None,
    ) -> shapes.MarginActionPage:
        """Margin actions, fifty per page, newest first."""
        query = {
            "before": before,
        }
        answer: shapes.MarginActionPage = self.ask("GET", "/api/v1/margin/actions/", query=query)
        return answer

    def margin_actions_all(
        self,
        *,
        before: int | None = None,
    ) -> Iterator[shapes.MarginActionOut]:
        """Every row of `margin_actions_list`, page after page as they are needed."""
        page = self.margin_actions_list(
            before=before,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def margin_actions_create(
        self,
        body: shapes.MarginActionIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.MarginActionOut:
        """Open or change a margin account, or close a position. The request is sent once; `state` shows the outcome."""
        answer: shapes.MarginActionOut = self.ask(
            "POST", "/api/v1/margin/actions/", body=body, idempotency_key=idempotency_key
        )
        return answer

    def margin_actions_read(
        self,
        margin_action_id: int,
    ) -> shapes.MarginActionOut:
        """One margin action, with its current status."""
        answer: shapes.MarginActionOut = self.ask("GET", f"/api/v1/margin/actions/{self.part(margin_action_id)}/")
        return answer

    def markets_list(
        self,
    ) -> shapes.TickerList:
        """All symbols, sorted by code."""
        answer: shapes.TickerList = self.ask("GET", "/api/v1/markets/")
        return answer

    def markets_read(
        self,
        symbol: str,
    ) -> shapes.MarketOut:
        """One symbol, with its trading rules and price."""
        answer: shapes.MarketOut = self.ask("GET", f"/api/v1/markets/{self.part(symbol)}/")
        return answer

    def markets_book(
        self,
        symbol: str,
    ) -> shapes.BookOut:
        """The order book, best levels first; retry in a few seconds while `read_at` is null."""
        answer: shapes.BookOut = self.ask("GET", f"/api/v1/markets/{self.part(symbol)}/book/")
        return answer

    def markets_candles(
        self,
        symbol: str,
        *,
        before: str | None = None,
        limit: int | None = None,
        period: str | None = None,
    ) -> shapes.CandleList:
        """Candles for one period, newest first; retry in a few seconds while `read_at` is null."""
        query = {
            "before": before,
            "limit": limit,
            "period": period,
        }
        answer: shapes.CandleList = self.ask("GET", f"/api/v1/markets/{self.part(symbol)}/candles/", query=query)
        return answer

    def markets_trades(
        self,
        symbol: str,
        *,
        before: int | None = None,
        limit: int | None = None,
    ) -> shapes.PublicTradeList:
        """Public trades in one symbol, newest first; retry in a few seconds while `read_at` is null."""
        query = {
            "before": before,
            "limit": limit,
        }
        answer: shapes.PublicTradeList = self.ask("GET", f"/api/v1/markets/{self.part(symbol)}/trades/", query=query)
        return answer

    def orders_list(
        self,
        *,
        before: int | None = None,
        origin: str | None = None,
        range: str | None = None,
        side: str | None = None,
        since: str | None = None,
        status: str | None = None,
        symbol: str | None = None,
        text: str | None = None,
        type: str | None = None,
        until: str | None = None,
        view: str | None = None,
        zone: str | None = None,
    ) -> shapes.OrderPage:
        """Orders on the account, fifty per page, newest first."""
        query = {
            "before": before,
            "origin": origin,
            "range": range,
            "side": side,
            "since": since,
            "status": status,
            "symbol": symbol,
            "text": text,
            "type": type,
            "until": until,
            "view": view,
            "zone": zone,
        }
        answer: shapes.OrderPage = self.ask("GET", "/api/v1/orders/", query=query)
        return answer

    def orders_all(
        self,
        *,
        before: int | None = None,
        origin: str | None = None,
        range: str | None = None,
        side: str | None = None,
        since: str | None = None,
        status: str | None = None,
        symbol: str | None = None,
        text: str | None = None,
        type: str | None = None,
        until: str | None = None,
        view: str | None = None,
        zone: str | None = None,
    ) -> Iterator[shapes.OrderOut]:
        """Every row of `orders_list`, page after page as they are needed."""
        page = self.orders_list(
            before=before,
            origin=origin,
            range=range,
            side=side,
            since=since,
            status=status,
            symbol=symbol,
            text=text,
            type=type,
            until=until,
            view=view,
            zone=zone,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def orders_place(
        self,
        body: shapes.OrderIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.OrderOut:
        """Place an order. It is recorded, then sent once; `state` shows the outcome."""
        answer: shapes.OrderOut = self.ask("POST", "/api/v1/orders/", body=body, idempotency_key=idempotency_key)
        return answer

    def orders_read(
        self,
        order_id: int,
    ) -> shapes.OrderOut:
        """One order, with its status as last synced."""
        answer: shapes.OrderOut = self.ask("GET", f"/api/v1/orders/{self.part(order_id)}/")
        return answer

    def orders_cancel(
        self,
        order_id: int,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.OrderOut:
        """Cancel the unfilled part of an order; it can still fill until the exchange confirms."""
        answer: shapes.OrderOut = self.ask(
            "POST", f"/api/v1/orders/{self.part(order_id)}/cancel/", idempotency_key=idempotency_key
        )
        return answer

    def orders_withdraw(
        self,
        order_id: int,
        body: shapes.OrderWithdrawIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.OrderOut:
        """Withdraw an order awaiting approval. Only its requester can; the API cannot approve or reject it."""
        answer: shapes.OrderOut = self.ask(
            "POST", f"/api/v1/orders/{self.part(order_id)}/withdraw/", body=body, idempotency_key=idempotency_key
        )
        return answer

    def subaccounts_list(
        self,
    ) -> shapes.SubAccountList:
        """The sub-accounts of the account as they were last read; `observed_at` says when."""
        answer: shapes.SubAccountList = self.ask("GET", "/api/v1/subaccounts/")
        return answer

    def subaccounts_read(
        self,
        exchange_id: int,
    ) -> shapes.OneSubAccountOut:
        """One sub-account as it was last read, with its balances."""
        answer: shapes.OneSubAccountOut = self.ask("GET", f"/api/v1/subaccounts/{self.part(exchange_id)}/")
        return answer

    def subaccounts_actions_list(
        self,
        exchange_id: int,
        *,
        before: int | None = None,
    ) -> shapes.SubAccountActionPage:
        """What was asked for one sub-account, fifty a page, newest first."""
        query = {
            "before": before,
        }
        answer: shapes.SubAccountActionPage = self.ask(
            "GET", f"/api/v1/subaccounts/{self.part(exchange_id)}/actions/", query=query
        )
        return answer

    def subaccounts_actions_all(
        self,
        exchange_id: int,
        *,
        before: int | None = None,
    ) -> Iterator[shapes.SubAccountActionOut]:
        """Every row of `subaccounts_actions_list`, page after page as they are needed."""
        page = self.subaccounts_actions_list(
            exchange_id,
            before=before,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def trades_list(
        self,
        *,
        before: int | None = None,
        currency: str | None = None,
        fee_currency: str | None = None,
        order: int | None = None,
        range: str | None = None,
        side: str | None = None,
        since: str | None = None,
        symbol: str | None = None,
        until: str | None = None,
        wallet: str | None = None,
        zone: str | None = None,
    ) -> shapes.TradePage:
        """Trades on the account, fifty per page, newest first."""
        query = {
            "before": before,
            "currency": currency,
            "fee_currency": fee_currency,
            "order": order,
            "range": range,
            "side": side,
            "since": since,
            "symbol": symbol,
            "until": until,
            "wallet": wallet,
            "zone": zone,
        }
        answer: shapes.TradePage = self.ask("GET", "/api/v1/trades/", query=query)
        return answer

    def trades_all(
        self,
        *,
        before: int | None = None,
        currency: str | None = None,
        fee_currency: str | None = None,
        order: int | None = None,
        range: str | None = None,
        side: str | None = None,
        since: str | None = None,
        symbol: str | None = None,
        until: str | None = None,
        wallet: str | None = None,
        zone: str | None = None,
    ) -> Iterator[shapes.TradeOut]:
        """Every row of `trades_list`, page after page as they are needed."""
        page = self.trades_list(
            before=before,
            currency=currency,
            fee_currency=fee_currency,
            order=order,
            range=range,
            side=side,
            since=since,
            symbol=symbol,
            until=until,
            wallet=wallet,
            zone=zone,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def transfers_list(
        self,
        *,
        before: int | None = None,
        currency: str | None = None,
        initiator: str | None = None,
        kind: str | None = None,
        range: str | None = None,
        since: str | None = None,
        state: str | None = None,
        text: str | None = None,
        until: str | None = None,
        zone: str | None = None,
    ) -> shapes.TransferPage:
        """The transfers inside the exchange, fifty a page, newest first."""
        query = {
            "before": before,
            "currency": currency,
            "initiator": initiator,
            "kind": kind,
            "range": range,
            "since": since,
            "state": state,
            "text": text,
            "until": until,
            "zone": zone,
        }
        answer: shapes.TransferPage = self.ask("GET", "/api/v1/transfers/", query=query)
        return answer

    def transfers_all(
        self,
        *,
        before: int | None = None,
        currency: str | None = None,
        initiator: str | None = None,
        kind: str | None = None,
        range: str | None = None,
        since: str | None = None,
        state: str | None = None,
        text: str | None = None,
        until: str | None = None,
        zone: str | None = None,
    ) -> Iterator[shapes.TransferOut]:
        """Every row of `transfers_list`, page after page as they are needed."""
        page = self.transfers_list(
            before=before,
            currency=currency,
            initiator=initiator,
            kind=kind,
            range=range,
            since=since,
            state=state,
            text=text,
            until=until,
            zone=zone,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def transfers_create(
        self,
        body: shapes.TransferIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.TransferOut:
        """Request a transfer. It is sent automatically, after approval where required."""
        answer: shapes.TransferOut = self.ask("POST", "/api/v1/transfers/", body=body, idempotency_key=idempotency_key)
        return answer

    def transfers_read(
        self,
        transfer_id: int,
    ) -> shapes.TransferOut:
        """One transfer as it stands now."""
        answer: shapes.TransferOut = self.ask("GET", f"/api/v1/transfers/{self.part(transfer_id)}/")
        return answer

    def transfers_cancel(
        self,
        transfer_id: int,
        body: shapes.CancelIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.TransferOut:
        """Call a transfer off. Only before the exchange was asked, and only by the one who asked for it."""
        answer: shapes.TransferOut = self.ask(
            "POST", f"/api/v1/transfers/{self.part(transfer_id)}/cancel/", body=body, idempotency_key=idempotency_key
        )
        return answer

    def withdrawals_list(
        self,
        *,
        batch: str | None = None,
        before: int | None = None,
        currency: str | None = None,
        initiator: str | None = None,
        range: str | None = None,
        since: str | None = None,
        state: str | None = None,
        text: str | None = None,
        turn: str | None = None,
        until: str | None = None,
        zone: str | None = None,
    ) -> shapes.WithdrawalPage:
        """The requests for payouts, fifty a page, newest first."""
        query = {
            "batch": batch,
            "before": before,
            "currency": currency,
            "initiator": initiator,
            "range": range,
            "since": since,
            "state": state,
            "text": text,
            "turn": turn,
            "until": until,
            "zone": zone,
        }
        answer: shapes.WithdrawalPage = self.ask("GET", "/api/v1/withdrawals/", query=query)
        return answer

    def withdrawals_all(
        self,
        *,
        batch: str | None = None,
        before: int | None = None,
        currency: str | None = None,
        initiator: str | None = None,
        range: str | None = None,
        since: str | None = None,
        state: str | None = None,
        text: str | None = None,
        turn: str | None = None,
        until: str | None = None,
        zone: str | None = None,
    ) -> Iterator[shapes.WithdrawalOut]:
        """Every row of `withdrawals_list`, page after page as they are needed."""
        page = self.withdrawals_list(
            batch=batch,
            before=before,
            currency=currency,
            initiator=initiator,
            range=range,
            since=since,
            state=state,
            text=text,
            turn=turn,
            until=until,
            zone=zone,
        )
        while True:
            yield from page["items"]
            if (older := page["older"]) is None:
                return
            page = self.ask("GET", older)

    def withdrawals_create(
        self,
        body: shapes.WithdrawalIn,
        *,
        idempotency_key: str | None = None,
    ) -> shapes.WithdrawalOut:
        """Request a payout. Nothing is sent yet: the request is checked, then treasury decides."""
        answer: shapes.WithdrawalOut = self.ask(
            "POST", "/api/v1/withdrawals/", body=body, idempotency_key=idempotency_key
        )
        return answer

    def withdrawals_read(
        self,
        withdrawal_id: int,
    ) -> shapes.WithdrawalOut:
        """One request as it stands now."""
        answer: shapes.WithdrawalOut = self.ask("GET", f"/api/v1/withdrawals/{self.part(withdrawal_id)}/")
        return answer
