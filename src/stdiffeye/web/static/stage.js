// One picture with gaze over it: the moving eye, the scanpath, the trajectory, the heat map.

import { fitted } from "./dom.js";
import { heatImage } from "./heat.js";

const MARGIN = 0.03; // shown beyond the picture on each side, as a share of it: gaze at the edge is not cut off
const TAIL_MS = 350, TAIL_PIECES = 7, LONGEST_MS = 800;
const DIM = 0.28;

export class Stage {
  /** `layers` is shared and read at every drawing; `viewers` each have x, y, rate_hz, start_ms, fixations, colour. */
  constructor(canvas, layers) {
    this.canvas = canvas; this.layers = layers;
    this.picture = null; this.size = [3, 2]; this.viewers = []; this.shown = []; this.time = 0; this.heat = null;
    this.areas = []; this.name = ""; // boxes in px of the picture: {name, box: [x, y, width, height]}
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  load(picture, size, viewers) {
    this.picture = picture; this.size = size; this.viewers = viewers; this.shown = viewers.map(() => true); this.heat = null;
    this.draw();
  }

  toggle(number, value) { this.shown[number] = value; this.heat = null; this.draw(); }

  at(time) { this.time = time; this.draw(); }

  /** Where the picture lies on a canvas of some size: [left, top, scale]. */
  fit(width, height) {
    const [across, down] = this.size;
    const scale = Math.min(width / (across * (1 + 2 * MARGIN)), height / (down * (1 + 2 * MARGIN)));
    return [(width - across * scale) / 2, (height - down * scale) / 2, scale];
  }

  /** A place on the canvas, in CSS px, as px of the picture, within it. */
  inPicture(x, y) {
    const [left, top, scale] = this.fit(this.canvas.clientWidth, this.canvas.clientHeight);
    return [[x - left, 0], [y - top, 1]].map(([from, axis]) => Math.min(Math.max(from / scale, 0), this.size[axis]));
  }

  draw() {
    if (!this.picture || !this.canvas.clientWidth) return;
    const [pen, width, height] = fitted(this.canvas), [across, down] = this.size;
    const [left, top, scale] = this.fit(width, height);
    const place = (x, y) => [left + (x + 0.5) * scale, top + (y + 0.5) * scale];
    const unit = Math.sqrt(width * height) / 100;
    pen.clearRect(0, 0, width, height);
    pen.drawImage(this.picture, left, top, across * scale, down * scale);
    pen.fillStyle = `rgba(0,0,0,${DIM})`;
    pen.fillRect(left, top, across * scale, down * scale);
    const chosen = this.viewers.filter((_, number) => this.shown[number]);
    if (this.layers.heat) {
      this.heat ??= heatImage(chosen, this.size);
      pen.drawImage(this.heat, left, top, across * scale, down * scale);
    }
    for (const viewer of chosen) {
      if (this.layers.trajectory) this.trajectory(pen, viewer, place, unit);
      if (this.layers.scanpath) this.scanpath(pen, viewer, place, unit, chosen.length === 1);
    }
    for (const area of this.areas) this.area(pen, area, left, top, scale, unit);
    if (this.layers.eye) for (const viewer of chosen) this.eye(pen, viewer, place, unit);
  }

  area(pen, { name, box: [x, y, width, height] }, left, top, scale, unit) {
    const corner = [left + x * scale, top + y * scale], size = [width * scale, height * scale], tall = Math.max(1.7 * unit, 11);
    for (const [colour, line] of [["rgba(0,0,0,.75)", 0.55], ["#fff", 0.25]]) {
      pen.strokeStyle = colour; pen.lineWidth = line * unit; pen.strokeRect(...corner, ...size);
    }
    label(pen, corner[0] + 0.5 * unit, corner[1] + tall, name, tall, "left");
  }

  index(viewer) { return Math.min(Math.floor((this.time - viewer.start_ms) * viewer.rate_hz / 1000), viewer.x.length - 1); }

  line(pen, viewer, place, first, last) {
    pen.beginPath();
    let down = false;
    for (let i = Math.max(0, first); i <= last; i++) {
      if (viewer.x[i] === null || viewer.y[i] === null) { down = false; continue; }
      const [x, y] = place(viewer.x[i], viewer.y[i]);
      if (down) pen.lineTo(x, y); else pen.moveTo(x, y);
      down = true;
    }
    pen.stroke();
  }

  trajectory(pen, viewer, place, unit) {
    pen.lineJoin = "round"; pen.globalAlpha = 0.85;
    for (const [colour, width] of [["rgba(0,0,0,.55)", 0.75], [viewer.colour, 0.4]]) {
      pen.strokeStyle = colour; pen.lineWidth = width * unit;
      this.line(pen, viewer, place, 0, this.index(viewer));
    }
    pen.globalAlpha = 1;
  }

  scanpath(pen, viewer, place, unit, numbered) {
    const seen = viewer.fixations.filter((one) => one.start_ms <= this.time);
    const points = seen.map((one) => place(one.x, one.y));
    for (const [colour, width] of [["rgba(0,0,0,.5)", 0.6], [viewer.colour, 0.32]]) {
      pen.strokeStyle = colour; pen.lineWidth = width * unit; pen.globalAlpha = 0.8;
      pen.beginPath();
      points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.stroke();
    }
    seen.forEach((one, i) => {
      const held = Math.min(this.time - one.start_ms, one.duration_ms), [x, y] = points[i];
      const radius = unit * (0.9 + 2.3 * Math.sqrt(Math.min(held / LONGEST_MS, 1)));
      const now = this.time < one.start_ms + one.duration_ms;
      pen.globalAlpha = now ? 0.95 : 0.62;
      disc(pen, x, y, radius, viewer.colour);
      pen.globalAlpha = now ? 1 : 0.85;
      ring(pen, x, y, radius + 0.22 * unit, "#000", 0.22 * unit);
      ring(pen, x, y, radius, "#fff", 0.3 * unit);
    });
    if (numbered) points.forEach(([x, y], i) => label(pen, x, y, String(i + 1), Math.max(1.5 * unit, 9)));
    pen.globalAlpha = 1;
  }

  eye(pen, viewer, place, unit) {
    const last = this.index(viewer);
    if (last < 0) return;
    const length = Math.max(TAIL_PIECES, Math.round(TAIL_MS * viewer.rate_hz / 1000)), piece = length / TAIL_PIECES;
    pen.lineCap = "round"; pen.strokeStyle = viewer.colour; pen.lineWidth = 0.6 * unit;
    for (let k = 0; k < TAIL_PIECES; k++) {
      const from = Math.round(last - length + k * piece), to = Math.round(last - length + (k + 1) * piece);
      pen.globalAlpha = (k + 1) / TAIL_PIECES;
      if (to > 0) this.line(pen, viewer, place, from, to);
    }
    pen.globalAlpha = 1; pen.lineCap = "butt";
    if (viewer.x[last] === null || viewer.y[last] === null) return;
    const [x, y] = place(viewer.x[last], viewer.y[last]);
    disc(pen, x, y, 1.3 * unit, "#000"); disc(pen, x, y, 1.1 * unit, "#fff"); disc(pen, x, y, 0.8 * unit, viewer.colour);
  }
}

function disc(pen, x, y, radius, colour) { pen.beginPath(); pen.arc(x, y, radius, 0, 2 * Math.PI); pen.fillStyle = colour; pen.fill(); }

function ring(pen, x, y, radius, colour, width) {
  pen.beginPath(); pen.arc(x, y, radius, 0, 2 * Math.PI); pen.strokeStyle = colour; pen.lineWidth = width; pen.stroke();
}

function label(pen, x, y, text, size, align = "center") {
  pen.font = `600 ${size}px system-ui, sans-serif`; pen.textAlign = align; pen.textBaseline = "middle";
  pen.lineWidth = size / 4; pen.strokeStyle = "rgba(0,0,0,.8)"; pen.strokeText(text, x, y);
  pen.fillStyle = "#fff"; pen.fillText(text, x, y);
}
