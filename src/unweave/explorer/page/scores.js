// The scores of a run, with what each means.
import { fill, h, section, short, words } from "unweave/dom.js";

export function drawScores(place, { run }) {
  const { scores, protocols, meanings } = run;
  const entries = Object.entries(scores);
  if (!entries.length) {
    fill(place, section("Scores", h("p", { class: "note" }, "Not scored yet: ", h("code", {}, `unweave evaluate ${run.place}`))));
    return;
  }
  fill(place, section("Scores", h("div", { class: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {}, "metric"), h("th", { class: "number" }, "score"),
      h("th", {}, "better is"), h("th", { class: "wide" }, "protocol"), h("th", { class: "wide" }, "what it means"))),
    h("tbody", {}, entries.map(([name, score]) => h("tr", {},
      h("td", {}, words(name)),
      h("td", { class: "number" }, short(score.value, 4)),
      h("td", {}, score.value === null ? `not scored: ${score.reason}` : score.higher_is_better ? "higher" : "lower"),
      h("td", { class: "wide" }, [protocols[name], ...(score.notes ?? [])].join("; ")),
      h("td", { class: "wide meaning" }, meanings[name] ?? ""))))))));
}
