// A match that is still played: ask for what is new, which the server answers when there is some.

import { add, analyse, list, ready, show, state } from "./match.js";
import { offer } from "./offer.js";

const root = document.getElementById("match");
const PAUSE = Number(root.dataset.pause); // after an answer that brought nothing at once, or a fault
const seat = document.getElementById("seat");
let sending = false; // a reload would cut our own choice short
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function shownNow() {
  if (document.visibilityState === "visible") return Promise.resolve();
  return new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}

async function once() {
  const began = performance.now();
  const path = new URL(`${root.dataset.steps}?from=${state.total}&wait=1`, location.origin);
  const answer = await fetch(path, { cache: "no-store" });
  if (answer.status === 403) location.reload(); // a pass has ended
  if (!answer.ok) throw new Error(String(answer.status));
  const told = await answer.json();
  if (told.total < state.total) location.reload(); // the arena went back
  const follows = state.atEnd;
  list(told.steps, state.total);
  add(told.steps);
  document.getElementById("facts").textContent = told.facts;
  if (told.steps.length && seat && !sending) location.reload(); // others play, too
  if (told.steps.length) show(follows ? state.total : Number(root.querySelector("#slider").value));
  if (!told.steps.length && performance.now() - began < PAUSE) await pause(PAUSE);
  if (told.over) analyse();
  return told.over;
}

seat?.addEventListener("submit", () => { sending = true; });
document.addEventListener("keydown", (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (plain) document.querySelector(`#seat [data-key="${CSS.escape(event.key)}"]`)?.click();
});

await ready;
// Whoever plays on the page does it on the cards too, where the table is seen as it stands now.
const board = document.getElementById("board");
const buttons = () => (state.atEnd ? document.querySelectorAll("#seat button") : []);
new MutationObserver(() => offer(board, buttons())).observe(board, { childList: true, subtree: true });
offer(board, buttons());
for (let over = false; !over;) {
  await shownNow();
  try { over = await once(); } catch { await pause(PAUSE); }
}
