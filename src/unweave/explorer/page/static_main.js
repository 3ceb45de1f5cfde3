// The page of one run in one file: everything it needs is inside, and nothing is asked for.
import { remember, remembered } from "unweave/address_state.js";
import { getJson, runAddress, store } from "unweave/api.js";
import { Decoder, Encoder } from "unweave/decoder.js";
import { fill, problem } from "unweave/dom.js";
import { showRun } from "unweave/run_page.js";
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

/** Starts that are inside, and images of the reader's, encoded here. */
function storedStarts({ run }, { images, prior }) {
  let encoder = null; // made when the first image comes
  return {
    images,
    row: async (row) => {
      const found = images.find((start) => start.row === row);
      if (!found) throw new Error(`row ${row} is not in this file; it has rows ${images.map((start) => start.row).join(", ")}`);
      return found;
    },
    prior: (seed) => ({ seed, code: prior[seed % prior.length] }),
    upload: document.getElementById("encoder") && (async (file) => {
      const { pixels, picture } = await readImage(file, run.image_shape);
      encoder ??= await Encoder.create(await unpacked(bytes("encoder")), run.image_shape);
      return { code: await encoder.encode(pixels), picture };
    }),
  };
}

/** Names that a reader gives live in the address: there is no folder to keep them in. */
function renamed({ latents }) {
  const given = JSON.parse(remembered("names") ?? "{}");
  const apply = () => {
    latents.names = latents.names.map((name, i) => given[i] ?? name);
    latents.labels = latents.names.map((name, i) => (name ? `z${i} ${name}` : `z${i}`));
    return { names: latents.names, labels: latents.labels };
  };
  apply();
  return async (latent, name) => {
    given[latent] = name.trim();
    remember({ names: JSON.stringify(given) });
    return apply();
  };
}

async function show() {
  const { name, answers, starts } = JSON.parse(text("content"));
  document.documentElement.dataset.alone = "true";
  if (new URLSearchParams(location.search).has("frame")) document.documentElement.dataset.frame = "true";
  store(answers);
  document.title = `${name} · unweave`;
  document.querySelector(".brand").removeAttribute("href");
  const { image_shape: shape } = await getJson(runAddress(name, ".json"));
  await showRun(main, name, {
    decoder: async () => Decoder.create(await unpacked(bytes("decoder")), shape, async () => stream(bytes("runtime"))),
    starts: (page) => storedStarts(page, starts),
    rename: renamed,
    first: () => starts.images[0]?.row ?? null,
    isFollowed: false,
  });
}

try {
  await show();
} catch (error) {
  fill(main, problem(error));
  console.warn(error);
}
document.documentElement.dataset.ready = "true";
