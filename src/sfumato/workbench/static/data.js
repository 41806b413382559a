// Uploads by the field or by dropping, and the numbers of a column's picture.
import { announce, attempt, fieldsOf, follow, refresh, send, showProblem } from "./page.js";

// What would be thrown away is asked about first: yields the end of the address that says so, or null for staying.
function agreed() {
  const dialog = document.getElementById("replace-dialog");
  if (!dialog) return Promise.resolve("");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const answer = () => resolve(dialog.returnValue ? `?replaces=${dialog.dataset.stake}` : null);
    dialog.addEventListener("close", answer, { once: true });
  });
}

document.addEventListener("click", (event) => {
  if (event.target.id === "replace") event.target.closest("dialog").close("agreed");
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.id !== "reading") return;
  event.preventDefault();
  const given = fieldsOf(form);
  const replacing = await agreed();
  if (replacing === null) return;
  attempt(async () => follow((await send("POST", `reading${replacing}`, given)).job));
});

async function upload(file) {
  const replacing = await agreed();
  if (replacing === null) return;
  try {
    const answer = await fetch(`tables${replacing}`, {
      method: "POST",
      headers: { "x-sfumato": "1", "x-file-name": encodeURIComponent(file.name) },
      body: file,
    });
    const content = await answer.json();
    if (answer.status === 409) await refresh();
    if (!answer.ok) return showProblem(content.error);
    announce(file.name);
    await follow(content.job);
  } catch {
    showProblem(document.getElementById("problem").dataset.lost);
  }
}

document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.id !== "file" || !field.files.length) return;
  upload(field.files[0]).finally(() => { field.value = ""; }); // the same file may be chosen again
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
