// Weights that were kept on the way: the page can be of any of them instead of the newest.
import { remember, remembered } from "unweave/address_state.js";
import { fill, h, short } from "unweave/dom.js";

export class Moments {
  /** @param show draws what depends on weights again  @param canGoBack whether a server has others */
  constructor(show, canGoBack) {
    const asked = canGoBack ? remembered("step") : null;
    this.step = /^\d{1,12}$/.test(asked ?? "") ? Number(asked) : null; // null: the newest
    this.steps = [];
    this.show = show;
    this.field = h("select", { onchange: () => this.choose(this.field.value === "" ? null : Number(this.field.value)) });
    this.said = h("span", { class: "note", role: "status" });
    this.element = h("p", { class: "moments", hidden: true }, h("label", {}, "Weights of ", this.field), " ", this.said);
  }

  /** Take the steps whose weights are there. */
  update(steps) {
    this.steps = steps;
    this.element.hidden = !steps.length && this.step === null;
    this.#mark();
  }

  /** Whether the page can be of a step. */
  has(step) {
    return this.steps.includes(step);
  }

  async choose(step) {
    if (step === this.step) return;
    this.step = step;
    remember({ step });
    this.#mark();
    this.field.disabled = true; // one after the other: a decoder takes a moment
    fill(this.said, "on their way …");
    await this.show();
    this.field.disabled = false;
    this.#mark();
  }

  #mark() {
    const steps = this.step === null || this.has(this.step) ? this.steps : [...this.steps, this.step]; // one that is gone is told of, not hidden
    fill(this.field, h("option", { value: "" }, "the newest step"), steps.map((step) => h("option", { value: step }, `step ${short(step)}`)));
    this.field.value = this.step ?? "";
    fill(this.said, this.step === null ? null : "Latents, images and maps are of that moment; scores, applications and curves of the whole run.");
  }
}
