// Decides what to decode next: the one image first, then stale lines of the grid in turn.
//
// Only one thing is decoded at a time, always from the newest code. Between two lines
// the browser gets its turn, so a slider stays quick while the grid follows. Lines that
// are not in sight wait until they are: a ladder has many more than a screen shows.
import { draw } from "unweave/pixels.js";
import { place } from "unweave/turning.js";

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();

/** Let the browser handle what waits: input, painting. */
function giveWay() {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(null);
  });
}

/** Note how long ago something was asked for, where the browser's own tools show it. */
function measured(name, asked) {
  if (performance.getEntriesByName(name).length >= 200) performance.clearMeasures(name);
  performance.measure(name, { start: asked });
}

const NEAR = "250px"; // from the screen's edge, where lines are drawn before they are seen

export class Painter {
  /** @param lines [{ unit, canvas, values }]; `values` may be changed, then `renew` the line */
  constructor(decoder, image, lines) {
    this.decoder = decoder;
    this.image = image;
    this.lines = lines.map((line) => ({ ...line, isStale: true, isInSight: false }));
    const sight = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        this.lines.find((line) => line.canvas === target).isInSight = isIntersecting;
      }
      if (this.code) this.#work();
    }, { rootMargin: NEAR });
    for (const line of this.lines) sight.observe(line.canvas);
    this.code = null;
    this.imageAsked = 0; // when the newest code came, if its image is not drawn yet
    this.gridAsked = 0;
    this.isBusy = false;
    this.next = 0;
    this.onproblem = (error) => { throw error; }; // the panel says what is wrong
  }

  /** Take a new code. With `moved` only that unit changed, so its own line stays. */
  show(code, moved = null) {
    this.code = Float32Array.from(code);
    const now = performance.now();
    this.imageAsked ||= now;
    this.gridAsked ||= now;
    for (const line of this.lines) if (line.unit !== moved) line.isStale = true;
    this.#work();
  }

  /** Draw a unit's line anew, between other ends. */
  renew(unit, values) {
    const line = this.lines.find((one) => one.unit === unit);
    Object.assign(line, { values, isStale: true });
    if (this.code) this.#work();
  }

  async #work() {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      // What is asked for while the last answer is on its way must not be forgotten.
      while ((await this.#step()) || this.#hasWork()) await giveWay();
    } catch (error) {
      this.onproblem(error);
    } finally {
      this.isBusy = false;
    }
  }

  #hasWork() {
    return Boolean(this.imageAsked) || this.lines.some((line) => line.isStale && line.isInSight);
  }

  /** Decode and draw one thing; return whether there was any. */
  async #step() {
    if (this.imageAsked) {
      const asked = this.imageAsked;
      this.imageAsked = 0;
      const images = await this.decoder.decode(this.code, 1);
      if (this.image) draw(this.image, images, 1, this.decoder.shape);
      measured("unweave image", asked);
      return true;
    }
    for (let i = 0; i < this.lines.length; i++) {
      const line = this.lines[(this.next + i) % this.lines.length];
      if (!line.isStale || !line.isInSight) continue;
      this.next = (this.next + i + 1) % this.lines.length;
      await this.#drawLine(line);
      return true;
    }
    if (this.gridAsked) {
      measured("unweave grid", this.gridAsked);
      this.gridAsked = 0;
    }
    return false;
  }

  async #drawLine(line) {
    line.isStale = false;
    draw(line.canvas, await decodeLine(this.decoder, this.code, line), line.values.length, this.decoder.shape);
  }
}

/** The images of a code with a unit at each of some values. */
export function decodeLine(decoder, code, { unit, values }) {
  const codes = new Float32Array(values.length * code.length);
  values.forEach((value, i) => {
    codes.set(code, i * code.length);
    place(codes.subarray(i * code.length, (i + 1) * code.length), unit, value);
  });
  return decoder.decode(codes, values.length);
}
