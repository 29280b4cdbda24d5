// Keeps the page of a running match up to date by long polls for new steps.

import { add, analyse, list, ready, show, state } from "./match.js";
import { offer } from "./offer.js";

const root = document.getElementById("match");
const PAUSE = Number(root.dataset.pause); // after an immediate response without news, or an error
const seat = document.getElementById("seat");
let sending = false; // a reload would cancel the request with our own choice
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function shownNow() {
  if (document.visibilityState === "visible") return Promise.resolve();
  return new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}

async function once() {
  const began = performance.now();
  const path = new URL(`${root.dataset.steps}?from=${state.total}&wait=1`, location.origin);
  const answer = await fetch(path, { cache: "no-store" });
  if (answer.status === 403) location.reload(); // the access token has expired
  if (!answer.ok) throw new Error(String(answer.status));
  const told = await answer.json();
  if (told.total < state.total) location.reload(); // the arena lost steps, as after a restart
  const follows = state.atEnd;
  list(told.steps, state.total);
  add(told.steps);
  document.getElementById("facts").textContent = told.facts;
  if (told.steps.length && seat && !sending) location.reload(); // another player has moved
  if (told.steps.length) show(follows ? state.total : Number(root.querySelector("#slider").value));
  if (!told.steps.length && performance.now() - began < PAUSE) await pause(PAUSE);
  if (told.over) analyse();
  return told.over;
}

seat?.addEventListener("submit", () => {
  sending = true;
});
document.addEventListener("keydown", (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (plain) document.querySelector(`#seat [data-key="${CSS.escape(event.key)}"]`)?.click();
});

await ready;
// While the page shows the current board, a player can also click the cards on it.
const board = document.getElementById("board");
const buttons = () => (state.atEnd ? document.querySelectorAll("#seat button") : []);
new MutationObserver(() => offer(board, buttons())).observe(board, {
  childList: true,
  subtree: true,
});
offer(board, buttons());
for (let over = false; !over;) {
  await shownNow();
  try {
    over = await once();
  } catch {
    await pause(PAUSE);
  }
}
