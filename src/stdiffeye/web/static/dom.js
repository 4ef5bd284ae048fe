// Small tools for the document.

export const by = (id) => document.getElementById(id);

/** An element with properties and children; text goes in as text, never as HTML. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name.startsWith("data-") || ["role", "scope", "for"].includes(name)) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** A colour of the page's theme, for canvases. */
export const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Give a canvas as many dots as the screen has for it; returns [pen, width, height, dots per CSS px]. */
export function fitted(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  return [canvas.getContext("2d"), width, height, ratio];
}

/** Hand a blob to the browser as a download. */
export function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const number = (value, digits = 3) =>
  value === null || value === undefined ? "–" : Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(digits)));
