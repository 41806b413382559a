// A table from outside is uploaded as it is; the page then attacks with it.
import { refresh, showProblem } from "./page.js";

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.id !== "outside-form") return;
  event.preventDefault();
  const [file] = form.elements["outside-file"].files;
  if (!file) return form.elements["outside-file"].focus();
  const asked = new URLSearchParams({ kind: form.elements.kind.value, key: form.elements.key.value });
  try {
    const answer = await fetch(`outside?${asked}`, {
      method: "POST",
      headers: { "x-sfumato": "1", "x-file-name": encodeURIComponent(file.name) },
      body: file,
    });
    if (!answer.ok) return showProblem((await answer.json()).error);
    await refresh();
  } catch {
    showProblem(document.getElementById("problem").dataset.lost);
  }
});
