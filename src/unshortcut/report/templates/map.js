// The map in the reader's hands: pointer, touch and keys, neighbors of an image, and the legend.
"use strict";
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const box = document.getElementById("map");
  const canvas = box.querySelector("canvas");
  const sheets = [...document.querySelectorAll("img.sheet")];
  const view = new MapView(canvas, content, sheets);
  const { names, classes, labels } = content;

  const make = (tag, text = "", kind = "") => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const classText = (index) => labels[index].map((number) => classes[number]).join(", ");
  const picture = (index, made = make("canvas")) => {
    made.width = made.height = content.side;
    const drawn = () => view.thumbnail(made.getContext("2d"), index, 0, 0, content.side);
    const sheet = sheets[Math.floor(index / content.perRow ** 2)];
    if (sheet.complete) drawn(); else sheet.addEventListener("load", drawn, { once: true });
    return made;
  };

  // The image under the pointer.
  const hover = box.querySelector(".hover");
  const point = (index, left = 0, top = 0) => {
    if (index !== view.hovered) {
      view.hovered = index;
      view.draw();
      canvas.classList.toggle("pointed", index >= 0);
      hover.hidden = index < 0;
      if (index >= 0) {
        picture(index, hover.querySelector("canvas"));
        hover.querySelector("b").textContent = classText(index);
        hover.querySelector(".name").textContent = names[index];
      }
    }
    if (index < 0) return;
    const [x, y] = [left + 16, top + 16];
    const flipped = (at, before, size, limit) => at + size > limit ? Math.max(4, before - 16 - size) : at;
    const across = flipped(x, left, hover.offsetWidth, canvas.clientWidth);
    const down = flipped(y, top, hover.offsetHeight, canvas.clientHeight);
    hover.style.transform = `translate(${across}px, ${down}px)`;
  };

  // The chosen image and its neighbors.
  const panel = document.getElementById("chosen");
  const empty = [...panel.children];
  const choose = (index) => {
    view.chosen = index;
    view.draw();
    if (index < 0) {
      panel.replaceChildren(...empty);
      return;
    }
    const about = make("div");
    if (classText(index)) about.append(make("b", classText(index)), make("br"));
    about.append(make("span", names[index], "name"));
    const one = make("div", "", "one");
    one.append(picture(index), about);
    const near = content.neighbors[index];
    const same = (other) => labels[other].some((number) => labels[index].includes(number));
    const list = make("ul", "", "near");
    near.forEach((other, rank) => {
      const entry = make("li", "", labels[index].length ? (same(other) ? "good" : "bad") : "");
      const button = make("button");
      button.type = "button";
      button.title = names[other];
      const cosine = content.cosines[index][rank].toFixed(3);
      button.append(picture(other), make("span", classText(other) || names[other]), make("small", cosine));
      button.addEventListener("click", () => {
        choose(other);
        view.reveal(other);
        panel.querySelector(".near button")?.focus({ preventScroll: true });
      });
      entry.append(button);
      list.append(entry);
    });
    const found = near.filter(same).length;
    const agree = labels[index].length && near.length
      ? `${found} of ${near.length} have its class; the number is the cosine similarity.`
      : "The number is the cosine similarity.";
    panel.replaceChildren(make("h2", "Nearest neighbors"), one, make("p", agree, "caption"), list);
  };

  // Pointers: one drags or chooses, two zoom.
  const down = new Map();
  let dragged = false;
  const place = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const reach = (event) => (event.pointerType === "mouse" ? 14 : 26);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (!down.size) dragged = false;
    down.set(event.pointerId, place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      point(view.at(...now, reach(event)), ...now);
      return;
    }
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (!dragged && down.size === 1 && Math.hypot(dx, dy) < 5) return;
    dragged = true;
    point(-1);
    canvas.classList.add("dragged");
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = (one) => Math.max(10, Math.hypot(one[0] - other[0], one[1] - other[1]));
      const middle = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
      view.move(dx / 2, dy / 2);
      view.zoomAt(apart(now) / apart(before), ...middle);
    } else view.move(dx, dy);
    down.set(event.pointerId, now);
  });
  const lifted = (event) => {
    if (!down.delete(event.pointerId) || down.size) return;
    canvas.classList.remove("dragged");
    if (dragged || event.type === "pointercancel") return;
    choose(view.at(...place(event), reach(event)));
  };
  canvas.addEventListener("pointerup", lifted);
  canvas.addEventListener("pointercancel", lifted);
  canvas.addEventListener("pointerleave", () => point(-1));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode ? 20 : 1;
    view.zoomAt(Math.exp(-event.deltaY * lines * 0.002), ...place(event));
    point(-1);
  }, { passive: false });

  // Buttons and keys.
  const middle = () => [canvas.clientWidth / 2, canvas.clientHeight / 2];
  const pressed = box.querySelector("[data-does=pictures]");
  const does = {
    in: () => view.zoomAt(1.6, ...middle()),
    out: () => view.zoomAt(1 / 1.6, ...middle()),
    home: () => view.home(),
    pictures: () => {
      view.pictures = !view.pictures;
      pressed.setAttribute("aria-pressed", view.pictures);
      view.draw();
    },
    all: () => filter(() => true),
    none: () => filter(() => false),
  };
  for (const button of document.querySelectorAll("[data-does]")) {
    button.addEventListener("click", () => does[button.dataset.does]());
  }
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const keys = { "+": does.in, "=": does.in, "-": does.out, 0: does.home, p: does.pictures };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = arrows[event.key];
    if (arrow && event.shiftKey) view.move(-80 * arrow[0], -80 * arrow[1]);
    else if (arrow) {
      const start = view.chosen >= 0 ? view.next(view.chosen, ...arrow) : view.at(...middle(), 1e4);
      if (start >= 0) {
        choose(start);
        view.reveal(start);
      }
    } else if (event.key === "Escape") choose(-1);
    else if (keys[event.key.toLowerCase()]) keys[event.key.toLowerCase()]();
    else return;
    point(-1);
    event.preventDefault();
  });

  // The legend: which classes are shown.
  const on = classes.map(() => true);
  const legend = document.querySelector(".classes .legend");
  const entries = [];
  const filter = (shown) => {
    classes.forEach((_, number) => { on[number] = shown(number); });
    entries.forEach((entry, number) => entry.setAttribute("aria-pressed", on[number]));
    view.visible = labels.map((own) => own.length === 0 || own.some((number) => on[number]));
    if (view.chosen >= 0 && !view.visible[view.chosen]) choose(-1);
    point(-1);
    view.draw();
  };
  const counts = classes.map(() => 0);
  for (const own of labels) for (const number of own) counts[number] += 1;
  classes.forEach((name, number) => {
    const entry = make("button");
    const sign = make("canvas");
    sign.width = sign.height = 32;
    const context = sign.getContext("2d");
    context.fillStyle = view.color(number);
    mark(context, view.shape(number), 16, 16, 11);
    context.fill();
    entry.type = "button";
    entry.hidden = counts[number] === 0;
    entry.setAttribute("aria-pressed", true);
    entry.append(sign, make("span", name), make("small", counts[number]));
    entry.addEventListener("click", () => filter((one) => (one === number ? !on[one] : on[one])));
    entries.push(entry);
    legend.append(entry);
  });
  const search = document.querySelector(".classes input");
  if (search && classes.length > 12) {
    search.hidden = false;
    search.addEventListener("input", () => {
      const wanted = search.value.toLowerCase();
      entries.forEach((entry, number) => {
        entry.hidden = counts[number] === 0 || !classes[number].toLowerCase().includes(wanted);
      });
    });
  }

  for (const sheet of sheets) sheet.addEventListener("load", () => view.draw());
  addEventListener("themechange", () => view.draw());
  new ResizeObserver(() => view.draw()).observe(canvas);
})();
