// How a run learnt: a slider over the pictures that were kept while it trained, and its weights.
import { getJson } from "unweave/api.js";
import { h, short, words } from "unweave/dom.js";

const PREFERRED = ["traversals", "reconstructions"];

/** The slider with its picture, or null where none were kept; `before` is what stood there. */
export async function timeLapse(page, before) {
  const { kinds, weights } = await getJson(page.whole("/training_pictures.json"));
  page.moments.update(weights);
  const names = [...PREFERRED.filter((kind) => kinds[kind]), ...Object.keys(kinds).filter((kind) => !PREFERRED.includes(kind))];
  if (!names.length) return null;
  const old = before.querySelector(".time-lapse");
  const select = h("select", { "aria-label": "What was drawn while training" }, names.map((kind) => h("option", { value: kind }, words(kind))));
  if (old) select.value = old.querySelector("select").value;
  const slider = h("input", { type: "range", min: 0, step: 1, "aria-label": "Step of training" });
  const step = h("output", { class: "value" });
  const picture = h("img", { alt: "", loading: "lazy" });
  const back = h("button", { type: "button", title: "sliders, maps and images with the weights of this step", onclick: async () => {
    page.moments.element.scrollIntoView({ block: "center" });
    await page.moments.choose(shown[Number(slider.value)].step);
  } }, "Use these weights");
  let shown = [];
  const show = () => {
    const { step: at, file, picture: inside } = shown[Number(slider.value)];
    step.textContent = `step ${short(at)}`;
    slider.setAttribute("aria-valuetext", step.textContent);
    picture.src = inside ?? page.address(`/training/${encodeURIComponent(file)}`);
    picture.alt = `${words(select.value)} at step ${at}`;
    back.hidden = !page.moments.has(at);
  };
  const choose = (at) => {
    shown = kinds[select.value] ?? [];
    slider.max = shown.length - 1;
    slider.value = at ?? shown.length - 1;
    show();
  };
  select.addEventListener("change", () => choose());
  slider.addEventListener("input", show);
  // Who looks at an early step is left there when another picture comes.
  const field = old?.querySelector("input[type=range]");
  choose(field && field.value !== field.max ? field.value : null);
  return h("div", { class: "time-lapse" },
    h("div", { class: "tools" }, h("label", {}, "Time-lapse of ", select), slider, step, back), picture);
}
