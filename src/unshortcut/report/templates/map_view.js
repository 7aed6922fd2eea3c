// The map as a picture: which part of it is shown, and how points and thumbnails are drawn.
"use strict";

// Eight colors, then the same colors with another shape, so that 32 classes can be told apart.
const mark = (context, shape, x, y, radius) => {
  const points = [
    null,
    [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
    [[0, -1.15], [1.1, 0.8], [-1.1, 0.8]],
    [[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]],
  ][shape];
  context.beginPath();
  if (points) for (const [dx, dy] of points) context.lineTo(x + dx * radius, y + dy * radius);
  else context.arc(x, y, radius, 0, 2 * Math.PI);
  context.closePath();
};

class MapView {
  static margin = 28;   // pixels around the map when all of it is shown
  static largest = 400; // magnification
  static cell = 46;     // pixels of a thumbnail on the map

  constructor(canvas, content, sheets) {
    Object.assign(this, { canvas, content, sheets, pictures: false, chosen: -1, hovered: -1 });
    this.context = canvas.getContext("2d");
    this.visible = content.names.map(() => true);
    const { positions, steps } = content;
    this.places = positions.map(([x, y]) => [x / steps, y / steps]);
    this.extent = [0, 1].map((axis) =>
      Math.max(0.05, 2 * Math.max(...this.places.map((place) => Math.abs(place[axis] - 0.5)))));
    // Drawn in an order that has nothing to do with the classes, so that none covers the others.
    const key = (index) => Math.imul(index + 1, 0x9e3779b1) >>> 0;
    this.order = positions.map((_, index) => index).sort((a, b) => key(a) - key(b));
    this.home();
  }

  // The class that gives an image its color; -1 where it has none or several.
  classOf(index) {
    const own = this.content.labels[index];
    return own.length === 1 ? own[0] : -1;
  }

  color(number) {
    const { colors } = this.content;
    return number < 0 ? "#8b9097" : colors[number % colors.length];
  }

  shape(number) {
    return number < 0 ? 0 : Math.floor(number / this.content.colors.length) % 4;
  }

  // The camera: the place in the middle of the canvas, and the magnification.
  home() {
    Object.assign(this, { x: 0.5, y: 0.5, zoom: 1 });
    this.draw();
  }

  // Pixels of a side of the square that all places are in; without zoom the places fill the canvas.
  get unit() {
    const sizes = [this.canvas.clientWidth, this.canvas.clientHeight];
    const room = sizes.map((size, axis) => (size - 2 * MapView.margin) / this.extent[axis]);
    return Math.max(50, Math.min(...room)) * this.zoom;
  }

  toScreen(index) {
    const [x, y] = this.places[index];
    const { clientWidth, clientHeight } = this.canvas;
    return [clientWidth / 2 + (x - this.x) * this.unit, clientHeight / 2 + (y - this.y) * this.unit];
  }

  move(dx, dy) {
    const within = (value) => Math.min(1.1, Math.max(-0.1, value));
    this.x = within(this.x - dx / this.unit);
    this.y = within(this.y - dy / this.unit);
    this.draw();
  }

  // Magnify so that what is at a pixel of the canvas stays there.
  zoomAt(factor, left, top) {
    const dx = left - this.canvas.clientWidth / 2;
    const dy = top - this.canvas.clientHeight / 2;
    const before = this.unit;
    this.zoom = Math.min(MapView.largest, Math.max(0.7, this.zoom * factor));
    const change = this.unit / before;
    this.move(dx - dx * change, dy - dy * change);
  }

  // Move as little as is necessary to see an image.
  reveal(index) {
    const [left, top] = this.toScreen(index);
    const inside = (at, size) => Math.min(size - MapView.margin, Math.max(MapView.margin, at));
    this.move(inside(left, this.canvas.clientWidth) - left, inside(top, this.canvas.clientHeight) - top);
  }

  inView() {
    const { clientWidth, clientHeight } = this.canvas;
    const edge = MapView.cell / 2;
    return this.order.filter((index) => {
      if (!this.visible[index]) return false;
      const [x, y] = this.toScreen(index);
      return x > -edge && y > -edge && x < clientWidth + edge && y < clientHeight + edge;
    });
  }

  // The visible image nearest to a pixel, or -1 if none is within reach.
  at(left, top, reach) {
    let best = -1, least = reach ** 2;
    for (const index of this.inView()) {
      const [x, y] = this.toScreen(index);
      const distance = (x - left) ** 2 + (y - top) ** 2;
      if (distance <= least) [best, least] = [index, distance];
    }
    return best;
  }

  // The nearest image in a direction, or -1: what is aside counts as three times as far.
  next(index, dx, dy) {
    let best = -1, least = Infinity;
    const [x, y] = this.places[index];
    this.places.forEach(([left, top], other) => {
      const ahead = (left - x) * dx + (top - y) * dy;
      const aside = Math.abs((left - x) * dy) + Math.abs((top - y) * dx);
      const distance = ahead + 3 * aside;
      if (other === index || !this.visible[other] || ahead <= 0 || distance >= least) return;
      [best, least] = [other, distance];
    });
    return best;
  }

  thumbnail(context, index, left, top, size) {
    const { side, perRow } = this.content;
    const within = index % perRow ** 2;
    const sheet = this.sheets[Math.floor(index / perRow ** 2)];
    if (!sheet.complete || !sheet.naturalWidth) return;
    const [x, y] = [(within % perRow) * side, Math.floor(within / perRow) * side];
    context.drawImage(sheet, x, y, side, side, left, top, size, size);
  }

  // Many changes may ask for a new picture; it is drawn once per frame.
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    const { canvas, context } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    this.ink = getComputedStyle(canvas).color;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const shown = this.inView();
    const cells = (width * height) / MapView.cell ** 2;
    if (this.pictures || shown.length < cells / 3) this.paintPictures(shown);
    else this.paintPoints(shown);
    if (this.chosen >= 0) this.paintChosen();
    if (this.hovered >= 0) this.ring(this.hovered, 9, 2);
    Object.assign(canvas.dataset, { x: this.x, y: this.y, unit: this.unit, zoom: this.zoom });
  }

  paintPoints(shown) {
    const { context } = this;
    const { clientWidth, clientHeight } = this.canvas;
    const room = Math.sqrt((clientWidth * clientHeight) / Math.max(1, this.order.length));
    const radius = Math.min(5, Math.max(1.6, 0.22 * room) * this.zoom ** 0.4);
    context.globalAlpha = 0.85;
    for (const index of shown) {
      const number = this.classOf(index);
      context.fillStyle = this.color(number);
      mark(context, this.shape(number), ...this.toScreen(index), radius);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  // One picture where several would cover each other, and points for the others.
  paintPictures(shown) {
    const { context } = this;
    const { cell } = MapView;
    const taken = new Map();
    const pictured = shown.filter((index) => {
      const [x, y] = this.toScreen(index).map((at) => Math.floor(at / cell));
      for (let column = x - 1; column <= x + 1; column += 1) {
        for (let row = y - 1; row <= y + 1; row += 1) {
          const other = taken.get(`${column} ${row}`);
          if (other === undefined) continue;
          const [[left, top], [here, down]] = [this.toScreen(other), this.toScreen(index)];
          if (Math.max(Math.abs(left - here), Math.abs(top - down)) < cell * 0.9) return false;
        }
      }
      taken.set(`${x} ${y}`, index);
      return true;
    });
    const drawn = new Set(pictured);
    this.paintPoints(shown.filter((index) => !drawn.has(index)));
    const size = cell - 8;
    for (const index of pictured) {
      const [x, y] = this.toScreen(index);
      context.fillStyle = this.color(this.classOf(index));
      context.fillRect(x - size / 2 - 2, y - size / 2 - 2, size + 4, size + 4);
      this.thumbnail(context, index, x - size / 2, y - size / 2, size);
    }
  }

  paintChosen() {
    const { context } = this;
    const start = this.toScreen(this.chosen);
    context.strokeStyle = this.ink;
    context.lineWidth = 1;
    context.globalAlpha = 0.55;
    for (const index of this.content.neighbors[this.chosen]) {
      context.beginPath();
      context.moveTo(...start);
      context.lineTo(...this.toScreen(index));
      context.stroke();
    }
    context.globalAlpha = 1;
    for (const index of this.content.neighbors[this.chosen]) this.ring(index, 7, 1.5);
    this.ring(this.chosen, 11, 3);
  }

  ring(index, radius, width) {
    const { context } = this;
    const [x, y] = this.toScreen(index);
    const number = this.classOf(index);
    context.fillStyle = this.color(number);
    mark(context, this.shape(number), x, y, radius * 0.6);
    context.fill();
    context.strokeStyle = this.ink;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }
}
