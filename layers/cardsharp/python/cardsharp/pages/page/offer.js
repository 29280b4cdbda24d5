// Makes cards and piles on the board clickable if a button offers them as a choice.

const drawn = (card) =>
  card.querySelector("b").textContent + card.querySelector("use")?.getAttribute("href");

function meant(board, button) {
  const face = button.querySelector(".card");
  if (face) return [...board.querySelectorAll(".card")].filter((one) => drawn(one) === drawn(face));
  const place = button.dataset.place;
  return place ? [...board.querySelectorAll(`[data-part="${CSS.escape(place)}"]`)] : [];
}

// Connect these buttons, and no others, to their cards and piles on the board.
export function offer(board, buttons) {
  for (const one of board.querySelectorAll(".offered")) {
    one.classList.remove("offered");
    one.removeAttribute("title");
    one.onclick = null;
  }
  for (const button of buttons) {
    for (const one of meant(board, button)) {
      one.classList.add("offered");
      one.title = button.querySelector(":scope > span:last-of-type").textContent;
      one.onclick = (event) => {
        event.stopPropagation();
        button.click();
      };
    }
  }
}
