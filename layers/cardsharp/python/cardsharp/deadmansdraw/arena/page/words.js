// What happens at the table, in words.

export const SIGNS = {
  Anchor: "⚓", Hook: "🪝", Cannon: "💣", Key: "🗝️", Chest: "🧰",
  Map: "🗺️", Oracle: "🔮", Sword: "⚔️", Kraken: "🐙", Mermaid: "🧜",
};
export const SUITS = Object.keys(SIGNS);

const named = (card) => (card ? `${SIGNS[card.suit] ?? ""} ${card.suit} ${card.value}` : "nothing");

export function sentence(event, names) {
  switch (event.eventType) {
    case "MatchStarted": return "The match begins";
    case "TurnStarted": return "The turn begins";
    case "Draw": return `draws ${named(event.drawCard)}`;
    case "CardPlacedToPlayArea": return `places ${named(event.cardPlacedToPlayAreaCard)}`;
    case "CardPlayedEffect": return effectSentence(event.cardPlayedEffect);
    case "ResponseToEffect":
      return event.responseToEffectCard
        ? `${event.responseToEffectType}: takes ${named(event.responseToEffectCard)}`
        : `${event.responseToEffectType}: leaves the card`;
    case "CardRemovedFromBank":
      return `${named(event.cardRemovedFromBankCard)} leaves the bank of ${names[event.cardRemovedFromBankIndex]}`;
    case "TurnEnded": return endSentence(event);
    case "MatchEnded": return outcomeSentence(event, names);
    case "Comment": return `“${event.comment}”`;
    default: return event.eventType;
  }
}

export function effectSentence(effect) {
  const cards = (effect.cards ?? []).filter(Boolean).map(named).join(", ");
  switch (effect.effectType) {
    case "Kraken": return `Kraken: ${effect.krakenCount} more to draw`;
    case "Oracle": return `Oracle shows ${cards}`;
    case "Map": return `Map offers ${cards}`;
    default: return `${effect.effectType} waits for a choice`;
  }
}

function endSentence(event) {
  const banked = event.turnEndedDelta.banks.flatMap((bank) => bank.added ?? []).length;
  const bonus = event.turnEndedBonusCards?.length ? `, ${event.turnEndedBonusCards.length} of them a bonus` : "";
  const cards = `${banked} ${banked === 1 ? "card" : "cards"} banked${bonus}`;
  return event.turnEndedIsSuccessful ? `ends the turn: ${cards}` : `busts: ${cards}`;
}

export function outcomeSentence(event, names) {
  const score = event.matchEndedScores.join(" : ");
  const winner = event.matchEndedWinnerIdx;
  const how = event.matchEndedTerminated ? " (ended by decision)" : "";
  return winner === null ? `The match ends in a tie, ${score}${how}` : `${names[winner]} wins ${score}${how}`;
}
