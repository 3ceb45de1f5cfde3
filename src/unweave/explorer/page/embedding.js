// The codes of the data as points: by principal components or two latents, coloured by a factor.
import { remember, remembered } from "unweave/address_state.js";
import { getJson } from "unweave/api.js";
import { fill, h, problem, section, short, twinned, words } from "unweave/dom.js";
import { COLORS } from "unweave/plots.js";
import { download, csvText, saveMenu, savePng } from "unweave/saving.js";

const SHADES = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]; // viridis
const ROOM = 14; // pixels round the points
const NEAR = 14; // pixels within which the pointer means a point

export async function embeddingSection(page) {
  const view = new Embedding(page);
  await view.show(remembered("axes") ?? "pca");
  return twinned(section("Embedding", view.element), [["embedding.json", page.address("/embedding.json?axes=pca")]]);
}

class Embedding {
  constructor(page) {
    this.page = page;
    this.canvas = h("canvas", { class: "cloud", role: "img" });
    this.label = h("div", { class: "hovered", hidden: true });
    this.legend = h("ul", { class: "legend" });
    this.near = h("div", { class: "near" });
    this.said = h("div");
    this.axes = h("select", { "aria-label": "Axes of the embedding", onchange: () => this.show(this.axes.value) }, this.#choices());
    this.color = h("select", { "aria-label": "Colour by", onchange: () => { this.#draw(); remember({ color: this.color.value }); } });
    this.element = h("div", { class: "embedding" },
      h("div", { class: "tools" }, h("label", {}, "Axes ", this.axes), h("label", {}, "Colour by ", this.color),
        saveMenu("Save", [
          ["Picture (PNG)", () => savePng("embedding.png", this.canvas)],
          ["Points (CSV)", () => download("embedding.csv", this.#csv(), "text/csv")],
        ])),
      h("div", { class: "cloud-look" }, h("div", { class: "cloud-place" }, this.canvas, this.label),
        h("div", {}, this.legend, this.near)), this.said);
    this.canvas.addEventListener("pointermove", (event) => this.#hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.label.hidden = true; this.hovered = null; });
    this.canvas.addEventListener("click", (event) => {
      this.#hover(event);
      if (this.hovered !== null) this.#start(this.hovered);
    });
    new ResizeObserver(() => this.points && this.#draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
    // A slider must stay quick: out of sight nothing is drawn or asked for.
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.isInSight = isIntersecting;
      if (isIntersecting && this.isStale) this.#drawSoon();
    }).observe(this.canvas);
    page.bench?.listen(() => this.#drawSoon());
  }

  #choices() {
    const { units, order, labels } = this.page.latents;
    const numbers = order.filter((latent) => units.some(({ first, kind }) => first === latent && kind === "number"));
    const pairs = numbers.slice(0, 6).flatMap((a, i) => numbers.slice(i + 1, 6).map((b) => [a, b].sort((one, two) => one - two)))
      .map(([a, b]) => [`${a},${b}`, `${labels[a]} and ${labels[b]}`]);
    const all = this.page.means.isFollowed ? [["pca", "principal components"], ...pairs] : [["pca", "principal components"]];
    return all.map(([value, text]) => h("option", { value }, text));
  }

  async show(axes) {
    try {
      this.points = await getJson(this.page.address(`/embedding.json?axes=${axes}`));
      if (![...this.axes.options].some(({ value }) => value === axes)) this.axes.append(h("option", { value: axes }, axes));
      this.axes.value = axes;
      remember({ axes: axes === "pca" ? null : axes });
      if (!this.color.options.length) {
        fill(this.color, this.points.factors.map(({ name }) => h("option", { value: name }, words(name))), h("option", { value: "" }, "nothing"));
        const wanted = remembered("color");
        this.color.value = this.points.factors.some(({ name }) => name === wanted) ? wanted : this.points.factors[0]?.name ?? "";
      }
      const count = short(this.points.rows.length);
      this.canvas.setAttribute("aria-label", `${count} codes, ${this.points.labels.join(" against ")}; the nearest images of the edit are listed beside it`);
      fill(this.said, h("p", { class: "note" }, `${count} images of the data; across ${this.points.labels[0]}, up ${this.points.labels[1]}. The ring is the edit. Click a point to start from it.`));
      this.#draw();
      if (!this.near.childElementCount) this.#neighbors();
    } catch (error) {
      fill(this.said, problem(error));
    }
  }

  #drawSoon() {
    this.isStale = !this.isInSight;
    if (this.isStale || !this.points) return;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.#draw());
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#neighbors(), 250);
  }

  #draw() {
    const { x, y } = this.points;
    const scale = devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    Object.assign(this.canvas, { width: width * scale, height: height * scale });
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
    context.fillRect(0, 0, width, height);
    const [left, right, low, high] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
    this.across = (value) => ROOM + ((value - left) / (right - left || 1)) * (width - 2 * ROOM);
    this.up = (value) => height - ROOM - ((value - low) / (high - low || 1)) * (height - 2 * ROOM);
    const colors = this.#colors();
    const size = x.length > 2000 ? 3 : 4;
    context.globalAlpha = 0.75;
    this.at = x.map((value, i) => {
      const place = [this.across(value), this.up(y[i])];
      context.fillStyle = colors[i];
      context.fillRect(place[0] - size / 2, place[1] - size / 2, size, size);
      return place;
    });
    context.globalAlpha = 1;
    this.#ring(context);
    this.canvas.dataset.points = x.length;
  }

  /** Where the edit lies among the codes of the data. */
  #ring(context) {
    if (!this.page.bench) return;
    const { mean, directions } = this.points;
    const [x, y] = directions.map((direction) => direction.reduce((sum, part, i) => sum + part * (this.page.bench.code[i] - mean[i]), 0));
    context.lineWidth = 3;
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
    context.beginPath();
    context.arc(this.across(x), this.up(y), 9, 0, 2 * Math.PI);
    context.stroke();
  }

  #colors() {
    const factor = this.points.factors.find(({ name }) => name === this.color.value);
    const style = getComputedStyle(document.documentElement);
    const lines = COLORS.map((color) => style.getPropertyValue(color.slice(4, -1)));
    if (!factor) {
      fill(this.legend);
      return this.points.x.map(() => lines[0]);
    }
    if (!factor.is_ordered && factor.labels) {
      fill(this.legend, factor.labels.map((label, i) => h("li", {}, h("i", { style: { background: lines[i % lines.length] } }), label)));
      return factor.values.map((value) => lines[value % lines.length]);
    }
    const [low, high] = [Math.min(...factor.values), Math.max(...factor.values)];
    const named = (value) => factor.labels?.[value] ?? short(value, 2);
    fill(this.legend, h("li", {}, named(low), " ", h("span", { class: "viridis" }), " ", named(high)));
    return factor.values.map((value) => `rgb(${shade((value - low) / (high - low || 1)).join(",")})`);
  }

  #hover({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    let nearest = null, least = NEAR ** 2;
    this.at.forEach(([px, py], i) => {
      const away = (px - x) ** 2 + (py - y) ** 2;
      if (away < least) [nearest, least] = [i, away];
    });
    this.label.hidden = nearest === null;
    if (nearest === null || nearest === this.hovered) {
      this.hovered = nearest;
      return;
    }
    this.hovered = nearest;
    const said = this.points.factors.map(({ name, values, labels }) => `${words(name)} ${labels?.[values[nearest]] ?? short(values[nearest], 2)}`);
    fill(this.label, this.#thumbnail(nearest), h("span", {}, `row ${this.points.rows[nearest]}`, said.map((line) => [h("br"), line])));
    Object.assign(this.label.style, { left: `${Math.min(this.at[nearest][0] + 12, box.width - 170)}px`, top: `${Math.max(0, this.at[nearest][1] - 40)}px` });
  }

  #thumbnail(i) {
    const { sheet, rows } = this.points;
    if (!sheet) return h("img", { src: this.page.whole(`/image.png?row=${rows[i]}`), alt: "", width: 64 });
    const { picture, across, side } = sheet;
    return h("span", { class: "cut", style: {
      backgroundImage: `url(${picture})`, width: `${2 * side}px`, height: `${2 * side}px`, backgroundSize: `${2 * side * across}px auto`,
      backgroundPosition: `${-2 * side * (i % across)}px ${-2 * side * Math.floor(i / across)}px`,
    } });
  }

  #start(i) {
    const { starts } = this.page.bench ?? {};
    if (!starts) return;
    const row = this.points.rows[i];
    if (!this.points.codes) starts.fromRow(row);
    else starts.take({ row, code: this.points.codes[i], what: `row ${row}` });
  }

