// A run: sliders, heat map, curves, scores, settings; what trains is followed.
import { getJson, post, runAddress } from "unweave/api.js";
import { drawApplications } from "unweave/applications.js";
import { Bench } from "unweave/bench.js";
import { drawCurves } from "unweave/curves.js";
import { fill, h, problem, section, short, twinned, words } from "unweave/dom.js";
import { embeddingSection } from "unweave/embedding.js";
import { heatMapSection } from "unweave/heat_map.js";
import { codeTwins } from "unweave/latents.js";
import { sayGone, sayHere } from "unweave/liveness.js";
import { firstRow, loadDecoder, servedStarts } from "unweave/loading.js";
import { Moments } from "unweave/moments.js";
import { responseSection } from "unweave/responses.js";
import { drawScores } from "unweave/scores.js";
import { tourButton } from "unweave/tour.js";
import { twoImagesSection } from "unweave/two_images.js";
import { drawCaption, drawWarnings } from "unweave/warnings.js";

const EVERY = 2000; // milliseconds between two looks at a run that trains

/** What a served page is made with; a page in one file has its own. */
const SERVED = {
  decoder: loadDecoder,
  starts: servedStarts,
  rename: (page) => (latent, name) => post(page.whole("/name"), JSON.stringify({ latent, name })),
  isFollowed: true,
};

export async function showRun(main, name, means = SERVED) {
  const whole = (rest) => runAddress(name, rest);
  const run = await getJson(whole(".json"));
  const moments = new Moments(() => showWeights(), means.isFollowed);
  // What depends on weights is asked for with their step, if they are not the newest.
  const address = (rest) => whole(rest) + (moments.step === null ? "" : `${rest.includes("?") ? "&" : "?"}step=${moments.step}`);
  const page = { name, run, address, whole, moments, means, bench: null };
  const places = Object.fromEntries(["header", "caption", "warnings", "moments", "bench", "two", "heat", "embedding", "response", "scores", "applications", "curves"].map((part) => [part, h("div", { class: `place-${part}` })]));
  const titles = { bench: "Latents", heat: "Factors and latents", curves: "Training", response: "Responses", embedding: "Embedding", two: "Two images", applications: "Applications", scores: "Scores" };
  fill(main, Object.values(places), h("div", { class: "place-settings" }, settingsSection(run)));
  const guard = async (part, what) => {
    try {
      await what(places[part]);
    } catch (error) {
      fill(places[part], section(titles[part] ?? "Problem", problem(error)));
    }
  };
  drawHeader(places.header, run);
  fill(places.moments, moments.element);
  waiting(places.bench, "Latents", "The decoder is on its way …", heightOf(run));
  for (const part of ["caption", "warnings"]) places[part].classList.toggle("reserved", Boolean(run.weights_version));
  const quickly = [guard("curves", (place) => drawCurves(place, page)), guard("scores", (place) => drawScores(place, page))];
  if (run.weights_version) await showWeights();
  else fill(places.bench, section("Latents", h("p", { class: "note" }, "No weights have been kept yet; this page shows them when they are.")));
  await Promise.all(quickly);
  for (const part of ["caption", "warnings"]) places[part].classList.remove("reserved");
  if (run.weights_version) await guard("applications", (place) => drawApplications(place, page));
  if (means.isFollowed) follow(page, { places, guard, showWeights });

  async function showWeights() {
    const focused = places.bench.contains(document.activeElement) ? document.activeElement : null;
    const [latent, kind] = [focused?.closest("[data-latent]")?.dataset.latent, focused?.type];
    await guard("bench", (place) => drawBench(place, page));
    askForData(places.bench, page, showWeights);
    if (latent) places.bench.querySelector(`.latent[data-latent="${latent}"] input[type="${kind}"]`)?.focus();
    if (page.bench) await guard("two", async (place) => fill(place, await twoImagesSection(page)));
    if (page.latents?.factors.length) {
      if (!places.heat.childElementCount) waiting(places.heat, "Factors and latents", "Codes of some images are compared with their factors …", 220);
      await guard("heat", async (place) => fill(place, await heatMapSection(page)));
      fill(places.response, responseSection(page, places.response.querySelector("details")?.open));
    }
    if (!page.latents || run.codes_from === "nowhere" || page.latents.asks.length || page.latents.problem) return;
    await guard("caption", (place) => drawCaption(place, page));
    await guard("warnings", (place) => drawWarnings(place, page));
    await guard("embedding", async (place) => fill(place, await embeddingSection(page)));
  }
}

/** Keep the room that a part will need, so that nothing jumps when it comes. */
function waiting(place, title, text, height) {
  const shown = section(title, h("p", { class: "note", role: "status" }, text));
  shown.style.minHeight = `${height}px`;
  fill(place, shown);
}

