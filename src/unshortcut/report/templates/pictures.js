// Pictures that enlarge; the arrow keys go on to the neighbors, Esc and a click close.
"use strict";
(() => {
  const dialog = document.getElementById("enlarged");
  const [image, caption] = dialog.querySelectorAll("img, figcaption");
  let group = [];
  let place = 0;

  // With the titles of its row and column, which are out of sight now.
  const described = (button, text) => {
    const row = button.closest(".row");
    const heads = row.parentElement.querySelectorAll(".heads:first-child .cells > *");
    const column = heads[[...row.querySelectorAll("button.enlarge")].indexOf(button)];
    const parts = [row.querySelector(".row-title").textContent, column?.textContent, text];
    return [...new Set(parts.filter(Boolean))].join(" · ");
  };

  const show = (at) => {
    place = (at + group.length) % group.length;
    const shown = group[place].querySelector("img");
    image.src = shown.src;
    image.alt = shown.alt;
    caption.textContent = described(group[place], shown.alt);
  };

  for (const button of document.querySelectorAll("button.enlarge")) {
    button.addEventListener("click", () => {
      group = [...button.closest(".pictures").querySelectorAll("button.enlarge")];
      show(group.indexOf(button));
      dialog.showModal();
    });
  }
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) show(place + step);
  });
})();
