// What is shown, as files: pictures, drawings, tables; and as lines to copy.
import { h } from "unweave/dom.js";
import { drawLine, gapOf } from "unweave/pixels.js";

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "text-anchor"];
const LARGER = 3; // how many pixels of a PNG stand for one of a drawing

/** Give the reader a file. */
export function download(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A canvas as it is, pixel by pixel. */
export async function savePng(name, canvas) {
  download(name, await new Promise((resolve) => canvas.toBlob(resolve, "image/png")));
}

/** Lines of images, each [floats, count], below each other on one canvas. */
export function gridCanvas(lines, shape) {
  const [, height, width] = shape;
  const gap = gapOf(width);
  const most = Math.max(...lines.map(([, count]) => count));
  const canvas = h("canvas", { width: most * (width + gap) - gap, height: lines.length * (height + gap) - gap });
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  lines.forEach(([images, count], i) => drawLine(canvas, images, count, shape, i * (height + gap)));
  return canvas;
}

/** A drawing of the page as a file of its own: the colours of the page are written into it. */
export function svgText(drawing, title = "") {
  const copy = drawing.cloneNode(true);
  const [from, to] = [drawing, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of ["class", "style"]) to[i].removeAttribute(name);
    for (const name of DRAWN) to[i].setAttribute(name, style.getPropertyValue(name)); // the page's policy forbids style=
  });
  const [, , width, height] = drawing.getAttribute("viewBox").split(" ");
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--paper");
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ width, height, fill: ground.trim() })) paper.setAttribute(name, value);
  copy.prepend(paper);
  if (title) copy.prepend(Object.assign(document.createElementNS(SVG, "title"), { textContent: title }));
  return new XMLSerializer().serializeToString(copy);
}

/** The same as pixels. */
export async function svgCanvas(drawing) {
  const text = svgText(drawing);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h("canvas", { width: image.width * LARGER, height: image.height * LARGER });
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** Rows of cells as CSV. */
export function csvText(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

// A click elsewhere closes menus, as readers expect of them.
document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(target)) menu.open = false;
});

/** A menu of things to save or copy: [[words, what to do], …]. What fails is said in it. */
export function saveMenu(title, entries) {
  const said = h("span", { class: "said", role: "status" });
  const menu = h("details", { class: "menu" }, h("summary", {}, title),
    h("div", { class: "entries" }, entries.map(([text, act]) => h("button", { type: "button", onclick: async () => {
      try {
        said.textContent = (await act()) ?? "saved";
      } catch (error) {
        said.textContent = error.message;
      }
      menu.open = false;
      setTimeout(() => { said.textContent = ""; }, 3000);
    } }, text))));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  return h("span", { class: "menu-place" }, menu, said);
}

/** Entries that save a drawing, for `saveMenu`. */
export function drawingEntries(name, find) {
  return [
    [`${name}.svg`, () => download(`${name}.svg`, svgText(find(), name), "image/svg+xml")],
    [`${name}.png`, async () => savePng(`${name}.png`, await svgCanvas(find()))],
  ];
}

/** Put words where they can be pasted from. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a page that is no secure place has no clipboard; an old way is left
    const field = h("textarea", { value: text });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  return "copied";
}
