// A seat at a table: what happens comes by long polls, answers go by the page's own forms.

import { moving } from "./motion.js";

const $ = (id) => document.getElementById(id);
const root = $("seat");
const link = root.dataset.link;
const PAUSE = 1000; // after a fault, and after an answer that brought nothing at once
const PACE = 700; // between two moves of others, where motion is welcome
const LOST = "The table does not answer; perhaps it was closed.";
const still = matchMedia("(prefers-reduced-motion: reduce)");
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

let version = Number(root.dataset.version);
let begun = Number(root.dataset.begun);
let typed = "";
let kind = "";
let question = "";

function say(line) {
  const item = document.createElement("li");
  item.textContent = line;
  $("news").append(item);
  $("log").scrollTop = $("log").scrollHeight;
}

function put(name, html) {
  let part = $("board").querySelector(`[data-part="${CSS.escape(name)}"]`);
  if (!part) {
    part = document.createElement("section");
    part.className = `part ${name}`;
    part.dataset.part = name;
    $("board").append(part);
  }
  part.innerHTML = html; // the server has escaped it, and the policy runs no script in it
}

const choices = () => [...document.querySelectorAll(".choice:not(:disabled)")].filter((one) => one.checkVisibility());

// What was opened stays open.
function replace(id, html) {
  const here = $(id);
  if (here.seen === html) return;
  const open = [...here.querySelectorAll("details")].map((one) => [one.firstElementChild.textContent, one.open]);
  here.innerHTML = html;
  here.seen = html;
  for (const one of here.querySelectorAll("details")) {
    const known = open.find(([name]) => name === one.firstElementChild.textContent);
    if (known) one.open = known[1];
  }
}

// Whoever is nowhere else is at the first choice.
function asked() {
  const active = document.activeElement;
  if (active === document.body || !active?.isConnected) choices()[0]?.focus({ preventScroll: true });
}

// Of many choices one kind at a time; without script all are there.
function pick(wanted) {
  const kinds = [...document.querySelectorAll(".kind")];
  const there = kinds.filter((one) => !one.disabled);
  const chosen = there.find((one) => one.dataset.kind === wanted) ?? there[0];
  if (!chosen) return;
  kind = chosen.dataset.kind;
  chosen.parentElement.hidden = false;
  for (const one of kinds) one.setAttribute("aria-pressed", String(one === chosen));
  for (const one of document.querySelectorAll("fieldset[data-kind]")) one.hidden = one.dataset.kind !== kind;
}

// Cards and piles that are choices are controls too: what a button shows lies on the table.
const PILES = [[/^draw/, "unseen"], [/^end the turn/, "middle"]];
const drawn = (card) => card.querySelector("b").textContent + card.querySelector("use")?.getAttribute("href");

function offered(button) {
  const face = button.querySelector(".card");
  const alike = (one) => drawn(one) === drawn(face);
  if (face) return [...$("board").querySelectorAll(".card")].filter(alike);
  const pile = PILES.find(([words]) => words.test(button.querySelector("span").textContent));
  return pile ? [...$("board").querySelectorAll(`[data-part="${pile[1]}"]`)] : [];
}

function offer() {
  for (const one of document.querySelectorAll("#board .offered")) {
    one.classList.remove("offered");
    one.onclick = null;
  }
  for (const button of document.querySelectorAll("#moves .choice:not(:disabled)")) {
    for (const one of offered(button)) {
      one.classList.add("offered");
      one.title = button.querySelector("span").textContent;
      one.onclick = (event) => { event.stopPropagation(); press(button); };
    }
  }
}

function wire() {
  offer();
  const number = document.querySelector("#moves [name=number]")?.value;
  pick(number === question ? kind : ""); // a new question begins with the lowest kind
  question = number;
  for (const one of document.querySelectorAll(".kind")) one.onclick = () => pick(one.dataset.kind);
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.onclick = async () => {
      const field = button.previousElementSibling;
      field.select();
      try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand("copy"); }
      button.textContent = "Copied";
    };
  }
}

async function show(told) {
  if (told.begun !== begun) $("news").replaceChildren();
  begun = told.begun;
  for (const [place, frame] of told.frames.entries()) {
    if (place && !still.matches && document.visibilityState === "visible") await sleep(PACE);
    moving($("board"), () => { for (const [name, html] of Object.entries(frame.parts)) put(name, html); });
    frame.said.forEach(say);
  }
  version = told.version;
  document.title = `${told.title} · Cardsharp`;
  $("board").dataset.seat = told.toAct;
  for (const id of ["headline", "ask", "recap", "side"]) replace(id, told[id]);
  wire();
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
  const open = [...document.querySelectorAll(".ask button:not(:disabled)")];
  for (const one of open) one.disabled = true; // until the next question comes
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
  const told = await answer.json();
  $("notice").textContent = told.notice;
  if (told.notice) for (const one of open) one.disabled = false;
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  send(event.target, event.submitter).catch(() => { event.target.submit(); });
});

function press(button) {
  typed = "";
  button?.click();
}

function move(by) {
  const every = choices();
  const at = every.indexOf(document.activeElement);
  every[(at + by + every.length) % every.length]?.focus();
}

// A number plays the choice of that key at once, or on Enter where more digits could follow.
document.addEventListener("keydown", (pressed) => {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
  if (pressed.target.matches?.("input:not([type=hidden]), select, textarea")) return;
  const keys = choices().filter((one) => one.form?.id === "moves");
  if (/^\d$/.test(pressed.key)) {
    typed += pressed.key;
    const meant = [...document.querySelectorAll("#moves [data-digits]")].filter((one) => one.dataset.digits.startsWith(typed));
    if (!meant.length) typed = "";
    if (meant.length === 1) press(meant[0]);
    else {
      const exact = meant.find((one) => one.dataset.digits === typed);
      pick(exact?.closest("fieldset[data-kind]")?.dataset.kind ?? kind);
      exact?.focus();
    }
  } else if (pressed.key === "h") $("hinting")?.querySelector("button").click();
  else if (pressed.key === "u") $("undoing")?.querySelector("button").click();
  else if (pressed.key === "ArrowRight") move(1);
  else if (pressed.key === "ArrowLeft") move(-1);
  else {
    if (pressed.key !== "Enter") typed = "";
    return;
  }
  if (keys.length) pressed.preventDefault();
});

wire();
asked();
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
