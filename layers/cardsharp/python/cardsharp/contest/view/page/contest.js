// The page of a contest moves on by itself: the running matches are asked for, and the rest of the
// page once it has changed. The server has made and escaped all of it; nothing is put together here.

const PAUSE = 2000;
const LIVE = ["summary", "bracket", "standings", "statistics", "charts", "practice", "pairings", "running"];

const shown = new Map(); // what was asked for, with the ETag of what came

async function fresh(path) {
  // From the origin: an address that was opened with a user and password cannot be fetched.
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
    const link = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
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
      put(page);
      main.dataset.version = page.getElementById("contest").dataset.version;
    }
    // What a spectator is answered may be a moment old: ask again.
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
