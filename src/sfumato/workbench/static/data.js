// Uploads by the field or by dropping, and the numbers of a column's picture.
import { announce, follow, showProblem } from "./page.js";

async function upload(file) {
  try {
    const answer = await fetch("tables", {
      method: "POST",
      headers: { "x-sfumato": "1", "x-file-name": encodeURIComponent(file.name) },
      body: file,
    });
    const content = await answer.json();
    if (!answer.ok) return showProblem(content.error);
    announce(file.name);
    await follow(content.job);
  } catch {
    showProblem(document.getElementById("problem").dataset.lost);
  }
}

document.addEventListener("change", (event) => {
  if (event.target.id === "file" && event.target.files.length) upload(event.target.files[0]);
});
document.addEventListener("dragover", (event) => {
  const place = event.target.closest("#drop");
  if (!place) return;
  event.preventDefault();
  place.classList.add("over");
});
document.addEventListener("dragleave", (event) => event.target.closest("#drop")?.classList.remove("over"));
document.addEventListener("drop", (event) => {
  const place = event.target.closest("#drop");
  if (!place) return;
  event.preventDefault();
  place.classList.remove("over");
  if (event.dataTransfer.files.length) upload(event.dataTransfer.files[0]);
});

document.addEventListener(
  "toggle",
  async (event) => {
    const details = event.target;
    if (!details.open || details.dataset.bars === undefined || details.dataset.filled) return;
    details.dataset.filled = "true";
    const { bars } = await (await fetch(`columns/${details.dataset.bars}`)).json();
    details.querySelector("tbody").append(
      ...bars.map(({ text, count }) => {
        const line = document.createElement("tr");
        const name = Object.assign(document.createElement("th"), { scope: "row", textContent: text });
        const number = Object.assign(document.createElement("td"), { className: "number", textContent: count.toLocaleString("en-US") });
        line.append(name, number);
        return line;
      }),
    );
  },
  true,
);
