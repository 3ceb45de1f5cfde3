// The list of runs: filter, sort, choose some to compare; it follows runs that train.
import { getJson } from "unweave/api.js";
import { fill, h, section, short, twins } from "unweave/dom.js";
import { sayGone, sayHere } from "unweave/liveness.js";
import { RunsTable, columnsOf } from "unweave/runs_table.js";

const EVERY = 3000; // milliseconds between two looks at the folder

export async function showRuns(main) {
  const list = await getJson("/runs.json");
  const filter = h("input", {
    type: "search", placeholder: "Filter: words of name, method, data, state", "aria-label": "Filter runs",
    oninput: () => said(table.filter(filter.value)),
  });
  const compare = h("button", { class: "main", type: "button", disabled: true, onclick: () => {
    location.href = "/compare?" + table.chosen.map((name) => "run=" + encodeURIComponent(name)).join("&");
  } }, "Compare");
  const sort = h("select", { "aria-label": "Sort by", onchange: () => table.sortBy(sort.value) });
  const count = h("span", { class: "note", role: "status" });
  const table = new RunsTable(list, {
    onchoose: (chosen) => {
      compare.disabled = chosen.length < 2;
      compare.textContent = chosen.length ? `Compare ${chosen.length} runs` : "Compare";
    },
    onsort: (key) => { sort.value = key; },
  });
  const place = h("div", { class: "scroll" }), studies = h("div");
  fill(main, h("h1", {}, `Runs in ${list.folder}`), studies,
    h("section", { "aria-label": "Runs" }, h("div", { class: "tools" }, filter, h("label", {}, "Sort by ", sort), compare, count,
      twins([["runs.json", "/runs.json"]])), place,
    h("p", { class: "note" }, h("span", { class: "best" }, "Bold"), " is the best of the shown runs with the same data and protocol.")));

  function said(shown) {
    fill(count, `${shown} of ${table.size} runs`);
    fill(place, table.size ? table.element : nothingYet());
  }
  function show() {
    fill(studies, list.studies.length ? studiesSection(list.studies) : []);
    const keys = columnsOf(list.metrics).map(({ key, title }) => h("option", { value: key }, title));
    if (sort.options.length !== keys.length) fill(sort, keys);
    sort.value = table.sort;
    said(table.filter(filter.value));
  }
  show();
  let isLooking = false;
  setInterval(async () => {
    if (document.hidden || isLooking) return;
    isLooking = true;
    try {
      const now = await getJson(`/runs.json?since=${list.version}`);
      const isChanged = now.runs.length || now.gone.length || JSON.stringify(now.studies) !== JSON.stringify(list.studies);
      Object.assign(list, { version: now.version, studies: now.studies, metrics: now.metrics });
      if (isChanged) {
        table.update(now);
        show();
      }
      sayHere();
    } catch (error) {
      sayGone(error);
    } finally {
      isLooking = false;
    }
  }, EVERY);
}

function studiesSection(studies) {
  return section("Studies", studies.map((study) => {
    const said = [`${short(study.done)} of ${short(study.total)} runs done`,
      study.running ? `${study.running} running` : "", study.failed ? `${study.failed} failed` : "",
      study.seconds_left ? `about ${minutes(study.seconds_left)} left` : ""].filter(Boolean).join(", ");
    return h("div", { class: "study" },
      h("span", { class: `state ${study.state}` }, h("a", { href: `/studies/${encodeURIComponent(study.name)}` }, study.name), `: ${study.state}`),
      study.problem ? h("p", { class: "problem" }, study.problem)
        : h("progress", { max: study.total || 1, value: study.done ?? 0, "aria-label": `Progress of ${study.name}` }),
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
