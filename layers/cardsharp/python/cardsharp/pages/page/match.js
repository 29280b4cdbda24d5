// The page of a match: steps through the boards that the server has rendered as escaped HTML.

import { moving } from "./motion.js";

const $ = (id) => document.getElementById(id);
const root = $("match");
const board = $("board");
const alone = $("steps");

const steps = []; // each with the whole board after it: parts by name
let at = Number(root.dataset.at);
let playing = null;

export const state = {
  get total() {
    return steps.length;
  },
  get atEnd() {
    return at >= steps.length;
  },
};

// Add steps in the server's form, in which each step has only the parts that it changed.
export function add(told) {
  for (const step of told) {
    const before = steps.length ? steps[steps.length - 1].parts : {};
    steps.push({ ...step, parts: { ...before, ...step.parts } });
  }
  $("slider").max = String(steps.length);
}

export function show(number) {
  if (!steps.length) return;
  at = Math.max(1, Math.min(number, steps.length));
  const step = steps[at - 1];
  moving(board, () => {
    for (const [name, html] of Object.entries(step.parts)) put(name, html);
  });
  board.dataset.seat = step.seat ?? "";
  const who = document.createElement("b");
  who.textContent = step.who;
  const when = document.createElement("span");
  when.className = "quiet";
  when.title = "time in UTC, and seconds since the last step";
  when.textContent = step.at;
  $("happened").replaceChildren(who, ` ${step.happened} `, when);
  $("count").textContent = `${at} of ${steps.length}`;
  $("slider").value = String(at);
  if ($("branching")) $("branching").value = String(at);
  judge();
  mark();
  if (location.hash !== `#${at}`) history.replaceState(null, "", `#${at}`);
}

function put(name, html) {
  let part = root.querySelector(`[data-part="${CSS.escape(name)}"]`);
  if (!part) {
    part = document.createElement("section");
    part.className = `part ${name}`;
    part.dataset.part = name;
    board.append(part);
  }
  if (part.seen !== html) {
    part.innerHTML = html; // the server has escaped it, and the policy runs no script in it
    part.seen = html;
  }
}

// The judge's analysis: a curve, the value as text at each step, and each decision's cost.
let told = null;

export async function analyse() {
  if (!root.dataset.judged) return;
  const path = new URL(root.dataset.steps.replace(/steps$/, "analysis"), location.origin);
  const answer = await fetch(path);
  if (answer.ok) explain(await answer.json());
}

function explain(analysis) {
  if (!analysis?.curve) return;
  told = analysis;
  $("course").innerHTML = told.curve; // escaped by the server, as all parts are
  $("summary").innerHTML = told.summary;
  $("curve").addEventListener("click", (event) => {
    const box = $("curve").getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    jump(() => Math.round(1 + share * (steps.length - 1)));
  });
  judge();
  mark(); // the list has less room beside an analysis
}

function judge() {
  if (!told) return;
  $("judged").innerHTML = told.judged[at] ?? "";
  $("worth").textContent = told.worths[at - 1] ?? "";
  $("cursor").setAttribute("transform", `translate(${at})`);
}

// Add steps to the list of all steps, from the number `start` on.
export function list(told, start) {
  const turns = $("turns");
  told.forEach((step, index) => {
    let turn = turns.lastElementChild;
    if (!turn || turn.dataset.turn !== String(step.turn)) {
      const known = turn?.querySelector("h2")?.firstChild?.textContent.trim() === String(step.turn);
      if (!known) {
        turn = document.createElement("li");
        turn.append(document.createElement("h2"), document.createElement("ol"));
        const who = document.createElement("span");
        who.textContent = step.who;
        turn.firstElementChild.append(`${step.turn} `, who);
        turns.append(turn);
      }
      turn.dataset.turn = String(step.turn);
    }
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = alone ? `#${start + index + 1}` : `?step=${start + index + 1}`;
    if (step.ours) link.className = "ours";
    link.textContent = step.happened;
    item.append(link);
    turn.lastElementChild.append(item);
  });
}

// The branches in a file: each consists of its parent's steps up to its beginning, then its own.
let whole = null;

function course(id) {
  const own = whole.branches[id];
  return own ? [...course(own.of).slice(0, own.from), ...own.steps] : whole.steps;
}

function follow(id, step) {
  steps.length = 0;
  add(course(id));
  $("turns").replaceChildren();
  list(steps, 0);
  told = null;
  for (const part of ["course", "judged", "summary"]) $(part).replaceChildren();
  if (!id) explain(whole.analysis);
  jump(() => step);
}

