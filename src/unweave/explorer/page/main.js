// The page of a server: the address says which one.
import { fill, h, problem } from "unweave/dom.js";

const main = document.getElementById("main");
const path = decodeURIComponent(location.pathname);

try {
  if (path.startsWith("/runs/")) {
    const name = path.slice("/runs/".length);
    crumbs(name);
    await (await import("unweave/run_page.js")).showRun(main, name);
  } else if (path.startsWith("/studies/")) {
    const name = path.slice("/studies/".length);
    crumbs(name);
    await (await import("unweave/study_page.js")).showStudy(main, name);
  } else if (path === "/compare") {
    crumbs("comparison");
    const names = new URLSearchParams(location.search).getAll("run");
    await (await import("unweave/compare_page.js")).showComparison(main, names);
  } else {
    await (await import("unweave/runs_page.js")).showRuns(main);
  }
} catch (error) {
  fill(main, problem(error));
  console.warn(error);
}
document.documentElement.dataset.ready = "true";

function crumbs(text) {
  document.title = `${text} · unweave`;
  fill(document.getElementById("crumbs"), h("span", {}, "/ ", text));
}
