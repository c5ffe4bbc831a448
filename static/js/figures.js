// Exact figures: an amount is a text and stays one, reckoned with whole numbers, written digit for digit as the server
// writes it (templatetags/markets.py). A JavaScript number, which rounds, is made of an amount for drawing alone.
import { mark } from "./personal.js";

const NOTHING = "\u2013", MINUS = "\u2212", BRIEF_DIGITS = 5;

// A figure is its digits as a whole number and how many of them stand after the point.
function read(text) {
  const [whole, rest = ""] = text.split(".");
  return { digits: BigInt(whole + rest), places: rest.length };
}
function write({ digits, places }) {
  const bare = (digits < 0n ? -digits : digits).toString().padStart(places + 1, "0");
  const point = bare.length - places;
  return (digits < 0n ? "-" : "") + bare.slice(0, point) + (places ? "." + bare.slice(point) : "");
}
const grown = (figure, places) => figure.digits * 10n ** BigInt(places - figure.places);
function together(one, other, reckon) {
  const places = Math.max(one.places, other.places);
  return { digits: reckon(grown(one, places), grown(other, places)), places };
}
const add = (one, other) => together(one, other, (a, b) => a + b);
const subtract = (one, other) => together(one, other, (a, b) => a - b);
const multiply = (one, other) => ({ digits: one.digits * other.digits, places: one.places + other.places });
const half = (one) => ({ digits: one.digits * 5n, places: one.places + 1 });
function isLess(one, other) {
  const places = Math.max(one.places, other.places);
  return grown(one, places) < grown(other, places);
}

// Half to even, as the server rounds.
function round(figure, places) {
  if (figure.places <= places) return { digits: grown(figure, places), places };
  const step = 10n ** BigInt(figure.places - places), bare = figure.digits < 0n ? -figure.digits : figure.digits;
  let kept = bare / step;
  const rest = (bare % step) * 2n;
  if (rest > step || (rest === step && kept % 2n === 1n)) kept += 1n;
  return { digits: figure.digits < 0n ? -kept : kept, places };
}

// The quotient of two figures that are not below zero, cut off or raised to so many digits after the point.
function divide(one, other, places, { up = false } = {}) {
  const whole = one.digits * 10n ** BigInt(places + other.places), by = other.digits * 10n ** BigInt(one.places);
  const cut = whole / by;
  return { digits: up && cut * by < whole ? cut + 1n : cut, places };
}
// The multiple of a step at a figure, or the next one below or above it.
const toStep = (figure, step, options) => multiply(divide(figure, step, 0, options), step);
// As an amount is typed: without zeros that say nothing.
function typed(figure) {
  const text = write(figure);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

// All digits, grouped as the person reads figures, with at least so many after the point.
function price(text, places) {
  if (text === null || text === undefined || text === "") return NOTHING;
  const [whole, rest = ""] = text.split(".");
  const after = rest.replace(/0+$/, "").padEnd(places || 0, "0");
  const grouped = BigInt(whole.replace("-", "")).toString().replace(/\B(?=(\d{3})+$)/g, mark);
  return (text.startsWith("-") ? MINUS : "") + grouped + (after ? "." + after : "");
}
function brief(text) {
  if (text === null || text === undefined) return NOTHING;
  const figure = read(text), bare = figure.digits < 0n ? -figure.digits : figure.digits;
  const first = bare ? bare.toString().length - 1 - figure.places : BRIEF_DIGITS;
  return price(write(round(figure, Math.max(BRIEF_DIGITS - 1 - first, 0))));
}
const percent = (text) => (text === null || text === undefined ? NOTHING : price(text) + " %");

// Where on a drawing: a number that rounds, of which no figure is made again.
const forDrawing = (text) => Number(text);

export { NOTHING, MINUS, read, write, typed, add, subtract, multiply, divide, toStep, half, isLess, forDrawing, price, brief, percent };
