// The analysis of a finished game: whether each bet held, and how likely it was by its player's cards.

const CLAIMS = {{ claims }}; // what each bet says: counts of values and of suits, and single cards
const DECK = [...Array(24).keys()].map((index) => ({ value: index >> 2, colour: index & 3 }));
const DEALS = 2000; // of the unknown cards for one probability, which is then right within 3 %

// True if the cards contain what a bet says.
function holds(cards, bet) {
  const { values, colours, exact } = CLAIMS[bet];
  const count = (field, wanted) => cards.filter((card) => card[field] === wanted).length;
  return (
    values.every(([value, least]) => count("value", value) >= least) &&
    colours.every(([colour, least]) => count("colour", colour) >= least) &&
    exact.every(([value, colour]) =>
      cards.some((card) => card.value === value && card.colour === colour),
    )
  );
}

// Random numbers that are the same for each display of a game (the generator mulberry32).
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// The probability that a bet holds for a player who knows this hand and how many cards are in play.
function chance(hand, poolSize, bet, seed) {
  const unknown = DECK.filter(
    (card) => !hand.some((own) => own.value === card.value && own.colour === card.colour),
  );
  const random = randomNumbers(seed),
    drawCount = poolSize - hand.length;
  let held = 0;
  for (let deal = 0; deal < DEALS; deal += 1) {
    for (let index = 0; index < drawCount; index += 1) {
      const other = index + Math.floor(random() * (unknown.length - index));
      [unknown[index], unknown[other]] = [unknown[other], unknown[index]];
    }
    held += holds([...hand, ...unknown.slice(0, drawCount)], bet);
  }
  return held / DEALS;
}

// The moves of a closed round, each with what the analysis says about it.
function analyseRound(round) {
  const hands = new Map(round.hands.map(({ nickname, hand }) => [nickname, hand]));
  const pool = [...hands.values()].flat();
  const moves = [];
  for (const { player, action_id: action } of round.history) {
    const bet = action < CLAIMS.length ? action : moves.at(-1)?.bet;
    if (action > CLAIMS.length || bet === undefined) continue; // the mark of the loser
    const likelihood = chance(
      hands.get(player) ?? [],
      pool.length,
      bet,
      100 * round.round_number + moves.length,
    );
    moves.push({ player, action, bet, likelihood, held: holds(pool, bet) });
  }
  const loser = round.history.at(-1)?.player;
  return { number: round.round_number, moves, loser, hands: round.hands };
}

// What each player did in all rounds: lost rounds, bets that held, checks that were right.
function summarizePlayers(names, rounds) {
  return names.map((name) => {
    const moves = rounds.flatMap((round) => round.moves).filter((move) => move.player === name);
    const bets = moves.filter((move) => move.action < CLAIMS.length),
      checks = moves.filter((move) => move.action === CLAIMS.length);
    return {
      name,
      lost: rounds.filter((round) => round.loser === name).length,
      bets: bets.length,
      held: bets.filter((move) => move.held).length,
      checks: checks.length,
      right: checks.filter((move) => !move.held).length,
    };
  });
}
