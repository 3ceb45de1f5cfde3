// One line per latent: its name, what it carries, a slider, and the images it runs through.
import { fill, h, problem, short, signed } from "unweave/dom.js";
import { Painter } from "unweave/painter.js";

const STEPS = 9; // images in a line; contents.py draws as many in the twin
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
    this.rows = latents.order.map((latent) => this.#row(latent));
    this.dead = h("details", { class: "dead" });
    this.dead.addEventListener("toggle", () => this.painter.refresh());
    this.element = h("div", { class: "latents" });
    this.#lay();
    this.painter = new Painter(decoder, this.image, this.rows.map((row) => ({
      latent: row.latent, canvas: row.strip, values: row.values,
      isShown: () => latents.active[row.latent] || this.dead.open,
    })));
    this.painter.onproblem = (error) => this.element.prepend(problem(error));
  }

  #lay() {
    const { active, kl } = this.latents;
    const lively = this.rows.filter((row) => active[row.latent]);
    const dead = this.rows.filter((row) => !active[row.latent]);
    const why = kl ? "KL below 0.01 nats" : "almost no variance";
    const count = dead.length === 1 ? "1 latent carries" : `${dead.length} latents carry`;
    fill(this.dead, h("summary", {}, `${count} nothing (${why})`), dead.map((row) => row.element));
    fill(this.element, lively.map((row) => row.element), dead.length ? this.dead : null);
    if (!lively.length) this.dead.open = true;
  }

  #row(latent) {
    const { latents } = this;
    const low = latents.low[latent], high = latents.high[latent];
    const values = Array.from({ length: STEPS }, (_, i) => low + ((high - low) * i) / (STEPS - 1));
    const row = { latent, low, high, values };
    const [, height, width] = this.decoder.shape;
    row.strip = h("canvas", { class: "strip", width: STEPS * width, height, "aria-hidden": "true" });
    row.value = h("output", { class: "value" });
    row.slider = h("input", {
      type: "range", min: low, max: high, step: (high - low) / POSITIONS,
      "aria-label": latents.labels[latent], "data-latent": latent,
      oninput: () => this.move(latent, Number(row.slider.value)),
    });
    row.strip.addEventListener("click", (event) => {
      if (!this.sliders) return;
      const box = row.strip.getBoundingClientRect();
      const at = Math.floor(((event.clientX - box.left) / box.width) * STEPS);
      this.move(latent, values[Math.min(STEPS - 1, Math.max(0, at))]);
    });
    row.element = h("div", { class: "latent", "data-latent": latent },
      this.#label(row), this.#carried(latent),
      h("div", { class: "track" }, this.sliders ? row.slider : null, row.strip),
      this.sliders ? row.value : null);
    return row;
  }

  #label(row) {
    const { latent } = row;
    const index = h("span", { class: "index" }, `z${latent}`);
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
        row.slider.setAttribute("aria-label", labels[latent]);
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

  #carried(latent) {
    const { kl, variance } = this.latents;
    const value = (kl ?? variance)?.[latent];
    if (value === undefined) return h("div", { class: "carried" });
    const share = `${Math.max(0, Math.min(100, (100 * value) / this.most))}%`;
    const unit = kl ? "nats of KL to the prior" : "variance of the codes";
    return h("div", { class: "carried", title: `${short(value, 3)} ${unit}` },
      h("span", { class: "bar-back" }, h("span", { class: "bar-front", style: { width: share } })),
      h("span", { class: "amount" }, short(value, 2), kl ? h("small", {}, " nats") : null));
  }

  /** Move one latent. */
  move(latent, value) {
    this.code[latent] = value;
    this.#mark(this.rows.find((row) => row.latent === latent));
    this.painter.show(this.code, latent);
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
    const value = this.code[row.latent];
    row.slider.value = value;
    row.value.textContent = signed(value);
    const share = Math.min(1, Math.max(0, (value - row.low) / (row.high - row.low)));
    row.element.style.setProperty("--at", `${(100 * (0.5 + share * (STEPS - 1))) / STEPS}%`);
    row.slider.setAttribute("aria-valuetext", signed(value));
  }
}
