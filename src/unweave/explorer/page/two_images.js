// Two images and a third: what lies between them, latents of one in the other, A − B + C,
// and one factor changed, beside the true image of that.
import { getJson } from "unweave/api.js";
import { fill, h, problem, section, short, twins, words } from "unweave/dom.js";
import { draw } from "unweave/pixels.js";
import { savePng, saveMenu } from "unweave/saving.js";
import { place, valueIn } from "unweave/turning.js";

const STEPS = 9;
const MODES = { between: "Between A and B", take: "Latents of B in A", sum: "A − B + C", change: "Change one factor" };

export async function twoImagesSection(page) {
  const view = new TwoImages(page);
  const found = section("Two images", view.element);
  await view.ready;
  return found;
}

class TwoImages {
  constructor(page) {
    this.page = page;
    this.bench = page.bench;
    const { shape } = page.decoder;
    this.slots = { A: this.#slot("A", false), B: this.#slot("B", true), C: this.#slot("C", true) };
    this.result = h("canvas", { class: "result", width: shape[2], height: shape[1], role: "img", "aria-label": "Result" });
    this.strip = h("canvas", { class: "strip", role: "img", "aria-label": "From A to B" });
    this.said = h("div");
    this.body = h("div");
    this.taken = new Set();
    this.turn = 0;
    const modes = Object.entries(MODES).filter(([mode]) => mode !== "change" || page.means.isFollowed);
    this.buttons = modes.map(([mode, title]) => h("button", { type: "button", "aria-pressed": "false", "data-mode": mode, onclick: () => this.choose(mode) }, title));
    const use = h("button", { type: "button", onclick: () => this.code && this.bench.panel.setCode(this.code) }, "Use the result above");
    this.element = h("div", {},
      h("div", { class: "tools" }, this.buttons),
      h("div", { class: "slots" }, Object.values(this.slots).map(({ element }) => element),
        h("figure", { class: "slot" }, this.result, h("figcaption", {}, "result"), use,
          saveMenu("Save", [["Result (PNG)", () => savePng("result.png", this.result)]]))),
      this.body, this.said);
    this.bench.listen((code, unit) => { if (unit === null) this.#takeStart(); });
    this.ready = this.#begin();
  }

  async #begin() {
    this.#takeStart();
    for (const slot of [this.slots.B, this.slots.C]) await slot.random();
    this.choose("between");
  }

  /** A is where the sliders started. */
  #takeStart() {
    const { start } = this.bench.starts;
    if (start && start !== this.slots.A.start) {
      this.slots.A.show(start);
      if (this.mode) this.#compute();
    }
  }

  #slot(name, isFree) {
    const { source } = this.bench.starts;
    const slot = { start: null };
    const picture = h("canvas", { role: "img", "aria-label": `Image ${name}` }), said = h("figcaption", {}, name);
    slot.show = (start) => {
      slot.start = start;
      fill(said, start.row === undefined ? name : `${name}: row ${start.row}`);
      this.page.decoder.decode(Float32Array.from(start.code), 1).then((images) => {
        if (slot.start === start) draw(picture, images, 1, this.page.decoder.shape);
      });
    };
    slot.from = async (row) => {
      try {
        slot.show(await source.row(row));
        fill(this.said);
        if (this.mode) this.#compute();
      } catch (error) {
        fill(this.said, problem(error));
      }
    };
    slot.random = async () => {
      const { rows, images } = source;
      if (rows) return slot.from(Math.floor(Math.random() * rows));
      if (images?.length) return slot.from(images[Math.floor(Math.random() * images.length)].row);
      slot.show({ code: (await source.prior(Math.floor(Math.random() * 1e6))).code });
      if (this.mode) this.#compute();
    };
    const field = source.rows ? h("input", { type: "number", min: 0, max: source.rows - 1, step: 1, "aria-label": `Row of ${name}`, placeholder: "row", onchange: () => slot.from(Number(field.value)) }) : null;
    slot.element = h("figure", { class: "slot", "data-slot": name }, picture, said,
      isFree ? h("button", { type: "button", onclick: () => slot.random() }, "Another") : h("span", { class: "note" }, "where the sliders started"),
      isFree ? field : null);
    return slot;
  }

