// All talk with the server. Every failure becomes an Error with one sentence.

const AWAY = "The server does not answer: is it still running?";
const POLL_MS = 300;

async function answer(path, options) {
  let response;
  try { response = await fetch(path, options); } catch (error) { throw error.name === "AbortError" ? error : new Error(AWAY); }
  if (response.ok) return response;
  let words = `The server answered ${response.status}.`;
  try { words = (await response.json()).error || words; } catch { /* no JSON: the number must do */ }
  const error = new Error(words[0].toUpperCase() + words.slice(1));
  error.status = response.status;
  throw error;
}

const json = async (path, options) => (await answer(path, options)).json();
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const at = (id, rest = "") => `/api/jobs/${encodeURIComponent(id)}${rest}`;

export const info = () => json("/api/info");
export const sample = async (name) => (await answer(`/api/samples/${encodeURIComponent(name)}`)).blob();
export const stop = (id) => json(at(id), { method: "DELETE" });
/** `signal` breaks it off: the server stops when nobody waits any more. */
export const compare = (id, form, signal) => json(at(id, "/compare"), { method: "POST", body: form, signal });
export const target = (task) => json(`/api/target?task=${encodeURIComponent(task)}`);
export const statistics = (ids) => json(`/api/statistics?${ids.map((id) => `job=${encodeURIComponent(id)}`).join("&")}`);
export const areas = (pictures) => json("/api/areas", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ pictures }) });
export const pictureOf = (id) => at(id, "/picture");

/** Start a job, tell `progress(share, doing)` how far it is, and return its gaze. */
export async function generate(form, started, progress) {
  const { id } = await json("/api/jobs", { method: "POST", body: form });
  started(id);
  for (;;) {
    const job = await json(at(id));
    progress(job.share, job.doing);
    if (job.state === "done") return json(at(id, "/gaze"));
    if (job.state === "stopped") return null;
    if (job.state === "failed") throw new Error(job.error[0].toUpperCase() + job.error.slice(1));
    await pause(POLL_MS);
  }
}

/** A file of a job: [blob, name]. */
export async function download(id, kind, viewers) {
  const query = viewers.map((viewer) => `viewer=${viewer}`).join("&");
  const response = await answer(at(id, `/files/${kind}?${query}`));
  const named = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") || "");
  return [await response.blob(), named ? named[1] : kind];
}
