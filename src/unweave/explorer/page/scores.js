// The scores of a run as cards: what each means, and where its value lies among others.
import { getJson, runAddress } from "unweave/api.js";
import { fill, h, problem, scoreText, section, short, svg, twinned, words } from "unweave/dom.js";
import { csvText, download, saveMenu } from "unweave/saving.js";

// What a metric tells apart: each factor has one latent of its own, or
// `split`: a factor is spread over latents; `mixed`: a latent mixes factors; `vague`: nothing is known well.
const BAD = {
  split: ["mig", "mig_sampled", "sap", "dmig", "dcimig", "jemmig", "med"],
  mixed: ["beta_vae_score", "factor_vae_score", "r_factor_vae_score", "modularity", "irs", "dci", "mig_sup", "omes"],
  vague: ["explicitness", "infomec", "linear_separability", "block_r2", "mcc", "dci_es"],
};
const GOOD_MAP = [[0.9, 0, 0], [0, 0.9, 0], [0, 0, 0.9]];
const BAD_MAPS = {
  split: [[[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]], "a factor is spread over latents"],
  mixed: [[[0.9, 0, 0], [0.9, 0, 0], [0, 0, 0.9]], "one latent mixes two factors"],
  vague: [[[0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]], "values can hardly be read off"],
};
const WIDTH = 300, LETTER = 5.6, ROW = 11;

export async function drawScores(place, page) {
  const { run } = page;
  const entries = Object.entries(run.scores);
  const address = page.whole("/scores.json");
  if (!entries.length) {
    fill(place, twinned(section("Scores", h("p", { class: "note" }, "Not scored yet: ", h("code", {}, `unweave evaluate ${run.place}`))), [["scores.json", address]]));
    return;
  }
  let among;
  try {
    among = await getJson(address);
  } catch (error) {
    fill(place, section("Scores", problem(error), table(run)));
    return;
  }
  const refused = entries.filter(([, score]) => score.value === null);
  const found = section("Scores",
    h("div", { class: "cards" }, among.cards.map((card) => cardOf(card, run))),
    refused.length ? h("p", { class: "note" }, "Not scored: ", refused.map(([name, score]) => `${words(name)} (${score.reason})`).join("; ")) : null,
    among.missing_baselines.length ? h("p", { class: "note" }, `Not here to compare with: ${among.missing_baselines.map(words).join(", ")}. `, h("code", {}, `unweave report ${run.place}`), " finds baselines and nulls.") : null,
    h("details", {}, h("summary", {}, "As a table"), table(run)),
    saveMenu("Save", [["Scores (CSV)", () => download("scores.csv", scoresCsv(run), "text/csv")]]));
  fill(place, twinned(found, [["scores.json", address]]));
}

function cardOf(card, run) {
  const { metric, value, higher_is_better: isHigher, protocol, rows, parts, nulls } = card;
  const kind = Object.keys(BAD).find((one) => BAD[one].includes(metric));
  const said = [protocol, rows ? `${short(rows)} images` : "", ...(run.scores[metric].notes ?? [])].filter(Boolean).join("; ");
  return h("article", { class: "card", "data-metric": metric },
    h("h3", {}, words(metric), " ", h("b", {}, scoreText(value)), h("small", { class: "note" }, isHigher ? " higher is better" : " lower is better")),
    h("p", { class: "meaning" }, run.meanings[metric] ?? ""),
    among(card),
    Object.keys(parts).length ? h("p", { class: "note" }, Object.entries(parts).map(([part, number]) => `${words(part)} ${scoreText(number)}`).join(", ")) : null,
    Object.keys(nulls).length ? h("p", { class: "note" }, `Nulls: ${Object.entries(nulls).map(([what, { mean }]) => `${what} ${scoreText(mean)}`).join(", ")}; ${againstNulls(nulls)}.`) : null,
    kind ? h("div", { class: "pair" }, small(GOOD_MAP, "good"), small(BAD_MAPS[kind][0], `bad: ${BAD_MAPS[kind][1]}`)) : null,
    h("p", { class: "note" }, said));
}

/** What the score says against each null: it must be clear of every draw. */
function againstNulls(nulls) {
  const left = Object.keys(nulls).filter((name) => !nulls[name].is_beaten);
  return left.length ? `the score is not clear of the draws of ${left.join(" and ")}` : "the score is clear of all their draws";
}

