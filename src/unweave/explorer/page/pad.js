// A pad for two latents: the plane of images they span, and a point in it that is dragged.
import { remember, remembered } from "unweave/address_state.js";
import { fill, h } from "unweave/dom.js";
import { decodeLine } from "unweave/painter.js";
import { drawLine, gapOf, size } from "unweave/pixels.js";
import { saveMenu, savePng } from "unweave/saving.js";
import { place, valueIn, valuesOf } from "unweave/turning.js";

const STEP = 1 / 40; // of the range, by an arrow key

/** A pad that is made when it is opened. */
export function padDetails(bench) {
  const sliding = bench.latents.units.filter((unit) => unit.kind === "number");
  if (sliding.length < 2) return h("span");
  const body = h("div"), details = h("details", { class: "pad-details" }, h("summary", {}, "Pad: move two latents at once"), body);
  details.addEventListener("toggle", () => {
    if (details.open && !body.childElementCount) fill(body, new Pad(bench, sliding).element);
    if (!details.open) remember({ pad: null });
  });
  if (remembered("pad")) details.open = true;
  return details;
}

class Pad {
  constructor(bench, units) {
    this.bench = bench;
    this.units = units;
    const [x, y] = (remembered("pad") ?? "").split(",").map((text) => units.findIndex(({ first }) => String(first) === text));
    this.chosen = x >= 0 && y >= 0 && x !== y ? [x, y] : [0, 1];
    this.canvas = h("canvas", { class: "plane", "aria-hidden": "true" });
    this.point = h("div", { class: "point" });
    this.pad = h("div", { class: "pad", role: "application", tabindex: 0 }, this.canvas, this.point);
    const selects = [0, 1].map((axis) => this.#select(axis));
    this.element = h("div", { class: "pad-place" },
      h("div", { class: "tools" },
        h("label", {}, "→ ", selects[0]), h("label", {}, "↓ ", selects[1]),
        saveMenu("Save", [["Plane of images (PNG)", () => savePng(`plane-z${this.unit(0).first}-z${this.unit(1).first}.png`, this.canvas)]])),
      this.pad);
    this.pad.addEventListener("pointerdown", (event) => {
      this.pad.setPointerCapture(event.pointerId);
      this.pad.focus();
      this.#go(event);
    });
    this.pad.addEventListener("pointermove", (event) => this.pad.hasPointerCapture(event.pointerId) && this.#go(event));
    this.pad.addEventListener("keydown", (event) => this.#key(event));
    bench.listen((code, unit) => {
      this.#mark();
      // The plane shows all values of its own two: only others change it.
      if (!this.isMoving && (unit === null || !this.chosen.some((i) => this.units[i] === unit))) this.#paint();
    });
    this.#choose();
  }

  unit(axis) {
    return this.units[this.chosen[axis]];
  }

  #row(axis) {
    return this.bench.panel.rowOf(this.unit(axis).first);
  }

  #select(axis) {
    const select = h("select", { "aria-label": axis ? "Latent from top to bottom" : "Latent from left to right" },
      this.units.map((unit, i) => h("option", { value: i }, this.bench.panel.labelOf(unit))));
    select.value = this.chosen[axis];
    select.addEventListener("change", () => {
      const other = this.chosen[1 - axis];
      if (Number(select.value) === other) this.chosen.reverse(); // the same twice would be a line
      else this.chosen[axis] = Number(select.value);
      this.element.querySelectorAll("select").forEach((one, i) => { one.value = this.chosen[i]; });
      this.#choose();
    });
    return select;
  }

  #choose() {
    const [x, y] = [0, 1].map((axis) => this.bench.panel.labelOf(this.unit(axis)));
    this.pad.setAttribute("aria-label", `${x} from left to right, ${y} from top to bottom; arrow keys move it`);
    remember({ pad: `${this.unit(0).first},${this.unit(1).first}` });
    this.#mark();
    this.#paint();
  }

  #shares() {
    return [0, 1].map((axis) => {
      const { low, high } = this.#row(axis);
      return Math.min(1, Math.max(0, (valueIn(this.bench.code, this.unit(axis)) - low) / (high - low)));
    });
  }

  #mark() {
    const steps = valuesOf(this.unit(0), 0, 1).length;
    // The values stand in the middle of their images.
    const [x, y] = this.#shares().map((share) => `${(100 * (0.5 + share * (steps - 1))) / steps}%`);
    Object.assign(this.point.style, { left: x, top: y });
  }

  #go({ clientX, clientY }) {
    const box = this.pad.getBoundingClientRect();
    const steps = valuesOf(this.unit(0), 0, 1).length;
    const share = (at) => Math.min(1, Math.max(0, (at * steps - 0.5) / (steps - 1)));
    this.#set([share((clientX - box.left) / box.width), share((clientY - box.top) / box.height)]);
  }

  #key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    this.#set(this.#shares().map((share, i) => Math.min(1, Math.max(0, share + way[i] * STEP))));
  }

  #set(shares) {
    const code = [...this.bench.code];
    shares.forEach((share, axis) => {
      const { low, high, unit } = this.#row(axis);
      place(code, unit, low + share * (high - low));
    });
    this.isMoving = true; // its own plane stays
    this.bench.panel.setCode(code, this.unit(0));
    this.isMoving = false;
  }

  /** Decode the plane line by line; what is asked for meanwhile begins it anew. */
  async #paint() {
    this.isStale = true;
    if (this.isPainting) return;
    this.isPainting = true;
    try {
      while (this.isStale && this.element) {
        this.isStale = false;
        const { decoder } = this.bench;
        const [, height, width] = decoder.shape;
        const gap = gapOf(width), [across, down] = [this.#row(0), this.#row(1)];
        const lines = down.values.length, columns = across.values.length;
        size(this.canvas, columns * (width + gap) - gap, lines * (height + gap) - gap);
        for (let line = 0; line < lines && !this.isStale; line++) {
          const code = Float32Array.from(this.bench.code);
          place(code, down.unit, down.values[line]);
          const images = await decodeLine(decoder, code, across);
          drawLine(this.canvas, images, columns, decoder.shape, line * (height + gap));
        }
      }
    } finally {
      this.isPainting = false;
    }
    this.canvas.dataset.drawn = Number(this.canvas.dataset.drawn ?? 0) + 1;
  }
}
