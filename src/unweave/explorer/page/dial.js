// An angle is turned by a dial: drag its hand, or use the arrow keys.
import { h, svg } from "unweave/dom.js";

const STEP = Math.PI / 36; // of an arrow key
const RADIUS = 20;

/** Make a dial; `onturn(angle)` is told what it is turned to. */
export function dial(onturn) {
  const hand = svg("line", { class: "hand", x1: 0, y1: 0 });
  const knob = svg("circle", { class: "knob", r: 4 });
  const face = svg("svg", { viewBox: "-24 -24 48 48", width: 48, height: 48, "aria-hidden": "true" },
    svg("circle", { class: "face", r: RADIUS }), hand, knob);
  const element = h("div", {
    class: "dial", role: "slider", tabindex: 0, "aria-valuemin": -180, "aria-valuemax": 180,
  }, face);
  let angle = 0;
  const turn = ({ clientX, clientY }) => {
    const box = face.getBoundingClientRect();
    // Angles grow against the clock, as in mathematics; the screen's y grows downwards.
    onturn(Math.atan2(box.top + box.height / 2 - clientY, clientX - box.left - box.width / 2));
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    turn(event);
  });
  element.addEventListener("pointermove", (event) => element.hasPointerCapture(event.pointerId) && turn(event));
  element.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const next = angle + way * STEP;
    onturn(Math.atan2(Math.sin(next), Math.cos(next))); // it goes round
  });
  const show = (value) => {
    angle = value;
    const [x, y] = [RADIUS * Math.cos(value), -RADIUS * Math.sin(value)];
    for (const [name, at] of [["x2", x], ["y2", y]]) hand.setAttribute(name, at);
    for (const [name, at] of [["cx", x], ["cy", y]]) knob.setAttribute(name, at);
    const degrees = Math.round((180 * value) / Math.PI);
    element.setAttribute("aria-valuenow", degrees);
    element.setAttribute("aria-valuetext", `${degrees}°`);
  };
  return { element, show };
}