/** A line from the least to the largest value, with everything that there is on it. */
function among({ metric, value, others, nulls, chance, interval }) {
  const marks = Object.entries(nulls).map(([name, { mean }]) => [name, mean]);
  if (chance !== null && chance !== undefined) marks.push(["chance", chance]);
  const values = [0, 1, value, ...others.map((other) => other.value), ...marks.map(([, at]) => at)].filter(Number.isFinite);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (at) => 10 + ((at - low) / (high - low || 1)) * (WIDTH - 20);
  const baselines = others.filter((other) => other.is_baseline);
  const above = inRows(marks.map(([name, at]) => [name, x(at)]));
  const below = inRows(baselines.map((other) => [words(other.method), x(other.value)]));
  const line = 24 + ROW * above.rows, height = line + 12 + ROW * below.rows;
  const dots = others.filter((other) => !other.is_baseline).map((other) => svg("a", { href: runAddress(other.run), "aria-label": `${other.run}: ${short(other.value)}` },
    svg("circle", { class: "other", cx: x(other.value), cy: line, r: 3.5 }, svg("title", {}, `${other.run} ${short(other.value)}`))));
  const baselineMarks = baselines.map((other, i) => svg(other.run ? "a" : "g", { href: other.run && runAddress(other.run), "aria-label": other.run && `${other.method}: ${short(other.value)}` },
    svg("path", { class: "baseline", d: `M${x(other.value)} ${line - 7} v14` }, svg("title", {}, `${other.method} ${short(other.value)}`)),
    svg("text", { x: below.places[i].x, y: line + 18 + ROW * below.places[i].row, "text-anchor": "middle" }, words(other.method))));
  const nullMarks = marks.map(([name, at], i) => svg("g", {}, svg("path", { class: "null", d: `M${x(at)} ${line - 9} v18` }, svg("title", {}, `${name} ${short(at)}`)),
    svg("text", { x: above.places[i].x, y: line - 13 - ROW * above.places[i].row, "text-anchor": "middle" }, name)));
  const spread = interval ? svg("path", { class: "interval", d: `M${x(interval[0])} ${line} H${x(interval[1])}` }) : null;
  return svg("svg", { class: "among", viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": `${words(metric)} ${short(value)} from ${short(low, 1)} to ${short(high, 1)}, among ${others.length} other runs` },
    svg("path", { class: "axis", d: `M10 ${line} H${WIDTH - 10}` }),
    svg("text", { x: 10, y: 9, "text-anchor": "start" }, short(low, 1)), svg("text", { x: WIDTH - 10, y: 9, "text-anchor": "end" }, short(high, 1)),
    nullMarks, baselineMarks, dots, spread,
    svg("circle", { class: "own", cx: x(value), cy: line, r: 6 }, svg("title", {}, `this run ${short(value)}`)));
}

/** Places for words at their marks, in as few rows as leave none on another. */
function inRows(labels) {
  const ends = [], places = [];
  for (const i of labels.map((_, i) => i).sort((a, b) => labels[a][1] - labels[b][1])) {
    const [text, at] = labels[i], half = (text.length * LETTER) / 2;
    const x = Math.min(WIDTH - half, Math.max(half, at));
    let row = ends.findIndex((end) => end <= x - half);
    if (row < 0) row = ends.length;
    ends[row] = x + half + LETTER;
    places[i] = { x, row };
  }
  return { places, rows: ends.length };
}

/** A small map of factors against latents. */
function small(values, title) {
  return h("figure", {}, svg("svg", { viewBox: "0 0 36 36", width: 36, height: 36, role: "img", "aria-label": title },
    values.flatMap((line, y) => line.map((value, x) => svg("rect", { x: 12 * x + 1, y: 12 * y + 1, width: 10, height: 10, rx: 1, class: "cell", "fill-opacity": 0.1 + value })))),
    h("figcaption", {}, title));
}

function table({ scores, protocols, meanings }) {
  return h("div", { class: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "metric"), h("th", { class: "number", scope: "col" }, "score"),
      h("th", { scope: "col" }, "better is"), h("th", { class: "wide", scope: "col" }, "protocol"), h("th", { class: "wide", scope: "col" }, "what it means"))),
    h("tbody", {}, Object.entries(scores).map(([name, score]) => h("tr", {},
      h("td", {}, words(name)),
      h("td", { class: "number" }, short(score.value, 4)),
      h("td", {}, score.value === null ? `not scored: ${score.reason}` : score.higher_is_better ? "higher" : "lower"),
      h("td", { class: "wide" }, [protocols[name], ...(score.notes ?? [])].join("; ")),
      h("td", { class: "wide meaning" }, meanings[name] ?? ""))))));
}

function scoresCsv({ scores, protocols }) {
  return csvText([["metric", "value", "better", "protocol"], ...Object.entries(scores).map(([name, score]) => [name, score.value, score.higher_is_better === false ? "lower" : "higher", protocols[name]])]);
}
