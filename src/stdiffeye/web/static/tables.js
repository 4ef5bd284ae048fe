// Tables: the fixations of one viewer, and the scores of a comparison.

import { by, make, number } from "./dom.js";

const row = (kind, cells) => make("tr", {}, ...cells.map((cell) => (cell instanceof Node ? cell : make(kind, {}, String(cell)))));
const head = (names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));

export class FixationTable {
  constructor(player) {
    this.player = player; this.viewers = []; this.rows = []; this.current = -1;
    by("table-viewer").addEventListener("change", () => this.show());
    player.onTime((time) => this.mark(time));
  }

  load(viewers, titles) {
    this.viewers = viewers;
    by("table-viewer").replaceChildren(...viewers.map((_, k) => new Option(titles[k], String(k))));
    this.show();
  }

  get selected() { return Number(by("table-viewer").value); }

  show() {
    const fixations = this.viewers[this.selected]?.fixations || [];
    this.rows = fixations.map((one, k) => {
      const go = make("button", { type: "button", "aria-label": `Go to fixation ${k + 1}` }, String(k + 1));
      go.addEventListener("click", () => this.player.seek(one.start_ms));
      return row("td", [make("th", { scope: "row" }, go), one.x.toFixed(0), one.y.toFixed(0), one.start_ms.toFixed(0), one.duration_ms.toFixed(0)]);
    });
    this.current = -1;
    by("fixation-count").textContent = `${fixations.length} fixation${fixations.length === 1 ? "" : "s"}`;
    by("fixations").replaceChildren(head(["Fixation", "x (px)", "y (px)", "start (ms)", "duration (ms)"]), make("tbody", {}, ...this.rows));
    this.mark(this.player.time);
  }

  mark(time) {
    const fixations = this.viewers[this.selected]?.fixations || [];
    const now = fixations.findIndex((one) => time >= one.start_ms && time < one.start_ms + one.duration_ms);
    if (now === this.current) return;
    this.rows[this.current]?.removeAttribute("aria-current");
    this.rows[now]?.setAttribute("aria-current", "true");
    this.current = now;
  }
}

/** Scores: a line per metric, a column per side; the best of model and centre is marked. */
export function showScores(scores, protocol) {
  by("protocol").disabled = !scores.length;
  if (!scores.length) { by("score-table").replaceChildren(); return; }
  const sides = Object.keys(scores[0].values[protocol]);
  const lines = scores.map((metric) => {
    const values = metric.values[protocol], lower = metric.better === "lower";
    const rivals = ["model", "centre"].map((side) => values[side]).filter((value) => value !== null && value !== undefined);
    const best = lower ? Math.min(...rivals) : Math.max(...rivals);
    const cells = sides.map((side) => make("td", { className: side !== "human" && values[side] === best ? "best" : "" }, number(values[side])));
    const apart = metric.model_minus_human[protocol];
    if (apart) cells.push(make("td", {}, `${number(apart.value)} (${number(apart.low)} to ${number(apart.high)})`));
    return row("td", [make("th", { scope: "row" }, `${metric.title} ${lower ? "↓" : "↑"}`), ...cells]);
  });
  const titles = sides.includes("human") ? [...sides, "model − human (95 %)"] : sides;
  by("score-table").replaceChildren(head(["Metric", ...titles]), make("tbody", {}, ...lines));
}
