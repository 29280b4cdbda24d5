// Keeps a list of matches up to date: it loads the page again every few seconds and replaces the rows.

const PAUSE = 4000;

async function renew() {
  if (document.visibilityState !== "visible") return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const rows = page.getElementById("list");
  const here = document.getElementById("list");
  if (rows && rows.textContent !== here.textContent && !here.contains(document.activeElement)) {
    here.replaceWith(rows);
  }
}

setInterval(() => renew().catch(() => {}), PAUSE);
