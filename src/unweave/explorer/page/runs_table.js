// The table of runs. Thousands may be listed, so only as many lines are made as are scrolled to.
import { runAddress } from "unweave/api.js";
import { fill, h, scoreText, short, words } from "unweave/dom.js";

const PREFERRED = ["mig", "dci", "sap", "factor_vae_score", "beta_vae_score", "modularity"];
const MOST_METRICS = 5;
const MOST_COMPARED = 8;
const PART = 40; // lines that are added when the end comes into view

/** All that can be sorted by. */
export function columnsOf(metrics) {
  const known = metrics.map((metric) => metric.name);
  const order = [...PREFERRED.filter((name) => known.includes(name)), ...known.filter((name) => !PREFERRED.includes(name))];
  return [
    { key: "name", title: "run", value: (run) => run.name },
    { key: "method", title: "method", value: (run) => run.method, wide: true },
    { key: "knob", title: "main setting", value: (run) => run.knob_value, wide: true },
    { key: "data", title: "data", value: (run) => run.data, wide: true },
    { key: "seed", title: "seed", value: (run) => run.seed, number: true, wide: true },
    { key: "state", title: "state", value: (run) => run.state },
    ...order.map((name) => ({ key: name, title: words(name), metric: true, number: true, value: (run) => run.scores[name]?.value })),
    { key: "created", title: "made", value: (run) => run.created, wide: true },
  ];
}

export class RunsTable {
  /** @param list what runs.json says  @param hooks onchoose(names), onsort(key) */
  constructor({ runs, metrics }, { onchoose, onsort }) {
    Object.assign(this, { metrics, onchoose, onsort, sort: "created", down: true, words: [] });
    this.runs = new Map(runs.map((run) => [run.name, run]));
    this.lines = new Map(); // elements by name, as far as they were made
    this.picked = new Set();
    this.head = h("thead");
    this.body = h("tbody");
    this.end = h("div", { class: "end" });
    this.element = h("div", {}, h("table", { class: "runs" }, this.head, this.body), this.end);
    new IntersectionObserver(([entry]) => entry.isIntersecting && this.#more(), { rootMargin: "600px" }).observe(this.end);
    this.#draw();
  }

  get size() {
    return this.runs.size;
  }

  get chosen() {
    return [...this.picked];
  }

  /** Take changed lines, drop what is gone. */
  update({ runs, gone, metrics }) {
    for (const name of gone) for (const kept of [this.runs, this.lines, this.picked]) kept.delete(name);
    for (const run of runs) {
      this.runs.set(run.name, run);
      this.lines.delete(run.name);
    }
    if (metrics.length !== this.metrics.length) this.lines.clear();
    this.metrics = metrics;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.#draw(Math.max(PART, this.body.childElementCount));
    if (focused) this.element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    this.onchoose(this.chosen);
  }

  /** Show the runs that have all these words; return how many. */
  filter(text) {
    this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.#draw();
    return this.matching.length;
  }

  /** Scores start with the best, everything else with the first; the same again turns it round. */
  sortBy(key) {
    const metric = this.metrics.find((one) => one.name === key);
    this.down = this.sort === key ? !this.down : metric ? metric.higher_is_better : key === "created";
    const before = this.#columns().map((column) => column.key).join();
    this.sort = key;
    if (before !== this.#columns().map((column) => column.key).join()) this.lines.clear();
    this.#draw();
    this.onsort(key);
    this.head.querySelector(`[data-key="${CSS.escape(`sort ${key}`)}"]`)?.focus();
  }

  /** The columns that fit; what is sorted by is always among them. */
  #columns() {
    const all = columnsOf(this.metrics);
    const metrics = all.filter((column) => column.metric);
    const most = metrics.findIndex((column) => column.key === this.sort) >= MOST_METRICS ? MOST_METRICS - 1 : MOST_METRICS;
    return all.filter((column) => !column.metric || column.key === this.sort || metrics.indexOf(column) < most);
  }

  #draw(lines = PART) {
    fill(this.head, h("tr", {}, h("td", {}), this.#columns().map((column) => this.#headCell(column))));
    this.matching = this.#sorted([...this.runs.values()].filter((run) => this.words.every((word) => saidOf(run).includes(word))));
    this.best = this.#best(this.matching);
    fill(this.body);
    this.#more(lines);
  }

  #more(lines = PART) {
    const from = this.body.childElementCount;
    if (from >= this.matching.length) return;
    const columns = this.#columns();
    this.body.append(...this.matching.slice(from, from + lines).map((run) => {
      if (!this.lines.has(run.name)) this.lines.set(run.name, this.#line(run, columns));
      const line = this.lines.get(run.name);
      for (const shown of line.querySelectorAll("[data-score]")) {
        shown.classList.toggle("best", this.best.has(`${shown.dataset.score} ${run.name}`));
      }
      return line;
    }));
  }

  #headCell(column) {
    const order = this.sort === column.key ? (this.down ? "descending" : "ascending") : null;
    return h("th", { class: classes(column), "aria-sort": order, scope: "col" },
      h("button", { type: "button", "data-key": `sort ${column.key}`, onclick: () => this.sortBy(column.key) }, column.title));
  }

  #line(run, columns) {
    const box = h("input", {
      type: "checkbox", checked: this.picked.has(run.name), "aria-label": `Compare ${run.name}`,
      "data-key": `choose ${run.name}`, disabled: Boolean(run.problem),
      onchange: () => {
        if (box.checked && this.picked.size < MOST_COMPARED) this.picked.add(run.name);
        else this.picked.delete(run.name);
        box.checked = this.picked.has(run.name);
        this.onchoose(this.chosen);
      },
    });
    return h("tr", {}, h("td", { class: "choose" }, box),
      columns.map((column) => h("td", { class: classes(column), "data-title": column.title }, cell(column, run))));
  }

