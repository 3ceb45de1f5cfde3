// Elements from words; text is always set as text, so nothing that a run says can become code.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: h("p", { class: "note", onclick: f }, "text", child, …). */
export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Make an element of a drawing. */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "value" || name === "checked" || name === "max") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Put children in place of what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null));
  return element;
}

/** A section with a heading. */
export function section(title, ...children) {
  const id = "s-" + title.toLowerCase().replace(/[^a-z]+/g, "-");
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

/** Links to JSON of what is shown: [[words, address], …]; a page without a server has none. */
export function twins(links) {
  if (document.documentElement.dataset.alone) return h("span");
  return h("span", { class: "twins" }, links.map(([text, href]) => h("a", { href, title: "the same as JSON" }, text)));
}

/** The same, beside the heading of an element. */
export function twinned(element, links) {
  element.querySelector("h1, h2, h3").append(twins(links));
  return element;
}

/** What is shown where something could not be. */
export function problem(error) {
  return h("p", { class: "problem", role: "alert" }, String(error.message ?? error));
}

/** A number as short as it can be read. */
export function short(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
  return value.toFixed(size >= 100 ? 1 : digits);
}

/** A score, with as many digits as the scores beside it. */
export function scoreText(value) {
  return typeof value === "number" && Math.abs(value) < 1000 ? value.toFixed(3) : short(value);
}

/** A number with its sign, as it stands beside a slider. */
export function signed(value) {
  const text = Math.abs(value).toFixed(2);
  return (value < 0 && Number(text) !== 0 ? "−" : "+") + text;
}

/** Words of a name: mutual_information → mutual information. */
export function words(name) {
  return name.replaceAll("_", " ");
}
