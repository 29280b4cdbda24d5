// Play Dead Man's Draw at an arena: node bot.mjs URL ID [TAG | --practice]

const LIMIT = 45_000; // ms: a long poll takes up to 30 s, and the arena can add up to 10 s
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Your strategy: return the action for your turn in a match. This one stops at three cards.
function decide(match) {
  const enough = match.state.playArea.length >= 3;
  return { etype: enough ? "EndTurn" : "Draw", autopick: true };
}

const [base, player, entry = ""] = process.argv.slice(2);
const password = process.env.ARENA_PASSWORD;
if (!base || !player || !password || process.argv.length > 5) {
  console.error("node bot.mjs URL ID [TAG | --practice]; set ARENA_PASSWORD to the password.");
  process.exit(2);
}
const { protocol, hostname } = new URL(base);
if (protocol !== "https:" && !["127.0.0.1", "localhost"].includes(hostname)) {
  console.error("Others could read the password in transit; use https://.");
  process.exit(1);
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
  if (![200, 409, 410].includes(answer.status)) throw new Error(`${answer.status} ${text}`);
  return { status: answer.status, body: JSON.parse(text) };
}

// Play all matches with the tag forever, or one match against the dummy to its end.
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
    // If an action got no response, the next request shows whether it was applied.
    const { cause } = error;
    console.log(cause ? `The arena does not answer: ${cause.code ?? cause.message}` : error.message);
    await pause(1000);
  }
}
