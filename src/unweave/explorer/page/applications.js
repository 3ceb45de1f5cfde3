// What a run's code was found to be good for: what `unweave apply` kept in its folder.
import { getJson } from "unweave/api.js";
import { fill, h, section, short, twinned, words } from "unweave/dom.js";

export async function drawApplications(place, page) {
  const address = page.whole("/applications.json");
  const { applications, names } = await getJson(address);
  const body = applications.length ? applications.map((one) => drawOne(one, page))
    : [h("p", { class: "note" }, "Nothing was tried yet: ", h("code", {}, `unweave apply ${names.join("|")} ${page.run.place}`))];
  fill(place, twinned(section("Applications", body), [["applications.json", address]]));
}

function drawOne({ name, title, step, paragraph, caveats, tables, picture }, page) {
  const isOld = page.latents && page.moments.step === null && step !== page.latents.step;
  return h("details", { class: "application", open: true, "data-application": name },
    h("summary", {}, h("b", {}, title)),
    isOld ? h("p", { class: "problem" }, `Of step ${short(step)}; the run is at step ${short(page.latents.step)}.`) : null,
    h("p", {}, paragraph),
    picture ? h("img", { class: "application-figure", src: typeof picture === "string" ? picture : page.whole(`/applications/${name}.png`), alt: `Figure of ${title}`, loading: "lazy" }) : null,
    tables.map((table) => h("div", { class: "scroll" }, h("table", { class: "narrow" }, h("caption", {}, table.title),
      h("thead", {}, h("tr", {}, table.header.map((cell, i) => (cell ? h("th", { scope: "col", class: i ? "number" : null }, words(cell)) : h("td"))))),
      h("tbody", {}, table.lines.map((line) => h("tr", {}, line.map((cell, i) => h("td", { class: i ? "number" : null }, cell)))))))),
    caveats.length ? h("div", { class: "caveats" }, h("b", {}, "What not to conclude"), h("ul", {}, caveats.map((caveat) => h("li", {}, caveat)))) : null);
}
