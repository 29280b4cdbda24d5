// How the table looks and sounds: colours of the suits, sound, motion. The browser remembers it.
// It is no module, so that it runs before the page is painted.

const SETTINGS = { suits: "two", sound: "on", motion: "on" };
const root = document.documentElement;

function remembered(name) {
  try {
    return localStorage.getItem(`table-${name}`) ?? SETTINGS[name];
  } catch {
    return SETTINGS[name];
  }
}

function remember(name, value) {
  root.dataset[name] = value;
  try {
    localStorage.setItem(`table-${name}`, value);
  } catch {
    /* it holds for this page only */
  }
}

for (const name of Object.keys(SETTINGS)) root.dataset[name] = remembered(name);

document.addEventListener("DOMContentLoaded", () => {
  const settings = document.getElementById("settings");
  if (!settings) return;
  settings.hidden = false;
  for (const box of settings.querySelectorAll("[data-setting]")) {
    const { setting, on, off } = box.dataset;
    box.checked = root.dataset[setting] === on;
    box.onchange = () => remember(setting, box.checked ? on : off);
  }
});
