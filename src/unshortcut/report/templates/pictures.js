// Pictures are enlarged by a click; arrow keys show the next ones, Esc or a click closes.
"use strict";
(() => {
  // A picture that occurs several times is stored once.
  for (const image of document.querySelectorAll("img[data-same]")) {
    image.src = document.getElementById(`picture-${image.dataset.same}`).src;
  }

  const dialog = document.getElementById("enlarged");
  const [image, caption] = dialog.querySelectorAll("img, figcaption");
  let group = [];
  let index = 0;

  // Includes the titles of the row and the column, which are hidden by the dialog.
  const described = (button, text) => {
    const row = button.closest(".row");
    const heads = row.parentElement.querySelectorAll(".heads:first-child .cells > *");
    const column = heads[[...row.querySelectorAll("button.enlarge")].indexOf(button)];
    const parts = [row.querySelector(".row-title").textContent, column?.textContent, text];
    return [...new Set(parts.filter(Boolean))].join(" · ");
  };

  const show = (at) => {
    index = (at + group.length) % group.length;
    const shown = group[index].querySelector("img");
    image.src = shown.src;
    image.alt = shown.alt;
    caption.textContent = described(group[index], shown.alt);
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
    if (step) show(index + step);
  });
})();