  choose(mode) {
    this.mode = mode;
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    this.slots.B.element.hidden = mode === "change";
    this.slots.C.element.hidden = mode !== "sum";
    fill(this.said);
    fill(this.body, { between: () => this.#between(), take: () => this.#take(), sum: () => [], change: () => this.#change() }[mode]());
    if (mode !== "change") this.#compute();
  }

  #between() {
    this.share = h("input", { type: "range", min: 0, max: 1, step: 0.01, "aria-label": "Share of B", oninput: () => this.#compute(true) });
    this.share.value = 0.5;
    return [h("label", { class: "share" }, "A ", this.share, " B"), this.strip];
  }

  #take() {
    const { units } = this.bench.latents;
    const boxes = units.map((unit) => h("label", { class: "pick" }, h("input", {
      type: "checkbox", checked: this.taken.has(unit.first), "data-first": unit.first,
      onchange: (event) => { this.taken[event.target.checked ? "add" : "delete"](unit.first); this.#compute(); },
    }), this.bench.panel.labelOf(unit), unit.role ? h("small", { class: `role ${unit.role}` }, unit.role) : null));
    const roles = [...new Set(units.map((unit) => unit.role).filter(Boolean))];
    const all = roles.map((role) => h("button", { type: "button", onclick: () => {
      this.taken = new Set(units.filter((unit) => unit.role === role).map((unit) => unit.first));
      this.choose("take");
    } }, `Swap ${role}`));
    return [h("div", { class: "tools" }, all, boxes), roles.length && this.page.means.isFollowed ? this.#leakage() : null].filter(Boolean);
  }

  /** How much of the class is in the style, beside the swap that it spoils. */
  #leakage() {
    const said = h("p", { class: "note" });
    const address = this.page.address("/leakage.json");
    const button = h("button", { type: "button", onclick: async () => {
      button.disabled = true;
      fill(said, "Classifiers are trained …");
      try {
        const { column, chance, accuracy, departs, judged } = await getJson(address);
        fill(said, `${words(column)} is named right by `, Object.entries(accuracy).map(([part, value], i) => [i ? ", " : "",
          h("b", {}, `${part} ${value.toFixed(3)}`), departs[part] ? "" : " (no more than chance)"]),
          `; by the commonest value ${chance.toFixed(3)}; judged on ${short(judged)} images. A style should tell no more than chance.`, twins([["leakage.json", address]]));
      } catch (error) {
        fill(said, problem(error));
      }
    } }, "Measure the leakage");
    return h("div", { class: "tools" }, button, said);
  }

  #change() {
    const shown = h("div");
    (async () => {
      try {
        const { factors } = await getJson(this.page.address("/factors.json"));
        if (!factors.length) throw new Error("the data has no factors with listed values");
        const factor = h("select", { "aria-label": "Factor to change" }, factors.map(({ name }) => h("option", { value: name }, words(name))));
        const value = h("select", { "aria-label": "New value" });
        const values = () => {
          const { labels } = factors.find(({ name }) => name === factor.value);
          fill(value, labels.map((label, i) => h("option", { value: i }, label)));
          value.value = labels.length - 1;
        };
        const act = () => this.#counterfactual(factor.value, value.value);
        factor.addEventListener("change", () => { values(); act(); });
        value.addEventListener("change", act);
        values();
        this.truth = h("img", { class: "truth", alt: "The true image" });
        this.best = h("canvas", { class: "best-possible", role: "img", "aria-label": "The true image, reconstructed" });
        fill(shown, h("div", { class: "tools" }, h("label", {}, "Change only ", factor), h("label", {}, "to ", value), twins([["factors.json", this.page.address("/factors.json")]])),
          h("div", { class: "slots" },
            h("figure", { class: "slot" }, this.truth, h("figcaption", {}, "true image")),
            h("figure", { class: "slot" }, this.best, h("figcaption", {}, "its reconstruction: the most that can be hoped for"))));
        await act();
      } catch (error) {
        fill(shown, problem(error));
      }
    })();
    return [shown];
  }

  async #counterfactual(factor, value) {
    const { start } = this.slots.A;
    if (start?.row === undefined) {
      fill(this.said, h("p", { class: "note" }, "Start from a row of the data: only of such an image the world knows what it would be otherwise."));
      return;
    }
    const turn = ++this.turn;
    try {
      const address = this.page.address(`/counterfactual.json?row=${start.row}&factor=${encodeURIComponent(factor)}&value=${value}`);
      const found = await getJson(address);
      if (turn !== this.turn) return;
      this.truth.src = found.picture;
      const best = await this.page.decoder.decode(Float32Array.from(found.other_code), 1);
      draw(this.best, best, 1, this.page.decoder.shape);
      const links = twins([["counterfactual.json", address]]);
      if (!found.code) {
        fill(this.said, h("p", { class: "note" }, found.evidence, links));
        return;
      }
      const edited = await this.#show(found.code);
      const away = mean(edited, best), before = mean(await this.page.decoder.decode(Float32Array.from(found.own_code), 1), best);
      fill(this.said, h("p", { class: "note" }, `${found.evidence}. The edit is ${away.toFixed(4)} away from that reconstruction (mean of pixels, of 1); without the edit it is ${before.toFixed(4)}.`, links));
    } catch (error) {
      fill(this.said, problem(error));
    }
  }

  async #show(code) {
    this.code = Array.from(code);
    const images = await this.page.decoder.decode(Float32Array.from(code), 1);
    draw(this.result, images, 1, this.page.decoder.shape);
    this.result.dataset.code = this.code.join(",");
    return images;
  }

  async #compute(isOnlyShare = false) {
    const [a, b, c] = ["A", "B", "C"].map((name) => this.slots[name].start?.code);
    const turn = ++this.turn;
    if (!a || !b || (this.mode === "sum" && !c)) return;
    const { units } = this.bench.latents;
    if (this.mode === "take") {
      const code = [...a];
      for (const unit of units) if (this.taken.has(unit.first)) place(code, unit, valueIn(b, unit));
      await this.#show(code);
    } else if (this.mode === "sum") {
      const code = a.map((value, i) => value - b[i] + c[i]);
      for (const unit of units) if (unit.kind !== "number") place(code, unit, valueIn(code, unit)); // a choice again, an angle again
      await this.#show(code);
    } else if (this.mode === "between") {
      await this.#show(mixed(a, b, Number(this.share.value), units));
      if (isOnlyShare || turn !== this.turn) return;
      const codes = Array.from({ length: STEPS }, (_, i) => mixed(a, b, i / (STEPS - 1), units)).flat();
      const images = await this.page.decoder.decode(Float32Array.from(codes), STEPS);
      if (turn === this.turn) draw(this.strip, images, STEPS, this.page.decoder.shape);
    } else if (this.mode === "change") {
      this.choose("change"); // another A has other truths
    }
  }
}

/** A code on the way from one to another; a category changes halfway. */
function mixed(a, b, share, units) {
  const code = a.map((value, i) => (1 - share) * value + share * b[i]);
  for (const unit of units) {
    if (unit.kind === "category") place(code, unit, valueIn(share < 0.5 ? a : b, unit));
    else if (unit.kind === "angle") place(code, unit, valueIn(code, unit));
  }
  return code;
}

function mean(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs(a[i] - b[i]);
  return sum / a.length;
}
