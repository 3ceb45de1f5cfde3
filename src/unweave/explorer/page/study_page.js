// A study: every run as a dot that opens it, by arm; what is bought at what cost; choosing without labels.
import { remember, remembered } from "unweave/address_state.js";
import { getJson, runAddress } from "unweave/api.js";
import { fill, h, scoreText, section, short, svg, twins, words } from "unweave/dom.js";
import { COLORS } from "unweave/plots.js";
import { csvText, download, drawingEntries, saveMenu } from "unweave/saving.js";

const RIGHT = 20, TOP = 14, BOTTOM = 38, WIDEST = 720;
const NARROW = 520; // where the words of a line stand above it

export async function showStudy(main, name) {
  const address = `/studies/${encodeURIComponent(name)}.json`;
  const study = await getJson(address);
  const arms = [...new Set(study.runs.map((run) => run.arm))];
  const measures = study.metrics;
  const head = [h("h1", {}, study.title, twins([["study.json", address]])), summary(study, arms)];
  if (!measures.length) {
    fill(main, head, section("Scores", h("p", { class: "note" }, "No run of this study has scores yet.")));
    return;
  }
  const metric = select("Metric", measures, remembered("metric"));
  const term = select("Against", study.terms, remembered("against") ?? "elbo");
  const dots = h("div"), table = h("div"), trade = h("div"), chosen = h("div");
  const draw = () => {
    remember({ metric: metric.value, against: term.value });
    fill(dots, dotPlot(study, arms, metric.value));
    fill(table, armTable(study, arms, metric.value));
    if (study.terms.length) fill(trade, tradeOff(study, arms, metric.value, term.value));
    fill(chosen, selection(study, metric.value));
  };
  metric.addEventListener("change", draw);
  term.addEventListener("change", draw);
  fill(main, head,
    section("Arms and seeds", h("div", { class: "tools" }, h("label", {}, "Metric ", metric),
      saveMenu("Save", [...drawingEntries(`${name}-seeds`, () => dots.querySelector("svg")), ["Table (CSV)", () => download(`${name}.csv`, studyCsv(study), "text/csv")]])),
      dots, h("p", { class: "note" }, "A dot is a run and opens it; the bar is the median of an arm."), table),
    study.terms.length ? section("Trade-off", h("div", { class: "tools" }, h("label", {}, "Against ", term),
      saveMenu("Save", drawingEntries(`${name}-trade-off`, () => trade.querySelector("svg")))), trade,
    h("ul", { class: "legend" }, arms.map((arm, i) => h("li", {}, h("i", { style: { background: COLORS[i % COLORS.length] } }), arm))),
    h("p", { class: "note" }, "The line joins the medians of the arms, in the order of the study.")) : null,
    study.selection.length ? section("Choosing without labels", chosen) : null);
  draw();
}

function select(title, names, wanted) {
  const field = h("select", { "aria-label": title }, names.map((name) => h("option", { value: name }, words(name))));
  if (names.includes(wanted)) field.value = wanted;
  return field;
}

function summary(study, arms) {
  const count = (state) => study.runs.filter((run) => run.state === state).length;
  const empty = arms.filter((arm) => !study.runs.some((run) => run.arm === arm && run.state === "done"));
  return h("div", {},
    h("p", { class: "note" }, `${arms.length} arms, ${short(study.runs.length)} runs: ${[["done", count("done")], ["failed", count("failed")], ["missing", count("missing")]].filter(([, n]) => n).map(([state, n]) => `${short(n)} ${state}`).join(", ")}.`),
    empty.length ? h("p", { class: "problem" }, `No finished run of: ${empty.join("; ")}.`) : null);
}

function scored(study, arm, metric) {
  return study.runs.filter((run) => run.arm === arm && metric in run.scores);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function scale(values, from, to) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
  const room = 0.05 * (high - low);
  return { at: (value) => from + ((value - low + room) / (high - low + 2 * room)) * (to - from), low, high };
}

function dot(run, x, y, color, said) {
  const mark = svg("circle", { class: "run-dot", cx: x, cy: y, r: 5, style: { fill: color } }, svg("title", {}, said));
  return run.is_here ? svg("a", { href: runAddress(run.run), "aria-label": said }, mark) : mark;
}

/** How wide plots are: as the window is, so that none has to be scrolled. */
function plotWidth() {
  return Math.min(WIDEST, Math.max(280, document.documentElement.clientWidth - 56));
}

