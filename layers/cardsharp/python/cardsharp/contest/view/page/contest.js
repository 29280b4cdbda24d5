// The page of a contest updates itself: it requests the running matches again and again, and the
// rest of the page when it has changed. The server renders and escapes all of it.

const PAUSE = 2000;
const LIVE = [
  "summary",
  "notices",
  "teams",
  "bracket",
  "standings",
  "statistics",
  "charts",
  "practice",
  "pairings",
  "running",
];

const shown = new Map(); // the ETag of the last response by path

async function fresh(path) {
  // The URL starts at the origin, because a page address with user and password cannot be fetched.
  const answer = await fetch(new URL(path + location.search, location.origin));
  if (!answer.ok) throw new Error(String(answer.status));
  const tag = answer.headers.get("etag");
  if (shown.get(path) === tag) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  shown.set(path, tag);
  return page;
}

function put(page) {
  for (const id of LIVE) {
    const [old, now] = [document.getElementById(id), page.getElementById(id)];
    if (!old || !now || old.isEqualNode(now)) continue;
    const link =
      old.contains(document.activeElement) && document.activeElement.getAttribute("href");
    old.replaceWith(now);
    if (link) now.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
  }
}

async function look() {
  const running = await fresh("/contest/running");
  if (!running) return;
  const main = document.getElementById("contest");
  const { version } = running.getElementById("running").dataset;
  if (version !== main.dataset.version) {
    const page = await fresh("/contest");
    if (page) {
      const next = page.getElementById("contest");
      // Another stage has other sections, so all of the page changes.
      if (next.dataset.stage === main.dataset.stage) put(page);
      else return main.replaceWith(next);
      main.dataset.version = next.dataset.version;
    }
    // A spectator's response may come from a cache that is a moment old. Then request it again.
    if (version !== main.dataset.version) shown.clear();
  }
  put(running);
}

const pause = () => new Promise((done) => setTimeout(done, PAUSE));

for (;;) {
  if (document.visibilityState === "visible") {
    try {
      await look();
      document.getElementById("lost").hidden = true;
    } catch {
      shown.clear();
      document.getElementById("lost").hidden = false;
    }
  }
  if ("over" in document.getElementById("running").dataset) break;
  await pause();
}
