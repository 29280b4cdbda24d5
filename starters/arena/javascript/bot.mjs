// Play Dead Man's Draw at an arena: node bot.mjs URL ID [TAG | --practice]

const LIMIT = 45_000; // ms: a long poll lasts 30 s, an arena that is asked too often adds up to 10
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Your strategy: what to do in a match in which it is your turn. Here: stop at three cards.
function decide(match) {
  const enough = match.state.playArea.length >= 3;
  return { etype: enough ? "EndTurn" : "Draw", autopick: true };
}

const [base, player, entry = ""] = process.argv.slice(2);
const password = process.env.ARENA_PASSWORD;
if (!base || !player || !password || process.argv.length > 5) {
  console.error("node bot.mjs URL ID [TAG | --practice]; the password stands in ARENA_PASSWORD.");
  process.exit(2);
}
const { protocol, hostname } = new URL(base);
if (protocol !== "https:" && !["127.0.0.1", "localhost"].includes(hostname)) {
  console.error("Others could read the password on its way: use https://.");
  process.exit(1);
}
const matches = `${base.replace(/\/+$/, "")}/api/matches`;
const headers = {
  authorization: `Basic ${Buffer.from(`${player}:${password}`).toString("base64")}`,
  "content-type": "application/json",
};

// The arena's answer: 200, 409 (not your turn) or 410 (the match is over).
async function ask(url, sent) {
  const body = JSON.stringify(sent); // with something to send it is a POST
  const method = sent ? "POST" : "GET";
  const answer = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(LIMIT) });
  const text = await answer.text();
  if (answer.status === 401) {
    console.error(`${text}: are ID and ARENA_PASSWORD right?`);
    process.exit(1);
  }
  if (answer.headers.get("x-slowdown-remaining") === "0") await pause(1000);
  if (![200, 409, 410].includes(answer.status)) throw new Error(`${answer.status} ${text}`);
  return { status: answer.status, body: JSON.parse(text) };
}

// Plays all matches with the tag for ever, or one against the dummy to its end.
const tags = entry && `&tags=${encodeURIComponent(entry)}`;
let look = `${matches}?active=1&wait=1${tags}`;
let practice = null;
for (;;) {
  try {
    if (entry === "--practice" && !practice) {
      practice = (await ask(matches, { playerids: [player, "0".repeat(24)] })).body.id;
      look = `${matches}/${practice}?waitactive=1`;
    }
    const { status, body } = await ask(look);
    if (status === 410) {
      console.log(["won", "lost"][body.state.winnerIdx] ?? "drawn");
      break;
    }
    for (const match of status === 200 ? [body].flat() : []) {
      await ask(`${matches}/${match._id}`, decide(match));
    }
  } catch (error) {
    // Of an action without an answer the next look tells what came of it.
    const { cause } = error;
    console.log(cause ? `The arena does not answer: ${cause.code ?? cause.message}` : error.message);
    await pause(1000);
  }
}
