// The one mechanism of all pages: send a change, and let the server draw the page again.

const policy = window.trustedTypes
  ? trustedTypes.createPolicy("sfumato", { createHTML: (text) => text })
  : { createHTML: (text) => text };
const byId = (id) => document.getElementById(id);

export async function send(method, url, body) {
  const request = { method, headers: { "x-sfumato": "1", "content-type": "application/json" } };
  if (body !== undefined) request.body = JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(url, request);
  } catch {
    throw new Error(byId("problem").dataset.lost);
  }
  const content = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (answer.status === 401) location.replace("./");
  if (!answer.ok) throw Object.assign(new Error(content.error), { status: answer.status, kind: content.kind, field: content.field });
  return content;
}

// What the server draws is put in place part by part; the focus, open details and scroll positions stay.
const PARTS = ["project", "undo", "redo", "language", "keys", "quit", "steps", "main", "state", "progress", "dialogs"];

// Answers may overtake each other: what was asked for before what is shown is not shown any more.
let asked = 0;
let shown = 0;

export async function refresh(url = location.href) {
  const turn = ++asked;
  const answer = await fetch(url);
  if (answer.status === 401) return location.replace("./");
  const text = await answer.text();
  if (turn < shown) return;
  shown = turn;
  show(text);
}

function show(text) {
  const drawn = new DOMParser().parseFromString(policy.createHTML(text), "text/html");
  const focused = document.activeElement?.id;
  const typed = beingTyped();
  const open = new Set([...document.querySelectorAll("details[open][id]")].map((each) => each.id));
  drawing = true;
  for (const id of PARTS) {
    const [old, made] = [byId(id), drawn.getElementById(id)];
    if (!old || !made || (id === "progress" && following !== null) || old.querySelector("dialog[open]")) continue;
    old.replaceWith(document.adoptNode(made));
  }
  drawing = false;
  for (const id of open) byId(id)?.setAttribute("open", "");
  document.title = drawn.title;
  document.documentElement.lang = drawn.documentElement.lang;
  document.body.dataset.version = drawn.body.dataset.version;
  hideProblem();
  const again = focused && byId(focused);
  if (again && document.activeElement !== again) again.focus({ preventScroll: true });
  if (focused && !again) byId("main").focus({ preventScroll: true });
  if (again && typed !== null) keepTyping(again, typed);
  else if (again && again.matches(TYPED)) again.select(); // as it was when the field was entered: what is typed next replaces it
  begin();
}

// A field that is taken away while somebody types in it tells a change; it is sent later, on the new recipe.
export let drawing = false;

// What somebody is typing when the page is drawn again stays, and is sent by Enter or when the field is left:
// browsers tell no change of a text that a script put there.
const TYPED = "textarea, input:not([type=checkbox], [type=radio], [type=file])";

function beingTyped() {
  const field = document.activeElement;
  return field?.matches(TYPED) && field.value !== field.defaultValue ? field.value : null;
}

function keepTyping(field, typed) {
  if (field.value === typed) return;
  let sent = false;
  field.value = typed;
  field.addEventListener("change", () => { sent = true; }, { once: true });
  const tellChange = () => {
    if (!sent && field.isConnected) field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  field.addEventListener("blur", tellChange, { once: true });
  field.addEventListener("keyup", (event) => {
    if (event.key === "Enter" && field.matches("input")) tellChange();
  });
}

export function announce(text) {
  byId("live").textContent = text;
}

export function showProblem(text, beside = null) {
  const field = beside && byId(`${beside.id}-problem`);
  const place = field || byId("problem");
  place.textContent = text;
  place.hidden = false;
  if (field) {
    const shown = byId(beside.id);
    shown?.setAttribute("aria-invalid", "true");
    shown?.setAttribute("aria-describedby", place.id);
  } else {
    place.focus();
  }
}

function hideProblem() {
  byId("problem").hidden = true;
}

export async function attempt(work, beside = null) {
  try {
    hideProblem();
    await work();
  } catch (problem) {
    if (problem.status === 409) await refresh();
    showProblem(problem.message, beside);
  }
}

// Changes are sent one after the other: each is made on the recipe that the one before it left.
let changes = Promise.resolve();

function inTurn(work, beside = null) {
  changes = changes.then(() => attempt(work, beside));
  return changes;
}

export function patch(change, beside = null) {
  return inTurn(async () => {
    const { step, version } = document.body.dataset;
    await send("PATCH", "recipe", { version: Number(version), step, ...change });
    await refresh();
  }, beside);
}

// A list has one entry per line, a mapping one line per value as in "flu = mild"; both can be JSON.
function entriesOf(field) {
  const text = field.value.trim();
  if (text === "") return null;
  if (text.startsWith("{") || text.startsWith("[")) return JSON.parse(text);
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line);
  if (field.dataset.type === "lines") return lines;
  if (lines.length === 1 && !text.includes("=") && text !== "" && !Number.isNaN(Number(text))) return Number(text);
  return Object.fromEntries(lines.map((line) => entryOf(line, field.dataset.entries)));
}

