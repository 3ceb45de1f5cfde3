// A run: sliders, heat map, curves, scores, settings; what trains is followed.
import { getBytes, getJson, post, runAddress } from "unweave/api.js";
import { fill, h, problem, section, short, twinned, twins, words } from "unweave/dom.js";
import { heatMapSection } from "unweave/heat_map.js";
import { LatentsPanel, codeTwins } from "unweave/latents.js";
import { COLORS, linePlot } from "unweave/plots.js";
import { responseSection } from "unweave/responses.js";
import { Starts, bench } from "unweave/starts.js";

const EVERY = 2000; // milliseconds between two looks at a run that trains
const SHOWN_WARNINGS = 3; // lines before the rest is folded away

export async function showRun(main, name) {
  const address = (rest) => runAddress(name, rest);
  const run = await getJson(address(".json"));
  const page = { name, run, address, panel: null, starts: null };
  const header = h("div"), warnings = h("div"), bench = h("div"), heat = h("div"), response = h("div");
  const curves = h("div"), scores = h("div");
  fill(main, header, warnings, bench, heat, response, curves, scores, settingsSection(run));
  const guard = async (place, what) => {
    try {
      await what();
    } catch (error) {
      fill(place, section(place.dataset.title ?? "Problem", problem(error)));
    }
  };
  heat.dataset.title = "Factors and latents";
  bench.dataset.title = "Latents";
  curves.dataset.title = "Training";
  drawHeader(header, run);
  drawScores(scores, run);

  await guard(curves, () => drawCurves(curves, page));
  if (run.weights_version) await showWeights();
  else fill(bench, section("Latents", h("p", { class: "note" }, "No weights have been kept yet; this page shows them when they are.")));
  follow(page, { header, bench, curves, scores, guard, showWeights });

  async function showWeights() {
    const focused = bench.contains(document.activeElement) ? document.activeElement : null;
    const [latent, kind] = [focused?.closest("[data-latent]")?.dataset.latent, focused?.type];
    await guard(bench, () => drawBench(bench, page));
    askForData(bench, page, showWeights);
    if (latent) bench.querySelector(`.latent[data-latent="${latent}"] input[type="${kind}"]`)?.focus();
    if (page.latents?.factors.length) {
      await guard(heat, async () => fill(heat, await heatMapSection(page)));
      const wasOpen = response.querySelector("details")?.open;
      fill(response, responseSection(page, wasOpen));
    }
    if (run.codes_from !== "nowhere" && !page.latents?.asks.length) await guard(warnings, () => drawWarnings(warnings, page));
  }
}

function drawHeader(place, run) {
  const tag = (title, value) => h("li", {}, `${title} `, h("b", {}, String(value)));
  const far = run.state === "done" ? `${short(run.steps)} steps` : `${short(run.step)} of ${short(run.steps)} steps`;
  fill(place,
    h("h1", {}, run.name),
    h("ul", { class: "tags" },
      h("li", {}, h("span", { class: `state ${run.state}` }, run.state)),
      tag("method", run.method),
      run.knob ? tag(words(run.knob), short(run.knob_value)) : null,
      tag("data", run.data), tag("seed", run.seed), tag("", far)),
    h("p", { class: "note" }, run.method_summary),
    run.message ? problem(run.message) : null);
}

async function drawWarnings(place, page) {
  const found = await getJson(page.address("/warnings.json"));
  const links = twins([["warnings.json", page.address("/warnings.json")]]);
  if (!found.warnings.length) {
    fill(place, h("p", { class: "note" }, "No collapsed latents, no entangled pairs, and the KL is not at a limit.", links));
    return;
  }
  const [lines, more] = [found.in_short.slice(0, SHOWN_WARNINGS), found.in_short.slice(SHOWN_WARNINGS)];
  const each = found.warnings.length > found.in_short.length ? found.warnings.map((warned) => warned.message) : more;
  fill(place, h("div", { class: "warnings" },
    h("ul", {}, lines.map((line) => h("li", {}, line))),
    each.length ? h("details", {},
      h("summary", {}, each === more ? `${more.length} more` : `all ${each.length}, one by one`),
      h("ul", {}, each.map((line) => h("li", {}, line)))) : null,
    links));
}

async function drawBench(place, page) {
  const { run, address } = page;
  const loading = run.decodes ? loadDecoder(run, address) : null; // while latents are measured
  loading?.catch(() => {}); // what is wrong is said where it is awaited
  page.latents = await getJson(address("/latents.json"));
  if (!run.decodes) {
    fill(place, section("Latents", h("p", { class: "note" },
      `${run.method} makes no images of codes, so there is nothing to slide. What its codes say about factors is below.`)));
    return;
  }
  const before = page.panel && { code: page.panel.code, start: page.starts.start, isUnmoved: page.starts.isUnmoved };
  const decoder = await loading;
  page.decoder?.release();
  page.decoder = decoder;
  const panel = new LatentsPanel({
    latents: page.latents, decoder: page.decoder,
    rename: (latent, name) => post(address("/name"), JSON.stringify({ latent, name })),
  });
  const starts = new Starts(panel, served(page));
  const links = h("span");
  panel.onmove = () => fill(links, twins([["latents.json", address("/latents.json")], ...codeTwins(address, panel.code)]));
  fill(place, section("Latents", page.latents.problem ? problem(page.latents.problem) : null, bench(panel, starts)));
  place.querySelector("h2").append(links);
  Object.assign(page, { panel, starts });
  // With new weights the same image has another code; a code that was slid to stays.
  if (before?.isUnmoved && before.start.row !== undefined) await starts.fromRow(before.start.row);
  else if (before) {
    starts.start = before.start;
    panel.setCode(before.code);
  } else if (page.latents.rows) await starts.fromRow(firstRow(page.latents.rows));
  else await starts.prior();
}

