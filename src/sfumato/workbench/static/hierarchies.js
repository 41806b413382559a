// The studio: fields, marks and drags become a draft; the library says what it does; then it goes into the recipe.
import { announce, drawing, patch, refresh, send, showProblem } from "./page.js";

const byId = (id) => document.getElementById(id);
const studio = () => byId("studio");
const draft = () => JSON.parse(studio().dataset.hierarchy);
const all = (selector) => [...studio().querySelectorAll(selector)];

async function attempt(work, beside) {
  try {
    return await work();
  } catch (problem) {
    showProblem(problem.message, beside && byId(`${beside.id}-problem`) ? beside : { id: "studio", setAttribute() {} });
    byId("studio-problem")?.scrollIntoView({ block: "nearest" });
    return undefined;
  }
}

// One change after the other: each is made on the recipe that the one before it left.
let busy = Promise.resolve();

function inTurn(work, beside) {
  busy = busy.then(async () => {
    studio().setAttribute("aria-busy", "true");
    await attempt(work, beside);
    studio().removeAttribute("aria-busy");
  });
  return busy;
}

const use = (hierarchy, beside) => inTurn(() => adopt(hierarchy, beside), beside);

// The draft is computed first, so that a refusal changes nothing and the page is drawn complete.
async function adopt(hierarchy, beside, tab) {
  const { column, name } = studio().dataset;
  const seen = await send("POST", `hierarchies/${column}/preview`, { hierarchy });
  if (tab) history.replaceState(null, "", `hierarchies?column=${column}&tab=${tab}`);
  const place = (what) => ["attributes", name, what];
  await patch({ set: [[place("hierarchy"), seen.hierarchy], [place("order"), null], [place("scale"), null]] }, beside);
  announce(document.querySelector(".columns [aria-current] .badge")?.textContent ?? "");
}

// What the page misses is asked for quietly, then the page is drawn again.
let asking = "";
async function complete() {
  const place = studio();
  if (!place) return;
  const { asked, uncounted, column } = place.dataset;
  const missing = `${asked ?? ""} ${uncounted ?? ""}`;
  if (missing === " " || missing === asking) return;
  asking = missing;
  await attempt(async () => {
    if (asked) {
      const { column: _, ...request } = JSON.parse(asked);
      await send("POST", `hierarchies/${column}/preview`, request);
      await refresh();
    } else {
      await send("POST", "hierarchies/coverage");
      await refresh();
    }
  });
}

// Intervals, prefixes and dates: every field is a part of the draft.
const numberOf = (field) => (field.value === "" ? null : Number(field.value));

function withWidths(widths) {
  const origin = Number(byId("origin")?.value || 0);
  return { kind: "intervals", widths, ...(origin ? { origin } : {}) };
}

function withLengths(lengths) {
  const keep = byId("keep-last")?.checked ? { keep: "last" } : {};
  return { kind: "prefixes", ...(lengths.length ? { lengths } : {}), ...keep };
}

function points(text) {
  const parts = text.split(/[,;，；、]\s*|\s+/).filter(Boolean);
  return studio().dataset.kind.startsWith("date") ? parts : parts.map(Number);
}

function typed() {
  const cuts = all("[data-limits]").map((field) => points(field.value));
  if (cuts.flat().some(Number.isNaN)) throw new Error(studio().dataset.numbers);
  return { kind: "intervals", cuts };
}

async function proposed() {
  return (await send("POST", `hierarchies/${studio().dataset.column}/preview`, { hierarchy: null, kind: draft().kind })).hierarchy;
}

function changed(field) {
  if (field.dataset.width !== undefined || field.id === "origin") return withWidths(all("[data-width]").map(numberOf));
  if (field.dataset.unit) return withWidths(all("[data-unit]:checked").map((each) => each.dataset.unit));
  if (field.dataset.limits !== undefined) return typed();
  if (field.id === "mode-limits") return { kind: "intervals", cuts: JSON.parse(field.dataset.cuts) };
  if (field.id === "mode-widths") return proposed();
  if (field.dataset.length !== undefined || field.name === "keep") return withLengths(all("[data-length]").map(numberOf));
  if (field.id === "every-length") {
    const longest = all(".level").length - 2;
    return withLengths(field.checked ? [] : Array.from({ length: longest }, (_, place) => longest - place));
  }
  return null;
}

document.addEventListener("change", (event) => {
  const field = event.target;
  if (drawing || !studio()?.contains(field)) return;
  if (field.id === "hierarchy-file") return field.files.length && upload(field.files[0]);
  const beside = field.dataset.unit ? byId("units") : field;
  attempt(async () => {
    const hierarchy = await changed(field);
    if (hierarchy) await use(hierarchy, beside);
  }, beside);
});

function longer() {
  const { kind, widths, lengths, cuts } = draft();
  if (kind === "prefixes") return withLengths([...lengths, Math.max(lengths.at(-1) - 1, 1)]);
  if (widths) return withWidths([...widths, widths.at(-1) * 2]);
  const above = cuts.at(-1);
  const kept = above.filter((_, place) => place % 2 === 0 || place === above.length - 1);
  return { kind, cuts: [...cuts, kept.length < above.length ? kept : [above[0], above.at(-1)]] };
}

