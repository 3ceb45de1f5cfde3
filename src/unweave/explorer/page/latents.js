// One line per latent: its name, what it carries, a slider or choices, and the images it runs through.
import { fill, h, problem, short, signed } from "unweave/dom.js";
import { Painter } from "unweave/painter.js";
import { STEPS, endsOf, place, valueIn, valuesOf } from "unweave/turning.js";

const POSITIONS = 400; // of a slider

/** Links to the image of a code and the lines around it, as JSON. */
export function codeTwins(address, code) {
  return ["decoded", "traversals"].map((what) => [`${what}.json`, address(`/${what}.json?code=${code.join(",")}`)]);
}

export class LatentsPanel {
  /**
   * @param latents what latents.json says  @param decoder a Decoder
   * @param rename (latent, name) => Promise of labels, or null if names are fixed
   * @param sliders whether latents can be moved
   */
  constructor({ latents, decoder, rename = null, sliders = true }) {
    this.latents = latents;
    this.decoder = decoder;
    this.rename = rename;
    this.sliders = sliders;
    this.code = latents.labels.map(() => 0);
    this.onmove = () => {};
    const [channels, height, width] = decoder.shape;
    this.image = h("canvas", {
      class: "decoded", width, height, role: "img", "aria-label": "Decoded image",
      "data-channels": channels,
    });
    this.most = Math.max(...(latents.kl ?? latents.variance ?? [1]), 1e-9);
    this.rows = latents.units.map((unit) => this.#row(unit));
    this.dead = h("details", { class: "dead" });
    this.dead.addEventListener("toggle", () => this.painter.refresh());
    this.element = h("div", { class: "latents" });
    this.#lay();
    this.painter = new Painter(decoder, this.image, this.rows.map((row) => ({
      unit: row.unit, canvas: row.strip, values: row.values,
      isShown: () => this.#isActive(row.unit) || this.dead.open,
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
    const why = kl ? "less than 0.1 nats" : "almost no variance";
    const count = dead.length === 1 ? "1 latent carries" : `${dead.length} latents carry`;
    fill(this.dead, h("summary", {}, `${count} nothing (${why})`), dead.map((row) => row.element));
    fill(this.element, lively.map((row) => row.element), dead.length ? this.dead : null);
    if (!lively.length) this.dead.open = true;
  }

  #row(unit) {
    const { latents } = this;
    const [low, high] = endsOf(unit, latents.low[unit.first], latents.high[unit.first]);
    const values = valuesOf(unit, low, high);
    // Few choices are shown as large as the images of a number, not larger.
    const row = { unit, low, high, values, width: Math.min(1, values.length / STEPS) };
    const [, height, width] = this.decoder.shape;
    row.strip = h("canvas", { class: "strip", width: values.length * width, height, "aria-hidden": "true" });
    row.value = h("output", { class: "value" });
    row.control = unit.kind === "category" ? this.#choices(row) : this.#slider(row);
    row.strip.addEventListener("click", (event) => {
      if (!this.sliders) return;
      const box = row.strip.getBoundingClientRect();
      const at = Math.floor(((event.clientX - box.left) / box.width) * values.length);
      this.move(row, values[Math.min(values.length - 1, Math.max(0, at))]);
    });
    row.element = h("div", { class: `latent ${unit.kind}`, "data-latent": unit.first },
      this.#label(row), this.#carried(unit),
      h("div", { class: "track" }, this.sliders ? row.control : null, row.strip),
      this.sliders ? row.value : null);
    row.element.style.setProperty("--width", row.width);
    return row;
  }

  #slider(row) {
    const slider = h("input", {
      type: "range", min: row.low, max: row.high, step: (row.high - row.low) / POSITIONS,
      "data-latent": row.unit.first,
      oninput: () => this.move(row, Number(slider.value)),
    });
    row.show = (value) => {
      slider.value = value;
      row.value.textContent = row.unit.kind === "angle" ? `${Math.round((180 * value) / Math.PI)}°` : signed(value);
      slider.setAttribute("aria-valuetext", row.value.textContent);
    };
    row.setLabel = (label) => slider.setAttribute("aria-label", label);
    row.setLabel(this.#labelOf(row.unit));
    return slider;
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
    row.setLabel(this.#labelOf(row.unit));
    return group;
  }

  #labelOf({ first, label }) {
    const name = this.latents.names[first];
    return name ? `${label} ${name}` : label;
  }

  #label(row) {
    const { first: latent, label, role } = row.unit;
    const index = h("span", { class: "index", title: role }, label, role ? h("small", {}, ` ${role}`) : null);
    const given = this.latents.names[latent];
    if (!this.rename) return h("div", { class: "label" }, index, h("span", { class: "given" }, given));
    const field = h("input", {
      class: "name", type: "text", maxlength: 60, placeholder: "name it", value: given,
      autocomplete: "off", spellcheck: "false", "aria-label": `Name of latent ${latent}`,
    });
    const said = h("span", { class: "said", role: "status" });
    field.addEventListener("change", async () => {
      try {
        const { labels, names } = await this.rename(latent, field.value);
        Object.assign(this.latents, { labels, names });
        field.value = names[latent];
        row.setLabel(this.#labelOf(row.unit));
        fill(said, "kept");
        setTimeout(() => fill(said), 2000);
      } catch (error) {
        fill(said, error.message);
      }
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") field.blur();
      if (event.key === "Escape") { field.value = this.latents.names[latent]; field.blur(); }
    });
    return h("div", { class: "label" }, index, field, said);
  }

  #carried({ first, size }) {
    const { kl, variance } = this.latents;
    const parts = (kl ?? variance)?.slice(first, first + size);
    if (!parts) return h("div", { class: "carried" });
    const value = parts.reduce((sum, part) => sum + part, 0);
    const share = `${Math.max(0, Math.min(100, (100 * value) / this.most))}%`;
    const unit = kl ? "nats of KL to the prior" : "variance of the codes";
    return h("div", { class: "carried", title: `${short(value, 3)} ${unit}` },
      h("span", { class: "bar-back" }, h("span", { class: "bar-front", style: { width: share } })),
      h("span", { class: "amount" }, short(value, 2), kl ? h("small", {}, " nats") : null));
  }

  /** Move one latent. */
  move(row, value) {
    place(this.code, row.unit, value);
    this.#mark(row);
    this.painter.show(this.code, row.unit);
    this.onmove();
  }

  /** Go to a code. */
  setCode(code) {
    this.code = Array.from(code);
    for (const row of this.rows) this.#mark(row);
    this.painter.show(this.code);
    this.onmove();
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
