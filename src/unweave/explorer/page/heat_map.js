// Factors against latents; a cell opens that latent's traversal and its scatter over the factor.
import { getJson } from "unweave/api.js";
import { fill, h, problem, section, short, twinned, twins, words } from "unweave/dom.js";
import { draw } from "unweave/pixels.js";
import { scatterPlot } from "unweave/plots.js";
import { place, valuesOf } from "unweave/turning.js";

const KINDS = { mi: "Mutual information", dci: "DCI importance" };
const MOST_LATENTS = 64; // more columns than a page can show

export async function heatMapSection(page) {
  const table = h("div", { class: "scroll" }), meaning = h("p", { class: "note" });
  const look = h("div", { class: "scatter", "aria-live": "polite" },
    h("p", { class: "note" }, "Choose a cell to see what its latent does and how it follows the factor."));
  const buttons = Object.entries(KINDS).map(([kind, title]) =>
    h("button", { type: "button", "aria-pressed": "false", onclick: () => show(kind) }, title));

  async function show(kind) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(Object.keys(KINDS)[i] === kind)));
    try {
      const map = await getJson(page.address(`/heat_map.json?kind=${kind}`));
      fill(meaning, [map.meaning, `protocol ${map.protocol}`, map.rows ? `${map.rows.toLocaleString("en")} images` : ""].filter(Boolean).join("; "));
      fill(table, drawMap(map, page, look));
    } catch (error) {
      fill(table, problem(error));
    }
  }
  await show("mi");
  const links = Object.keys(KINDS).map((kind) => [`${kind}.json`, page.address(`/heat_map.json?kind=${kind}`)]);
  return twinned(section("Factors and latents",
    h("div", { class: "tools" }, buttons, meaning), h("div", { class: "look" }, table, look)), links);
}

function drawMap(map, page, look) {
  const order = page.latents.order.slice(0, MOST_LATENTS);
  const cells = map.factors.map((factor, line) => order.map((latent, column) => {
    const value = map.values[line][latent];
    const strength = Math.min(1, Math.max(0, value));
    return h("button", {
      type: "button", tabindex: line === 0 && column === 0 ? 0 : -1, "aria-pressed": "false",
      "aria-label": `${words(factor)} and ${map.latents[latent]}: ${short(value, 2)}`,
      "data-latent": latent, "data-factor": factor,
      style: {
        background: `rgba(var(--cell), ${(0.06 + 0.94 * strength).toFixed(3)})`,
        color: strength > 0.7 ? "var(--accent-ink)" : "var(--ink)",
      },
      onclick: (event) => {
        for (const cell of cells.flat()) cell.setAttribute("aria-pressed", String(cell === event.currentTarget));
        focusOnly(event.currentTarget);
        open(look, page, latent, factor);
      },
      onkeydown: (event) => {
        const next = {
          ArrowUp: () => cells[line - 1]?.[column], ArrowDown: () => cells[line + 1]?.[column],
          ArrowLeft: () => cells[line][column - 1], ArrowRight: () => cells[line][column + 1],
          Home: () => cells[line][0], End: () => cells[line].at(-1),
        }[event.key];
        if (!next) return;
        event.preventDefault();
        const cell = next();
        if (cell) { focusOnly(cell); cell.focus(); }
      },
    }, short(value, 2));
  }));
  const focusOnly = (chosen) => { for (const cell of cells.flat()) cell.tabIndex = cell === chosen ? 0 : -1; };
  return h("table", { class: "heat" },
    h("thead", {}, h("tr", {}, h("th", {}), order.map((latent) => h("th", { scope: "col" }, map.latents[latent])))),
    h("tbody", {}, map.factors.map((factor, line) => h("tr", {},
      h("th", { scope: "row" }, words(factor)), cells[line].map((cell) => h("td", {}, cell))))));
}

async function open(look, page, latent, factor) {
  try {
    const address = page.address(`/scatter.json?latent=${latent}&factor=${encodeURIComponent(factor)}`);
    const points = await getJson(address);
    fill(look, h("h3", {}, `${points.label} and ${words(factor)}`, twins([["scatter.json", address]])), await strip(page, latent),
      scatterPlot(`${points.label} by ${words(factor)}`, points.values, points.codes, {
        classes: points.classes, labels: points.class_labels, xLabel: words(factor), yLabel: points.label, xLabels: points.factor_labels,
      }));
  } catch (error) {
    fill(look, problem(error));
  }
}

/** The images a latent runs through, around the code of the sliders. */
async function strip(page, latent) {
  if (!page.panel) return null;
  const { low, high, units } = page.latents;
  const unit = units.find(({ first, size }) => first <= latent && latent < first + size);
  const values = valuesOf(unit, low[unit.first], high[unit.first]);
  const codes = values.flatMap((value) => {
    const code = Array.from(page.panel.code);
    place(code, unit, value);
    return code;
  });
  const canvas = h("canvas", { class: "strip", role: "img", "aria-label": `Traversal of latent ${latent}` });
  draw(canvas, await page.decoder.decode(Float32Array.from(codes), values.length), values.length, page.decoder.shape);
  return canvas;
}
