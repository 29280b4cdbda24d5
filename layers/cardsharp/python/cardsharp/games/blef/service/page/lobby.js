// The lobby and the game, by the documented API alone, so anybody could write another page.

const BETS = {{ bets }},
  AGENTS = {{ agents }},
  CHECK = BETS.length,
  LOST = CHECK + 1;
const VALUES = ["9", "10", "J", "Q", "K", "A"],
  COLOURS = ["♣", "♦", "♥", "♠"];
const PAUSE = 1000; // milliseconds between two requests while the page is visible
const by = (id) => document.getElementById(id);
const seats = {
  // our secret uuids by game; this browser alone has them
  of: (game) => JSON.parse(localStorage.getItem(`blef ${game}`) ?? "null"),
  keep: (game, seat) => localStorage.setItem(`blef ${game}`, JSON.stringify(seat)),
};
let game = null,
  seen = null,
  kind = null,
  told = {},
  busy = false;
let invitation = null; // the game in which somebody waits for a rematch

async function ask(path, body) {
  const sent = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const answer = await fetch(path, { cache: "no-store", ...sent });
  const said = await answer.json();
  if (!answer.ok)
    throw new Error(
      said.error ?? said.message ?? `The service failed with status ${answer.status}. Try again.`,
    );
  return said;
}

const element = (name, text, kind) => {
  const made = document.createElement(name);
  made.textContent = text ?? "";
  if (kind) made.className = kind;
  return made;
};
const card = ({ value, colour }) => {
  const made = element("span", "", colour === 1 || colour === 2 ? "card red" : "card");
  made.append(element("b", VALUES[value]), element("i", COLOURS[colour]));
  return made;
};
const BOT_NAME = /^(.*?)(?:_(\d+))?_\(AI\)$/; // the name of an invited bot: "Dazhbog_(AI)", "Dazhbog_2_(AI)"
const displayName = (name) =>
  name.replace(BOT_NAME, (_, bot, number) => `${bot} ${number ? `${number} ` : ""}(AI)`);
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const cardLimit = (playerCount) => (playerCount === 2 ? 11 : Math.floor(24 / playerCount));
const parts = (name) => {
  // what kind of bet, and of what: "Pair", "9s"
  const straight = /^(\w+) (straight(?: flush)?) (.*)$/.exec(name);
  if (straight)
    return { kind: straight[2].replace(/^s/, "S"), what: `${straight[1]} ${straight[3]}` };
  const [, kind, what] = /^(.*?)(?:, | of (?!a kind))(.*)$/.exec(name);
  return { kind, what };
};
const named = (action) =>
  action === CHECK ? "check" : action === LOST ? "lost the round" : BETS[action];

// --- the lobby -----------------------------------------------------------------------------------

async function join(uuid, nickname) {
  const { player_uuid: secret } = await ask(`games/${uuid}/join`, { nickname });
  localStorage.setItem("blef nickname", nickname);
  seats.keep(uuid, { nickname, secret });
  seen = invitation = null; // the page was drawn for a spectator, so it must be drawn again
  location.hash = uuid;
}

async function begin(quick) {
  const nickname = by("nickname").value;
  const { game_uuid: uuid } = await ask("games/create", {});
  await join(uuid, nickname);
  if (!quick) return;
  const admin_uuid = seats.of(uuid).secret;
  for (const agent_name of AGENTS)
    await ask(`games/${uuid}/invite-aiagent`, { admin_uuid, agent_name });
  await ask(`games/${uuid}/start`, { admin_uuid });
}

async function showLobby() {
  const games = await ask("games");
  by("none").hidden = games.length > 0;
  const focused = document.activeElement?.dataset.game;
  by("games").replaceChildren(
    ...games.map((one) => {
      const row = element("tr"),
        button = element("button", "Join");
      button.dataset.game = one.game_uuid;
      button.onclick = () =>
        carefully(async () => {
          if (by("nickname").reportValidity()) await join(one.game_uuid, by("nickname").value);
        });
      row.append(
        element("td", one.room),
        element("td", one.players.map(displayName).join(", ")),
        element("td"),
      );
      row.lastChild.append(button);
      return row;
    }),
  );
  if (focused) by("games").querySelector(`[data-game="${CSS.escape(focused)}"]`)?.focus();
}

// --- the table -----------------------------------------------------------------------------------