  async #neighbors() {
    if (!this.page.bench || !this.page.means.isFollowed) return;
    try {
      const code = this.page.bench.code.join(",");
      const address = this.page.address(`/neighbors.json?code=${code}`);
      const { neighbors, among } = await getJson(address);
      fill(this.near, twinned(h("div", {}, h("h3", {}, "Images nearest to the edit")), [["neighbors.json", address]]),
        h("div", { class: "gallery" }, neighbors.map(({ row, distance }) => h("button", {
          type: "button", title: `row ${row}, ${distance.toFixed(2)} away`, "aria-label": `Start from row ${row}, ${distance.toFixed(2)} away`,
          onclick: () => this.page.bench.starts.fromRow(row),
        }, h("img", { src: this.page.whole(`/image.png?row=${row}`), alt: "", width: 48, height: 48 })))),
        h("p", { class: "note" }, `by distance of codes, among ${short(among)} images`));
    } catch (error) {
      fill(this.near, problem(error));
    }
  }

  #csv() {
    const { rows, x, y, labels, factors } = this.points;
    return csvText([["row", ...labels, ...factors.map(({ name }) => name)],
      ...rows.map((row, i) => [row, x[i], y[i], ...factors.map(({ values, labels: called }) => called?.[values[i]] ?? values[i])])]);
  }
}

/** The colour of a share from 0 to 1. */
function shade(share) {
  const at = Math.min(1, Math.max(0, share)) * (SHADES.length - 1);
  const below = Math.min(Math.floor(at), SHADES.length - 2);
  return SHADES[below].map((value, i) => Math.round(value + (at - below) * (SHADES[below + 1][i] - value)));
}
