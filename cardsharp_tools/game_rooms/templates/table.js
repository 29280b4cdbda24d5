// A seat: updates of the match come by long polls, and the page's own forms send the answers.

import { asked, wire } from "./choosing.js";
import { moving } from "./motion.js";
import { play } from "./sound.js";

const $ = (id) => document.getElementById(id);
const root = $("seat");
const link = root.dataset.link;
const SUITS = { "♣": "clubs", "♦": "diamonds", "♥": "hearts", "♠": "spades" };
const PAUSE = 1000; // after an error, and after an immediate response without an update
const PACE = 700; // between two moves of others, where motion is welcome
const END_PACE = 2600; // after the end of a round, to see everybody's cards
const LOST = "The game does not answer. Perhaps it was closed. Trying again every second.";
const still = matchMedia("(prefers-reduced-motion: reduce)");
const isStill = () =>
  still.matches ||
  document.documentElement.dataset.motion === "off" ||
  document.visibilityState !== "visible";
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

let version = Number(root.dataset.version);
let begun = Number(root.dataset.begun);

function say(line) {
  const item = document.createElement("li");
  for (const piece of line.split(/([♣♦♥♠])/u)) {
    const suit = SUITS[piece];
    item.append(
      suit
        ? Object.assign(document.createElement("span"), {
            className: `suit ${suit}`,
            textContent: piece,
          })
        : piece,
    );
  }
  $("news").append(item);
  $("log").scrollTop = $("log").scrollHeight;
}

// Show a part of the table, unless it is there already.
function put(name, html) {
  let part = document.querySelector(`[data-part="${CSS.escape(name)}"]`);
  if (!part) {
    part = document.createElement("section");
    part.className = `part ${name}`;
    part.dataset.part = name;
    $("board").append(part);
  }
  if (part.seen === html) return;
  part.innerHTML = html; // the server has escaped it, and the policy runs no script in it
  part.seen = html;
}

function draw(parts) {
  const change = () => {
    for (const [name, html] of Object.entries(parts)) put(name, html);
  };
  return isStill() ? change() : moving($("board"), change);
}

// Details that the user has opened stay open, even if they disappear for a while.
const opened = new Map();

// What has the focus keeps it if it is there again; otherwise Enter would press something else. A
// choice does not keep it, because the next question may have the same choice.
function focusAgain(here, focused) {
  if (!focused || focused.closest(".choice")) return;
  const same = [...here.querySelectorAll(focused.tagName)].find((one) => one.isEqualNode(focused));
  same?.focus({ preventScroll: true });
}

function replace(id, html) {
  const here = $(id);
  if (here.seen === html) return;
  const focused = here.contains(document.activeElement) ? document.activeElement : null;
  for (const one of here.querySelectorAll("details"))
    opened.set(one.firstElementChild.textContent, one.open);
  here.innerHTML = html;
  here.seen = html;
  for (const one of here.querySelectorAll("details")) {
    one.open = opened.get(one.firstElementChild.textContent) ?? one.open;
  }
  focusAgain(here, focused);
}

function copies() {
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.onclick = async () => {
      const field = button.previousElementSibling;
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
      } catch {
        document.execCommand("copy");
      }
      button.textContent = "Copied";
    };
  }
}

async function show(told) {
  if (told.begun !== begun) $("news").replaceChildren();
  begun = told.begun;
  for (const [place, frame] of told.frames.entries()) {
    const ended = told.frames[place - 1]?.ends;
    if (place && !isStill()) await sleep(ended ? END_PACE : PACE);
    draw(frame.parts);
    if (Object.keys(frame.parts).length) play("card");
    frame.said.forEach(say);
  }
  version = told.version;
  document.title = `${told.title} · Cardsharp`;
  $("board").dataset.seat = told.toAct;
  draw(told.parts);
  const before = document.querySelector("#moves [name=number]")?.value;
  for (const id of ["headline", "ask", "hint", "recap", "side"]) replace(id, told[id]);
  const question = document.querySelector("#moves [name=number]")?.value;
  if (question && question !== before) play("turn");
  wire();
  copies();
  asked();
}

async function once() {
  const began = performance.now();
  const answer = await fetch(`${link}/news?since=${version}`, { cache: "no-store" });
  if (!answer.ok) throw new Error(String(answer.status));
  const told = await answer.json();
  const fresh = told.version !== version;
  await show(told);
  if (!fresh && performance.now() - began < PAUSE) await sleep(PAUSE);
}

async function send(form, button) {
  const body = new URLSearchParams(new FormData(form));
  if (button?.name) body.set(button.name, button.value);
  const open = [
    ...document.querySelectorAll(".ask button:not(:disabled), #board button:not(:disabled)"),
  ];
  for (const one of open) one.disabled = true; // until the next question comes
  const answer = await fetch(form.action, {
    method: "POST",
    body,
    headers: { Accept: "application/json" },
  });
  const told = await answer.json();
  $("notice").textContent = told.notice;
  if (told.notice) for (const one of open) one.disabled = false;
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const { target: form, submitter } = event;
  send(form, submitter).catch(() => {
    if (submitter?.name)
      form.append(
        Object.assign(document.createElement("input"), {
          type: "hidden",
          name: submitter.name,
          value: submitter.value,
        }),
      );
    form.submit(); // loads the whole page; it sends no button, so its value is added above
  });
});

copies();
root.dataset.ready = "yes";
for (;;) {
  try {
    await once();
    if ($("notice").textContent === LOST) $("notice").textContent = "";
  } catch {
    $("notice").textContent = LOST;
    await sleep(PAUSE);
  }
}
