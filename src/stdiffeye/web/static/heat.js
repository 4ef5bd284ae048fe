// Where gaze dwells: fixations weighted by duration, smoothed by a Gaussian of one degree (a 30th of the width).

const LONGER_SIDE = 160, DEGREES_WIDE = 30, REACH = 3;
const MOST_OPAQUE = 0.82, OPACITY_POWER = 0.6;
// Dark violet to bright yellow, rising in lightness all the way, so that it survives grey printing and colour blindness.
const SCALE = [[0, 0, 4], [51, 10, 94], [120, 28, 109], [188, 55, 84], [237, 105, 37], [251, 180, 26], [252, 255, 164]];

/** Shares of the largest density on a grid: {width, height, shares}. */
export function density(viewers, [across, down]) {
  const step = Math.max(across, down) / LONGER_SIDE;
  const width = Math.max(1, Math.round(across / step)), height = Math.max(1, Math.round(down / step));
  const counts = new Float64Array(width * height);
  for (const viewer of viewers) {
    for (const one of viewer.fixations) {
      const column = Math.floor(one.x / step), row = Math.floor(one.y / step);
      if (column >= 0 && column < width && row >= 0 && row < height) counts[row * width + column] += one.duration_ms;
    }
  }
  const sigma = across / DEGREES_WIDE / step;
  const shares = blurred(blurred(counts, width, height, sigma, 1, width), height, width, sigma, width, 1);
  const most = shares.reduce((a, b) => Math.max(a, b), 0) || 1;
  return { width, height, shares: shares.map((value) => value / most) };
}

/** A Gaussian along one axis: `count` cells `stride` apart, in each of `rows` lines `skip` apart. */
function blurred(values, count, rows, sigma, stride, skip) {
  const reach = Math.ceil(REACH * sigma);
  const weights = Array.from({ length: 2 * reach + 1 }, (_, k) => Math.exp(-((k - reach) ** 2) / (2 * sigma * sigma)));
  const out = new Float64Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < count; i++) {
      const value = values[row * skip + i * stride];
      if (!value) continue;
      for (let k = Math.max(0, i - reach); k <= Math.min(count - 1, i + reach); k++) out[row * skip + k * stride] += value * weights[k - i + reach];
    }
  }
  return out;
}

/** The density as a small canvas of colours, transparent where nobody looks. */
export function heatImage(viewers, size) {
  const { width, height, shares } = density(viewers, size);
  const canvas = document.createElement("canvas");
  canvas.width = width; canvas.height = height;
  const pen = canvas.getContext("2d"), image = pen.createImageData(width, height);
  shares.forEach((share, cell) => {
    const place = share * (SCALE.length - 1), low = Math.min(Math.floor(place), SCALE.length - 2), part = place - low;
    for (let channel = 0; channel < 3; channel++) {
      image.data[4 * cell + channel] = SCALE[low][channel] * (1 - part) + SCALE[low + 1][channel] * part;
    }
    image.data[4 * cell + 3] = 255 * MOST_OPAQUE * share ** OPACITY_POWER;
  });
  pen.putImageData(image, 0, 0);
  return canvas;
}
