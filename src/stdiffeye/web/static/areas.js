// Areas of interest: boxes dragged over a picture or typed, and what the generated viewers did with them.

import * as api from "./api.js";
import { by, make, save } from "./dom.js";

const SMALLEST_PX = 4, PAUSE_MS = 300, DESIGNS = ["A", "B"];
const SHOWN = ["hit", "dwell_ms", "time_to_first_ms", "visits"], SHARES = ["hit", "dwell_share"], WORDS = ["Picture", "Area", "Measure"];

export class Areas {
  /** `stages` may hold areas; `jobs()` gives the gaze that each stage shows. */
  constructor(stages, jobs) {
    this.stages = stages; this.jobs = jobs; this.drawing = false; this.timer = null; this.asking = 0; this.count = 0;
    by("draw-areas").addEventListener("click", () => this.draw(!this.drawing));
    by("add-area").addEventListener("click", () => this.add(0, this.middle(0)));
    by("save-areas").addEventListener("click", () => this.save());
    stages.forEach((stage, which) => this.listen(stage));
  }

  clear() { this.count = 0; for (const stage of this.stages) stage.areas = []; this.draw(false); this.refresh(); }

  draw(on) {
    this.drawing = on;
    by("draw-areas").setAttribute("aria-pressed", String(on));
    for (const stage of this.stages) stage.canvas.classList.toggle("drawing", on);
  }

  middle(which) {
    const [across, down] = this.stages[which].size;
    return [across * 0.35, down * 0.35, across * 0.3, down * 0.3].map(Math.round);
  }

  /** A box that follows the pointer while it is held down. */
  listen(stage) {
    let from = null, area = null;
    stage.canvas.addEventListener("pointerdown", (event) => {
      if (!this.drawing || !stage.picture) return;
      event.preventDefault();
      stage.canvas.setPointerCapture(event.pointerId);
      from = stage.inPicture(event.offsetX, event.offsetY);
      area = { name: `area ${this.count + 1}`, box: [...from, 0, 0] };
      stage.areas.push(area);
    });
    stage.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const to = stage.inPicture(event.offsetX, event.offsetY);
      area.box = [Math.min(from[0], to[0]), Math.min(from[1], to[1]), Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])];
      stage.draw();
    });
    const done = () => {
      if (!from) return;
      if (Math.min(area.box[2], area.box[3]) < SMALLEST_PX) stage.areas.pop(); // a click is no box
      else this.count += 1;
      from = null;
      this.refresh();
    };
    stage.canvas.addEventListener("pointerup", done);
    stage.canvas.addEventListener("pointercancel", done);
  }

  add(which, box) {
    this.count += 1;
    this.stages[which].areas.push({ name: `area ${this.count}`, box });
    this.refresh();
  }

  /** List, pictures and table anew. */
  refresh() {
    const two = this.jobs().length > 1;
    const rows = this.stages.flatMap((stage, which) => stage.areas.map((area, k) => this.item(stage, which, area, k, two)));
    by("area-list").replaceChildren(...rows);
    by("save-areas").hidden = rows.length === 0;
    for (const stage of this.stages) stage.draw();
    this.later();
  }

  item(stage, which, area, k, two) {
    const name = make("input", { value: area.name, maxLength: 100, "aria-label": "Name of the area" });
    name.addEventListener("change", () => { area.name = name.value.trim() || `area ${k + 1}`; this.refresh(); });
    const numbers = ["x", "y", "width", "height"].map((label, side) => {
      const input = make("input", { type: "number", value: String(Math.round(area.box[side])), step: "1", min: side > 1 ? "1" : "", "aria-label": `${label} of ${area.name}, px` });
      input.addEventListener("change", () => { if (input.checkValidity() && input.value !== "") area.box[side] = Number(input.value); this.refresh(); });
      return make("label", { className: "inline" }, label[0] === "w" || label[0] === "h" ? label[0] : label, input);
    });
    const remove = make("button", { type: "button", className: "small", "aria-label": `Remove ${area.name}` }, "remove");
    remove.addEventListener("click", () => { stage.areas.splice(k, 1); this.refresh(); });
    const move = make("button", { type: "button", className: "small", "aria-label": `Copy ${area.name} to the other picture` }, which ? "copy to A" : "copy to B");
    move.addEventListener("click", () => { this.stages[1 - which].areas.push({ name: area.name, box: [...area.box] }); this.refresh(); });
    return make("li", {}, ...(two ? [make("strong", {}, DESIGNS[which])] : []), name, ...numbers, ...(two ? [move] : []), remove);
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.measure(), PAUSE_MS);
  }

  async measure() {
    const asking = ++this.asking, jobs = this.jobs();
    const pictures = this.stages.flatMap((stage, which) => (stage.areas.length && jobs[which] ? [{ job: jobs[which], areas: stage.areas }] : []));
    by("area-error").textContent = "";
    if (!pictures.length) { by("area-results").hidden = true; return; }
    try {
      const found = await api.areas(pictures);
      if (asking !== this.asking) return;
      by("area-results").hidden = false;
      const names = pictures.length > 1 ? DESIGNS : [this.stages[0].areas.length ? "A" : "B"];
      showAreas(found, jobs.length > 1 ? names : null);
    } catch (error) { by("area-error").textContent = error.message; }
  }

  /** As a file that `stdiffeye aoi --areas` takes. */
  save() {
    const jobs = this.jobs(), of = (stage) => ({ size: stage.size, areas: stage.areas.map(({ name, box }) => ({ name, box: box.map(Math.round) })) });
    const used = this.stages.filter((stage, which) => stage.areas.length && jobs[which]);
    const content = jobs.length > 1 ? { pictures: Object.fromEntries(used.map((stage) => [stage.name, of(stage)])) } : of(used[0]);
    save(new Blob([`${JSON.stringify(content, null, 1)}\n`], { type: "application/json" }), "areas.json");
  }
}

