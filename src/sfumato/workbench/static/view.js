// What is looked at stands in the address: links and forms marked data-view change it, and the page is drawn again.

import { refresh } from "./page.js";

function look(url) {
  history.pushState(null, "", url);
  return refresh();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-view]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  look(link.href);
});

function address(form) {
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  return `${form.getAttribute("action")}?${asked}`;
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-view]");
  if (!form) return;
  event.preventDefault();
  look(address(form));
});

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-view]");
  if (form && form.dataset.view === "at-once") look(address(form));
});

window.addEventListener("popstate", () => refresh());

// A table of rows that begins at a certain row.
document.addEventListener("sfumato-drawn", () => {
  for (const rows of document.querySelectorAll("sf-rows[data-start]")) {
    customElements.whenDefined("sf-rows").then(() => rows.goTo(Number(rows.dataset.start)));
  }
});