async function showGame() {
  const uuid = game,
    seat = seats.of(game),
    secret = seat?.secret;
  const query = secret ? `?player_uuid=${secret}` : "";
  const now = await ask(`games/${game}${query}`);
  if (uuid !== game || secret !== seats.of(game)?.secret) return; // we have joined since the request was sent
  if (!seen || now.last_modified !== seen.last_modified) await update(now, seat);
  if (now.status === "Finished" && seat) await findRematch(now, seat);
}

async function update(now, seat) {
  if (now.round_number > 1 && now.round_number !== told.number) {
    told = { number: now.round_number, before: await fetchRound(now.round_number - 1) };
  }
  draw(now, seat);
  seen = now;
  if (now.status === "Finished") await showAnalysis(now);
}

function fetchRound(number) {
  const secret = seats.of(game)?.secret;
  return ask(`games/${game}?round=${number}${secret ? `&player_uuid=${secret}` : ""}`);
}

function describeState(now, mine) {
  if (now.status === "Not started")
    return `${now.players.length} of 2 to 8 players. ${displayName(now.admin_nickname ?? "The first player")} can start the game.`;
  if (now.status === "Finished")
    return `${displayName(now.players.find((one) => one.n_cards)?.nickname ?? "Nobody")} has won.`;
  return `Round ${now.round_number}. ${mine ? "It is your turn." : `It is ${displayName(now.cp_nickname ?? "nobody")}'s turn.`}`;
}

function draw(now, seat) {
  const open = now.status === "Not started",
    mine = Boolean(seat) && now.cp_nickname === seat.nickname;
  const admin = open && seat && now.admin_nickname === seat.nickname;
  by("title").textContent = `Room ${now.room}`;
  by("state").textContent = describeState(now, mine);
  by("role").hidden = Boolean(seat) || open;
  by("game").dataset.status = now.status;
  by("setup").hidden = !open;
  by("admin").hidden = !admin;
  by("alone").hidden = now.players.length > 1;
  document.querySelector("[name=start]").disabled = now.players.length < 2;
  by("link").value = location.href;
  document.querySelector("[name=public]").textContent =
    now.public === "true" ? "Make it private" : "Make it public";
  by("enter").hidden = !open || Boolean(seat);
  drawPlayers(now, seat);
  const own = now.hands.find((one) => one.nickname === seat?.nickname);
  by("story").hidden = now.status !== "Running";
  by("mine").hidden = now.status !== "Running" || !own?.hand.length;
  by("hand").replaceChildren(...(own?.hand ?? []).map(card));
  by("history").replaceChildren(...now.history.map((one) => moveLine(one)));
  by("last").hidden = !told.before || now.status === "Finished";
  if (now.status === "Running" && seen?.status !== "Running") by("rules").open = false;
  if (told.before) {
    by("result").replaceChildren(...told.before.history.map((one) => moveLine(one)));
    by("hands").replaceChildren(...told.before.hands.map(handLine));
  }
  by("after").hidden = now.status !== "Finished";
  by("again").hidden = !seat;
  drawTurn(now, mine && now.status === "Running");
}

function moveLine({ player, action_id: action }) {
  const line = element("li");
  line.append(element("b", displayName(player)), action === LOST ? " " : ": ", named(action));
  return line;
}

function handLine({ nickname, hand }) {
  const line = element("li");
  line.append(element("b", displayName(nickname)), " ", ...hand.map(card));
  return line;
}

// Each player with a picture of the cards: full ones are held, empty ones are left until the player is out.
function drawPlayers(now, seat) {
  const running = now.status !== "Not started",
    limit = now.max_cards || cardLimit(Math.max(2, now.players.length));
  by("players").replaceChildren(
    ...now.players.map((player) => {
      const line = element(
        "li",
        "",
        [
          player.nickname === now.cp_nickname ? "mover" : "",
          player.nickname === seat?.nickname ? "you" : "",
          running && !player.n_cards ? "out" : "",
        ]
          .join(" ")
          .trim(),
      );
      line.append(element("span", displayName(player.nickname), "name"));
      if (player.nickname === seat?.nickname) line.append(element("span", "you", "badge"));
      if (!running && player.nickname === now.admin_nickname)
        line.append(element("span", "host", "badge"));
      if (running) line.append(cardPicture(player.n_cards, limit));
      return line;
    }),
  );
  by("limit").textContent =
    now.status === "Finished"
      ? ""
      : running
        ? `Everybody may hold ${plural(limit, "card")}. A player who would get one more is out.`
        : now.players.length < 2
          ? ""
          : `With ${now.players.length} players, everybody may hold ${plural(limit, "card")}.`;
}

