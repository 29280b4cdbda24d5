// The arena's page: a list of matches, and one match to step through.
// Everything that comes from the API is put on the page as text, never as HTML.

import { framesOf } from "./frames.js";
import { SIGNS, SUITS, effectSentence, outcomeSentence, sentence } from "./words.js";

const LIST_PAUSE = 4000;
const MATCH_PAUSE = 1500;
const PAGE = 5; // the arena answers limit=5 with up to 51 matches

const $ = (id) => document.getElementById(id);
let generation = 0; // a change of view makes every older answer void

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

class Refusal extends Error {} // an answer that will be the same next time

async function ask(path) {
  // From the origin: an address that was opened as http://user:password@host cannot be fetched.
  const response = await fetch(new URL(path, location.origin), { headers: { Accept: "application/json" } });
  const body = await response.text();
  let parsed = null;
  try { parsed = JSON.parse(body); } catch { /* plain text, such as a 401 */ }
  if (response.status === 429) throw new Error(parsed.error);
  if (!response.ok) throw new Refusal(`${response.status}: ${parsed?.error ?? body.slice(0, 200)}`);
  return parsed;
}

function say(problem) {
  $("problem").hidden = !problem;
  $("problem").textContent = problem ?? "";
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const shownNow = () => document.visibilityState === "visible";

// --- routes ------------------------------------------------------------------------------

function route() {
  const mine = ++generation;
  const found = /^#\/match\/([0-9a-f]{24})$/.exec(location.hash)
    ?? (location.hash ? null : /^\/matches\/([0-9a-f]{24})\/?$/i.exec(location.pathname));
  $("list").hidden = Boolean(found);
  $("match").hidden = !found;
  say(null);
  document.title = found ? "Arena · match" : "Arena · matches";
  (found ? showMatch(found[1], mine) : showList(mine)).catch((error) => say(String(error.message)));
}

async function repeat(mine, milliseconds, work) {
  while (mine === generation) {
    if (shownNow()) {
      try {
        if ((await work()) === "done") return;
        if (mine === generation) say(null);
      } catch (error) {
        if (mine !== generation) return;
        const final = error instanceof Refusal;
        say(final ? error.message : `${error.message} — trying again.`);
        if (final) return;
      }
    }
    await pause(milliseconds);
  }
}

// --- list --------------------------------------------------------------------------------

let older = [];

function listQuery(extra = {}) {
  const form = new FormData($("filters"));
  const query = new URLSearchParams({ condensed: "1", limit: String(PAGE), ...extra });
  for (const name of ["tags", "at"]) if (form.get(name)) query.set(name, form.get(name));
  if (form.get("active")) query.set("active", "1");
  return `/api/matches?${query}`;
}

function filterByAddress() {
  const tags = new URLSearchParams(location.search).get("tags");
  if (tags) $("filters").elements.tags.value = tags;
}

async function showList(mine) {
  older = [];
  await fillDays();
  await repeat(mine, LIST_PAUSE, async () => {
    const newest = await ask(listQuery());
    if (mine === generation) drawList(newest);
  });
}

async function fillDays() {
  const select = $("filters").elements.at;
  const known = new Set([...select.options].map((option) => option.value));
  for (const day of await ask("/api/matches/busydays?at=any")) {
    if (!known.has(day)) select.append(make("option", { value: day }, day));
  }
}

function drawList(newest) {
  const seen = new Set(newest.map((match) => match.id));
  const matches = [...newest, ...older.filter((match) => !seen.has(match.id))];
  $("rows").replaceChildren(...matches.map(listRow));
  $("empty").hidden = matches.length > 0;
  $("count").textContent = `${matches.length} shown`;
  $("older").hidden = matches.length === 0 || newest.length < 10 * PAGE + 1;
  $("older").onclick = async () => {
    const offset = matches[matches.length - 1].id;
    const more = await ask(listQuery({ offset }));
    older = [...matches.slice(newest.length), ...more];
    drawList(newest);
    $("older").hidden = more.length === 0;
  };
}

function listRow(match) {
  const open = () => { location.hash = `#/match/${match.id}`; };
  const names = match.playernames.map((name, index) => make(
    "span",
    { class: match.playerdata[index].winner ? "winner" : match.playerdata[index].active ? "mover" : "" },
    name,
  ));
  const state = match.finished
    ? make("span", { class: "badge" }, "finished")
    : make("span", { class: "badge live" }, "live");
  return make("tr", { onclick: open },
    make("td", {}, state),
    make("td", {}, make("a", { href: `#/match/${match.id}` }, names[0], " – ", names[1])),
    make("td", { class: "num" }, match.playerdata.map((data) => data.bankvalue).join(" : ")),
    make("td", { class: "num" }, match.sequence.split(".")[0]),
    make("td", { class: "num" }, String(match.table.drawpile)),
    make("td", {}, ...(match.tags ?? []).map(tagLink)),
    make("td", {}, new Date(match.startedat).toLocaleString()),
  );
}

function tagLink(tag) {
  const href = `/matches/statistics?${new URLSearchParams({ tag })}`;
  return make("a", { class: "tag", href, onclick: (event) => event.stopPropagation() }, tag);
}

// --- one match ---------------------------------------------------------------------------

let frames = [];
let at = 0;
let follow = true;

async function showMatch(id, mine) {
  let stamp = null;
  frames = [];
  at = 0;
  follow = true;
  await repeat(mine, MATCH_PAUSE, async () => {
    const header = await ask(`/api/matches/${id}?condensed=1`);
    if (header.sequence + header.lastmoveat === stamp || mine !== generation) return null;
    const match = await ask(`/api/matches/${id}?showevents=1&showdebug=1`);
    if (mine !== generation) return null;
    stamp = header.sequence + header.lastmoveat;
    frames = framesOf(match);
    drawHead(match);
    drawHistory(match);
    go(follow ? frames.length - 1 : Math.min(at, frames.length - 1));
    return match.activePlayerIndex === null ? "done" : null;
  });
}

function drawHead(match) {
  const [one, two] = match.playernames;
  $("title").textContent = `${one} – ${two}`;
  document.title = `${one} – ${two} · Arena`;
  const facts = [`match ${match._id}`, `begun ${new Date(match.startedAt).toLocaleString()}`];
  if (match.creationParams.tags?.length) facts.push(`tags ${match.creationParams.tags.join(", ")}`);
  if (match.creationParams.timeout) facts.push(`turn limit ${match.creationParams.timeout} s`);
  if (match.creationParams.randomSeed) facts.push(`seed ${match.creationParams.randomSeed}`);
  $("facts").textContent = facts.join(" · ");
  frames.names = match.playernames;
}

function drawHistory(match) {
  const turns = new Map();
  frames.forEach((frame, index) => {
    if (!turns.has(frame.turn)) turns.set(frame.turn, []);
    turns.get(frame.turn).push([frame, index]);
  });
  $("turns").replaceChildren(...[...turns].map(([turn, entries]) => {
    const player = entries.find(([frame]) => frame.event.playerIndex !== undefined)?.[0].event.playerIndex;
    const title = player === undefined ? `Turn ${turn}` : `Turn ${turn} · ${match.playernames[player]}`;
    return make("li", { class: `turn player${player ?? ""}` }, make("h3", {}, title),
      make("ol", {}, ...entries.map(([frame, index]) => make("li", {}, make("button",
        { type: "button", "data-step": index, onclick: () => { follow = false; go(index); } },
        sentence(frame.event, match.playernames))))));
  }));
}

// --- the table at one step ----------------------------------------------------------------

function go(step) {
  if (!frames.length) return;
  at = Math.max(0, Math.min(step, frames.length - 1));
  const frame = frames[at];
  $("slider").max = String(frames.length - 1);
  $("slider").value = String(at);
  $("position").textContent =
    `step ${at + 1} of ${frames.length} · turn ${frame.turn} · ${new Date(frame.move.at).toLocaleTimeString()}`;
  $("draw-size").textContent = String(frame.draw);
  $("discard-size").textContent = String(frame.discard);
  [0, 1].forEach((index) => drawSeat(index, frame));
  $("area").replaceChildren(...frame.area.map((card) => drawCard(card, card === frame.fresh)));
  if (!frame.area.length) $("area").append(make("span", { class: "muted" }, "empty"));
  $("pending").textContent = frame.outcome
    ? outcomeSentence(frame.outcome, frames.names)
    : frame.pending ? effectSentence(frame.pending) : "";
  $("pending").className = frame.outcome ? "outcome" : "";
  $("debug").hidden = !frame.debug?.length;
  $("debug-cards").replaceChildren(...(frame.debug ?? []).map((card) => drawCard(card, false)));
  for (const button of document.querySelectorAll("[data-step]")) {
    const here = Number(button.dataset.step) === at;
    button.toggleAttribute("aria-current", here);
    if (here) showInHistory(button);
  }
}

// Scrolls the history alone; scrollIntoView would move the whole page on a small screen.
function showInHistory(button) {
  const box = $("turns").parentElement;
  const top = button.offsetTop;
  if (top < box.scrollTop || top + button.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = top - box.clientHeight / 2;
  }
}

function drawSeat(index, frame) {
  const bank = frame.banks[index];
  const suits = Object.keys(bank).sort((one, two) => SUITS.indexOf(one) - SUITS.indexOf(two));
  const points = suits.reduce((sum, suit) => sum + Math.max(...bank[suit]), 0);
  const seat = $(`seat${index}`);
  const mover = frame.player === index;
  const winner = frame.outcome?.matchEndedWinnerIdx === index;
  seat.className = `seat${mover ? " mover" : ""}${winner ? " winner" : ""}`;
  seat.replaceChildren(
    make("h2", {}, frames.names[index], make("span", { class: "points" }, `${points} points`)),
    make("div", { class: "stacks" }, ...suits.map((suit) => drawStack(suit, bank[suit]))),
  );
  if (!suits.length) seat.append(make("span", { class: "muted" }, "nothing banked yet"));
}

function drawStack(suit, values) {
  const [top, ...under] = [...values].sort((one, two) => two - one);
  return make("div", { class: "stack" }, drawCard({ suit, value: top }, false),
    make("span", { class: "under" }, under.join(" ")));
}

function drawCard(card, fresh) {
  const known = SUITS.includes(card.suit);
  return make("div", { class: `card ${known ? card.suit.toLowerCase() : "other"}${fresh ? " fresh" : ""}` },
    make("b", {}, String(card.value)),
    make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[card.suit] ?? "?"),
    make("span", { class: "suit" }, card.suit));
}

