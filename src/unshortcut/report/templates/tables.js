// Tables are sorted by a click on the title of a column: numbers before text, dashes last.
"use strict";
(() => {
  const text = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  const key = (cell) => {
    if ("value" in cell.dataset) return { rank: 0, number: Number(cell.dataset.value) };
    const content = cell.textContent.trim();
    return content === "–" || content === "" ? { rank: 2 } : { rank: 1, content };
  };

  const compare = (a, b, sign) => {
    if (a.rank !== b.rank) return a.rank - b.rank;
    if (a.rank === 0) return sign * (a.number - b.number || 0);
    return a.rank === 1 ? sign * text.compare(a.content, b.content) : 0;
  };

  const sort = (table, head) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: key(row.cells[head.cellIndex]) }));
    // Numbers start with the largest, text with the first in the alphabet.
    const first = rows.some(({ key }) => key.rank === 0) ? "descending" : "ascending";
    const other = first === "descending" ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => compare(a.key, b.key, sign));
    body.append(...rows.map(({ row }) => row));
    for (const cell of head.parentElement.cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    for (const head of table.tHead.rows[0].cells) {
      head.firstElementChild.addEventListener("click", () => sort(table, head));
      const cells = [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex]);
      // Phones have no room for columns: each cell has the title of its column beside it.
      if (head.cellIndex) for (const cell of cells) cell.dataset.title = head.textContent;
      head.classList.toggle("number", cells.some((cell) => "value" in cell.dataset));
    }
  }
})();