  #sorted(runs) {
    const column = columnsOf(this.metrics).find((one) => one.key === this.sort) ?? columnsOf(this.metrics)[0];
    const sign = this.down ? -1 : 1;
    const order = new Intl.Collator("en"); // one for all: making it is what costs
    return runs.sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      if (x === y) return order.compare(a.name, b.name);
      if (x === undefined || x === null) return 1; // what has no value stands last either way
      if (y === undefined || y === null) return -1;
      return sign * (typeof x === "number" && typeof y === "number" ? x - y : order.compare(String(x), String(y)));
    });
  }

  /** Scores of other data, or by another protocol, cannot be compared: the best is one of its kind. */
  #best(runs) {
    const found = new Set();
    for (const { name, higher_is_better: isHigher } of this.metrics) {
      const kinds = new Map();
      for (const run of runs) {
        const score = run.scores[name];
        if (!score) continue;
        const kind = `${run.data}\n${score.protocol}`;
        if (!kinds.has(kind)) kinds.set(kind, []);
        kinds.get(kind).push([score.value, run.name]);
      }
      for (const scores of kinds.values()) {
        const values = scores.map(([value]) => value);
        const best = scoreText(isHigher ? Math.max(...values) : Math.min(...values));
        const isBest = ([value]) => scoreText(value) === best;
        if (scores.every(isBest)) continue; // as far as one can see
        for (const [, run] of scores.filter(isBest)) found.add(`${name} ${run}`);
      }
    }
    return found;
  }
}

/** The words a run is found by. */
function saidOf(run) {
  run.said ??= [run.name, run.method, run.data, run.state, `seed ${run.seed}`].join(" ").toLowerCase();
  return run.said;
}

function classes(column) {
  return [column.number && "number", column.wide && "wide", column.metric && "metric", column.key === "name" && "run-name"].filter(Boolean).join(" ");
}

function cell(column, run) {
  if (column.key === "name") {
    if (run.problem) return h("span", {}, run.name, h("p", { class: "problem" }, run.problem));
    return h("a", { href: runAddress(run.name) },
      run.has_picture ? h("img", { class: "thumbnail", src: runAddress(run.name, "/thumbnail.png"), alt: "", loading: "lazy", width: 60, height: 40 })
        : h("span", { class: "thumbnail" }), h("span", {}, run.name));
  }
  if (column.key === "state") {
    const far = run.state === "done" || run.steps === undefined ? "" : ` ${short(run.step)}/${short(run.steps)}`;
    return h("span", { class: `state ${run.state}` }, run.state + far);
  }
  if (column.key === "created") return (run.created ?? "").slice(0, 16).replace("T", " ");
  if (column.key === "knob") return run.knob ? `${words(run.knob)} ${short(run.knob_value)}` : "";
  const value = column.value(run);
  if (column.metric) return h("span", { "data-score": column.key, title: run.scores[column.key]?.protocol }, scoreText(value));
  return value === undefined || value === null ? "" : String(value);
}
