// A table of which only the rows in sight are in the document; the others come when they are scrolled to.

const HEIGHT = 32;
const TALLEST = 8_000_000; // pixels; beyond, the scroll bar maps to row numbers
const AHEAD = 8;
const PAGE = 100;
const KEPT = 50; // pages

class Rows extends HTMLElement {
  connectedCallback() {
    this.count = Number(this.dataset.rows);
    this.names = JSON.parse(this.dataset.columns);
    this.tall = Math.min(this.count * HEIGHT, TALLEST);
    this.pages = new Map();
    this.draw();
    this.view.addEventListener("scroll", () => {
      this.follow();
      this.lead();
    });
    new ResizeObserver(() => this.follow()).observe(this.view);
    const field = document.getElementById(this.dataset.goto);
    field?.addEventListener("change", () => this.goTo(Number(field.value)));
    this.follow();
  }

  draw() {
    this.view = element("div", { className: "view", tabIndex: 0 });
    this.view.setAttribute("role", "region");
    this.view.setAttribute("aria-label", this.dataset.label);
    const table = element("table");
    table.setAttribute("aria-rowcount", String(this.count + 1));
    const line = element("tr");
    line.setAttribute("aria-rowindex", "1");
    for (const name of ["#", ...this.names]) line.append(element("th", { scope: "col", textContent: name }));
    const head = element("thead");
    head.append(line);
    this.body = element("tbody");
    table.append(head, this.body);
    this.before = element("div");
    this.after = element("div");
    this.after.style.height = `${this.tall}px`; // so that one can go to a row before any has come
    this.view.append(this.before, table, this.after);
    this.replaceChildren(this.view);
  }

  goTo(number) {
    const row = Math.max(1, Math.min(this.count, Math.round(number) || 1)) - 1;
    this.view.scrollTop = (row / Math.max(this.count, 1)) * this.tall;
    this.follow();
    this.lead();
  }

  // Another table of the same records scrolls along.
  lead() {
    const other = document.getElementById(this.dataset.together)?.view;
    if (!other || Math.abs(other.scrollTop - this.view.scrollTop) < 1) return;
    other.scrollTop = this.view.scrollTop;
  }

  get first() {
    return Math.min(Math.floor((this.view.scrollTop / Math.max(this.tall, 1)) * this.count), Math.max(this.count - 1, 0));
  }

  async follow() {
    const shown = Math.ceil(this.view.clientHeight / HEIGHT) + 1;
    const [first, last] = [Math.max(0, this.first - AHEAD), Math.min(this.count, this.first + shown + AHEAD)];
    const wanted = `${first} ${last}`;
    if (this.wanted === wanted) return;
    this.wanted = wanted;
    const numbers = [];
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page += 1) numbers.push(page);
    const found = new Map(await Promise.all(numbers.map(async (each) => [each, await this.page(each)])));
    if (this.wanted !== wanted) return;
    this.fill(first, last, (row) => found.get(Math.floor(row / PAGE)));
  }

  page(number) {
    if (!this.pages.has(number)) {
      if (this.pages.size > KEPT) this.pages.delete(this.pages.keys().next().value);
      this.pages.set(number, this.read(number));
    }
    return this.pages.get(number);
  }

  // The cells of a page by column and, where they are compared, those of the original.
  async read(number) {
    const asked = `?from=${number * PAGE}&count=${PAGE}`;
    const places = [this.dataset.src, ...(this.dataset.original ? [this.dataset.original] : [])];
    const [shown, original] = await Promise.all(
      places.map(async (place) => (await (await fetch(place + asked)).json()).columns),
    );
    if (!original) return { shown };
    const names = JSON.parse(this.dataset.originalColumns);
    return { shown, original: this.names.map((name) => original[names.indexOf(name)]) };
  }

  fill(first, last, pageOf) {
    const lines = [];
    for (let row = first; row < last; row += 1) {
      const { shown, original } = pageOf(row);
      const line = element("tr");
      line.setAttribute("aria-rowindex", String(row + 2));
      line.append(element("th", { scope: "row", textContent: (row + 1).toLocaleString("en-US") }));
      shown.forEach((column, at) => {
        const text = column[row % PAGE];
        const cell = element("td", { textContent: text ?? "" });
        if (text === null) cell.className = "missing";
        if (original?.[at] && original[at][row % PAGE] !== text) cell.className = "changed";
        line.append(cell);
      });
      lines.push(line);
    }
    this.body.replaceChildren(...lines);
    const top = this.count * HEIGHT > TALLEST ? Math.min(this.view.scrollTop, this.tall - (last - first) * HEIGHT) : first * HEIGHT;
    this.before.style.height = `${Math.max(top, 0)}px`;
    this.after.style.height = `${Math.max(0, this.tall - top - (last - first) * HEIGHT)}px`;
    this.dataset.first = String(first + 1);
    this.dataset.last = String(last);
  }
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}

customElements.define("sf-rows", Rows);
