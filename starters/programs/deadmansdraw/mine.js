// My player for Dead Man's Draw, in JavaScript. Try it:
//
//   cardsharp play --strategy "node mine.js"        # a match
//   cardsharp show last                             # every turn, and why
//   cardsharp lab duel "node mine.js" draw-3        # how strong is it?
//
// Each input line is a question in JSON, and each output line is the answer to it. A question
// contains everything you need, so nothing is remembered between questions. `cardsharp why` shows
// what you print with console.error().

const BOLDNESS = 0.3; // draw while the probability of a bust is not higher; try other numbers

function decide({ position, actions }) {
  if (position.pendingEffect) {
    // Answer a Hook, a Sword, a Map ...
    const action = best(actions, value);
    return { action, reason: "The highest card that is offered." };
  }
  const draw = actions.find((action) => action.etype === "Draw");
  const end = actions.find((action) => action.etype === "EndTurn");
  if (!end) return { action: draw, reason: "There is no choice." };

  const risk = bustChance(position);
  const percent = `${(100 * risk).toFixed(1)} %`;
  const options = [
    { action: draw, value: 1 - risk, note: "chance not to bust" },
    { action: end, value: 1 - BOLDNESS },
  ];
  return risk <= BOLDNESS
    ? { action: draw, reason: `Only ${percent} to bust.`, options }
    : { action: end, reason: `${percent} to bust is too much.`, options };
}

/** Return the share of the unseen cards whose suit is already in the play area. */
function bustChance({ playArea, unseen }) {
  const lying = new Set(playArea.map((card) => card.suit));
  return unseen.filter((card) => lying.has(card.suit)).length / Math.max(1, unseen.length);
}

/** Return the value of the card in an answer to an effect, or 0 if there is no card. */
function value(action) {
  return action.effect?.card?.value ?? 0;
}

function best(things, worth) {
  return things.reduce((one, other) => (worth(other) > worth(one) ? other : one));
}

require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => console.log(JSON.stringify(decide(JSON.parse(line)))));
