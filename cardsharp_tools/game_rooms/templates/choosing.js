// Ways to choose: number keys, arrow keys, and kinds of choices.

const $ = (id) => document.getElementById(id);
const spacious = matchMedia("(min-width: 1500px) and (min-height: 880px)"); // room for all kinds at once
const DOUBLE_CLICK = 400; // milliseconds within which a second click belongs to the first
let typed = "";
let kind = "";
let question = "";

const choices = () =>
  [...document.querySelectorAll(".choice:not(:disabled)")].filter((one) => one.checkVisibility());

// Focus the question, and never an action: Enter must not play what nobody has chosen. When the
// match is over, the first button is focused, which plays nothing.
export function asked() {
  const active = document.activeElement;
  if (active !== document.body && active?.isConnected) return;
  ($("asked") ?? choices()[0])?.focus({ preventScroll: true });
}

// Of many choices only one kind is shown at a time; without the script, and on a large screen, all.
function pick(wanted) {
  const kinds = [...document.querySelectorAll(".kind")];
  const there = kinds.filter((one) => !one.disabled);
  const chosen = there.find((one) => one.dataset.kind === wanted) ?? there[0];
  if (!chosen) return;
  kind = chosen.dataset.kind;
  chosen.parentElement.hidden = spacious.matches;
  for (const one of kinds) one.setAttribute("aria-pressed", String(one === chosen));
  for (const one of document.querySelectorAll("fieldset[data-kind]")) {
    one.hidden = !spacious.matches && one.dataset.kind !== kind;
  }
}

function freshen() {
  const { dataset } = document.body;
  dataset.fresh = "";
  setTimeout(() => delete dataset.fresh, DOUBLE_CLICK);
}

export function wire() {
  const number = document.querySelector("#moves [name=number]")?.value;
  if (number !== question) {
    if (question !== "") freshen(); // not when the page is loaded
    typed = kind = ""; // a new question begins with the lowest kind
  }
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
  const from = at < 0 && by < 0 ? 0 : at;
  every[(from + by + every.length) % every.length]?.focus();
}

// The second click of a double click would answer the next question. After a moment nobody can mean
// the previous question any more: then each click of a fast player counts.
document.addEventListener(
  "click",
  (clicked) => {
    if (
      clicked.detail > 1 &&
      "fresh" in document.body.dataset &&
      clicked.target.closest(".choice")
    ) {
      clicked.preventDefault();
      clicked.stopPropagation();
    }
  },
  true,
);

// A number plays its choice at once, or on Enter if more digits could follow.
document.addEventListener("keydown", (pressed) => {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
  if (pressed.target.matches?.("input:not([type=hidden]), select, textarea")) return;
  const keys = choices().filter((one) => one.form?.id === "moves");
  if (/^\d$/.test(pressed.key)) {
    typed += pressed.key;
    const meant = [...document.querySelectorAll(".choice[data-digits]")].filter((one) =>
      one.dataset.digits.startsWith(typed),
    );
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

spacious.addEventListener("change", () => pick(kind));
wire();
asked();