function turnStart(direction) {
  const turn = frames[at]?.turn + direction;
  const found = frames.findIndex((frame) => frame.turn === turn);
  return found >= 0 ? found : direction < 0 ? 0 : frames.length - 1;
}

// --- controls ------------------------------------------------------------------------------

function step(choose, stay = false) {
  return () => { follow = stay; go(choose()); };
}

const CONTROLS = {
  first: [step(() => 0), "Home"],
  "turn-back": [step(() => turnStart(-1)), "PageUp"],
  back: [step(() => at - 1), "ArrowLeft"],
  forward: [step(() => at + 1), "ArrowRight"],
  "turn-forward": [step(() => turnStart(1)), "PageDown"],
  last: [step(() => frames.length - 1, true), "End"],
};
for (const [id, [work]] of Object.entries(CONTROLS)) $(id).addEventListener("click", work);
$("slider").addEventListener("input", step(() => Number($("slider").value)));
document.addEventListener("keydown", (pressed) => {
  if ($("match").hidden || pressed.target.matches?.("input, select") || pressed.ctrlKey || pressed.metaKey) return;
  const found = Object.values(CONTROLS).find(([, key]) => key === pressed.key);
  if (found) { pressed.preventDefault(); found[0](); }
});
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("filters").addEventListener("change", route);
window.addEventListener("hashchange", route);

ask("/api/whoami")
  .then((user) => { $("who").textContent = `${user.name ?? user.username} (${user.role})`; })
  .catch((error) => say(error.message));
filterByAddress();
route();