function shorter(place) {
  const found = draft();
  for (const name of ["widths", "cuts", "lengths"]) found[name]?.splice(place, 1);
  return found;
}

// Trees: mark values and groups, or drag them.
function change(request, beside) {
  return inTurn(async () => {
    const { column } = studio().dataset;
    const { hierarchy } = await send("POST", `hierarchies/${column}/change`, { hierarchy: draft(), change: request });
    await adopt(hierarchy, beside);
    if (byId("group-name")) byId("group-name").value = "";
  }, beside);
}

const marked = () => all("[data-mark-label]:checked").map((each) => each.dataset.markLabel);
const beToolbar = { id: "toolbar", setAttribute: () => {} };

document.addEventListener("click", (event) => {
  const button = event.target.closest("#studio button");
  if (!button || button.disabled) return;
  const data = button.dataset;
  if (button.id === "use") return use(draft(), button);
  if (button.id === "add-level") return use(longer(), button);
  if (data.removeLevel !== undefined) return use(shorter(Number(data.removeLevel)), button);
  if (data.shift) return change({ do: "shift", labels: [data.label], by: Number(data.shift) }, beToolbar);
  if (!data.do) return;
  if (!marked().length) return showProblem(studio().dataset.markFirst, beToolbar);
  change({ do: data.do, labels: marked(), to: byId("move-to").value, name: byId("group-name").value.trim() }, beToolbar);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.id === "group-name") byId("do-group").click();
});

document.addEventListener("dragstart", (event) => {
  const label = event.target.closest?.("[data-drag]")?.dataset.drag;
  if (label !== undefined) event.dataTransfer.setData("text/x-sfumato", label);
});

function placeUnder(event) {
  if (event.dataTransfer.types.includes("text/x-sfumato")) return event.target.closest?.("[data-drop]");
  return event.dataTransfer.types.includes("Files") ? event.target.closest?.("#drop") : null;
}

function clearDrops() {
  for (const each of document.querySelectorAll(".over")) each.classList.remove("over");
}

document.addEventListener("dragover", (event) => {
  const place = placeUnder(event);
  clearDrops();
  if (!place) return;
  event.preventDefault();
  place.classList.add("over");
});
document.addEventListener("dragend", clearDrops);
document.addEventListener("drop", (event) => {
  const place = placeUnder(event);
  clearDrops();
  if (!place) return;
  event.preventDefault();
  if (place.id === "drop") return event.dataTransfer.files.length && upload(event.dataTransfer.files[0]);
  const label = event.dataTransfer.getData("text/x-sfumato");
  if (label !== place.dataset.drop) change({ do: "move", labels: [label], to: place.dataset.drop }, beToolbar);
});

// Files open in the tree.
function upload(file) {
  const beside = byId("hierarchy-file");
  return inTurn(async () => {
    const { column } = studio().dataset;
    const answer = await fetch(`hierarchies/${column}/file`, {
      method: "POST",
      headers: { "x-sfumato": "1", "x-file-name": encodeURIComponent(file.name) },
      body: file,
    });
    const content = await answer.json();
    if (!answer.ok) throw new Error(content.error);
    await adopt(content.hierarchy, beside, "tree");
  }, beside);
}

// A typed limit can be dragged along the axis; its field is the same thing for the keyboard.
let dragged = null;

document.addEventListener("pointerdown", (event) => {
  const limit = event.target.closest?.("[data-typed] .limit");
  if (!limit) return;
  event.preventDefault();
  dragged = { limit, frame: limit.closest("[data-typed]"), value: limit.dataset.limit };
});

document.addEventListener("pointermove", (event) => {
  if (!dragged) return;
  const { frame, limit } = dragged;
  const picture = frame.querySelector("svg");
  const box = picture.getBoundingClientRect();
  const [left, right, low, high] = ["left", "right", "low", "high"].map((name) => Number(frame.dataset[name]));
  const x = Math.min(Math.max(((event.clientX - box.left) / box.width) * picture.viewBox.baseVal.width, left), right);
  for (const line of limit.querySelectorAll("line")) {
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
  }
  dragged.value = written(low + ((x - left) / (right - left)) * (high - low), high - low);
});

document.addEventListener("pointerup", () => {
  if (!dragged) return;
  const { limit, value } = dragged;
  dragged = null;
  if (String(value) === limit.dataset.limit) return;
  const cuts = draft().cuts.map((level) => level.map((each) => (String(each) === limit.dataset.limit ? value : each)));
  const place = cuts.findIndex((level) => level.includes(value));
  use({ kind: "intervals", cuts }, byId(`limits-${place}`));
});

function written(place, width) {
  const { kind } = studio().dataset;
  if (kind === "whole numbers") return Math.round(place);
  if (kind === "real numbers") return Number(place.toPrecision(Math.max(3, Math.ceil(Math.log10(Math.abs(place) / width + 1)) + 3)));
  const moment = new Date(kind === "dates" ? place * 86400000 : place / 1000);
  return moment.toISOString().slice(0, 10);
}

// Where the columns are a row that scrolls, the chosen one is in sight.
function drawn() {
  const chosen = document.querySelector("nav.narrow [aria-current]");
  const row = chosen?.closest("ul");
  if (row) row.scrollLeft = chosen.offsetLeft - row.offsetLeft - 8;
  complete();
}

document.addEventListener("sfumato-drawn", drawn);
drawn();
