// A short tour of a run's page: offered when it is opened for the first time, and at any time by its button.
import { h } from "unweave/dom.js";

const SEEN = "unweave tour";
const STOPS = [
  [".place-caption", "The run in one sentence", "Which latent is which factor, by mutual information. Names can be taken from it with one button."],
  [".views", "Start, reconstruction, edit", "The image that is started from, what the code keeps of it, and what the sliders make of it."],
  [".latents", "One line a latent", "Slide it, click an image of its line, play it to and fro, or name it. Those that carry most come first; a full bar is 5 nats."],
  [".place-heat", "Factors and latents", "How much each latent knows of each factor. A cell shows the latent's images and its points."],
  [".place-scores", "Scores", "Each beside baselines, nulls and other runs with the same data and protocol."],
];

/** The button that begins the tour; at the first visit it says so. */
export function tourButton() {
  const button = h("button", { type: "button", class: "quiet tour-button", onclick: () => begin(button) }, "Tour");
  if (!recall()) button.textContent = "New here? Take the tour";
  return button;
}

function recall() {
  try {
    return localStorage.getItem(SEEN);
  } catch { // a page from a file, or a browser that keeps nothing
    return "seen";
  }
}

function begin(button) {
  document.querySelector(".tour")?.remove();
  try {
    localStorage.setItem(SEEN, "seen");
  } catch { /* then it is offered again */ }
  button.textContent = "Tour";
  const stops = STOPS.filter(([place]) => document.querySelector(place)?.childElementCount);
  let at = 0, marked = null;
  const title = h("h2", { id: "tour-title", tabindex: -1 }), text = h("p"), count = h("span", { class: "note" });
  const back = h("button", { type: "button", onclick: () => go(at - 1) }, "Back");
  const next = h("button", { type: "button", class: "main", onclick: () => (at + 1 < stops.length ? go(at + 1) : end()) });
  const card = h("div", { class: "tour", role: "dialog", "aria-labelledby": "tour-title" }, title, text,
    h("div", { class: "tools" }, back, next, h("button", { type: "button", class: "quiet", onclick: () => end() }, "Close"), count));
  card.addEventListener("keydown", (event) => { if (event.key === "Escape") end(); });
  const end = () => {
    marked?.classList.remove("toured");
    card.remove();
    button.focus();
  };
  const go = (to) => {
    at = to;
    marked?.classList.remove("toured");
    const [place, heading, words] = stops[at];
    marked = document.querySelector(place);
    marked.classList.add("toured");
    marked.scrollIntoView({ block: "center" });
    title.textContent = heading;
    text.textContent = words;
    count.textContent = `${at + 1} of ${stops.length}`;
    back.disabled = at === 0;
    next.textContent = at + 1 < stops.length ? "Next" : "Done";
    title.focus({ preventScroll: true });
  };
  document.body.append(card);
  go(0);
}