/** About how many pixels the latents of a run need, as far as they are in the first screen. */
function heightOf({ settings }) {
  const latents = settings.method?.latent_dim ?? 10;
  return Math.min(640, Math.max(430, 70 + 92 * latents));
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
      tag("data", run.data), tag("seed", run.seed), tag("", far), h("li", {}, tourButton())),
    h("p", { class: "note" }, run.method_summary),
    run.message ? problem(run.message) : null);
}

async function drawBench(place, page) {
  const { run, address, means } = page;
  const loading = run.decodes ? means.decoder(run, address) : null; // while latents are measured
  loading?.catch(() => {}); // what is wrong is said where it is awaited
  // What the record says of latents is there at once; encoding some thousand images takes a while.
  page.latents = await getJson(address("/latents.json?quick=1")).catch((error) => {
    page.latents = null; // nothing below is drawn with what was known of other weights
    throw error;
  });
  if (!run.decodes) {
    fill(place, section("Latents", h("p", { class: "note" },
      `${run.method} makes no images of codes, so there is nothing to slide. What its codes say about factors is below.`)));
    return;
  }
  const before = page.bench && { code: page.bench.code, start: page.bench.starts.start, isUnmoved: page.bench.isUnmoved };
  const decoder = await loading;
  page.decoder?.release();
  page.decoder = decoder;
  const bench = new Bench({ latents: page.latents, decoder, source: means.starts(page), rename: means.rename(page), run, moment: page.moments.step });
  bench.listen((code) => bench.showTwins(means.isFollowed ? [["latents.json", address("/latents.json")], ...codeTwins(address, code)] : []));
  if (page.latents.problem) bench.element.prepend(problem(page.latents.problem));
  fill(place, bench.element);
  page.bench = bench;
  // With new weights the same image has another code; a code that was slid to stays.
  if (before?.isUnmoved && before.start.row !== undefined) await bench.starts.fromRow(before.start.row);
  else if (before?.start) bench.resume(before);
  else await bench.begin(means.first?.(page) ?? (page.latents.rows ? firstRow(page.latents.rows) : null));
  if (page.latents.is_quick) {
    page.latents = await getJson(address("/latents.json"));
    bench.panel.update(page.latents);
  }
}

/** Data elsewhere on the disk is opened only if the reader says so; the run alone may not. */
function askForData(place, page, again) {
  const places = page.latents?.asks ?? [];
  if (!places.length) return;
  const button = h("button", { type: "button", class: "ask" }, `Open ${places.join(" and ")}`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await post(page.whole("/data"), JSON.stringify({ places }));
      await again();
    } catch (error) {
      button.replaceWith(problem(error));
    }
  });
  const asked = h("p", { class: "note" }, "This run names data that you have not opened before. ", button);
  (place.querySelector(".problem") ?? place.firstChild).replaceWith(asked);
}

function settingsSection(run) {
  return twinned(section("Settings",
    h("details", {}, h("summary", {}, "Settings and versions"),
      h("pre", { tabindex: 0, role: "region", "aria-label": "Settings as JSON" }, JSON.stringify({ settings: run.settings, versions: run.versions }, null, 2)))),
    [["run.json", runAddress(run.name, ".json")], ["status.json", runAddress(run.name, "/status.json")]]);
}

/** Look at a run again and again while it may change, and redraw what did. */
function follow(page, { places, guard, showWeights }) {
  const isLive = () => ["running", "new", "interrupted"].includes(page.run.state);
  sayHere(page.run.state === "running");
  let isLooking = false;
  setInterval(async () => {
    if (isLooking || document.hidden) return;
    isLooking = true;
    try {
      const now = await getJson(page.whole("/status.json"));
      const before = page.run;
      // A slider that is held or a name that is being typed is not taken away; the next look will do.
      const isInUse = places.bench.querySelector(":active, .name:focus");
      if (isInUse) now.weights_version = before.weights_version;
      page.run = { ...before, ...now };
      if (now.state !== before.state || now.step !== before.step) drawHeader(places.header, page.run);
      if (now.curves_version !== before.curves_version) await guard("curves", (place) => drawCurves(place, page));
      if (now.weights_version !== before.weights_version && page.moments.step === null) await showWeights();
      if (now.scores_version !== before.scores_version) {
        Object.assign(page.run, await getJson(page.whole(".json")));
        await guard("scores", (place) => drawScores(place, page));
      }
      sayHere(page.run.state === "running");
    } catch (error) {
      sayGone(error);
    } finally {
      isLooking = false;
    }
  }, isLive() ? EVERY : 5 * EVERY);
}
