// Light or dark: follows the system until the reader chooses.
"use strict";
(() => {
  const key = "unshortcut-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const changed = () => dispatchEvent(new Event("themechange"));

  // Some browsers refuse storage to pages opened from disk and to frames in a notebook.
  try {
    const chosen = localStorage.getItem(key);
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch { /* the system decides */ }

  system.addEventListener("change", changed);
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      const now = root.dataset.theme ?? (system.matches ? "dark" : "light");
      root.dataset.theme = now === "dark" ? "light" : "dark";
      try { localStorage.setItem(key, root.dataset.theme); } catch { /* kept until the page is closed */ }
      changed();
    });
  });

  // Paper is white.
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    changed();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before; else delete root.dataset.theme;
    changed();
  });
})();
