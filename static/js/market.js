// The page of one market: its order book, its trades and its candles are drawn from ticks, and the ticket stands beside them.
import "./ladder.js";
import "./trades.js";
import "./candles.js";
import "./beside.js";
import "./symbol_switch.js";