function cardPicture(count, limit) {
  if (!count) return element("span", "out", "quiet");
  const picture = element("span", "", "stack");
  const slots = element("span", "", "slots");
  slots.setAttribute("role", "img");
  slots.setAttribute("aria-label", `${count} of ${limit} cards`);
  slots.append(
    ...[...Array(limit).keys()].map((index) =>
      element("span", "", index < count ? "full" : "free"),
    ),
  );
  picture.append(slots, element("span", `${count} of ${limit}`, "quiet"));
  picture.lastChild.setAttribute("aria-hidden", "true");
  return picture;
}

// --- after the game ------------------------------------------------------------------------------

async function showAnalysis(now) {
  const uuid = game,
    rounds = [];
  for (let number = 1; number < now.round_number; number += 1)
    rounds.push(analyseRound(await fetchRound(number)));
  if (uuid !== game) return;
  const table = element("table", "", "figures stacks");
  const head = element("thead"),
    row = element("tr"),
    body = element("tbody");
  row.append(
    ...["Player", "Rounds lost", "Bets that held", "Checks that were right"].map((text, index) => {
      const cell = element("th", text, index ? "num" : "");
      cell.scope = "col";
      return cell;
    }),
  );
  head.append(row);
  body.append(
    ...summarizePlayers(
      now.players.map((one) => one.nickname),
      rounds,
    ).map(summaryRow),
  );
  table.append(head, body);
  const note = element(
    "p",
    "“By the own cards” is the probability that the bet holds for a player who knows only the own cards and how many are in play. What the bets of the others tell is not in it.",
    "quiet",
  );
  by("analysis").replaceChildren(table, note, ...rounds.reverse().map(roundDetails));
  by("analysis").querySelector("details")?.setAttribute("open", "");
}

function summaryRow({ name, lost, bets, held, checks, right }) {
  const row = element("tr"),
    head = element("th", displayName(name));
  head.scope = "row";
  row.append(
    head,
    ...[
      ["Rounds lost", String(lost)],
      ["Bets that held", `${held} of ${bets}`],
      ["Checks that were right", `${right} of ${checks}`],
    ].map(([label, text]) => {
      const cell = element("td", text, "num");
      cell.dataset.label = label;
      return cell;
    }),
  );
  return row;
}

function roundDetails({ number, moves, loser, hands }) {
  const details = element("details"),
    list = element("ol", "", "moves"),
    shown = element("ul", "", "shown");
  const last = moves.at(-1);
  details.append(
    element(
      "summary",
      `Round ${number}: ${BETS[last.bet]} ${last.held ? "held" : "did not hold"}, so ${displayName(loser)} lost.`,
    ),
  );
  list.append(
    ...moves.map(({ player, action, likelihood, held }) => {
      const line = element("li");
      const percent = `${Math.round(100 * likelihood)} % by the own cards`;
      line.append(
        element("b", displayName(player)),
        `: ${named(action)} `,
        element("span", action === CHECK ? `the bet: ${percent}` : percent, "quiet"),
      );
      if (action !== CHECK)
        line.append(
          " ",
          element("span", held ? "held" : "did not hold", held ? "badge live" : "badge failed"),
        );
      return line;
    }),
  );
  shown.append(...hands.map(handLine));
  details.append(list, shown);
  return details;
}

// A rematch is a public game of which all players were in this one, as its list shows the names alone.
async function findRematch(now, seat) {
  const before = now.players.map((one) => one.nickname),
    people = before.filter((name) => name !== seat.nickname && !BOT_NAME.test(name));
  invitation =
    people.length &&
    (await ask("games")).find(
      (one) =>
        one.last_modified > now.last_modified &&
        !one.players.includes(seat.nickname) &&
        one.players.every((name) => before.includes(name)) &&
        one.players.some((name) => people.includes(name)),
    );
  by("rematch").textContent = invitation ? "Join the rematch" : "Rematch with the same players";
  by("invitation").textContent = invitation
    ? `${displayName(invitation.players.find((name) => people.includes(name)))} is waiting in room ${invitation.room}.`
    : people.length
      ? "Everybody who still has this page open is invited."
      : "";
}

