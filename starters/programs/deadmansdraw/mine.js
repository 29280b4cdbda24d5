// My player for Dead Man's Draw, in JavaScript. Try it:
//
//   cardsharp play --strategy "node mine.js"        # a match
//   cardsharp show last                             # every turn, and why
//   cardsharp lab duel "node mine.js" draw-3        # how strong is it?
//
// Each line that comes in is a question in JSON, each line that goes out an answer.
// Nothing is remembered between two questions. console.error() is for you: `cardsharp why` shows it.

const BOLDNESS = 0.3; // draw as long as the chance to bust is at most this; try other numbers

function decide({ position, actions }) {
  if (position.pendingEffect) {
    // A Hook, a Sword, a Map ... wants an answer.
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

/** The share of the unseen cards whose suit lies in the play area already. */
function bustChance({ playArea, unseen }) {
  const lying = new Set(playArea.map((card) => card.suit));
  return unseen.filter((card) => lying.has(card.suit)).length / Math.max(1, unseen.length);
}

/** The value of the card that an answer to an effect names, 0 for none. */
function value(action) {
  return action.effect?.card?.value ?? 0;
}

function best(things, worth) {
  return things.reduce((one, other) => (worth(other) > worth(one) ? other : one));
}

require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => console.log(JSON.stringify(decide(JSON.parse(line)))));
