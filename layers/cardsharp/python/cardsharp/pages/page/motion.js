// Animates cards from their old place to the new one, if a name occurs exactly once in both boards.

const still = matchMedia("(prefers-reduced-motion: reduce)");
const LASTS = 180; // milliseconds

function places(board) {
  const found = new Map();
  for (const card of board.querySelectorAll(".card")) {
    const name = card.dataset.card ?? card.textContent;
    found.set(name, found.has(name) ? null : { card, box: card.getBoundingClientRect() });
  }
  return found;
}

// Change the board, and animate its cards to their new places.
export function moving(board, change) {
  if (still.matches || document.visibilityState !== "visible") return change();
  const before = places(board);
  change();
  for (const [name, now] of places(board)) {
    const then = now && before.get(name);
    if (!then) continue;
    const [x, y] = [then.box.left - now.box.left, then.box.top - now.box.top];
    if (!x && !y) continue;
    const from = { transform: `translate(${x}px, ${y}px)` };
    now.card.animate([from, { transform: "none" }], { duration: LASTS, easing: "ease-out" });
  }
}