function entryOf(line, kind) {
  const at = line.lastIndexOf("=");
  const [value, given] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  if (at < 1 || !given) throw new Error(line);
  const numeric = kind !== "text" && !Number.isNaN(Number(given));
  return [value, numeric ? Number(given) : given];
}

function valueOf(field) {
  if (field.type === "checkbox") return field.checked;
  if (["lines", "mapping"].includes(field.dataset.type)) return entriesOf(field);
  if (field.dataset.type === "json") return field.value === "" ? null : JSON.parse(field.value);
  if (field.dataset.type === "json-algorithm") return { name: field.value };
  if (field.type === "number" || field.dataset.type === "number") return field.value === "" ? null : Number(field.value);
  return field.value === "" ? null : field.value;
}

// Jobs: started, followed until they are over, and then the page is drawn again.
let following = null;
let told = 0;

export async function startJob(request, quietly = false) {
  const job = await send("POST", "jobs", request);
  return follow(job.job, quietly);
}

// The bar shows one job: the last that a person started, or one that the page did if there is none.
export function follow(number, quietly = false) {
  if (following?.number === number) return following.over;
  const events = new EventSource(`jobs/${number}/events`);
  const since = performance.now();
  const mine = { number };
  if (!quietly || following === null) [following, told] = [mine, 0];
  mine.over = new Promise((resolve) => {
    events.onmessage = async (event) => {
      const state = JSON.parse(event.data);
      if (following === mine) tell(state, since);
      if (!["done", "failed", "canceled"].includes(state.state)) return;
      events.close();
      if (following === mine) following = null;
      const next = byId("progress").dataset.next;
      if (state.state === "done" && next) location.assign(next);
      await refresh();
      if (following === null) byId("progress").hidden = true;
      announce(byId("progress").dataset[state.state]);
      if (state.state === "failed" && !byId("job-problem")) showProblem(state.error);
      else if (state.state === "failed") byId("job-problem").focus();
      resolve(state);
    };
  });
  return mine.over;
}

function tell(state, since) {
  const place = byId("progress");
  place.hidden = false;
  byId("progress-title").textContent = place.dataset[state.state].replace("{place}", state.place ?? "");
  const bar = byId("progress-bar");
  if (state.state === "running" && !state.done) bar.removeAttribute("value");
  else bar.value = state.done;
  byId("progress-note").textContent = state.note;
  byId("progress-time").textContent = `${Math.round((performance.now() - since) / 1000)} s`;
  document.dispatchEvent(new CustomEvent("sfumato-progress", { detail: state }));
  if (Math.floor(state.done * 10) > told) {
    told = Math.floor(state.done * 10);
    announce(`${told * 10} %`);
  }
}

async function cancel() {
  if (following) await attempt(() => send("DELETE", `jobs/${following.number}`));
}

const automatic = new Set();