function dotPlot(study, arms, metric) {
  const width = plotWidth(), isNarrow = width < NARROW;
  const [left, room] = isNarrow ? [24, 44] : [230, 30];
  const values = study.runs.flatMap((run) => (metric in run.scores ? [run.scores[metric]] : []));
  const height = TOP + arms.length * room + BOTTOM;
  const { at, low, high } = scale(values, left, width - RIGHT);
  const middle = low + (high - low) / 2;
  return h("figure", { class: "plot wide-plot" }, svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${words(metric)} of every run, by arm` },
    [low, middle, high].map((value) => [svg("path", { class: "frame", d: `M${at(value)} ${TOP} V${height - BOTTOM}` }), svg("text", { x: at(value), y: height - BOTTOM + 15, "text-anchor": "middle" }, short(value, 3))]).flat(),
    svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, words(metric)),
    arms.map((arm, i) => {
      const y = TOP + (i + (isNarrow ? 0.7 : 0.5)) * room, runs = scored(study, arm, metric), color = COLORS[i % COLORS.length];
      return svg("g", {},
        svg("text", isNarrow ? { x: 4, y: y - 16, "text-anchor": "start" } : { x: left - 12, y: y + 4, "text-anchor": "end" }, arm.length > 36 ? arm.slice(0, 35) + "…" : arm, svg("title", {}, arm)),
        runs.length ? svg("path", { class: "median", d: `M${at(median(runs.map((run) => run.scores[metric])))} ${y - 10} v20`, style: { stroke: color } }) : null,
        runs.map((run) => dot(run, at(run.scores[metric]), y, color, `${arm}, seed ${run.seed}: ${short(run.scores[metric])}`)));
    })));
}

function armTable(study, arms, metric) {
  const seeds = [...new Set(study.runs.map((run) => run.seed))].sort((a, b) => a - b);
  return h("div", { class: "scroll" }, h("table", { class: "narrow" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "arm"), seeds.map((seed) => h("th", { class: "number", scope: "col" }, `seed ${seed}`)), h("th", { class: "number", scope: "col" }, "median"))),
    h("tbody", {}, arms.map((arm) => {
      const runs = scored(study, arm, metric);
      return h("tr", {}, h("th", { scope: "row" }, arm), seeds.map((seed) => {
        const run = study.runs.find((one) => one.arm === arm && one.seed === seed);
        const text = !run ? "" : metric in run.scores ? scoreText(run.scores[metric]) : run.state;
        return h("td", { class: "number" }, run?.is_here ? h("a", { href: runAddress(run.run) }, text) : text);
      }), h("td", { class: "number" }, runs.length ? scoreText(median(runs.map((run) => run.scores[metric]))) : "–"));
    }))));
}

function tradeOff(study, arms, metric, term) {
  const runs = study.runs.filter((run) => metric in run.scores && term in run.terms);
  if (!runs.length) return h("p", { class: "note" }, `No run has both ${words(metric)} and ${words(term)}.`);
  return scatter(runs, (run) => run.terms[term], (run) => run.scores[metric], (run) => COLORS[arms.indexOf(run.arm) % COLORS.length], words(term), words(metric),
    arms.flatMap((arm) => {
      const own = runs.filter((run) => run.arm === arm);
      return own.length ? [[median(own.map((run) => run.terms[term])), median(own.map((run) => run.scores[metric]))]] : [];
    }));
}

function scatter(runs, xOf, yOf, colorOf, xLabel, yLabel, line = []) {
  const width = plotWidth(), height = 300, left = 60;
  const x = scale(runs.map(xOf), left, width - RIGHT), y = scale(runs.map(yOf), height - BOTTOM, TOP);
  const tick = (at, text, place) => svg("text", { ...place, "text-anchor": "middle" }, text);
  return h("figure", { class: "plot wide-plot" }, svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${yLabel} against ${xLabel}` },
    svg("rect", { class: "frame", x: left, y: TOP, width: width - RIGHT - left, height: height - BOTTOM - TOP }),
    [x.low, x.high].map((at) => tick(at, short(at, 2), { x: x.at(at), y: height - BOTTOM + 15 })),
    [y.low, y.high].map((at) => tick(at, short(at, 3), { x: left - 26, y: y.at(at) + 4 })),
    svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, xLabel),
    svg("text", { transform: `translate(12 ${height / 2}) rotate(-90)`, "text-anchor": "middle" }, yLabel),
    line.length > 1 ? svg("polyline", { class: "line medians", points: line.map(([a, b]) => `${x.at(a)},${y.at(b)}`).join(" ") }) : null,
    runs.map((run) => dot(run, x.at(xOf(run)), y.at(yOf(run)), colorOf(run), `${run.arm}, seed ${run.seed}: ${xLabel} ${short(xOf(run))}, ${yLabel} ${short(yOf(run))}`))));
}

/** What scores without labels would have chosen, and how good that is by the metric. */
function selection(study, metric) {
  return study.selection.map((score) => {
    const runs = study.runs.filter((run) => score in run.chosen_by && metric in run.scores);
    if (!runs.length) return h("p", { class: "note" }, `${words(score)}: no run has it and ${words(metric)}.`);
    const best = runs.reduce((a, b) => (b.chosen_by[score] > a.chosen_by[score] ? b : a));
    const place = 1 + runs.filter((run) => run.scores[metric] > best.scores[metric]).length;
    return h("div", {}, h("h3", {}, words(score)),
      h("p", {}, "Its choice: ", best.is_here ? h("a", { href: runAddress(best.run) }, `${best.arm}, seed ${best.seed}`) : `${best.arm}, seed ${best.seed}`,
        `, with ${words(metric)} ${scoreText(best.scores[metric])}: place ${place} of ${runs.length}.`),
      scatter(runs, (run) => run.chosen_by[score], (run) => run.scores[metric], () => COLORS[0], words(score), words(metric)));
  });
}

function studyCsv(study) {
  return csvText([["run", "arm", "seed", "state", ...study.metrics, ...study.terms, ...study.selection],
    ...study.runs.map((run) => [run.run, run.arm, run.seed, run.state, ...study.metrics.map((name) => run.scores[name]), ...study.terms.map((name) => run.terms[name]), ...study.selection.map((name) => run.chosen_by[name])])]);
}
