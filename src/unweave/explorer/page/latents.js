// One line per latent: its name, what it carries, a slider, dial or choices, and the images it runs through.
import { dial } from "unweave/dial.js";
import { fill, h, problem, short, signed } from "unweave/dom.js";
import { Painter } from "unweave/painter.js";
import { gapOf } from "unweave/pixels.js";
import { STEPS, endsOf, place, valueIn, valuesOf } from "unweave/turning.js";

const POSITIONS = 400; // of a slider
const FULL_BAR = 5; // nats; the same for all runs, so that bars can be compared

/** Links to the image of a code and the lines around it, as JSON. */
export function codeTwins(address, code) {
  return ["decoded", "traversals"].map((what) => [`${what}.json`, address(`/${what}.json?code=${code.join(",")}`)]);
}

export class LatentsPanel {
  /**
   * @param latents what latents.json says  @param decoder a Decoder
   * @param rename (latent, name) => Promise of labels, or null if names are fixed
   * @param actions (row) => elements beside a line, such as a button that plays it
   */
  constructor({ latents, decoder, rename = null, actions = () => [] }) {
    Object.assign(this, { latents, decoder, rename, actions });
    this.code = latents.labels.map(() => 0);
    this.onmove = () => {}; // told which unit moved, or null
    const [channels, height, width] = decoder.shape;
    this.image = h("canvas", {
      class: "decoded", width, height, role: "img", "aria-label": "Decoded image",
      "data-channels": channels,
    });
    this.rows = latents.units.map((unit) => this.#row(unit));
    this.dead = h("details", { class: "dead" });
    this.element = h("div", { class: "latents" });
    this.#lay();
    this.painter = new Painter(decoder, this.image, this.rows.map((row) => ({
      unit: row.unit, canvas: row.strip, values: row.values,
    })));
    this.painter.onproblem = (error) => this.element.prepend(problem(error));
  }

  #isActive({ first, size }) {
    return this.latents.active.slice(first, first + size).some(Boolean);
  }

  #lay() {
    const { kl } = this.latents;
    const lively = this.rows.filter((row) => this.#isActive(row.unit));
    const dead = this.rows.filter((row) => !this.#isActive(row.unit));
    const why = kl ? "less than 0.1 nats above the least" : "almost no variance";
    const count = dead.length === 1 ? "1 latent carries" : `${dead.length} latents carry`;
    fill(this.dead, h("summary", {}, `${count} nothing (${why})`), dead.map((row) => row.element));
    const { sampled } = this.latents;
    const measured = sampled ? h("p", { class: "note measured" }, `${kl ? "KL" : "Variance"} of ${short(sampled)} images`) : null;
    fill(this.element, lively.map((row) => row.element), dead.length ? this.dead : null, measured);
    // Where nothing carries anything, that is what there is to see; until something is found to.
    if (!lively.length || this.isOpenedByItself) this.dead.open = !lively.length;
    this.isOpenedByItself = !lively.length;
  }

  #row(unit) {
    const row = { unit, ...this.#ends(unit) };
    // Few choices are shown as large as the images of a number, not larger.
    row.width = Math.min(1, row.values.length / STEPS);
    const [, height, width] = this.decoder.shape;
    const across = row.values.length * width + (row.values.length - 1) * gapOf(width);
    row.strip = h("canvas", { class: "strip", width: across, height, "aria-hidden": "true" });
    row.value = h("output", { class: "value" });
    row.carried = h("div", { class: "carried" });
    this.#showCarried(row);
    row.control = { category: () => this.#choices(row), angle: () => this.#dial(row), number: () => this.#slider(row) }[unit.kind]();
    row.strip.addEventListener("click", (event) => {
      const box = row.strip.getBoundingClientRect();
      const at = Math.floor(((event.clientX - box.left) / box.width) * row.values.length);
      this.move(row, row.values[Math.min(row.values.length - 1, Math.max(0, at))]);
    });
    row.element = h("div", { class: `latent ${unit.kind}`, "data-latent": unit.first },
      this.#label(row), row.carried,
      h("div", { class: "track" }, row.control, row.strip),
      h("div", { class: "ends" }, row.value, h("div", { class: "acts" }, this.actions(row))));
    row.element.style.setProperty("--width", row.width);
    return row;
  }

  #ends(unit) {
    const [low, high] = endsOf(unit, this.latents.low[unit.first], this.latents.high[unit.first]);
    return { low, high, values: valuesOf(unit, low, high) };
  }

  #slider(row) {
    const slider = h("input", {
      type: "range", min: row.low, max: row.high, step: (row.high - row.low) / POSITIONS,
      "data-latent": row.unit.first,
      oninput: () => this.move(row, Number(slider.value)),
    });
    row.reach = () => {
      // The highest first: a slider whose ends cross shows neither.
      for (const [name, value] of [["max", row.high], ["min", row.low], ["step", (row.high - row.low) / POSITIONS]]) slider.setAttribute(name, value);
    };
    row.show = (value) => {
      slider.value = value;
      row.value.textContent = signed(value);
      slider.setAttribute("aria-valuetext", row.value.textContent);
    };
    row.setLabel = (label) => slider.setAttribute("aria-label", label);
    row.setLabel(this.labelOf(row.unit));
    return slider;
  }

