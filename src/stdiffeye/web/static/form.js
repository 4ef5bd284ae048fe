// The form: a picture from disk, by drop or of ours, and what is wanted of it.

import { sample } from "./api.js";
import { by, make } from "./dom.js";

const MEGABYTE = 1e6;
let picture = null, pending = null, limits = null, shownUrl = null;

/** Fill the form with what the server offers. */
export function prepare(info, complain) {
  limits = info.limits;
  by("viewers").max = String(limits.samples);
  [by("seconds").min, by("seconds").max] = limits.seconds.map(String);
  [by("precision").min, by("precision").max] = limits.precision_deg.map(String);
  for (const style of info.styles) by("style").add(new Option(style, style));
  by("style").closest(".field").hidden = info.styles.length === 0;
  by("words").append(...info.words.map((word) => make("option", { value: word })));
  by("search").disabled = !info.can_search;
  by("no-search").hidden = info.can_search;
  for (const one of info.samples) by("samples").append(sampleButton(one, complain));
  listen(complain);
}

function sampleButton(one, complain) {
  const image = make("img", { src: `/api/samples/${encodeURIComponent(one.name)}`, alt: one.about });
  const button = make("button", { type: "button", title: one.about, "aria-pressed": "false" }, image);
  const fetched = async () => {
    try { take(new File([await sample(one.name)], one.name, { type: "image/png" }), complain); } catch (error) { complain(error.message); return; }
    button.setAttribute("aria-pressed", "true");
  };
  button.addEventListener("click", () => { pending = fetched(); });
  return button;
}

function listen(complain) {
  const drop = by("drop");
  by("file").addEventListener("change", () => { if (by("file").files.length) take(by("file").files[0], complain); });
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const file = event.dataTransfer.files[0];
    if (file) take(file, complain);
    else complain("That was no file: drop a picture from your disk.");
  });
  for (const radio of document.querySelectorAll("input[name=kind]")) {
    radio.addEventListener("change", () => {
      by("task-field").hidden = !by("search").checked;
      if (by("search").checked) by("task").focus();
    });
  }
}

/** Make a file the picture to look at. */
function take(file, complain) {
  for (const button of by("samples").children) button.setAttribute("aria-pressed", "false");
  if (file.size > limits.upload_bytes) {
    complain(`${file.name} has ${(file.size / MEGABYTE).toFixed(0)} MB; at most ${limits.upload_bytes / MEGABYTE} MB can be uploaded.`);
    return;
  }
  complain("");
  picture = file;
  by("chosen").textContent = file.name;
  if (shownUrl) URL.revokeObjectURL(shownUrl);
  shownUrl = URL.createObjectURL(file);
  const preview = by("preview");
  preview.onload = () => { preview.hidden = false; };
  preview.onerror = () => { preview.hidden = true; }; // the server may still read what the browser cannot show
  preview.src = shownUrl;
}

/** The form as the server wants it; throws a sentence when something is missing or out of range. */
export async function asked() {
  await pending; // a sample that is still on its way
  if (!picture) throw problem("file", "Choose a picture first.");
  const form = new FormData();
  form.append("picture", picture, picture.name);
  if (by("search").checked) {
    if (!by("task").value.trim()) throw problem("task", "Say what is looked for.");
    form.append("task", by("task").value.trim());
  }
  const fields = [["viewers", "samples", "Viewers"], ["seconds", "seconds", "Seconds"], ["precision", "precision_deg", "Precision"], ["seed", "seed", "Seed"]];
  for (const [id, name, label] of fields) {
    const input = by(id);
    if (!input.checkValidity()) throw problem(id, `${label}: ${input.validationMessage}`);
    if (input.value !== "") form.append(name, input.value);
  }
  if (by("representative").checked) form.append("representative", "true");
  if (by("style").value) form.append("style", by("style").value);
  return form;
}

function problem(id, words) {
  by(id).focus();
  return new Error(words);
}