function mark() {
  const links = $("turns").querySelectorAll("a");
  $("turns").querySelector("[aria-current]")?.removeAttribute("aria-current");
  const link = links[at - 1];
  if (!link) return;
  link.setAttribute("aria-current", "step");
  const list = $("turns");
  if (list.scrollHeight > list.clientHeight) {
    const above = link.getBoundingClientRect().top - list.getBoundingClientRect().top;
    list.scrollTop += above - list.clientHeight / 2;
  }
}

function turn(direction) {
  const starts = steps
    .map((step, i) => (i && step.turn === steps[i - 1].turn ? 0 : i + 1))
    .filter(Boolean);
  if (direction < 0) return starts.filter((start) => start < at).pop() ?? 1;
  return starts.find((start) => start > at) ?? steps.length;
}

const JUMPS = {
  first: [() => 1, "Home"],
  "turn-back": [() => turn(-1), "PageUp"],
  back: [() => at - 1, "ArrowLeft"],
  forward: [() => at + 1, "ArrowRight"],
  "turn-forward": [() => turn(1), "PageDown"],
  last: [() => steps.length, "End"],
};

function play(on) {
  clearTimeout(playing);
  playing = null;
  if (on) {
    if (at >= steps.length) show(1);
    const next = () => {
      show(at + 1);
      playing = at < steps.length ? setTimeout(next, Number($("speed").value)) : null;
      $("play").classList.toggle("on", playing !== null);
    };
    playing = setTimeout(next, Number($("speed").value));
  }
  $("play").classList.toggle("on", playing !== null);
  $("play").setAttribute("aria-label", playing === null ? "Play" : "Pause");
}

function jump(where) {
  play(false);
  show(where());
}

function flip() {
  board.classList.toggle("flipped");
}

function wire() {
  for (const [id, [where]] of Object.entries(JUMPS)) {
    $(id).addEventListener("click", (event) => {
      event.preventDefault();
      jump(where);
    });
  }
  $("turns").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    const number = [...$("turns").querySelectorAll("a")].indexOf(link) + 1;
    jump(() => number);
  });
  $("summary").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    jump(() => Number(link.dataset.step));
  });
  if (alone)
    $("branches")?.addEventListener("click", (event) => {
      const link = event.target.closest("[data-branch]");
      if (!link) return;
      event.preventDefault();
      follow(link.dataset.branch, Number(link.dataset.step));
    });
  $("slider").addEventListener("input", () => jump(() => Number($("slider").value)));
  $("play").addEventListener("click", () => play(playing === null));
  $("flip").addEventListener("click", flip);
  $("more").addEventListener("click", () => {
    // on a small screen, where one row holds the usual ones
    const open = $("more").parentElement.classList.toggle("open");
    $("more").setAttribute("aria-expanded", String(open));
  });
  window.addEventListener("hashchange", () => {
    if (named() && named() !== at) jump(named);
  });
  document.addEventListener("keydown", (pressed) => {
    if (
      pressed.ctrlKey ||
      pressed.metaKey ||
      pressed.altKey ||
      pressed.target.matches?.("input, select")
    )
      return;
    const found = Object.values(JUMPS).find(([, key]) => key === pressed.key);
    if (found) jump(found[0]);
    else if (pressed.key === " " && !pressed.target.matches?.("button, a, summary"))
      play(playing === null);
    else if (pressed.key === "f" && !$("flip").hidden) flip();
    else return;
    pressed.preventDefault();
  });
  for (const id of ["slider", "play", "more"]) $(id).hidden = false;
  $("speed").parentElement.hidden = false;
  $("flip").hidden = !board.querySelector('[data-part="seat1"]');
}

const named = () => Number(/^#(\d+)$/.exec(location.hash)?.[1] ?? 0);

// The data of a file: the steps as compressed JSON.
function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

async function asked() {
  if (alone) return unpacked(alone.textContent);
  const answer = await fetch(new URL(root.dataset.steps, location.origin));
  if (!answer.ok) throw new Error(`The steps cannot be loaded: status ${answer.status}.`);
  return answer.json();
}

export const ready = asked().then((match) => {
  whole = match;
  add(match.steps);
  explain(match.analysis);
  wire();
  if (named()) show(named());
  else if (steps.length) mark();
  root.dataset.ready = "yes";
  if (match.over) analyse();
});