/** Data elsewhere on the disk is opened only if the reader says so; the run alone may not. */
function askForData(place, page, again) {
  const places = page.latents?.asks ?? [];
  if (!places.length) return;
  const button = h("button", { type: "button", class: "ask" }, `Open ${places.join(" and ")}`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await post(page.address("/data"), JSON.stringify({ places }));
      await again();
    } catch (error) {
      button.replaceWith(problem(error));
    }
  });
  const asked = h("p", { class: "note" }, "This run names data that you have not opened before. ", button);
  (place.querySelector(".problem") ?? place.firstChild).replaceWith(asked);
}

/** An image from the middle of the set rather than its very first, which is often an extreme. */
export function firstRow(rows) {
  return Math.floor(rows * 0.4142);
}

export async function loadDecoder(run, address) {
  const { Decoder } = await import("unweave/decoder.js");
  const model = await getBytes(address("/decoder.onnx"));
  return Decoder.create(model, run.image_shape, async () => (await fetch("/page/ort.wasm.gz")).body);
}

/** Starts that the server finds. */
function served({ run, address, latents }) {
  return {
    rows: latents.rows,
    row: (row) => getJson(address(`/row.json?row=${row}`)),
    prior: (seed) => getJson(address(`/prior.json?seed=${seed}`)),
    upload: run.codes_from === "images" ? (file) => post(address("/encode"), file) : null,
    twin: (start) => start.row !== undefined ? ["row.json", address(`/row.json?row=${start.row}`)]
      : start.seed !== undefined ? ["prior.json", address(`/prior.json?seed=${start.seed}`)] : null,
  };
}

async function drawCurves(place, page) {
  const { curves, kl } = await getJson(page.address("/curves.json"));
  const names = [...new Set(curves.map((curve) => curve.name))];
  const plots = names.map((name) => linePlot(words(name), curves
    .filter((curve) => curve.name === name)
    .map((curve) => ({ label: curve.player, x: curve.steps, y: curve.values }))));
  if (kl.steps.length) {
    const lines = kl.kl[0].map((_, latent) => ({
      label: page.latents?.labels[latent] ?? `z${latent}`, x: kl.steps, y: kl.kl.map((row) => row[latent]),
      color: COLORS[latent % COLORS.length],
    }));
    plots.unshift(linePlot("KL of each latent, nats", lines, { isLinear: true })); // dead ones lie at 0
  }
  fill(place, plots.length ? twinned(section("Training", h("div", { class: "plots" }, plots)),
    [["curves.json", page.address("/curves.json")]]) : []);
}

function drawScores(place, { scores, protocols, meanings }) {
  const entries = Object.entries(scores);
  if (!entries.length) {
    fill(place, section("Scores", h("p", { class: "note" }, "Not scored yet: ", h("code", {}, "unweave evaluate RUN"))));
    return;
  }
  fill(place, section("Scores", h("div", { class: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {}, "metric"), h("th", { class: "number" }, "score"),
      h("th", {}, "better is"), h("th", { class: "wide" }, "protocol"), h("th", { class: "wide" }, "what it means"))),
    h("tbody", {}, entries.map(([name, score]) => h("tr", {},
      h("td", {}, words(name)),
      h("td", { class: "number" }, short(score.value, 4)),
      h("td", {}, score.value === null ? `not scored: ${score.reason}` : score.higher_is_better ? "higher" : "lower"),
      h("td", { class: "wide" }, [protocols[name], ...(score.notes ?? [])].join("; ")),
      h("td", { class: "wide meaning" }, meanings[name] ?? ""))))))));
}

function settingsSection(run) {
  return twinned(section("Settings",
    h("details", {}, h("summary", {}, "Settings and versions"),
      h("pre", { tabindex: 0, "aria-label": "Settings" }, JSON.stringify({ settings: run.settings, versions: run.versions }, null, 2)))),
    [["run.json", runAddress(run.name, ".json")], ["status.json", runAddress(run.name, "/status.json")]]);
}

/** Look at a run again and again while it may change, and redraw what did. */
function follow(page, { header, bench, curves, scores, guard, showWeights }) {
  const live = document.getElementById("live");
  const isLive = () => ["running", "new", "interrupted"].includes(page.run.state);
  const say = () => fill(live, page.run.state === "running" ? "● live" : "");
  say();
  let isLooking = false;
  setInterval(async () => {
    if (isLooking || document.hidden) return;
    isLooking = true;
    try {
      const now = await getJson(page.address("/status.json"));
      const before = page.run;
      // A slider that is held or a name that is being typed is not taken away; the next look will do.
      const isInUse = bench.querySelector(":active, .name:focus");
      if (isInUse) now.weights_version = before.weights_version;
      page.run = { ...before, ...now };
      if (now.state !== before.state || now.step !== before.step) drawHeader(header, page.run);
      if (now.curves_version !== before.curves_version) await guard(curves, () => drawCurves(curves, page));
      if (now.weights_version !== before.weights_version) await showWeights();
      if (now.scores_version !== before.scores_version) {
        drawScores(scores, await getJson(page.address(".json")));
      }
      say();
    } catch (error) {
      fill(live, "server gone");
    } finally {
      isLooking = false;
    }
  }, isLive() ? EVERY : 5 * EVERY);
}
