// A match as a list of tables, one after each event; worked out from what the API shows.

function copyBanks(banks) {
  return banks.map((bank) => Object.fromEntries(
    Object.entries(bank).map(([suit, values]) => [suit, [...values]])));
}

function put(bank, card) { (bank[card.suit] ??= []).push(card.value); }

function take(bank, card) {
  const rest = (bank[card.suit] ?? []).filter((value) => value !== card.value);
  if (rest.length) bank[card.suit] = rest; else delete bank[card.suit];
}

// The table after each event, worked out from the events alone.
export function framesOf(match) {
  const given = match.creationParams;
  const events = match.moves.flatMap((move) => move.events.map((event) => ({ event, move })));
  const drawn = events.filter(({ event }) => event.eventType === "Draw").length;
  const banks = [{}, {}];
  (given.banks ?? []).forEach((cards, index) => cards.forEach((card) => put(banks[index], card)));
  const table = {
    banks, area: [...(given.playArea ?? [])], pending: null, player: null, turn: 1, outcome: null,
    draw: match.drawPileSize + drawn, discard: (given.discardPile ?? { length: 10 }).length,
    debug: null, fresh: null,
  };
  let opening = { banks: copyBanks(banks), discard: table.discard };
  const found = [];
  for (const { event, move } of events) {
    table.fresh = null;
    table.turn = move.turnId;
    if (event.playerIndex !== undefined) table.player = event.playerIndex;
    if (event.eventType === "TurnStarted") opening = { banks: copyBanks(table.banks), discard: table.discard };
    change(table, event, opening);
    found.push({ ...table, banks: copyBanks(table.banks), area: [...table.area], event, move });
  }
  const last = found[found.length - 1];
  if (last) Object.assign(last, { debug: match.state.drawPile ?? null, pending: match.state.pendingEffect ?? null });
  return found;
}

function change(table, event, opening) {
  switch (event.eventType) {
    case "Draw":
      table.draw -= 1;
      table.pending = null;
      break;
    case "CardPlacedToPlayArea":
      table.fresh = event.cardPlacedToPlayAreaCard;
      table.area.push(table.fresh);
      break;
    case "CardPlayedEffect":
      table.pending = event.cardPlayedEffect;
      if (table.pending.effectType === "Map") table.discard -= table.pending.cards.length;
      break;
    case "ResponseToEffect":
      if (event.responseToEffectType === "Map") table.discard += (table.pending?.cards?.length ?? 1) - 1;
      if (event.responseToEffectType === "Cannon") table.discard += 1;
      table.pending = null;
      break;
    case "CardRemovedFromBank":
      take(table.banks[event.cardRemovedFromBankIndex], event.cardRemovedFromBankCard);
      break;
    case "TurnEnded":
      endTurn(table, event.turnEndedDelta, opening);
      break;
    case "MatchEnded":
      table.outcome = event;
      table.player = null;
      break;
  }
}

function endTurn(table, delta, opening) {
  table.banks = copyBanks(opening.banks);
  delta.banks.forEach((change, index) => {
    (change.removed ?? []).forEach((card) => take(table.banks[index], card));
    (change.added ?? []).forEach((card) => put(table.banks[index], card));
  });
  const { added = [], removed = [] } = delta.discardPile;
  table.discard = opening.discard + added.length - removed.length;
  table.area = [];
  table.pending = null;
}
