// How long the last image and grid took, from the wish to the picture.
import { h } from "unweave/dom.js";

export function timings() {
  const place = h("p", { class: "timing" });
  const timer = setInterval(() => {
    if (!place.isConnected) clearInterval(timer); // the panel was drawn anew
    const last = (name) => performance.getEntriesByName(name).at(-1)?.duration;
    const [image, grid] = [last("unweave image"), last("unweave grid")];
    if (grid !== undefined) place.textContent = `image ${image.toFixed(1)} ms · grid ${grid.toFixed(0)} ms`;
  }, 500);
  return place;
}
