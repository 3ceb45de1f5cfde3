// The list of runs: filter, sort, choose some to compare; it follows runs that train.
import { getJson, runAddress } from "unweave/api.js";
import { fill, h, problem, section, short, twins, words } from "unweave/dom.js";

const EVERY = 3000; // milliseconds between two looks at the folder
const PREFERRED = ["mig", "dci", "sap", "factor_vae_score", "beta_vae_score", "modularity"];
const MOST_METRICS = 5;
const MOST_COMPARED = 8;

export async function showRuns(main) {
  const state = { list: await getJson("/runs.json"), sort: "created", down: true, chosen: new Set() };
  const filter = h("input", {
    type: "search", placeholder: "Filter: words of name, method, data, state", "aria-label": "Filter runs",
    oninput: () => redraw(),
  });
  const compare = h("button", { class: "main", type: "button", disabled: true, onclick: () => {
    location.href = "/compare?" + [...state.chosen].map((name) => "run=" + encodeURIComponent(name)).join("&");
  } }, "Compare");
  const sort = h("select", { "aria-label": "Sort by", onchange: () => sortBy(state, sort.value, redraw) });
  const count = h("span", { class: "note", role: "status" });
  const table = h("div", { class: "scroll" });
  const studies = h("div");
  fill(main, h("h1", {}, `Runs in ${state.list.folder}`), studies,
    h("section", { "aria-label": "Runs" }, h("div", { class: "tools" }, filter, h("label", {}, "Sort by ", sort), compare, count,
      twins([["runs.json", "/runs.json"]])), table));

  function redraw() {
    fill(studies, state.list.studies.length ? studiesSection(state.list.studies) : []);
    const shown = sorted(state, state.list.runs.filter((run) => matches(run, filter.value)));
    const keys = allColumns(state.list).map(({ key, title }) => h("option", { value: key }, title));
    if (sort.options.length !== keys.length) fill(sort, keys);
    sort.value = state.sort;
    fill(count, `${shown.length} of ${state.list.runs.length} runs`);
    fill(table, shown.length || filter.value ? drawTable(state, shown, redraw) : nothingYet());
    compare.disabled = state.chosen.size < 2;
    compare.textContent = state.chosen.size ? `Compare ${state.chosen.size} runs` : "Compare";
  }
  redraw();
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const list = await getJson("/runs.json");
      if (JSON.stringify(list) === JSON.stringify(state.list)) return;
      const focused = document.activeElement?.dataset?.key;
      state.list = list;
      redraw();
      if (focused) table.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    } catch (error) {
      fill(count, problem(error));
    }
  }, EVERY);
}

function studiesSection(studies) {
  return section("Studies", studies.map((study) => {
    const said = [`${short(study.done)} of ${short(study.total)} runs done`,
      study.running ? `${study.running} running` : "", study.failed ? `${study.failed} failed` : "",
      study.seconds_left ? `about ${minutes(study.seconds_left)} left` : ""].filter(Boolean).join(", ");
    return h("div", { class: "study" },
      h("span", { class: `state ${study.state}` }, `${study.name}: ${study.state}`),
      study.problem ? problem(study.problem) : h("progress", { max: study.total || 1, value: study.done ?? 0, "aria-label": `Progress of ${study.name}` }),
      study.problem ? null : h("span", { class: "note" }, said));
  }));
}

