// x(t) and y(t) of every viewer that is switched on, with a line at the replay's time; a click or drag moves the replay.

import { fitted, themed } from "./dom.js";

const DARK = matchMedia("(prefers-color-scheme: dark)"), PALER = 0.35;

/** A colour of a viewer on the ground of the page: paler where that is dark. */
function onGround(colour) {
  if (!DARK.matches) return colour;
  const channels = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return `rgb(${channels.map((one) => Math.round(one + PALER * (255 - one))).join(",")})`;
}

const LEFT = 46, RIGHT = 10, TOP = 8, GAP = 14, BOTTOM = 26;
const TICKS_S = [0.1, 0.2, 0.5, 1, 2, 5];
const MOST_TICKS = 8;

export class Trace {
  constructor(canvas, player) {
    this.canvas = canvas; this.player = player; this.stage = null; this.kept = null; this.selected = 0;
    new ResizeObserver(() => this.refresh()).observe(canvas);
    DARK.addEventListener("change", () => this.refresh());
    const seek = (event) => player.seek(((event.offsetX - LEFT) / (canvas.clientWidth - LEFT - RIGHT)) * player.end);
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); seek(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) seek(event); });
    player.onTime(() => this.cursor());
  }

  load(stage) { this.stage = stage; this.refresh(); }

  select(number) { this.selected = number; this.refresh(); }

  /** Draw all but the cursor anew, and keep it. */
  refresh() {
    if (!this.stage || !this.canvas.clientWidth) return;
    const [, width, height, ratio] = fitted(this.canvas);
    this.kept = document.createElement("canvas");
    this.kept.width = width; this.kept.height = height;
    const pen = this.kept.getContext("2d");
    pen.scale(ratio, ratio);
    this.panels(pen, width / ratio, height / ratio);
    this.cursor();
  }

  panels(pen, width, height) {
    const tall = (height - TOP - GAP - BOTTOM) / 2, wide = width - LEFT - RIGHT;
    const time = (ms) => LEFT + (ms / this.player.end) * wide;
    [["x", 0], ["y", 1]].forEach(([axis, which]) => {
      const top = TOP + which * (tall + GAP), most = this.stage.size[which];
      pen.fillStyle = themed("--page"); pen.fillRect(LEFT, top, wide, tall);
      this.fixations(pen, time, top, tall);
      pen.save();
      pen.beginPath(); pen.rect(LEFT, top, wide, tall); pen.clip();
      this.stage.viewers.forEach((viewer, number) => { if (this.stage.shown[number]) this.curve(pen, viewer, axis, time, top, tall / most); });
      pen.restore();
      this.scale(pen, axis, top, tall, most);
    });
    this.seconds(pen, time, height, wide);
  }

  fixations(pen, time, top, tall) {
    const viewer = this.stage.viewers[this.selected];
    if (!viewer || !this.stage.shown[this.selected]) return;
    pen.fillStyle = onGround(viewer.colour); pen.globalAlpha = 0.16;
    for (const one of viewer.fixations) pen.fillRect(time(one.start_ms), top, time(one.duration_ms) - LEFT, tall);
    pen.globalAlpha = 1;
  }

  curve(pen, viewer, axis, time, top, scale) {
    pen.strokeStyle = onGround(viewer.colour); pen.lineWidth = 1.4; pen.lineJoin = "round";
    pen.beginPath();
    let down = false;
    viewer[axis].forEach((value, i) => {
      if (value === null) { down = false; return; }
      const x = time(viewer.start_ms + (i * 1000) / viewer.rate_hz), y = top + value * scale;
      if (down) pen.lineTo(x, y); else pen.moveTo(x, y);
      down = true;
    });
    pen.stroke();
  }

  scale(pen, axis, top, tall, most) {
    pen.fillStyle = themed("--soft"); pen.font = "12px system-ui, sans-serif"; pen.textAlign = "right";
    pen.textBaseline = "top"; pen.fillText("0", LEFT - 6, top);
    pen.textBaseline = "bottom"; pen.fillText(String(most), LEFT - 6, top + tall);
    pen.textBaseline = "middle"; pen.fillStyle = themed("--ink"); pen.fillText(`${axis} px`, LEFT - 6, top + tall / 2);
  }

  seconds(pen, time, height, wide) {
    const end = this.player.end / 1000;
    const step = TICKS_S.find((one) => end / one <= Math.min(MOST_TICKS, wide / 60)) || TICKS_S.at(-1);
    pen.fillStyle = themed("--soft"); pen.textAlign = "center"; pen.textBaseline = "top";
    for (let second = 0; second <= end + 1e-9; second += step) pen.fillText(`${Number(second.toFixed(1))} s`, Math.max(time(1000 * second), LEFT + 6), height - BOTTOM + 6);
  }

  cursor() {
    if (!this.kept) return;
    const [pen, width, height, ratio] = fitted(this.canvas);
    pen.clearRect(0, 0, width, height);
    pen.drawImage(this.kept, 0, 0);
    const x = (LEFT + (this.player.time / this.player.end) * (width / ratio - LEFT - RIGHT)) * ratio;
    pen.strokeStyle = themed("--ink"); pen.lineWidth = 1.5 * ratio;
    pen.beginPath(); pen.moveTo(x, TOP * ratio); pen.lineTo(x, height - BOTTOM * ratio); pen.stroke();
  }
}
