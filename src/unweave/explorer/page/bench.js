// The workbench of a run: what is started from, its reconstruction and the edit beside each other, and the latents.
import { codeToText, link, remember, remembered, textToCode } from "unweave/address_state.js";
import { h, section, twins } from "unweave/dom.js";
import { LatentsPanel } from "unweave/latents.js";
import { padDetails } from "unweave/pad.js";
import { decodeLine } from "unweave/painter.js";
import { draw } from "unweave/pixels.js";
import { playButton, record } from "unweave/playing.js";
import { copy, csvText, download, gridCanvas, saveMenu, savePng } from "unweave/saving.js";
import { Starts } from "unweave/starts.js";
import { timings } from "unweave/timings.js";
import { valueIn } from "unweave/turning.js";
import { Undo } from "unweave/undo.js";

export class Bench {
  /**
   * @param latents what latents.json says  @param decoder a Decoder
   * @param source see Starts  @param rename see LatentsPanel  @param run what run.json says
   * @param moment the step of its weights, or null if they are the newest
   */
  constructor({ latents, decoder, source, rename, run, moment }) {
    Object.assign(this, { latents, decoder, run, moment });
    this.listeners = [];
    this.starts = new Starts(source);
    this.panel = new LatentsPanel({ latents, decoder, rename, actions: (row) => this.#actions(row) });
    this.undo = new Undo((state) => this.#show(state));
    this.starts.onstart = (start) => this.#begin(start);
    this.panel.onmove = (unit) => this.#moved(unit);
    const [, height, width] = decoder.shape; // their room is kept before they are there
    this.reconstruction = h("canvas", { class: "reconstruction", width, height, role: "img", "aria-label": "Reconstruction of the start" });
    this.original = h("img", { class: "original", width, height, alt: "Image that is started from" });
    this.moving = null; // the unit that was moved last
    this.links = h("span");
    this.element = this.#section();
  }

  /** Be told of every new code: (code, unit that moved or null). */
  listen(listener) {
    this.listeners.push(listener);
  }

  get code() {
    return this.panel.code;
  }

  /** Whether the latents are where the start put them. */
  get isUnmoved() {
    return this.starts.start !== null && this.starts.start.code.every((value, i) => value === this.code[i]);
  }

  /** Begin as the address says, or from a row or a draw. */
  async begin(firstRow) {
    const [row, seed] = ["row", "seed"].map((name) => (/^\d{1,12}$/.test(remembered(name) ?? "") ? Number(remembered(name)) : null));
    const code = textToCode(remembered("code"), this.code.length);
    if (row !== null && this.starts.source.row) await this.starts.fromRow(row);
    else if (seed !== null) await this.starts.prior(seed);
    if (!this.starts.start) await (firstRow === null ? this.starts.prior() : this.starts.fromRow(firstRow));
    if (code) this.panel.setCode(code);
  }

  /** Go on where another bench of the same run was. */
  resume(state) {
    this.#show(state);
    this.undo.note(state);
  }

  #begin(start) {
    this.#showStart(start);
    this.panel.setCode(start.code);
  }

  #showStart(start) {
    this.starts.show(start);
    this.original.parentElement.hidden = !start.picture;
    if (start.picture) this.original.src = start.picture;
    this.decoder.decode(Float32Array.from(start.code), 1).then((images) => {
      if (this.starts.start === start) draw(this.reconstruction, images, 1, this.decoder.shape);
    });
    this.caption.textContent = start.picture ? "its reconstruction" : "start";
  }

  #show({ start, code }) {
    this.isGoingBack = true;
    this.#showStart(start);
    this.panel.setCode(code);
    this.isGoingBack = false;
  }

