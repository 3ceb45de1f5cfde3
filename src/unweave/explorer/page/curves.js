// Training curves, the KL of each latent by step, and the pictures that were kept on the way.
import { getJson } from "unweave/api.js";
import { fill, h, section, twinned, words } from "unweave/dom.js";
import { COLORS, linePlot } from "unweave/plots.js";
import { csvText, download, saveMenu, svgText } from "unweave/saving.js";
import { timeLapse } from "unweave/time_lapse.js";

export async function drawCurves(place, page) {
  const { curves, kl } = await getJson(page.whole("/curves.json"));
  const names = [...new Set(curves.map((curve) => curve.name))];
  const plots = names.map((name) => linePlot(words(name), curves
    .filter((curve) => curve.name === name)
    .map((curve) => ({ label: curve.player, x: curve.steps, y: curve.values }))));
  if (kl.steps.length) {
    const last = kl.kl.at(-1); // the largest first, as beside the sliders
    const lines = last.map((_, latent) => latent).sort((a, b) => last[b] - last[a]).map((latent) => ({
      label: page.latents?.labels[latent] ?? `z${latent}`, x: kl.steps, y: kl.kl.map((row) => row[latent]),
      color: COLORS[latent % COLORS.length],
    }));
    plots.unshift(linePlot("KL of each latent, nats", lines, { isLinear: true })); // dead ones lie at 0
  }
  const pictures = await timeLapse(page, place);
  const save = plots.length ? h("div", { class: "tools" }, saveMenu("Save curves", [
    ["all (CSV)", () => download("curves.csv", curvesCsv(curves), "text/csv")],
    ...plots.map((plot) => {
      const title = plot.querySelector("figcaption").textContent;
      return [`${title} (SVG)`, () => download(`${title.replaceAll(/[^a-z]+/gi, "-")}.svg`, svgText(plot.querySelector("svg"), title), "image/svg+xml")];
    }),
  ])) : null;
  fill(place, plots.length || pictures ? twinned(section("Training", pictures, save, h("div", { class: "plots" }, plots)),
    [["curves.json", page.whole("/curves.json")], ["training_pictures.json", page.whole("/training_pictures.json")]]) : []);
}

function curvesCsv(curves) {
  return csvText([["curve", "player", "step", "value"],
    ...curves.flatMap(({ name, player, steps, values }) => steps.map((step, i) => [name, player, step, values[i]]))]);
}
