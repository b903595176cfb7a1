
// ---- the page ---------------------------------------------------------------
function render() {
  root.lang = lang === "zh" ? "zh-CN" : "en";
  root.dataset.theme = theme;
  drawers.length = 0;
  hideTip();
  const nav = el("nav", { "aria-label": tr("Overview") }, el("a", { href: "#top" }, tr("Overview"))), main = document.getElementById("main");
  main.replaceChildren();
  document.title = tr(data.title);
  document.getElementById("top").replaceChildren(el("div", { class: "bar" }, nav,
    el("button", { id: "lang", lang: lang === "zh" ? "en" : "zh-CN", onclick: () => { lang = lang === "zh" ? "en" : "zh"; store("ais_bench_lang", lang); render(); document.getElementById("lang").focus(); } }, lang === "zh" ? "English" : "中文"),
    el("button", { id: "theme", onclick: () => { theme = theme === "dark" ? "light" : "dark"; store("ais_bench_theme", theme); render(); document.getElementById("theme").focus(); } }, tr(theme === "dark" ? "Light" : "Dark"))));
  const section = (id, title) => {
    nav.append(el("a", { href: "#s-" + id, title: tr(title) }, tr(title)));
    main.append(el("h2", { id: "s-" + id }, tr(title)));
  };
  main.append(el("h1", {}, tr(data.title)), el("div", { class: "meta" }, [data.run, data.generated, data.tool].filter(Boolean).join(" · ")));
  const v = data.verdict;
  if (v) main.append(el("div", { class: "banner " + marks[v.Mark], id: "verdict" }, el("strong", {}, tr(v.State)), tr(v.Reason)));
  if ((data.headlines || []).length) main.append(el("div", { class: "cards" }, data.headlines.map(h => el("div", { class: "card " + marks[h.Mark] },
    el("div", { class: "name" }, tr(h.Name)), el("div", { class: "value" }, tr(h.Value), h.Unit ? el("small", {}, tr(h.Unit)) : null), h.Note ? el("div", { class: "note" }, tr(h.Note)) : null))));
  if ((data.findings || []).length) main.append(el("div", { class: "banner", id: "findings" }, data.findings.map(n => el("div", {}, tr(n)))));
  if ((data.notes || []).length) main.append(el("div", { class: "banner warn", id: "warnings" }, data.notes.map(n => el("div", {}, tr(n)))));
  if (v && v.Clauses) { section("clauses", "Clauses"); main.append(table(v.Clauses)); }
  let shown = false;
  const addSamples = () => {
    if (!data.samples || shown) return;
    shown = true;
    section("samples", "Samples");
    main.append(samples(data.samples));
  };
  for (const s of data.sections || []) {
    if (["cautions", "checklist", "help", "config", "environment"].includes(s.id)) addSamples();
    section(s.id, s.title);
    for (const n of s.notes || []) main.append(el("p", { class: "note" }, tr(n)));
    for (const t of s.tables || []) main.append(table(t));
    if ((s.charts || []).length) {
      main.append(el("p", { class: "note" }, tr("Drag to zoom, double-click to reset; the arrow keys step through the points.")), el("div", { class: "grid" }, s.charts.map(chart)));
    }
    if (s.id === "charts" && data.timeline) { section("timeline", "Timeline"); main.append(timeline(data.timeline)); }
  }
  addSamples();
  drawers.forEach(d => d());
}
let waiting = 0, seen = innerWidth;
addEventListener("resize", () => { if (innerWidth === seen) return; seen = innerWidth; clearTimeout(waiting); waiting = setTimeout(() => drawers.forEach(d => d()), 120); });
render();
root.dataset.ready = "1";
