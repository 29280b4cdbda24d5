// Measures the table where a person plays; returns what is wrong with it on this screen.
(minCardHeight) => {
  const faults = [];
  const every = (css) => [...document.querySelectorAll(css)].filter((one) => one.checkVisibility());
  const called = (one) => one.getAttribute("aria-label") || one.textContent.trim().slice(0, 30);
  const box = (one) => one.getBoundingClientRect();
  const controls = every(".choice, .kind, .tools button, .ask summary");
  controls.forEach((a, at) =>
    controls.slice(at + 1).forEach((b) => {
      const [x, y] = [box(a), box(b)];
      const wide = Math.min(x.right, y.right) - Math.max(x.left, y.left);
      const high = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top);
      if (wide > 1 && high > 1) faults.push(`${called(a)} lies on ${called(b)}`);
    }),
  );
  const seen = (one) => {
    // The left edge, as the cards of a full hand lie over each other.
    const { left, top, width, height, bottom, right } = box(one);
    const there = document.elementFromPoint(left + Math.min(6, width / 2), top + height / 2);
    return (
      top >= 0 &&
      left >= 0 &&
      bottom <= innerHeight + 1 &&
      right <= innerWidth + 1 &&
      (one.contains(there) || there?.contains(one))
    );
  };
  const needed = [
    ".choice",
    ".kind",
    "#board .card",
    "#board .plate",
    "#board .bet",
    ".tools button",
  ];
  for (const one of needed.flatMap(every))
    if (!seen(one)) faults.push(`${called(one)} is not in view`);
  for (const one of every("#board .card")) {
    if (one.closest(".claim, .open")) continue; // a picture of a bet, and the open hands of others
    if (box(one).height < minCardHeight - 0.5)
      faults.push(`${called(one)} is ${box(one).height} px high`);
  }
  for (const one of every(
    ".choice, .kind, .tools button, #board .label, #board .name, .ask summary",
  )) {
    const walk = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    const tops = [];
    while (walk.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(walk.currentNode);
      if (!walk.currentNode.parentElement.closest("kbd, small, .card, .back"))
        tops.push(...[...range.getClientRects()].map((line) => line.top));
    }
    const lines = tops.sort((a, b) => a - b).filter((top, at) => !at || top - tops[at - 1] > 8);
    if (lines.length > 2) faults.push(`${called(one)} has ${lines.length} lines`);
  }
  if (document.activeElement.closest("button, a, input"))
    faults.push(`${called(document.activeElement)} has the focus`);
  return faults;
};
