// Writes src/unweave/explorer/runtime/: ONNX Runtime for the browser, as the package keeps it.
// Run by `make explorer-runtime`; the same lock file gives the same bytes.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "src", "unweave", "explorer", "runtime");
const dist = dirname(createRequire(import.meta.url).resolve("onnxruntime-web/wasm"));

await build({
  entryPoints: [join(here, "runtime.mjs")],
  bundle: true,
  format: "esm",
  platform: "browser",
  minify: true,
  legalComments: "inline",
  outfile: join(target, "ort.mjs"),
});
const wasm = readFileSync(join(dist, "ort-wasm-simd-threaded.wasm"));
writeFileSync(join(target, "ort.wasm.gz"), gzipSync(wasm, { level: 9 }));

// What was built of what, so that a test notices when one changes without the other.
const sources = ["build.mjs", "package-lock.json", "package.json", "runtime.mjs"].map((name) => join(here, name));
const made = ["ort.mjs", "ort.wasm.gz"].map((name) => join(target, name));
const hashes = [...sources, ...made].map((path) =>
  [basename(path), createHash("sha256").update(readFileSync(path)).digest("hex")]);
writeFileSync(join(here, "built.json"), JSON.stringify(Object.fromEntries(hashes), null, 1) + "\n");
console.log(`wrote ort.mjs and ort.wasm.gz to ${target}`);
