// Distributions of what is counted: bars for the first side (the model, picture A), a line for the second (human, picture B).

import { by, make, makeSvg, number } from "./dom.js";

const WIDTH = 220, HEIGHT = 84, FOOT = 14;

export function showStatistics(rows) {
  by("statistics").replaceChildren(...rows.map(quantity));
}

function quantity(row) {
  const unit = row.unit ? (row.unit === "°" ? "°" : ` ${row.unit}`) : "";
  const sides = Object.entries(row.sides).map(([side, one], which) => {
    const words = one.mean === undefined ? `n ${one.n}` : `mean ${number(one.mean)}${unit}, median ${number(one.median)}${unit}, n ${one.n}`;
    return make("p", {}, make("span", { className: which ? "key-second" : "key-first" }, side), ` ${words}`);
  });
  return make("div", { className: "quantity" }, make("h3", {}, row.label), histogram(row, unit), ...sides);
}

function histogram(row, unit) {
  const [first, second] = Object.values(row.sides), count = row.edges.length - 1, wide = WIDTH / count;
  const most = Math.max(...Object.values(row.sides).flatMap((one) => one.shares)) || 1;
  const tall = (share) => (share / most) * (HEIGHT - FOOT);
  const drawing = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Histogram of ${row.label}` });
  first.shares.forEach((share, k) => {
    drawing.append(makeSvg("rect", { class: "share", x: k * wide + 0.5, y: HEIGHT - FOOT - tall(share), width: Math.max(wide - 1, 1), height: tall(share) }));
  });
  if (second) {
    const points = second.shares.flatMap((share, k) => [[k * wide, share], [(k + 1) * wide, share]]);
    const path = points.map(([x, share], k) => `${k ? "L" : "M"}${x} ${HEIGHT - FOOT - tall(share)}`).join("");
    drawing.append(makeSvg("path", { class: "share-second", d: path }));
  }
  drawing.append(makeSvg("line", { class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT - FOOT, y2: HEIGHT - FOOT }));
  const whole = row.name === "fixation_count" ? 0.5 : 0;
  for (const [value, x, anchor] of [[row.edges[0] + whole, 0, "start"], [row.edges[count] - whole, WIDTH, "end"]]) {
    drawing.append(makeSvg("text", { x, y: HEIGHT - 3, "text-anchor": anchor }, `${number(value)}${unit}`));
  }
  return drawing;
}