function minutes(seconds) {
  return seconds < 5400 ? `${Math.max(1, Math.round(seconds / 60))} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function nothingYet() {
  return h("p", { class: "note" }, "No runs here yet. Make one: ",
    h("code", {}, "unweave train beta_vae --data dsprites"));
}

function matches(run, text) {
  const said = [run.name, run.method, run.data, run.state, `seed ${run.seed}`].join(" ").toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => said.includes(word));
}

/** The columns that fit; what is sorted by is always among them. */
function columns({ list, sort }) {
  const all = allColumns(list);
  const metrics = all.filter((column) => column.metric);
  const first = metrics.findIndex((column) => column.key === sort) >= MOST_METRICS ? MOST_METRICS - 1 : MOST_METRICS;
  return all.filter((column) => !column.metric || column.key === sort || metrics.indexOf(column) < first)
    .map((column) => ({ ...column, wide: column.wide && column.key !== sort }));
}

function allColumns(list) {
  const known = list.metrics.map((metric) => metric.name);
  const order = [...PREFERRED.filter((name) => known.includes(name)), ...known.filter((name) => !PREFERRED.includes(name))];
  const metrics = order.map((name, i) => ({
    key: name, title: words(name), metric: true, number: true, wide: i > 1, value: (run) => run.scores[name]?.value,
  }));
  return [
    { key: "name", title: "run", value: (run) => run.name },
    { key: "method", title: "method", value: (run) => run.method, wide: true },
    { key: "knob", title: "main setting", value: (run) => run.knob_value, wide: true },
    { key: "data", title: "data", value: (run) => run.data, wide: true },
    { key: "seed", title: "seed", value: (run) => run.seed, number: true, wide: true },
    { key: "state", title: "state", value: (run) => run.state },
    ...metrics,
    { key: "created", title: "made", value: (run) => run.created, wide: true },
  ];
}

/** Scores start with the best, everything else with the first; the same again turns it round. */
function sortBy(state, key, redraw) {
  const metric = state.list.metrics.find((one) => one.name === key);
  state.down = state.sort === key ? !state.down : metric ? metric.higher_is_better : key === "created";
  state.sort = key;
  redraw();
}

function sorted(state, runs) {
  const column = allColumns(state.list).find((one) => one.key === state.sort) ?? allColumns(state.list)[0];
  const sign = state.down ? -1 : 1;
  return [...runs].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (x === y) return a.name.localeCompare(b.name);
    if (x === undefined || x === null) return 1; // what has no value stands last either way
    if (y === undefined || y === null) return -1;
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
  });
}

function drawTable(state, runs, redraw) {
  const shown = columns(state);
  const higher = Object.fromEntries(state.list.metrics.map((metric) => [metric.name, metric.higher_is_better]));
  const best = {};
  for (const column of shown.filter((one) => one.metric)) {
    const values = runs.map(column.value).filter((value) => value !== undefined);
    if (new Set(values).size > 1) best[column.key] = higher[column.key] ? Math.max(...values) : Math.min(...values);
  }
  const head = h("tr", {}, h("td", {}), shown.map((column) => {
    const isSorted = state.sort === column.key;
    const order = isSorted ? (state.down ? "descending" : "ascending") : null;
    return h("th", { class: classes(column), "aria-sort": order, scope: "col" },
      h("button", { type: "button", "data-key": `sort ${column.key}`, onclick: () => {
        sortBy(state, column.key, redraw);
        document.querySelector(`[data-key="${CSS.escape(`sort ${column.key}`)}"]`)?.focus();
      } }, column.title));
  }));
  const lines = runs.map((run) => h("tr", {},
    h("td", {}, h("input", {
      type: "checkbox", checked: state.chosen.has(run.name), "aria-label": `Compare ${run.name}`,
      "data-key": `choose ${run.name}`, disabled: Boolean(run.problem),
      onchange: (event) => {
        if (event.target.checked && state.chosen.size < MOST_COMPARED) state.chosen.add(run.name);
        else state.chosen.delete(run.name);
        redraw();
        document.querySelector(`[data-key="${CSS.escape(`choose ${run.name}`)}"]`)?.focus();
      },
    })),
    shown.map((column) => h("td", { class: classes(column) }, cell(column, run, best)))));
  return h("table", {}, h("thead", {}, head), h("tbody", {}, lines));
}

function classes(column) {
  return [column.number && "number", column.wide && "wide", column.key === "name" && "run-name"].filter(Boolean).join(" ");
}

function cell(column, run, best) {
  if (column.key === "name") {
    return run.problem ? h("span", {}, run.name, problem(run.problem)) : h("a", { href: runAddress(run.name) }, run.name);
  }
  if (column.key === "state") {
    const far = run.state === "done" || run.steps === undefined ? "" : ` ${short(run.step)}/${short(run.steps)}`;
    return h("span", { class: `state ${run.state}` }, run.state + far);
  }
  if (column.key === "created") return (run.created ?? "").slice(0, 16).replace("T", " ");
  if (column.key === "knob") return run.knob ? `${words(run.knob)} ${short(run.knob_value)}` : "";
  const value = column.value(run);
  if (column.metric) return h("span", { class: value !== undefined && value === best[column.key] ? "best" : null }, short(value));
  return value === undefined || value === null ? "" : String(value);
}
