// Where to start from: an image of the data set, one of the user's, or the prior.
import { fill, h, problem, twins, words } from "unweave/dom.js";
import { showTimings } from "unweave/painter.js";

const PICTURES = "image/png,image/jpeg,image/webp,image/bmp,image/gif,image/tiff";

/** Controls that give codes to `panel`, from `source`; see `served` and `stored` below. */
export class Starts {
  constructor(panel, source) {
    this.panel = panel;
    this.source = source;
    this.start = null;
    this.seed = 0;
    this.turn = 0;
    this.picture = h("img", { class: "original", alt: "Image that is started from", hidden: true });
    this.facts = h("p", { class: "facts" });
    this.said = h("div");
    this.row = source.rows ? this.#rowField() : null;
    this.element = h("div", { class: "starts" },
      h("div", { class: "buttons" },
        source.rows ? h("button", { type: "button", onclick: () => this.random() }, "Random image") : null,
        h("button", { type: "button", onclick: () => this.prior() }, "Prior sample"),
        source.upload ? this.#upload() : null,
        h("button", { type: "button", class: "quiet", onclick: () => this.again() }, "Back to start")),
      this.row ? h("label", { class: "row-field" }, "Row of the data ", this.row) : null,
      source.images?.length ? this.#gallery() : null,
      this.facts, this.said);
  }

  #rowField() {
    const field = h("input", { type: "number", min: 0, max: this.source.rows - 1, step: 1, value: "" });
    field.addEventListener("change", () => field.value !== "" && this.fromRow(Number(field.value)));
    return field;
  }

  #upload() {
    const field = h("input", { type: "file", accept: PICTURES, class: "file" });
    field.addEventListener("change", () => {
      const [file] = field.files;
      field.value = "";
      if (file) this.#begin(() => this.source.upload(file), `your image ${file.name}`);
    });
    return h("label", { class: "button" }, "Upload image", field);
  }

  #gallery() {
    return h("div", { class: "gallery", role: "group", "aria-label": "Images to start from" },
      this.source.images.map((start) => h("button", {
        type: "button", title: `row ${start.row}`, "aria-label": `Start from row ${start.row}`,
        onclick: () => this.#begin(() => start, `row ${start.row}`),
      }, h("img", { src: start.picture, alt: "" }))));
  }

  random() {
    return this.fromRow(Math.floor(Math.random() * this.source.rows));
  }

  fromRow(row) {
    if (this.row) this.row.value = row;
    return this.#begin(() => this.source.row(row), `row ${row}`);
  }

  prior() {
    return this.#begin(() => this.source.prior(this.seed++), "a draw from the prior");
  }

  /** Go back to the last start, after moving latents. */
  again() {
    if (this.start) this.panel.setCode(this.start.code);
  }

  /** Whether the latents are where the last start put them. */
  get isUnmoved() {
    return this.start !== null && this.start.code.every((value, i) => value === this.panel.code[i]);
  }

  async #begin(find, what) {
    const turn = ++this.turn;
    try {
      const start = await find();
      if (turn !== this.turn) return; // something else was asked for meanwhile
      this.start = start;
      fill(this.said);
      this.picture.hidden = !start.picture;
      if (start.picture) this.picture.src = start.picture;
      const factors = Object.entries(start.factors ?? {});
      fill(this.facts, `Started from ${what}`,
        factors.length ? ": " + factors.map(([name, value]) => `${words(name)} ${value}`).join(", ") : "",
        this.source.twin?.(start) ? twins([this.source.twin(start)]) : null);
      this.panel.setCode(start.code);
    } catch (error) {
      fill(this.said, problem(error));
    }
  }
}

/** The decoded image beside the one that was started from, and the panel that slides it. */
export function bench(panel, starts) {
  const timing = h("p", { class: "timing" }), caption = h("figcaption");
  starts.picture.addEventListener("load", () => { caption.textContent = "start"; });
  showTimings(timing);
  return h("div", { class: "bench" },
    h("div", { class: "stage" },
      h("div", { class: "views" },
        h("figure", {}, panel.image, h("figcaption", {}, "decoded")),
        h("figure", {}, starts.picture, caption)),
      starts.element, timing),
    panel.element);
}
