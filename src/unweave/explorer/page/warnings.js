// What should worry whoever looks at a run: a line for each kind, those that matter first.
import { getJson } from "unweave/api.js";
import { fill, h, short, twins } from "unweave/dom.js";

/** The run in one sentence, with a button that names latents by it. */
export async function drawCaption(place, page) {
  const address = page.address("/caption.json");
  const { text, names, rows } = await getJson(address);
  const suggested = Object.entries(names);
  const button = suggested.length && page.bench ? h("button", { type: "button", title: suggested.map(([latent, name]) => `z${latent}: ${name}`).join("\n"), onclick: async () => {
    button.disabled = true;
    for (const [latent, name] of suggested) await page.bench.panel.rowOf(Number(latent)).rename(name);
    button.remove();
  } }, suggested.length === 1 ? "Name it so" : `Name these ${suggested.length}`) : null;
  fill(place, h("p", { class: "caption" }, text, " ", button, h("small", { class: "note" }, rows ? ` by mutual information, ${short(rows)} images` : ""), twins([["caption.json", address]])));
}

const SHOWN = 3; // lines before the rest is folded away

export async function drawWarnings(place, page) {
  const found = await getJson(page.address("/warnings.json"));
  const links = twins([["warnings.json", page.address("/warnings.json")]]);
  if (!found.warnings.length) {
    fill(place, h("p", { class: "note" }, "No collapsed latents, no entangled pairs, and the KL is not at a limit.", links));
    return;
  }
  const [lines, more] = [found.in_short.slice(0, SHOWN), found.in_short.slice(SHOWN)];
  const each = found.warnings.length > found.in_short.length ? found.warnings.map((warned) => warned.message) : more;
  fill(place, h("div", { class: "warnings" },
    h("ul", {}, lines.map((line) => h("li", {}, line))),
    each.length ? h("details", {},
      h("summary", {}, each === more ? `${more.length} more` : `all ${each.length}, one by one`),
      h("ul", {}, each.map((line) => h("li", {}, line)))) : null,
    h("small", {}, page.latents?.sampled ? `by the map of factors and latents below, and codes of ${short(page.latents.sampled)} images` : ""), links));
}
