// The mean of each latent by position and against every other factor, by class: made when it is opened.
import { getJson } from "unweave/api.js";
import { fill, h, problem, section, signed, twinned, words } from "unweave/dom.js";
import { COLORS, linePlot } from "unweave/plots.js";

const MOST_LATENTS = 12;
// Orange below 0, white at 0, purple above: ColorBrewer's PuOr, as in the figures.
const SHADES = [[127, 59, 8], [253, 184, 99], [247, 247, 247], [178, 171, 210], [45, 0, 75]];

export function responseSection(page, isOpen = false) {
  const place = h("div");
  const details = h("details", {}, h("summary", {}, "Show the mean of each latent against the factors"), place);
  let isDrawn = false;
  details.addEventListener("toggle", async () => {
    if (!details.open || isDrawn) return;
    isDrawn = true;
    fill(place, h("p", { class: "note", role: "status" }, "Encoding …"));
    try {
      fill(place, ...drawResponse(await getJson(page.address("/response.json")), page.latents));
    } catch (error) {
      fill(place, problem(error));
    }
  });
  details.open = isOpen;
  return twinned(section("Responses", details), [["response.json", page.address("/response.json")]]);
}

function drawResponse(response, latents) {
  const lively = latents.order.filter((latent) => latents.active[latent]);
  const shown = (lively.length ? lively : latents.order.slice(0, 1)).slice(0, MOST_LATENTS);
  const classes = response.lines[0]?.classes ?? [];
  const legend = response.split_by && classes.length > 1 ? h("ul", { class: "legend" }, h("li", {}, `${words(response.split_by)}: `),
    classes.map((name, i) => h("li", {}, h("i", { style: { background: COLORS[i % COLORS.length] } }), name))) : null;
  return [
    h("p", { class: "note" }, "Averaged over the other factors. All plots of a latent have one scale."), legend,
    shown.map((latent) => {
      const reach = largest(response, latent);
      return h("div", { class: "response", "data-latent": latent },
        h("h3", {}, response.labels[latent]),
        h("div", { class: "plots" },
          response.position ? positionMap(response.position, latent, reach) : null,
          response.lines.map((lines) => linePlot(words(lines.factor), lines.classes.map((label, i) => ({
            label: label || words(lines.factor), x: lines.values, y: lines.means[latent][i],
          })), { xLabel: words(lines.factor), xLabels: lines.value_labels, legend: false, reach: 1.05 * reach }))));
    }),
  ];
}

/** The size of a latent's largest mean. */
function largest({ position, lines }, latent) {
  const means = [...lines.map((one) => one.means[latent]), position?.means[latent] ?? []].flat(2);
  return Math.max(...means.map((value) => Math.abs(value ?? 0)), 1e-9);
}

function positionMap(position, latent, reach) {
  const means = position.means[latent];
  const [height, width] = [means.length, means[0].length];
  const canvas = h("canvas", {
    class: "map", width, height, role: "img",
    "aria-label": `Mean by ${words(position.across)} and ${words(position.down)}`,
  });
  const picture = new ImageData(width, height);
  means.flat().forEach((value, i) => picture.data.set([...shade(value === null ? null : value / reach), 255], 4 * i));
  canvas.getContext("2d").putImageData(picture, 0, 0);
  return h("figure", { class: "plot" },
    h("figcaption", {}, `${words(position.across)} →, ${words(position.down)} ↓`),
    canvas, h("div", { class: "scale" }, signed(-reach), h("span", { class: "shades" }), signed(reach)));
}

/** The colour of a share from −1 to 1; grey where there is nothing. */
function shade(share) {
  if (share === null) return [224, 224, 224];
  const at = (Math.min(1, Math.max(-1, share)) + 1) * ((SHADES.length - 1) / 2);
  const below = Math.min(Math.floor(at), SHADES.length - 2);
  return SHADES[below].map((value, i) => Math.round(value + (at - below) * (SHADES[below + 1][i] - value)));
}
