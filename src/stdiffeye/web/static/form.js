// The form: one picture or two, from disk, by drop or of ours, and what is wanted of them.

import { sample, target } from "./api.js";
import { by, make } from "./dom.js";
import { shrunk } from "./shrink.js";

const MEGABYTE = 1e6;
const slots = { file: { picture: null, url: null }, "file-b": { picture: null, url: null } };
let pending = null, limits = null;

/** Fill the form with what the server offers. */
export function prepare(info, complain) {
  limits = info.limits;
  by("viewers").max = String(limits.samples);
  [by("seconds").min, by("seconds").max] = limits.seconds.map(String);
  [by("precision").min, by("precision").max] = limits.precision_deg.map(String);
  for (const style of info.styles) by("style").add(new Option(info.style_words[style] ? `${style}: ${info.style_words[style]}` : style, style));
  by("style").closest(".field").hidden = info.styles.length === 0;
  const tell = () => {
    const words = info.style_words[by("style").value];
    by("style-hint").textContent = words ? `As its viewers looked: ${words}.` : "As viewers of this data set looked.";
  };
  by("style").addEventListener("change", tell);
  tell();
  by("words").append(...info.words.map((word) => make("option", { value: word })));
  by("search").disabled = !info.can_search;
  by("no-search").hidden = info.can_search;
  by("recording").accept = info.recordings.join(",");
  for (const one of info.samples) by("samples").append(sampleButton(one, complain));
  listen(complain);
}

function sampleButton(one, complain) {
  const image = make("img", { src: `/api/samples/${encodeURIComponent(one.name)}`, alt: one.about });
  const button = make("button", { type: "button", title: one.about, "aria-pressed": "false" }, image);
  const fetched = async () => {
    try { await take("file", new File([await sample(one.name)], one.name, { type: "image/png" }), complain); } catch (error) { complain(error.message); return; }
    button.setAttribute("aria-pressed", "true");
  };
  button.addEventListener("click", () => { pending = fetched(); });
  return button;
}

function listen(complain) {
  const drop = by("drop");
  for (const id of Object.keys(slots)) {
    by(id).addEventListener("change", () => { if (by(id).files.length) pending = take(id, by(id).files[0], complain); });
  }
  by("remove-b").addEventListener("click", () => forget("file-b"));
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const file = event.dataTransfer.files[0];
    if (file) pending = take("file", file, complain);
    else complain("That was no file: drop a picture from your disk.");
  });
  for (const radio of document.querySelectorAll("input[name=kind]")) {
    radio.addEventListener("change", () => {
      by("task-field").hidden = !by("search").checked;
      if (by("search").checked) by("task").focus();
    });
  }
  by("task").addEventListener("change", tellTarget);
}

/** Say at once what the model knows of a target. */
async function tellTarget() {
  const hint = by("task-hint"), task = by("task").value.trim();
  hint.textContent = "";
  if (!task) return;
  try {
    const { verdict, sentence } = await target(task);
    if (task !== by("task").value.trim()) return;
    hint.textContent = sentence ? `${sentence[0].toUpperCase()}${sentence.slice(1)}.` : "";
    hint.classList.toggle("warning", verdict === "guess");
  } catch { /* the same will be said when gaze is generated */ }
}

/** Make a file the picture to look at; one that is too large is made smaller here. */
async function take(id, file, complain) {
  for (const button of by("samples").children) if (id === "file") button.setAttribute("aria-pressed", "false");
  const small = await shrunk(file, limits);
  if (small === null) {
    complain(`${file.name} has ${(file.size / MEGABYTE).toFixed(0)} MB; at most ${limits.upload_bytes / MEGABYTE} MB can be uploaded.`);
    return;
  }
  complain("");
  const slot = slots[id], second = id === "file-b";
  slot.picture = small.file;
  by(second ? "chosen-b" : "chosen").textContent = small.size ? `${file.name}, made smaller: ${small.size.join("×")} px` : file.name;
  if (second) by("remove-b").hidden = false;
  if (slot.url) URL.revokeObjectURL(slot.url);
  slot.url = URL.createObjectURL(small.file);
  const preview = by(second ? "preview-b" : "preview");
  preview.onload = () => { preview.hidden = false; };
  preview.onerror = () => { preview.hidden = true; }; // the server may still read what the browser cannot show
  preview.src = slot.url;
}

function forget(id) {
  slots[id].picture = null;
  by(id).value = ""; by("chosen-b").textContent = ""; by("preview-b").hidden = true; by("remove-b").hidden = true;
}

/** The forms as the server wants them, one per picture; throws a sentence when something is missing or out of range. */
export async function asked() {
  await pending; // a picture that is still on its way
  if (!slots.file.picture) throw problem("file", "Choose a picture first.");
  const fields = settings();
  return Object.values(slots).filter((slot) => slot.picture).map(({ picture }) => {
    const form = new FormData();
    form.append("picture", picture, picture.name);
    for (const [name, value] of fields) form.append(name, value);
    return form;
  });
}

function settings() {
  const found = [];
  if (by("search").checked) {
    if (!by("task").value.trim()) throw problem("task", "Say what is looked for.");
    found.push(["task", by("task").value.trim()]);
  }
  const numbers = [["viewers", "samples", "Viewers"], ["seconds", "seconds", "Seconds"], ["precision", "precision_deg", "Precision"], ["seed", "seed", "Seed"]];
  for (const [id, name, label] of numbers) {
    const input = by(id);
    if (!input.checkValidity()) throw problem(id, `${label}: ${input.validationMessage}`);
    if (input.value !== "") found.push([name, input.value]);
  }
  if (by("representative").checked) found.push(["representative", "true"]);
  if (by("style").value) found.push(["style", by("style").value]);
  return found;
}

function problem(id, words) {
  const folded = by(id).closest("details");
  if (folded) folded.open = true;
  by(id).focus();
  return new Error(words);
}
