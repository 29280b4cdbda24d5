// Play Dead Man's Draw at an arena: node bot.mjs URL ID [TAG | --practice] [--insecure]

const LIMIT = 45_000; // ms: a long poll takes up to 30 s, and the arena can add up to 10 s
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Your strategy: return the action for your turn in a match. This one stops at three cards.
function decide(match) {
  const enough = match.state.playArea.length >= 3;
  return { etype: enough ? "EndTurn" : "Draw", autopick: true };
}

const words = process.argv.slice(2);
const insecure = words.includes("--insecure") || process.env.ARENA_INSECURE === "1";
const [base, player, entry = "", ...more] = words.filter((word) => word !== "--insecure");
const password = process.env.ARENA_PASSWORD;
if (!base || !player || !password || more.length) {
  console.error("node bot.mjs URL ID [TAG | --practice] [--insecure]; set ARENA_PASSWORD to the password.");
  process.exit(2);
}
const { protocol, hostname } = new URL(base);
if (protocol !== "https:" && !["127.0.0.1", "localhost"].includes(hostname)) {
  if (!insecure) {
    console.error("Others could read the password in transit: use https://, or --insecure in a network that you trust.");
    process.exit(1);
  }
  console.error("Warning: others in this network can read the password.");
}
const matches = `${base.replace(/\/+$/, "")}/api/matches`;
const headers = {
  authorization: `Basic ${Buffer.from(`${player}:${password}`).toString("base64")}`,
  "content-type": "application/json",
};

// Send a request and return the response: 200, 409 (not your turn) or 410 (match over).
async function ask(url, sent) {
  const body = JSON.stringify(sent); // a request with a body is a POST
  const method = sent ? "POST" : "GET";
  const answer = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(LIMIT) });
  const text = await answer.text();
  if (answer.status === 401) {
    console.error(`${text}: are ID and ARENA_PASSWORD right?`);
    process.exit(1);
  }
  if (answer.headers.get("x-slowdown-remaining") === "0") await pause(1000);
  if (![200, 409, 410].includes(answer.status)) {
    throw Object.assign(new Error(`${answer.status} ${text}`), { status: answer.status });
  }
  if (answer.headers.has("x-arena-notice")) console.log(answer.headers.get("x-arena-notice"));
  return { status: answer.status, body: JSON.parse(text) };
}

// Print that a match begins, or its result if it is over; return true if it is over.
async function report(match, seat, begins = false) {
  const { body } = await ask(`${matches}/${match}?condensed=1`);
  const [mine, other] = [body.playerdata[seat], body.playerdata[1 - seat]];
  const title = `Match ${match}, ${body.playernames.join(" against ")}`;
  if (begins) {
    console.log(`${title}: begins`);
  } else if (body.finished) {
    const result = mine.winner ? "won" : other.winner ? "lost" : "drawn";
    console.log(`${title}: ${result} ${mine.bankvalue}:${other.bankvalue}`);
  }
  return body.finished;
}

// Play all matches with the tag forever, or one match against the dummy to its end.
const tags = entry && `&tags=${encodeURIComponent(entry)}`;
const seats = new Map(); // your seat, 0 or 1, in each match that runs
let look = `${matches}?active=1&wait=1${tags}`;
let practice = null;
let isLost = false;
const kind = entry ? `matches with the tag ${entry}` : "all its matches";
console.log(`Player ${player} waits for ${entry === "--practice" ? "a practice match" : kind} at ${base}`);
for (;;) {
  try {
    if (entry === "--practice" && !practice) {
      practice = (await ask(matches, { playerids: [player, "0".repeat(24)] })).body.id;
      look = `${matches}/${practice}?waitactive=1`;
    }
    const { status, body } = await ask(look);
    if (isLost) console.log("The arena answers again.");
    isLost = false;
    const found = status === 200 ? [body].flat() : [];
    const fresh = found.filter((match) => !seats.has(match._id));
    if (fresh.length || !found.length) {
      // Matches that ran may be over.
      for (const [match, seat] of [...seats]) if (await report(match, seat)) seats.delete(match);
    }
    if (status === 410) break;
    for (const match of fresh) {
      const seat = match.playerids.indexOf(player);
      await report(match._id, seat, true);
      seats.set(match._id, seat);
    }
    for (const match of found) await ask(`${matches}/${match._id}`, decide(match));
  } catch (error) {
    // If an action got no response, the next request shows whether it was applied.
    if (error.status === 404) seats.clear(); // a restarted arena may have lost its matches
    const isSilent = error.cause || error.name === "TimeoutError" || error.status >= 500;
    if (!isSilent) console.log(error.status ? error.message : error);
    else if (!isLost) {
      const reason = error.status ?? error.cause?.code ?? error.name;
      console.log(`The arena does not answer (${reason}). Trying again every second.`);
    }
    isLost ||= Boolean(isSilent);
    await pause(1000);
  }
}
