// The arena's list of matches.
// Everything that comes from the API is put on the page as text, never as HTML.

const LIST_PAUSE = 4000;
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
  const found = /^#\/match\/([0-9a-f]{24})$/.exec(location.hash); // where matches were once
  if (found) location.replace(`/matches/${found[1]}`);
  say(null);
  showList(mine).catch((error) => say(String(error.message)));
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
  const link = `/matches/${match.id}`;
  const names = match.playernames.map((name, index) => make(
    "span",
    { class: match.playerdata[index].winner ? "winner" : match.playerdata[index].active ? "mover" : "" },
    name,
  ));
  const state = match.finished
    ? make("span", { class: "badge" }, "finished")
    : make("span", { class: "badge live" }, "live");
  return make("tr", { onclick: () => { location.href = link; } },
    make("td", {}, state),
    make("td", {}, make("a", { href: link }, names[0], " – ", names[1])),
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

$("filters").addEventListener("submit", (event) => event.preventDefault());
$("filters").addEventListener("change", route);
window.addEventListener("hashchange", route);

ask("/api/whoami")
  .then((user) => { $("who").textContent = `${user.name ?? user.username} (${user.role})`; })
  .catch((error) => say(error.message));
filterByAddress();
route();
