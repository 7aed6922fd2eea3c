// Navigation: links within the page, the current section in the contents, and printing.
"use strict";
(() => {
  // In the frame of a notebook, a link to a section would load the notebook itself.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link || location.protocol !== "about:") return;
    event.preventDefault();
    document.getElementById(link.hash.slice(1))?.scrollIntoView();
  });

  const links = new Map(
    [...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]),
  );
  const watch = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (isIntersecting) links.get(target.id).setAttribute("aria-current", "true");
      else links.get(target.id).removeAttribute("aria-current");
    }
  }, { rootMargin: "-30% 0px -65% 0px" });
  for (const section of document.querySelectorAll("main > section")) watch.observe(section);

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
  });
})();
