// The lobby and the game, by the documented API alone, so anybody could write another page.

const BETS = {{ bets }}, AGENTS = {{ agents }}, CHECK = BETS.length, LOST = CHECK + 1;
const VALUES = ["9", "10", "J", "Q", "K", "A"], COLOURS = ["♣", "♦", "♥", "♠"];
const PAUSE = 1000; // milliseconds between two requests while the page is visible
const by = (id) => document.getElementById(id);
const seats = { // our secret uuids by game; this browser alone has them
  of: (game) => JSON.parse(localStorage.getItem(`blef ${game}`) ?? "null"),
  keep: (game, seat) => localStorage.setItem(`blef ${game}`, JSON.stringify(seat)),
};
let game = null, seen = null, kind = null, told = {}, busy = false;

async function ask(path, body) {
  const sent = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, { cache: "no-store", ...sent });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error ?? said.message ?? `The service failed with status ${answer.status}. Try again.`);
  return said;
}

const element = (name, text, kind) => {
  const made = document.createElement(name);
  made.textContent = text ?? "";
  if (kind) made.className = kind;
  return made;
};
const card = ({ value, colour }) =>
  element("span", VALUES[value] + COLOURS[colour], colour === 1 || colour === 2 ? "card red" : "card");
const parts = (name) => { // what kind of bet, and of what: "Pair", "9s"
  const straight = /^(\w+) (straight(?: flush)?) (.*)$/.exec(name);
  if (straight) return { kind: straight[2].replace(/^s/, "S"), what: `${straight[1]} ${straight[3]}` };
  const [, kind, what] = /^(.*?)(?:, | of (?!a kind))(.*)$/.exec(name);
  return { kind, what };
};
const named = (action) => (action === CHECK ? "check" : action === LOST ? "lost the round" : BETS[action]);

// --- the lobby -----------------------------------------------------------------------------------

async function join(uuid, nickname) {
  const { player_uuid: secret } = await ask(`games/${uuid}/join`, { nickname });
  localStorage.setItem("blef nickname", nickname);
  seats.keep(uuid, { nickname, secret });
  seen = null; // the page was drawn for a spectator, so it must be drawn again
  location.hash = uuid;
}

async function begin(quick) {
  const nickname = by("nickname").value;
  const { game_uuid: uuid } = await ask("games/create", {});
  await join(uuid, nickname);
  if (!quick) return;
  const admin_uuid = seats.of(uuid).secret;
  for (const agent_name of AGENTS) await ask(`games/${uuid}/invite-aiagent`, { admin_uuid, agent_name });
  await ask(`games/${uuid}/start`, { admin_uuid });
}

async function showLobby() {
  const games = await ask("games");
  by("none").hidden = games.length > 0;
  by("games").replaceChildren(...games.map((one) => {
    const row = element("tr"), button = element("button", "Join");
    button.onclick = () => carefully(async () => {
      if (by("nickname").reportValidity()) await join(one.game_uuid, by("nickname").value);
    });
    row.append(element("td", one.room), element("td", one.players.join(", ")), element("td"));
    row.lastChild.append(button);
    return row;
  }));
}

// --- the table -----------------------------------------------------------------------------------

async function showGame() {
  const uuid = game, seat = seats.of(game), secret = seat?.secret;
  const query = secret ? `?player_uuid=${secret}` : "";
  const now = await ask(`games/${game}${query}`);
  if (uuid !== game || secret !== seats.of(game)?.secret) return; // we have joined since the request was sent
  if (seen && now.last_modified === seen.last_modified) return;
  if (now.round_number > 1 && now.round_number !== told.number) {
    const before = await ask(`games/${game}?round=${now.round_number - 1}${secret ? `&player_uuid=${secret}` : ""}`);
    told = { number: now.round_number, before };
  }
  draw(now, seat);
  seen = now;
}

