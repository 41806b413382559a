// While a search runs: the best loss so far and the lower bound, as two lines that meet.

const SVG = "http://www.w3.org/2000/svg";
const DIGITS = { minimumSignificantDigits: 4, maximumSignificantDigits: 4 };
const [WIDTH, HEIGHT, MARGIN] = [560, 160, 24];
let points = [];
let job = null;

function shape(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function line(name, ink, label, highest) {
  const last = points.at(-1).time || 1;
  const places = points.map((each) => {
    const x = MARGIN + ((WIDTH - 2 * MARGIN) * each.time) / last;
    const y = HEIGHT - MARGIN - ((HEIGHT - 2 * MARGIN) * each[name]) / highest;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const [x, y] = places.at(-1).split(",").map(Number);
  return [
    shape("polyline", { points: places.join(" "), fill: "none", stroke: ink, "stroke-width": 2 }),
    shape("text", { x: x - 4, y: y - 6, "text-anchor": "end", "font-size": 12, fill: ink }, `${label} ${points.at(-1)[name].toLocaleString("en-US", DIGITS)}`),
  ];
}

document.addEventListener("sfumato-progress", ({ detail }) => {
  const place = document.getElementById("lines");
  if (!place || detail.verb !== "anonymize" || !detail.figures) return;
  if (job?.number !== detail.job) [job, points] = [{ number: detail.job, start: performance.now() }, []];
  points.push({ time: performance.now() - job.start, ...detail.figures });
  const highest = Math.max(...points.map((each) => each.found), 1e-9);
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img" });
  picture.append(
    shape("title", {}, place.dataset.title),
    ...line("bound", "#566270", place.dataset.bound, highest),
    ...line("found", "#0b5fa5", place.dataset.found, highest),
  );
  place.replaceChildren(picture);
  place.hidden = false;
});
