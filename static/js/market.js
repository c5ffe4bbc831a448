// The page of one market: its order book, its trades and its candles are drawn from ticks.
import "./ladder.js";
import "./trades.js";
import "./candles.js";
