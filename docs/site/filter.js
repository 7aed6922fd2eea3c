// A box that filters the rows of all tables on the pages with long ones.
"use strict";
(() => {
  if (!/(recipe-table|papers|api)\.html$/.test(location.pathname)) return;
  const article = document.querySelector("article");
  const rows = [...article.querySelectorAll("tbody tr")].map((row) => [row, row.textContent.toLowerCase()]);
  const box = document.createElement("input");
  box.type = "search";
  box.className = "row-filter";
  box.placeholder = "Filter the rows, e.g. moco imagenet";
  box.setAttribute("aria-label", "Filter the rows of all tables");
  const count = document.createElement("p");
  count.className = "row-count";
  count.setAttribute("aria-live", "polite");
  article.querySelector("h1").after(box, count);

  // What stands between the heading and the end of a table is hidden with its last row.
  const tables = [...article.querySelectorAll("table")];
  const headings = [...article.querySelectorAll("h2, h3")];
  const section = (table) => {
    const before = headings.filter((one) => one.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING);
    const found = [table.closest(".md-typeset__scrollwrap") ?? table];
    let at = before.at(-1)?.tagName === "H3" ? before.at(-1) : null;
    for (; at && !at.contains(table); at = at.nextElementSibling) found.push(at);
    return found;
  };
  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    for (const table of tables) {
      const empty = words.length > 0 && !table.querySelector("tbody tr:not([hidden])");
      for (const one of section(table)) one.hidden = empty;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
    const search = new URLSearchParams(words.length ? { rows: box.value } : {});
    try { history.replaceState(null, "", `${words.length ? `?${search}` : location.pathname}${location.hash}`); } catch { /* opened from disk */ }
  };
  box.addEventListener("input", show);
  box.value = new URLSearchParams(location.search).get("rows") ?? "";
  show();
})();
