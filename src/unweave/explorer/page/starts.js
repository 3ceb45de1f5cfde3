// Where to start from: a row of the data, an image of the user's, a stored one, or the prior.
import { fill, h, problem, twins, words } from "unweave/dom.js";

const PICTURES = "image/png,image/jpeg,image/webp,image/bmp,image/gif,image/tiff";

/** Controls that find a start: { code, picture, row, seed, factors, what }. */
export class Starts {
  /** @param source what can be started from; `servedStarts` and `storedStarts` make it */
  constructor(source) {
    this.source = source;
    this.onstart = () => {}; // told the start that was found
    this.start = null;
    this.seed = 0;
    this.turn = 0;
    this.facts = h("p", { class: "facts" });
    this.said = h("div");
    this.row = source.rows ? this.#rowField() : null;
    this.element = h("div", { class: "starts" },
      h("div", { class: "buttons" },
        source.rows || source.images?.length ? h("button", { type: "button", onclick: () => this.random() }, "Random image") : null,
        source.prior ? h("button", { type: "button", onclick: () => this.prior() }, "Prior sample") : null,
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
      if (file) this.#find(() => this.source.upload(file), `your image ${file.name}`);
    });
    return h("label", { class: "button" }, "Upload image", field);
  }

  #gallery() {
    return h("div", { class: "gallery", role: "group", "aria-label": "Images to start from" },
      this.source.images.map((start) => h("button", {
        type: "button", title: `row ${start.row}`, "aria-label": `Start from row ${start.row}`,
        onclick: () => this.fromRow(start.row),
      }, h("img", { src: start.picture, alt: "" }))));
  }

  random() {
    const { rows, images } = this.source;
    const row = rows ? Math.floor(Math.random() * rows) : images[Math.floor(Math.random() * images.length)].row;
    return this.fromRow(row);
  }

  fromRow(row) {
    return this.#find(() => this.source.row(row), `row ${row}`);
  }

  prior(seed = this.seed++) {
    return this.#find(() => this.source.prior(seed), "a draw from the prior");
  }

  /** Go back to the last start, after moving latents. */
  again() {
    if (this.start) this.onstart(this.start);
  }

  async #find(find, what) {
    const turn = ++this.turn;
    try {
      const start = { ...(await find()), what };
      if (turn !== this.turn) return; // something else was asked for meanwhile
      fill(this.said);
      this.show(start);
      this.onstart(start);
    } catch (error) {
      fill(this.said, problem(error));
    }
  }

  /** Take a start that was found elsewhere. */
  take(start) {
    this.turn++;
    this.show(start);
    this.onstart(start);
  }

  /** Say what is started from. */
  show(start) {
    this.start = start;
    if (this.row) this.row.value = start.row ?? "";
    const factors = Object.entries(start.factors ?? {});
    fill(this.facts, `Started from ${start.what}`,
      factors.length ? ": " + factors.map(([name, value]) => `${words(name)} ${value}`).join(", ") : "",
      this.source.twin?.(start) ? twins([this.source.twin(start)]) : null);
  }
}
