// What every page of somebody who is signed in runs: each module says itself what it needs of the others.
import "./page.js";
import "./keys.js";
import "./personal.js";
import "./press.js";
import "./countdown.js";
import "./fragments.js";
import "./stable_swap.js";
import "./answers.js";
import "./offline.js";
import "./live.js";
import "./passkey.js";
import "./waiting.js";
import "./notices.js";
import "./fills.js";
import "./palette.js";
import "./progress.js";
import "./lists.js";
