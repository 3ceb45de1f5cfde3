// Runs side by side: scores, settings that differ, curves in one plot, traversals from one image.
import { getJson, runAddress } from "unweave/api.js";
import { fill, h, problem, section, short, twinned, twins, words } from "unweave/dom.js";
import { LatentsPanel, codeTwins } from "unweave/latents.js";
import { COLORS, linePlot } from "unweave/plots.js";
import { firstRow, loadDecoder } from "unweave/loading.js";

export async function showComparison(main, names) {
  const compared = await getJson("/compare.json" + location.search);
  const curves = h("div"), traversals = h("div");
  fill(main, h("h1", {}, `${names.length} runs side by side`, twins([["compare.json", "/compare.json" + location.search]])),
    h("ul", { class: "legend" }, names.map((name, i) =>
      h("li", {}, h("i", { style: { background: COLORS[i] } }), h("a", { href: runAddress(name) }, name)))),
    scoresSection(compared, names), settingsSection(compared, names), traversals, curves);
  await Promise.all([drawCurves(curves, names), drawTraversals(traversals, compared.runs)]);
}

function scoresSection({ scores, comparison }, names) {
  const metrics = [...new Set(names.flatMap((name) => Object.keys(scores[name])))];
  if (!metrics.length) return section("Scores", h("p", { class: "note" }, "None of these runs has scores yet."));
  const lines = metrics.map((metric) => {
    const found = names.map((name) => scores[name][metric]);
    const values = found.filter(Boolean).map((score) => score.value);
    const higher = found.find(Boolean).higher_is_better;
    const best = new Set(values).size > 1 ? (higher ? Math.max(...values) : Math.min(...values)) : null;
    return h("tr", {}, h("th", { scope: "row" }, words(metric), h("small", { class: "note" }, higher ? " ↑" : " ↓")),
      found.map((score) => h("td", { class: "number" },
        h("span", { class: score && score.value === best ? "best" : null }, short(score?.value)))));
  });
  const spread = (comparison?.scores ?? []).filter((score) => score.deviation !== null);
  const said = [...new Set(spread.map((score) => score.group))].map((group) => h("p", { class: "note" },
    h("b", {}, group), " over seeds: ", spread.filter((score) => score.group === group).map((score) =>
      `${words(score.metric)} ${short(score.mean)} ± ${short(score.deviation)}`).join(", ")));
  return section("Scores", table(names, lines), said,
    (comparison?.notes ?? []).map((note) => h("p", { class: "note" }, note)));
}

function settingsSection({ settings }, names) {
  const keys = Object.keys(settings);
  if (!keys.length) return section("Settings", h("p", { class: "note" }, "These runs have the same settings."));
  return section("Settings that differ", table(names, keys.map((key) => h("tr", {}, h("th", { scope: "row" }, key),
    names.map((name) => {
      const value = settings[key][name];
      return h("td", { class: "number" }, value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : short(value));
    })))));
}

function table(names, lines) {
  return h("div", { class: "scroll" }, h("table", { class: "narrow" },
    h("thead", {}, h("tr", {}, h("th", {}), names.map((name) => h("th", { class: "number", scope: "col" }, tail(name))))),
    h("tbody", {}, lines)));
}

function tail(name) {
  return name.split("/").at(-1);
}

async function drawCurves(place, names) {
  const all = await Promise.all(names.map((name) => getJson(runAddress(name, "/curves.json"))));
  const keys = [...new Set(all.flatMap(({ curves }) => curves.map((curve) => curve.name)))];
  const plots = keys.map((key) => linePlot(words(key), all.flatMap(({ curves }, i) => {
    const curve = curves.find((one) => one.name === key);
    return curve ? [{ label: tail(names[i]), x: curve.steps, y: curve.values, color: COLORS[i] }] : [];
  }), { legend: false }));
  const links = names.map((name) => [`${tail(name)}/curves.json`, runAddress(name, "/curves.json")]);
  fill(place, plots.length ? twinned(section("Training", h("div", { class: "plots" }, plots)), links) : []);
}

async function drawTraversals(place, runs) {
  const shown = runs.filter((run) => run.decodes && run.weights_version);
  if (!shown.length) return;
  const columns = shown.map(() => h("div"));
  const row = h("input", { type: "number", min: 0, step: 1, value: 0 });
  fill(place, section("Traversals",
    h("div", { class: "tools" }, h("label", {}, "From row ", row, " of each run's data")),
    h("div", { class: "columns" }, columns)));
  const panels = [];
  for (const [i, run] of shown.entries()) {
    try {
      panels.push(await drawColumn(columns[i], run));
    } catch (error) {
      fill(columns[i], h("h3", {}, tail(run.name)), problem(error));
    }
  }
  if (!panels.length) return;
  row.value = Math.min(...panels.map(({ rows }) => firstRow(rows)));
  const start = () => panels.forEach(({ begin }) => begin(Number(row.value)));
  row.addEventListener("change", start);
  start();
}

/** Draw one run's image and lines; return how to begin from a row, and how many there are. */
async function drawColumn(place, run) {
  const address = (rest) => runAddress(run.name, rest);
  const latents = await getJson(address("/latents.json"));
  const panel = new LatentsPanel({ latents, decoder: await loadDecoder(run, address), sliders: false });
  const said = h("div"), links = h("span");
  panel.onmove = () => fill(links, twins(codeTwins(address, panel.code)));
  fill(place, h("h3", {}, tail(run.name), links), h("div", { class: "views" }, panel.image), said, panel.element);
  const begin = async (row) => {
    try {
      fill(said);
      const source = latents.rows ? `/row.json?row=${row}` : `/prior.json?seed=${row}`;
      panel.setCode((await getJson(address(source))).code);
    } catch (error) {
      fill(said, problem(error));
    }
  };
  return { begin, rows: latents.rows };
}
