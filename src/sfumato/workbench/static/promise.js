// Adding a model with all that it needs, flagging cells, and boxes that carry the change of the recipe that they make.

import { fieldsOf, patch, send, showProblem } from "./page.js";

document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.dataset.change) patch(JSON.parse(field.dataset.change), field);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.flagging === undefined) return;
  event.preventDefault();
  const { column, by } = fieldsOf(form);
  patch({ flags: { [column]: by } }, form.querySelector("button"));
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.dataset.add === undefined) return;
  event.preventDefault();
  for (const place of form.querySelectorAll(".field-problem")) place.hidden = true;
  const unreadable = [...form.querySelectorAll("textarea")].find((field) => !readable(field));
  if (unreadable) return showProblem(unreadable.dataset.unreadable, unreadable);
  const { step, version } = document.body.dataset;
  const model = { name: form.dataset.name, ...given(form) };
  try {
    await send("PATCH", "recipe", { version: Number(version), step, set: [[["models", form.dataset.add], model]] });
    location.assign("promise");
  } catch (problem) {
    showProblem(problem.message, form.elements[problem.field] ?? form.querySelector("#add-model"));
  }
});

function given(form) {
  return Object.fromEntries(Object.entries(fieldsOf(form)).filter(([, value]) => value !== null));
}

function readable(field) {
  try {
    fieldsOf({ elements: [field] });
    return true;
  } catch {
    return false;
  }
}