async function playAgain() {
  const { players } = seen,
    { nickname } = seats.of(game);
  if (invitation) return join(invitation.game_uuid, nickname);
  const { game_uuid: uuid } = await ask("games/create", {});
  await join(uuid, nickname);
  const admin_uuid = seats.of(uuid).secret,
    bots = players.map((one) => BOT_NAME.exec(one.nickname)?.[1]).filter(Boolean);
  const isAlone = players.length === bots.length + 1;
  if (!isAlone) await ask(`games/${uuid}/make-public`, { admin_uuid });
  for (const agent_name of bots)
    await ask(`games/${uuid}/invite-aiagent`, { admin_uuid, agent_name });
  if (isAlone) await ask(`games/${uuid}/start`, { admin_uuid });
}

function drawTurn(now, mine) {
  by("turn").hidden = !mine;
  if (!mine) return;
  const last = now.history.at(-1)?.action_id ?? -1;
  by("check").hidden = last < 0;
  by("checking").textContent = last < 0 ? "" : `ends the round, if you doubt “${named(last)}”.`;
  by("beat").textContent =
    last < 0
      ? "You begin the round."
      : `${displayName(now.history.at(-1).player)} bets: ${named(last)}. Bet higher, or check it.`;
  const higher = BETS.map((name, id) => ({ name, id, ...parts(name) })).filter(
    (one) => one.id > last,
  );
  const kinds = [...new Set(higher.map((one) => one.kind))];
  if (!kinds.includes(kind)) kind = kinds[0];
  by("kinds").replaceChildren(
    ...kinds.map((one) => {
      const button = element("button", one);
      button.type = "button";
      button.setAttribute("aria-pressed", String(one === kind));
      button.onclick = () => {
        kind = one;
        drawTurn(now, mine);
        by("kinds").querySelector('[aria-pressed="true"]').focus(); // it was drawn again
      };
      return button;
    }),
  );
  by("bets").replaceChildren(
    ...higher
      .filter((one) => one.kind === kind)
      .map((one) => {
        const button = element("button", one.what);
        button.setAttribute("aria-label", one.name);
        button.name = "bet";
        button.value = one.id;
        return button;
      }),
  );
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

const submitted = (form, work) =>
  by(form).addEventListener("submit", (event) => {
    event.preventDefault();
    busy = true; // no update is drawn until the action is done
    carefully(async () => {
      await work(event.submitter);
      await look();
    }).finally(() => {
      busy = false;
    });
  });
submitted("begin", (button) => begin(button?.name === "quick"));
submitted("enter", () => join(game, by("guest").value));
submitted("again", playAgain);
submitted("visit", () => {
  const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(by("address").value)?.[0];
  if (!uuid)
    throw new Error("This is not the link of a game. A link ends with # and the id of the game.");
  location.hash = uuid.toLowerCase();
});
by("copy").addEventListener("click", () =>
  carefully(async () => {
    if (navigator.clipboard) await navigator.clipboard.writeText(by("link").value);
    else {
      // outside HTTPS and this machine a page has no clipboard
      by("link").select();
      document.execCommand("copy");
    }
    by("copied").textContent = "The link is copied.";
  }),
);
by("share").hidden = !navigator.share;
by("share").addEventListener("click", () =>
  navigator.share({ title: "Blef", url: by("link").value }).catch(() => {}),
);
submitted("turn", (button) => {
  by("turn").hidden = true; // a move is made once
  seen = null;
  const action_id = String(button.name === "check" ? CHECK : button.value);
  return ask(`games/${game}/play`, { player_uuid: seats.of(game).secret, action_id });
});
submitted("admin", (button) => {
  const admin_uuid = seats.of(game).secret;
  if (button.name === "invite")
    return ask(`games/${game}/invite-aiagent`, { admin_uuid, agent_name: by("agent").value });
  if (button.name === "start") return ask(`games/${game}/start`, { admin_uuid });
  return ask(`games/${game}/make-${seen.public === "true" ? "private" : "public"}`, { admin_uuid });
});

async function look() {
  const named = location.hash.slice(1);
  if (named !== game) {
    [game, seen, told, invitation] = [named, null, {}, null];
    by("analysis").replaceChildren();
    by("copied").textContent = "";
    by("rules").open = true;
  }
  by("lobby").hidden = Boolean(game);
  by("game").hidden = !game;
  await (game ? showGame() : showLobby());
}

by("agent").replaceChildren(...AGENTS.map((one) => element("option", one)));
by("nickname").value = by("guest").value = localStorage.getItem("blef nickname") ?? "";
window.addEventListener("hashchange", () => carefully(look));
await carefully(look);
setInterval(() => {
  if (document.visibilityState === "visible" && !busy)
    look().catch((error) => {
      by("said").textContent = error.message;
    });
}, PAUSE);
