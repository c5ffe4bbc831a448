"""The other side of a stream's session as a test wants it: scripted frames, no socket and no clock."""

import json

from exchange_ops.wire.conversation import Ended, Phase


class Script:
    """Plays the exchange: keeps what was asked and says what the test wants, at the test's moment."""

    def __init__(self, session):
        self.now_ms = 1_000
        self.session = session
        self.happened = []
        self.waiting = []

    def open(self):
        self.session.opened(self.now_ms)
        return self.requests()

    def requests(self):
        """The requests sent since the last look, as (method, params, id)."""
        self.happened += self.session.events()
        new = [(frame["method"], frame["params"], frame["id"]) for frame in map(json.loads, self.session.outgoing())]
        self.waiting += new
        return new

    def say(self, frame):
        self.session.received(frame if isinstance(frame, str | bytes) else json.dumps(frame), self.now_ms)
        return self.requests()

    def answer(self, requests, result):
        self.waiting.remove(requests)
        return self.say({"jsonrpc": "2.0", "result": result, "id": requests[2]})

    def refuse(self, requests, code, message, description=""):
        self.waiting.remove(requests)
        error = {"code": code, "message": message, "description": description}
        return self.say({"jsonrpc": "2.0", "error": error, "id": requests[2]})

    def confirm_all(self):
        """Answer everything that waits with true, whatever that leads to included; the methods in their order."""
        methods = []
        while self.waiting:
            methods.append(self.waiting[0][0])
            self.answer(self.waiting[0], True)
        return methods

    def notify(self, method, params):
        return self.say({"jsonrpc": "2.0", "method": method, "params": params})

    def wait(self, ms):
        self.now_ms += ms
        self.session.tick(self.now_ms)
        return self.requests()

    def of(self, kind):
        return [event for event in self.happened if isinstance(event, kind)]

    @property
    def end(self):
        assert self.session.phase is Phase.ENDED
        return next(event for event in self.happened if isinstance(event, Ended))
