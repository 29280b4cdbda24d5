// Ways to choose: number keys, groups of choices, and clicks on cards and piles.

import { offer } from "./offer.js";

const $ = (id) => document.getElementById(id);
let typed = "";
let kind = "";
let question = "";

const choices = () => [...document.querySelectorAll(".choice:not(:disabled)")].filter((one) => one.checkVisibility());


// Focus the first choice, unless the focus is already somewhere.
export function asked() {
  const active = document.activeElement;
  if (active === document.body || !active?.isConnected) choices()[0]?.focus({ preventScroll: true });
}

// Of many choices only one kind is shown at a time; without the script all are shown.
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

export function wire() {
  offer($("board"), document.querySelectorAll("#moves .choice:not(:disabled)"));
  const number = document.querySelector("#moves [name=number]")?.value;
  if (number !== question) typed = kind = ""; // a new question begins with the lowest kind
  pick(kind);
  question = number;
  for (const one of document.querySelectorAll(".kind")) one.onclick = () => pick(one.dataset.kind);
}

function press(button) {
  typed = "";
  button?.click();
}

function move(by) {
  const every = choices();
  const at = every.indexOf(document.activeElement);
  every[(at + by + every.length) % every.length]?.focus();
}

// A number plays its choice at once, or on Enter if more digits could follow.
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