  #dial(row) {
    const { element, show } = dial((angle) => this.move(row, angle));
    row.show = (value) => {
      show(value);
      row.value.textContent = `${Math.round((180 * value) / Math.PI)}°`;
    };
    row.setLabel = (label) => element.setAttribute("aria-label", label);
    row.setLabel(this.labelOf(row.unit));
    return element;
  }

  /** One button a choice, each above its image. */
  #choices(row) {
    const name = `z${row.unit.first}-${Math.random().toString(36).slice(2)}`; // panels share a page
    const buttons = row.values.map((choice) => h("input", {
      type: "radio", name, value: choice, "aria-label": String(choice),
      onchange: () => this.move(row, choice),
    }));
    const group = h("div", { class: "choices", role: "radiogroup" },
      buttons.map((button, choice) => h("label", {}, button, h("span", {}, String(choice)))));
    row.show = (value) => {
      buttons[value].checked = true;
      row.value.textContent = String(value);
    };
    row.setLabel = (label) => group.setAttribute("aria-label", label);
    row.setLabel(this.labelOf(row.unit));
    return group;
  }

  /** What a unit is called: z3, or z3 and the name it was given. */
  labelOf({ first, label }) {
    const name = this.latents.names[first];
    return name ? `${label} ${name}` : label;
  }

  #label(row) {
    const { first: latent, label, role } = row.unit;
    const index = h("span", { class: "index" }, label, role ? h("small", { class: `role ${role}` }, role) : null);
    const given = this.latents.names[latent];
    if (!this.rename) return h("div", { class: "label" }, index, h("span", { class: "given" }, given));
    const field = h("input", {
      class: "name", type: "text", maxlength: 60, placeholder: "name it", value: given,
      autocomplete: "off", spellcheck: "false", "aria-label": `Name of latent ${latent}`,
    });
    const said = h("span", { class: "said", role: "status" });
    row.rename = async (name) => {
      try {
        const { labels, names } = await this.rename(latent, name);
        Object.assign(this.latents, { labels, names });
        field.value = names[latent];
        row.setLabel(this.labelOf(row.unit));
        fill(said, "kept");
        setTimeout(() => fill(said), 2000);
      } catch (error) {
        fill(said, error.message);
      }
    };
    field.addEventListener("change", () => row.rename(field.value));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") field.blur();
      if (event.key === "Escape") { field.value = this.latents.names[latent]; field.blur(); }
    });
    return h("div", { class: "label" }, index, field, said);
  }

  #showCarried({ carried, unit: { first, size } }) {
    const { kl, variance } = this.latents;
    const parts = (kl ?? variance)?.slice(first, first + size);
    if (!parts) return;
    const value = parts.reduce((sum, part) => sum + part, 0);
    const most = kl ? FULL_BAR : Math.max(...variance, 1e-9);
    const share = `${Math.max(0, Math.min(100, (100 * value) / most))}%`;
    carried.title = kl ? `${short(value, 3)} nats of KL to the prior; a full bar is ${FULL_BAR} nats` : `${short(value, 3)} variance of the codes; a full bar is the largest`;
    fill(carried,
      h("span", { class: "bar-back" }, h("span", { class: "bar-front", style: { width: share } })),
      h("span", { class: "amount" }, short(value, 2), kl ? h("small", {}, " nats") : null));
  }

  /** Take what was measured since the panel was made; lines stay where they are. */
  update(latents) {
    Object.assign(this.latents, latents, { units: this.latents.units });
    for (const row of this.rows) {
      this.#showCarried(row);
      const { low, high, values } = this.#ends(row.unit);
      if (row.reach && (low !== row.low || high !== row.high)) {
        Object.assign(row, { low, high, values });
        row.reach();
        this.painter.renew(row.unit, values);
      }
      this.#mark(row);
    }
    this.#lay();
  }

  /** The line that turns a dimension of the code. */
  rowOf(latent) {
    return this.rows.find(({ unit: { first, size } }) => first <= latent && latent < first + size);
  }

  /** Move one latent. */
  move(row, value) {
    place(this.code, row.unit, value);
    this.#mark(row);
    this.painter.show(this.code, row.unit);
    this.onmove(row.unit);
  }

  /** Go to a code; `unit` is the one whose moves this belongs to, if to one. */
  setCode(code, unit = null) {
    this.code = Array.from(code);
    for (const row of this.rows) this.#mark(row);
    this.painter.show(this.code);
    this.onmove(unit);
  }

  #mark(row) {
    const value = valueIn(this.code, row.unit);
    const last = row.values.length - 1;
    const share = row.unit.kind === "category" ? value / last
      : Math.min(1, Math.max(0, (value - row.low) / (row.high - row.low)));
    row.element.style.setProperty("--at", `${(100 * row.width * (0.5 + share * last)) / row.values.length}%`);
    row.show(value);
  }
}
