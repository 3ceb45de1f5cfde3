// The page of one run in one file: everything it needs is inside.
import { Decoder, Encoder } from "unweave/decoder.js";
import { fill, h, problem, section, short, words } from "unweave/dom.js";
import { LatentsPanel } from "unweave/latents.js";
import { Starts, bench } from "unweave/starts.js";
import { readImage } from "unweave/uploads.js";

const main = document.getElementById("main");
const text = (id) => document.getElementById(id).textContent;

function bytes(id) {
  return Uint8Array.from(atob(text(id)), (letter) => letter.charCodeAt(0));
}

function stream(content) {
  return new Blob([content]).stream();
}

async function unpacked(content) {
  const open = stream(content).pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(open).arrayBuffer());
}

async function show() {
  const { run, latents, starts: stored } = JSON.parse(text("content"));
  const model = await unpacked(bytes("decoder"));
  const decoder = await Decoder.create(model, run.image_shape, async () => stream(bytes("runtime")));
  const panel = new LatentsPanel({ latents, decoder });
  const { images, prior } = stored;
  let encoder = null; // made when the first image comes
  const starts = new Starts(panel, {
    images,
    prior: (seed) => ({ code: prior[seed % prior.length] }),
    upload: document.getElementById("encoder") && (async (file) => {
      const { pixels, picture } = await readImage(file, run.image_shape);
      encoder ??= await Encoder.create(await unpacked(bytes("encoder")), run.image_shape);
      return { code: await encoder.encode(pixels), picture };
    }),
  });
  document.title = `${run.name} · unweave`;
  document.querySelector(".brand").removeAttribute("href");
  fill(main, h("h1", {}, run.name),
    h("ul", { class: "tags" },
      [["method", run.method], [words(run.knob), short(run.knob_value)], ["data", run.data], ["seed", run.seed], ["steps", short(run.step)]]
        .filter(([title]) => title)
        .map(([title, value]) => h("li", {}, `${title} `, h("b", {}, String(value))))),
    h("p", { class: "note" }, run.method_summary),
    section("Latents", bench(panel, starts)));
  if (images.length) starts.element.querySelector(".gallery button").click();
  else await starts.prior();
}

try {
  await show();
} catch (error) {
  fill(main, problem(error));
  console.warn(error);
}
document.documentElement.dataset.ready = "true";