// What every drawing of the page begins with.
function begin() {
  const [steps, here] = [byId("steps"), document.querySelector("#steps [aria-current]")];
  if (here) steps.scrollLeft = here.offsetLeft - steps.offsetLeft - (steps.clientWidth - here.offsetWidth) / 2;
  const running = byId("progress").dataset.follow;
  if (running && following === null) follow(Number(running));
  for (const place of document.querySelectorAll("[data-auto-job]")) {
    const asked = place.dataset.autoJob;
    const once = `${asked} ${document.body.dataset.version}`;
    if (automatic.has(once)) continue;
    automatic.add(once);
    attempt(() => startJob(JSON.parse(asked), true));
  }
  document.dispatchEvent(new CustomEvent("sfumato-drawn"));
}

document.addEventListener("change", (event) => {
  const field = event.target.closest("[data-set], [data-role]");
  if (!field || drawing) return;
  if (field.dataset.role !== undefined) return patch({ roles: rolesOf(field) }, field);
  let value;
  try {
    value = valueOf(field);
  } catch {
    return showProblem(field.dataset.unreadable, field);
  }
  patch({ set: [[JSON.parse(field.dataset.set), value]] }, field);
});

// Marks are set from one to another with Shift.
let marked = null;
document.addEventListener("click", (event) => {
  const mark = event.target.closest("[data-mark]");
  if (!mark) return;
  const all = [...document.querySelectorAll("[data-mark]")];
  const from = all.findIndex((each) => each.dataset.mark === marked);
  if (event.shiftKey && from >= 0) {
    const [first, last] = [from, all.indexOf(mark)].sort((one, other) => one - other);
    for (const each of all.slice(first, last + 1)) each.checked = mark.checked;
  }
  marked = mark.dataset.mark;
});

// With several columns marked, the role that one of them gets is given to all.
function rolesOf(field) {
  const marked = [...document.querySelectorAll("[data-mark]:checked")].map((each) => each.dataset.mark);
  const numbers = marked.includes(field.dataset.role) ? marked : [field.dataset.role];
  return Object.fromEntries(numbers.map((number) => [number, field.value]));
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button, a[data-post]");
  if (!button || button.disabled) return;
  const data = button.dataset;
  if (button.id === "cancel") return cancel();
  if (data.dialog) return byId(data.dialog).showModal();
  if ("close" in data) return button.closest("dialog").close();
  if ("quit" in data) {
    await attempt(() => send("POST", "quit"));
    document.title = "Sfumato";
    document.body.replaceChildren(Object.assign(document.createElement("p"), { className: "gone", textContent: data.gone }));
    return;
  }
  if (data.patch) return patch(JSON.parse(data.patch), button);
  if (data.post) {
    event.preventDefault();
    return inTurn(async () => {
      const answer = await send("POST", data.post, data.body && JSON.parse(data.body));
      if (data.next) location.assign(data.next);
      if (!answer.job) return refresh();
      attempt(() => follow(answer.job)); // whose end no change waits for
    });
  }
});

export function fieldsOf(form) {
  const found = {};
  for (const field of form.elements) {
    if (!field.name || (field.type === "radio" && !field.checked)) continue;
    found[field.name] = valueOf(field);
  }
  return found;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const { job, next } = form.dataset;
  if (job === undefined) return;
  event.preventDefault();
  if (form.dataset.sent) return; // twice in a row is once
  form.dataset.sent = "true";
  const given = { ...fieldsOf(form), ...(form.dataset.with ? JSON.parse(form.dataset.with) : {}) };
  attempt(async () => {
    const state = await startJob({ verb: job, ...given });
    if (state.state === "done" && next) location.assign(next);
  }).finally(() => { delete form.dataset.sent; });
});

// Keys: none while typing.
let goes = false;
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) {
    event.preventDefault();
    byId(event.shiftKey ? "redo" : "undo").click();
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (goes && /^[0-9]$/.test(event.key)) {
    const steps = [...document.querySelectorAll("#steps a")];
    location.assign(steps.at(event.key === "0" ? -1 : Number(event.key) - 1).href);
  }
  goes = event.key === "g";
  if (event.key === "?") byId("keys").click();
  if (event.key === "/") {
    event.preventDefault();
    byId("find")?.focus();
  }
});

// A field that finds columns hides the rows of all others.
document.addEventListener("input", (event) => {
  if (event.target.id !== "find") return;
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll("[data-column]")) row.hidden = !row.dataset.column.toLowerCase().includes(wanted);
});

begin();
