// What layout.py asks of a page.

// What is seen of an element or text: its box within all that scrolls or clips around it.
const seen = (one) => {
  const found = one.getBoundingClientRect();
  let box = { left: found.left, top: found.top, right: found.right, bottom: found.bottom };
  let up = one instanceof Range ? one.startContainer.parentElement : one.parentElement;
  for (; up && up !== document.body; up = up.parentElement) {
    const style = getComputedStyle(up);
    if (style.visibility === "hidden" || style.opacity === "0" || style.clipPath !== "none")
      return null;
    if (style.overflow === "visible") continue;
    const edge = up.getBoundingClientRect();
    box = {
      left: Math.max(box.left, edge.left),
      top: Math.max(box.top, edge.top),
      right: Math.min(box.right, edge.right),
      bottom: Math.min(box.bottom, edge.bottom),
    };
  }
  return box.right - box.left > 1 && box.bottom - box.top > 1 ? box : null;
};
const called = (one) =>
  one.id
    ? `#${one.id}`
    : one.getAttribute?.("aria-label") ||
      `${one.localName}${one.classList?.length ? "." + one.classList[0] : ""} "${one.textContent.trim().slice(0, 30)}"`;

function faults(finger) {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push("wider than the screen");

  const floats = (one) => {
    for (; one; one = one.parentElement)
      if (["sticky", "fixed"].includes(getComputedStyle(one).position)) return true;
    return false;
  };
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode,
      parent = node.parentElement;
    if (
      !node.textContent.trim() ||
      ["SCRIPT", "STYLE", "NOSCRIPT", "OPTION", "title"].includes(parent.nodeName)
    )
      continue;
    if (parent.closest("[hidden], .symbols, details:not([open]) > :not(summary)") || floats(parent))
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = seen(range);
    if (box) texts.push({ box, parent, text: node.textContent.trim().slice(0, 30) });
  }
  texts.sort((a, b) => a.box.top - b.box.top);
  for (let i = 0; i < texts.length; i++) {
    const a = texts[i];
    for (let j = i + 1; j < texts.length && texts[j].box.top < a.box.bottom - 3; j++) {
      const b = texts[j];
      if (a.parent.contains(b.parent) || b.parent.contains(a.parent)) continue;
      // Lines that break share a rectangle with their neighbours.
      if (
        Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 2 &&
        getComputedStyle(a.parent).display !== "inline" &&
        getComputedStyle(b.parent).display !== "inline"
      )
        found.push(`"${a.text}" lies on "${b.text}"`);
    }
  }

  const boxes = [
    ...document.querySelectorAll(
      ".part, .card, .button, button, svg.box, .pairing, .table, .curve, tr",
    ),
  ]
    .filter((one) => !floats(one) && !one.closest("details:not([open]) > :not(summary)"))
    .map((one) => ({ one, box: seen(one) }))
    .filter(({ box }) => box);
  boxes.sort((a, b) => a.box.top - b.box.top);
  for (let i = 0; i < boxes.length; i++)
    for (let j = i + 1; j < boxes.length && boxes[j].box.top < boxes[i].box.bottom - 2; j++) {
      const [a, b] = [boxes[i], boxes[j]];
      if (a.one.contains(b.one) || b.one.contains(a.one)) continue;
      if (Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 2)
        found.push(`${called(a.one)} lies on ${called(b.one)}`);
    }

  for (const one of document.querySelectorAll(
    "h1, h2, h3, button, .button, .card, th, td, .badge, .brand",
  )) {
    const style = getComputedStyle(one);
    if (style.overflow === "hidden" && one.scrollWidth > one.clientWidth + 1)
      found.push(`${called(one)} is cut off`);
  }

  const middle = (box) => (box.top + box.bottom) / 2;
  for (const one of document.querySelectorAll("a.button")) {
    const range = document.createRange();
    range.selectNodeContents(one);
    const [inner, outer] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
    if (inner.height && Math.abs(middle(inner) - middle(outer)) > 3)
      found.push(`${called(one)} has its text off the middle`);
  }

  if (finger) {
    const inText = (one) =>
      one.closest("p, td, th, li, .facts, .jumps") &&
      !one.matches("button, .button, select, input");
    for (const one of document.querySelectorAll("a[href], button, select, input, summary")) {
      if (inText(one) || one instanceof SVGElement || one.closest("[hidden]")) continue;
      const box = (
        one.matches("input[type=checkbox]") ? one.closest("label") : one
      ).getBoundingClientRect();
      if (
        box.width &&
        ((box.width < finger - 0.5 && one.textContent.trim().length < 3) ||
          box.height < finger - 0.5)
      )
        found.push(
          `${called(one)} is ${Math.round(box.width)} x ${Math.round(box.height)}, less than a finger`,
        );
    }
  }
  return [...new Set(found)].slice(0, 12);
}

// What is wider than its place: the page, and whatever would have to be scrolled sideways but for
// drawings, in which one looks around.
function wide() {
  const place = (one) =>
    ["auto", "scroll"].includes(getComputedStyle(one).overflowX) && !one.matches(".drawing");
  return [document.documentElement, ...document.querySelectorAll("body *")]
    .filter(
      (one) =>
        (one === document.documentElement || place(one)) &&
        one.scrollWidth > one.clientWidth + 1 &&
        one.clientWidth,
    )
    .map((one) => `${called(one)} has ${one.scrollWidth} px in ${one.clientWidth}`);
}

// What matches, has a size, and is not completely on the screen or lies under a bar that floats.
function outOfView(selector) {
  const bottom = document.documentElement.clientHeight;
  const covers = [...document.querySelectorAll("body *")].filter(
    (one) => getComputedStyle(one).position === "sticky",
  );
  return [...document.querySelectorAll(selector)]
    .filter((one) => {
      const box = one.getBoundingClientRect();
      if (!box.width || !box.height) return false;
      const covered = covers.some(
        (cover) =>
          !cover.contains(one) &&
          !one.contains(cover) &&
          cover.getBoundingClientRect().top < box.bottom - 1 &&
          cover.getBoundingClientRect().bottom > box.top + 1 &&
          cover.getBoundingClientRect().left < box.right &&
          cover.getBoundingClientRect().right > box.left,
      );
      return box.top < 0 || box.bottom > bottom + 1 || covered;
    })
    .map(
      (one) =>
        `${called(one)} ends at ${Math.round(one.getBoundingClientRect().bottom)} of ${bottom}`,
    );
}

function sketch() {
  const PARTS =
    ".bar, h1, .filters, .part, .controls, .curve, .thought:not(:empty), .turns, .drawing, " +
    ".scroll:not(.drawing), .pairings, .tables, .tags, .pairs, .jumps, .api > ul";
  const twelfth = (x) => Math.round((12 * x) / document.documentElement.clientWidth);
  let before = null,
    told = "",
    times = 0,
    last = "";
  for (const one of document.querySelectorAll(PARTS)) {
    const box = one.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    let sign = "";
    if (before) {
      const shared = Math.min(box.bottom, before.bottom) - Math.max(box.top, before.top);
      sign = shared > 10 ? " | " : box.top < before.top ? " ^ " : " / ";
    }
    before = box;
    const name = one.dataset.part || one.id || one.classList[0] || one.localName;
    const said = `${sign}${name} ${twelfth(box.left)}-${twelfth(box.right)}`;
    if (said === last) {
      times += 1;
      continue;
    } // one more of the same
    if (times) told += ` x${times + 1}`;
    told += said;
    [last, times] = [said, 0];
  }
  return told + (times ? ` x${times + 1}` : "");
}
