// Factors against latents; a cell opens that latent's traversal and its scatter over the factor.
import { remember, remembered } from "unweave/address_state.js";
import { getJson } from "unweave/api.js";
import { fill, h, problem, section, short, twinned, twins, words } from "unweave/dom.js";
import { decodeLine } from "unweave/painter.js";
import { draw } from "unweave/pixels.js";
import { scatterPlot } from "unweave/plots.js";
import { csvText, download, drawingEntries, saveMenu, savePng } from "unweave/saving.js";

const KINDS = { mi: "Mutual information", dci: "DCI importance" };
const MOST_LATENTS = 64; // more columns than a page can show

export async function heatMapSection(page) {
  const table = h("div", { class: "scroll" }), meaning = h("p", { class: "note" });
  const look = h("div", { class: "scatter", "aria-live": "polite" },
    h("p", { class: "note" }, "Choose a cell to see what its latent does and how it follows the factor."));
  let shown = null;
  const save = saveMenu("Save", [
    ["Table (CSV)", () => download(`${shown.kind}.csv`, mapCsv(shown), "text/csv")],
    ["Picture (PNG)", () => savePng(`${shown.kind}.png`, mapCanvas(shown, page.latents.order))],
  ]);
  const buttons = Object.entries(KINDS).map(([kind, title]) =>
    h("button", { type: "button", "aria-pressed": "false", onclick: () => show(kind) }, title));

  async function show(kind) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(Object.keys(KINDS)[i] === kind)));
    try {
      const map = await getJson(page.address(`/heat_map.json?kind=${kind}`));
      fill(meaning, [map.meaning, `protocol ${map.protocol}`, map.rows ? `${map.rows.toLocaleString("en")} images` : ""].filter(Boolean).join("; "));
      shown = map;
      fill(table, drawMap(map, page, look));
      remember({ map: kind === "mi" ? null : kind });
    } catch (error) {
      fill(table, problem(error));
    }
  }
  await show(remembered("map") === "dci" ? "dci" : "mi");
  const [latent, factor] = (remembered("cell") ?? "").split(/:(.*)/s);
  if (factor) table.querySelector(`button[data-latent="${CSS.escape(latent)}"][data-factor="${CSS.escape(factor)}"]`)?.click();
  const links = Object.keys(KINDS).map((kind) => [`${kind}.json`, page.address(`/heat_map.json?kind=${kind}`)]);
  return twinned(section("Factors and latents",
    h("div", { class: "tools" }, buttons, save, meaning), h("div", { class: "look" }, table, look)), links);
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
        remember({ cell: `${latent}:${factor}` });
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
    h("thead", {}, h("tr", {}, h("td"), order.map((latent) => h("th", { scope: "col" }, map.latents[latent])))),
    h("tbody", {}, map.factors.map((factor, line) => h("tr", {},
      h("th", { scope: "row" }, words(factor)), cells[line].map((cell) => h("td", {}, cell))))));
}

async function open(look, page, latent, factor) {
  try {
    const address = page.address(`/scatter.json?latent=${latent}&factor=${encodeURIComponent(factor)}`);
    const points = await getJson(address);
    const name = `z${latent}-${factor}`;
    const menu = saveMenu("Save", [
      ...drawingEntries(name, () => look.querySelector("svg")),
      [`${name}.csv`, () => download(`${name}.csv`, csvText([[factor, `z${latent}`], ...points.values.map((value, i) => [points.factor_labels?.[value] ?? value, points.codes[i]])]), "text/csv")],
    ]);
    fill(look, h("h3", {}, `${points.label} and ${words(factor)} `, twins([["scatter.json", address]]), menu), await strip(page, latent),
      scatterPlot(`${points.label} by ${words(factor)}`, points.values, points.codes, {
        classes: points.classes, labels: points.class_labels, xLabel: words(factor), yLabel: points.label, xLabels: points.factor_labels,
      }));
  } catch (error) {
    fill(look, problem(error));
  }
}

/** The images a latent runs through, around the code of the sliders. */
async function strip(page, latent) {
  if (!page.bench) return null;
  const row = page.bench.panel.rowOf(latent);
  const canvas = h("canvas", { class: "strip", role: "img", "aria-label": `Traversal of latent ${latent}` });
  draw(canvas, await decodeLine(page.decoder, Float32Array.from(page.bench.code), row), row.values.length, page.decoder.shape);
  return canvas;
}

function mapCsv({ factors, latents, values }) {
  return csvText([["factor", ...latents], ...factors.map((factor, i) => [factor, ...values[i]])]);
}

/** The map as a picture: cells with their values, white ground, for a slide. */
function mapCanvas({ factors, latents, values }, order) {
  const [cell, left, top] = [64, 150, 34], shown = order.slice(0, MOST_LATENTS);
  const canvas = h("canvas", { width: left + shown.length * cell, height: top + factors.length * cell });
  const context = canvas.getContext("2d");
  const write = (text, x, y, align) => {
    context.textAlign = align;
    context.fillText(text, x, y, align === "right" ? left - 16 : cell - 4);
  };
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.font = "16px sans-serif";
  context.textBaseline = "middle";
  context.fillStyle = "#000";
  shown.forEach((latent, column) => write(latents[latent], left + (column + 0.5) * cell, top / 2, "center"));
  factors.forEach((factor, line) => {
    context.fillStyle = "#000";
    write(words(factor), left - 10, top + (line + 0.5) * cell, "right");
    shown.forEach((latent, column) => {
      const share = Math.min(1, Math.max(0, values[line][latent]));
      context.fillStyle = `rgba(11, 99, 176, ${0.06 + 0.94 * share})`;
      context.fillRect(left + column * cell + 1, top + line * cell + 1, cell - 2, cell - 2);
      context.fillStyle = share > 0.55 ? "#fff" : "#000";
      write(values[line][latent].toFixed(2), left + (column + 0.5) * cell, top + (line + 0.5) * cell, "center");
    });
  });
  return canvas;
}