  #moved(unit) {
    if (unit) this.moving = unit;
    const { start } = this.starts;
    if (start && !this.isGoingBack) this.undo.note({ start, code: [...this.code] }, unit);
    const isFound = start?.row !== undefined || start?.seed !== undefined; // not an image of the reader's
    remember({
      row: start?.row, seed: start?.row === undefined ? start?.seed : null,
      code: start && !(isFound && this.isUnmoved) ? codeToText(this.code) : null,
    });
    for (const listener of this.listeners) listener(this.code, unit);
  }

  #actions(row) {
    const reset = h("button", { type: "button", class: "quiet", "aria-label": `Reset ${row.unit.label}`, title: "back to where it started", onclick: () => {
      if (this.starts.start) this.panel.move(row, valueIn(this.starts.start.code, row.unit));
    } }, "↺");
    return [playButton(() => this.panel, row), reset];
  }

  #section() {
    const undo = h("button", { type: "button", disabled: true, onclick: () => this.undo.undo() }, "Undo");
    const redo = h("button", { type: "button", disabled: true, onclick: () => this.undo.redo() }, "Redo");
    this.undo.onchange = () => {
      undo.disabled = !this.undo.canUndo;
      redo.disabled = !this.undo.canRedo;
    };
    this.caption = h("figcaption");
    const found = section("Latents", h("div", { class: "bench" },
      h("div", { class: "stage" },
        h("div", { class: "views" },
          h("figure", { hidden: !this.starts.source.row }, this.original, h("figcaption", {}, "start")),
          h("figure", {}, this.reconstruction, this.caption),
          h("figure", {}, this.panel.image, h("figcaption", {}, "as edited"))),
        h("div", { class: "buttons" }, undo, redo, this.#menu()),
        this.starts.element, timings()),
      h("div", {}, this.panel.element, padDetails(this))));
    found.querySelector("h2").append(this.links);
    found.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input[type=text], input[type=number]")) return;
      event.preventDefault();
      if (event.shiftKey) this.undo.redo();
      else this.undo.undo();
    });
    return found;
  }

  #menu() {
    const name = this.run.name.split("/").at(-1);
    const line = () => this.panel.rowOf((this.moving ?? this.latents.units[0]).first);
    const rows = () => this.panel.rows.filter((row) => !this.panel.dead.contains(row.element) || this.panel.dead.open);
    const grid = async (of) => {
      const code = Float32Array.from(this.code), lines = [];
      for (const row of of) lines.push([await decodeLine(this.decoder, code, row), row.values.length]);
      return gridCanvas(lines, this.decoder.shape);
    };
    return saveMenu("Save", [
      ["Image (PNG)", () => savePng(`${name}.png`, this.panel.image)],
      ["Line of the latent moved last (PNG)", async () => savePng(`${name}-z${line().unit.first}.png`, await grid([line()]))],
      ["All lines (PNG)", async () => savePng(`${name}-lines.png`, await grid(rows()))],
      ...[["GIF", "gif"], ["WebP", "webp"]].map(([title, kind]) => [`Latent moved last, to and fro (${title})`, () => record(this.panel, line(), `${name}-z${line().unit.first}`, kind)]),
      ["Code (CSV)", () => download(`${name}.csv`, csvText([this.code.map((_, i) => `z${i}`), this.code]), "text/csv")],
      ["Code (JSON)", () => download(`${name}.json`, JSON.stringify(this.state(), null, 1), "application/json")],
      ["Copy a link to this", () => copy(link())],
      ["Copy the Python that makes it", () => copy(this.python())],
    ]);
  }

  /** What is shown, for other programs. */
  state() {
    const { start } = this.starts;
    return {
      run: this.run.name, step: this.latents.step, row: start?.row ?? null, factors: start?.factors ?? null,
      code: [...this.code], start: start?.code ?? null, names: this.latents.names,
    };
  }

  /** Lines that make the same image. */
  python() {
    const step = this.moment === null ? "" : `, step=${this.moment}`;
    return `import unweave as uw\n\nrun = uw.load(${JSON.stringify(this.run.place)}${step})\nimage = run.decode([[${codeToText(this.code).replaceAll(",", ", ")}]])[0]`;
  }

  /** Show links to JSON beside the heading. */
  showTwins(links) {
    this.links.replaceChildren(twins(links));
  }
}