const cell = (measure, { value, low, high }) => {
  const said = (one) => (SHARES.includes(measure) ? `${(100 * one).toFixed(0)} %` : one.toFixed(measure.endsWith("_ms") ? 0 : 1)).replace("-", "−");
  if (value === null || value === undefined) return "–";
  return low === null ? said(value) : `${said(value)} (${said(low).replace(" %", "")} to ${said(high).replace(" %", "")})`;
};

function showAreas({ measures, rows, differences }, designs) {
  const table = new Map();
  for (const row of rows) {
    const key = `${row.name} ${row.area}`;
    if (!table.has(key)) table.set(key, { row, cells: {} });
    table.get(key).cells[row.measure] = cell(row.measure, row);
  }
  const titles = [...(designs ? ["Picture"] : []), "Area", ...SHOWN.map((one) => measures[one])];
  const lines = [...table.values()].map(({ row, cells }) => make("tr", {},
    ...(designs ? [make("td", {}, designs[row.name === "A" ? 0 : designs.length - 1])] : []),
    make("th", { scope: "row" }, row.area), ...SHOWN.map((one) => make("td", {}, cells[one] ?? "–"))));
  by("area-table").replaceChildren(head(titles), make("tbody", {}, ...lines));
  const shown = differences.filter((one) => SHOWN.includes(one.measure));
  by("area-differences").hidden = !shown.length;
  by("difference-table").replaceChildren(head(["Area", "Measure", "B − A", "more, or sooner"]), make("tbody", {}, ...shown.map((one) => make("tr", {},
    make("th", { scope: "row" }, one.area), make("td", { className: "word" }, measures[one.measure]), make("td", {}, cell(one.measure, one)), make("td", {}, one.winner === "–" ? "not decided" : one.winner)))));
}

const head = (names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col", className: WORDS.includes(name) ? "word" : "" }, name))));
