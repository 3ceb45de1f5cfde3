// What was done can be undone: states in a row, of which one is shown.

const TOGETHER = 700; // milliseconds within which moves of one latent are one step

export class Undo {
  /** @param apply what shows a state */
  constructor(apply) {
    this.apply = apply;
    this.states = [];
    this.at = -1;
    this.last = { what: null, when: 0 };
    this.onchange = () => {};
  }

  /** Note a state that is shown now; moves of the same thing, one soon after the other, are one. */
  note(state, what = null) {
    const now = performance.now();
    const isSame = what !== null && what === this.last.what && now - this.last.when < TOGETHER;
    this.last = { what, when: now };
    if (isSame && this.at > 0) this.states[this.at] = state;
    else this.states.splice(++this.at, Infinity, state);
    this.onchange();
  }

  get canUndo() {
    return this.at > 0;
  }

  get canRedo() {
    return this.at < this.states.length - 1;
  }

  undo() {
    if (this.canUndo) this.#go(-1);
  }

  redo() {
    if (this.canRedo) this.#go(1);
  }

  #go(way) {
    this.at += way;
    this.last = { what: null, when: 0 };
    this.apply(this.states[this.at]);
    this.onchange();
  }
}
