// The clock of the replay: play, pause, seek, speed. Whoever shows something listens to it.

import { by } from "./dom.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const STEP_MS = 100, LEAP_MS = 1000;

export class Player {
  constructor() {
    this.time = 0; this.end = 0; this.playing = false; this.before = null; this.listeners = [];
    for (const speed of SPEEDS) by("speed").add(new Option(`${speed} ×`, String(speed), false, speed === 1));
    by("play").addEventListener("click", () => this.set(!this.playing));
    by("time").addEventListener("input", () => this.seek(Number(by("time").value)));
    by("replay").addEventListener("keydown", (event) => this.key(event));
  }

  onTime(listener) { this.listeners.push(listener); }

  load(end) {
    this.end = end;
    by("time").max = String(Math.ceil(end / 10) * 10);
    this.seek(Math.min(this.time, end));
  }

  seek(time) { this.time = Math.min(Math.max(time, 0), this.end); this.before = null; this.tell(); }

  set(playing) {
    if (playing && this.time >= this.end) this.time = 0;
    this.playing = playing; this.before = null;
    by("play").textContent = playing ? "Pause" : "Play";
    if (playing) requestAnimationFrame((now) => this.step(now));
  }

  step(now) {
    if (!this.playing) return;
    if (this.before !== null) this.time += (now - this.before) * Number(by("speed").value);
    this.before = now;
    if (this.time >= this.end) {
      if (by("repeat").checked) this.time = 0;
      else { this.time = this.end; this.set(false); }
    }
    this.tell();
    if (this.playing) requestAnimationFrame((later) => this.step(later));
  }

  tell() {
    by("time").value = String(this.time);
    by("time").setAttribute("aria-valuetext", `${(this.time / 1000).toFixed(1)} seconds`);
    by("clock").textContent = `${(this.time / 1000).toFixed(2)} / ${(this.end / 1000).toFixed(2)} s`;
    for (const listener of this.listeners) listener(this.time);
  }

  key(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === "SELECT") return;
    const pace = event.shiftKey ? LEAP_MS : STEP_MS;
    const keys = {
      " ": () => this.set(!this.playing), ArrowLeft: () => this.seek(this.time - pace), ArrowRight: () => this.seek(this.time + pace),
      Home: () => this.seek(0), End: () => this.seek(this.end),
    };
    const pressesItself = key === " " && (target.tagName === "BUTTON" || target.type === "checkbox");
    if (!keys[key] || pressesItself) return;
    event.preventDefault();
    keys[key]();
  }
}