function draw(now, seat) {
  const open = now.status === "Not started", mine = now.cp_nickname === seat?.nickname;
  const admin = open && seat && now.admin_nickname === seat.nickname;
  by("title").textContent = `Room ${now.room}`;
  by("state").textContent = open ? `${now.players.length} of 2 to 8 players. ${now.admin_nickname ?? "The first player"} can start the game.`
    : now.status === "Finished" ? `${now.players.find((one) => one.n_cards)?.nickname} has won.`
    : `Round ${now.round_number}. ${mine ? "It is your turn." : `It is ${now.cp_nickname}'s turn.`}`;
  by("admin").hidden = !admin;
  by("link").value = location.href;
  document.querySelector("[name=public]").textContent = now.public === "true" ? "Make it private" : "Make it public";
  by("enter").hidden = !open || Boolean(seat);
  by("players").replaceChildren(...now.players.map((one) =>
    element("li", `${one.nickname}${one.n_cards ? `: ${one.n_cards} card${one.n_cards > 1 ? "s" : ""}` : open ? "" : ": out"}`,
      one.nickname === now.cp_nickname ? "mover" : "")));
  const own = now.hands.find((one) => one.nickname === seat?.nickname);
  by("hand").replaceChildren(...(own?.hand ?? []).map(card));
  by("history").replaceChildren(...now.history.map((one) => element("li", `${one.player}: ${named(one.action_id)}`)));
  by("last").hidden = !told.before;
  if (told.before) {
    by("result").textContent = told.before.history.map((one) => `${one.player}: ${named(one.action_id)}`).join("; ");
    by("hands").replaceChildren(...told.before.hands.map((one) => {
      const line = element("li", `${one.nickname}: `);
      line.append(...one.hand.map(card));
      return line;
    }));
  }
  drawTurn(now, mine && now.status === "Running");
}

function drawTurn(now, mine) {
  by("turn").hidden = !mine;
  if (!mine) return;
  const last = now.history.at(-1)?.action_id ?? -1;
  by("check").hidden = last < 0;
  by("beat").textContent = last < 0 ? "You begin the round." : `${now.history.at(-1).player} bets: ${named(last)}. Bet higher, or check it.`;
  const higher = BETS.map((name, id) => ({ name, id, ...parts(name) })).filter((one) => one.id > last);
  const kinds = [...new Set(higher.map((one) => one.kind))];
  if (!kinds.includes(kind)) kind = kinds[0];
  by("kinds").replaceChildren(...kinds.map((one) => {
    const button = element("button", one);
    button.type = "button";
    button.setAttribute("aria-pressed", String(one === kind));
    button.onclick = () => { kind = one; drawTurn(now, mine); };
    return button;
  }));
  by("bets").replaceChildren(...higher.filter((one) => one.kind === kind).map((one) => {
    const button = element("button", one.what);
    button.setAttribute("aria-label", one.name);
    button.name = "bet";
    button.value = one.id;
    return button;
  }));
}

// --- what is clicked -----------------------------------------------------------------------------

async function carefully(work) {
  try {
    await work();
    by("said").textContent = "";
  } catch (error) {
    by("said").textContent = error.message;
  }
}

const submitted = (form, work) => by(form).addEventListener("submit", (event) => {
  event.preventDefault();
  busy = true; // no update is drawn until the action is done
  carefully(async () => { await work(event.submitter); await look(); }).finally(() => { busy = false; });
});
submitted("begin", (button) => begin(button?.name === "quick"));
submitted("enter", () => join(game, by("guest").value));
submitted("turn", (button) => {
  by("turn").hidden = true; // a move is made once
  seen = null;
  const action_id = String(button.name === "check" ? CHECK : button.value);
  return ask(`games/${game}/play`, { player_uuid: seats.of(game).secret, action_id });
});
submitted("admin", (button) => {
  const admin_uuid = seats.of(game).secret;
  if (button.name === "invite") return ask(`games/${game}/invite-aiagent`, { admin_uuid, agent_name: by("agent").value });
  if (button.name === "start") return ask(`games/${game}/start`, { admin_uuid });
  return ask(`games/${game}/make-${seen.public === "true" ? "private" : "public"}`, { admin_uuid });
});

async function look() {
  const named = location.hash.slice(1);
  if (named !== game) [game, seen, told] = [named, null, {}];
  by("lobby").hidden = Boolean(game);
  by("game").hidden = !game;
  await (game ? showGame() : showLobby());
}

by("agent").replaceChildren(...AGENTS.map((one) => element("option", one)));
by("nickname").value = by("guest").value = localStorage.getItem("blef nickname") ?? "";
window.addEventListener("hashchange", () => carefully(look));
await carefully(look);
setInterval(() => { if (document.visibilityState === "visible" && !busy) look().catch((error) => { by("said").textContent = error.message; }); }, PAUSE);
