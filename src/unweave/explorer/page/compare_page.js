// Runs side by side: scores, settings that differ, curves in one plot, traversals from one image.
import { getJson, runAddress } from "unweave/api.js";
import { fill, h, problem, scoreText, section, short, twinned, twins, words } from "unweave/dom.js";
import { LatentsPanel, codeTwins } from "unweave/latents.js";
import { COLORS, linePlot } from "unweave/plots.js";
import { valueIn } from "unweave/turning.js";
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

function scoresSection({ runs, scores, comparison }, names) {
  const metrics = [...new Set(names.flatMap((name) => Object.keys(scores[name])))];
  if (!metrics.length) return section("Scores", h("p", { class: "note" }, "None of these runs has scores yet."));
  const lines = metrics.map((metric) => {
    const found = names.map((name) => scores[name][metric]);
    const values = found.filter(Boolean).map((score) => score.value);
    const higher = found.find(Boolean).higher_is_better;
    // Scores of other data or by another protocol are no better and no worse.
    const kinds = new Set(found.flatMap((score, i) => (score ? [`${runs[i].data} ${score.protocol}`] : [])));
    const differ = kinds.size === 1 && new Set(values.map(scoreText)).size > 1;
    const best = differ ? scoreText(higher ? Math.max(...values) : Math.min(...values)) : null;
    return h("tr", {}, h("th", { scope: "row" }, words(metric), h("small", { class: "note" }, higher ? " ↑" : " ↓")),
      found.map((score) => h("td", { class: "number" },
        h("span", { class: score && scoreText(score.value) === best ? "best" : null }, scoreText(score?.value)))));
  });
  const spread = (comparison?.scores ?? []).filter((score) => score.deviation !== null);
  const said = [...new Set(spread.map((score) => score.group))].map((group) => h("p", { class: "note" },
    h("b", {}, group), " over seeds: ", spread.filter((score) => score.group === group).map((score) =>
      `${words(score.metric)} ${scoreText(score.mean)} ± ${scoreText(score.deviation)}`).join(", ")));
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
    h("thead", {}, h("tr", {}, h("td"), names.map((name) => h("th", { class: "number", scope: "col" }, tail(name))))),
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
  const linked = h("input", { type: "checkbox", checked: true });
  fill(place, section("Traversals",
    h("div", { class: "tools" }, h("label", {}, "From row ", row, " of each run's data"),
      h("label", {}, linked, " Move the latents of one factor together")),
    h("div", { class: "columns" }, columns)));
  const drawn = [];
  for (const [i, run] of shown.entries()) {
    try {
      drawn.push(await drawColumn(columns[i], run));
    } catch (error) {
      fill(columns[i], h("h3", {}, tail(run.name)), problem(error));
    }
  }
  if (!drawn.length) return;
  for (const column of drawn) column.onmove = (unit) => linked.checked && follow(drawn, column, unit);
  row.value = Math.min(...drawn.map(({ rows }) => firstRow(rows)));
  const start = () => drawn.forEach(({ begin }) => begin(Number(row.value)));
  row.addEventListener("change", start);
  start();
}

/** Move the latents of other runs that carry what one carries: as far along their own range, the same way. */
function follow(drawn, moved, unit) {
  const own = moved.aligned.find(({ latent }) => latent === unit?.first);
  if (!own || unit.kind !== "number") return;
  const { low, high } = moved.panel.rowOf(unit.first);
  const share = (valueIn(moved.panel.code, unit) - low) / (high - low);
  for (const other of drawn) {
    const same = other !== moved && other.aligned.find(({ factor }) => factor === own.factor);
    const line = same && other.panel.rowOf(same.latent);
    if (!line || line.unit.kind !== "number") continue;
    const way = same.sign === own.sign ? share : 1 - share;
    const { onmove } = other.panel;
    other.panel.onmove = () => other.showLinks(); // it follows, and leads nobody
    other.panel.move(line, line.low + way * (line.high - line.low));
    other.panel.onmove = onmove;
  }
}

/** Draw one run's image and lines, those of factors first and in the same order as of other runs. */
async function drawColumn(place, run) {
  const address = (rest) => runAddress(run.name, rest);
  const latents = await getJson(address("/latents.json"));
  const { factors: aligned } = latents.factors.length ? await getJson(address("/alignment.json")) : { factors: [] };
  const placeOf = ({ first }) => {
    const found = aligned.findIndex(({ latent }) => latent === first);
    return found < 0 ? aligned.length : found;
  };
  latents.units = latents.units.map((unit, i) => [placeOf(unit), i, unit]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , unit]) => unit);
  const said = h("div"), links = h("span");
  const column = { aligned, rows: latents.rows, onmove: () => {} };
  column.panel = new LatentsPanel({
    latents, decoder: await loadDecoder(run, address),
    actions: ({ unit }) => aligned.filter(({ latent }) => latent === unit.first).map(({ factor }) => h("span", { class: "carries" }, words(factor))),
  });
  const { panel } = column;
  const twinsOf = [["alignment.json", address("/alignment.json")]];
  column.showLinks = () => fill(links, twins([...(aligned.length ? twinsOf : []), ...codeTwins(address, panel.code)]));
  panel.onmove = (unit) => {
    column.showLinks();
    column.onmove(unit);
  };
  fill(place, h("h3", {}, tail(run.name), links), h("div", { class: "views" }, panel.image), said, panel.element);
  column.begin = async (row) => {
    try {
      fill(said);
      const source = latents.rows ? `/row.json?row=${row}` : `/prior.json?seed=${row}`;
      panel.setCode((await getJson(address(source))).code);
    } catch (error) {
      fill(said, problem(error));
    }
  };
  return column;
}
