
// ---- samples ----------------------------------------------------------------
const outcomes = { right: "good", wrong: "bad", unparsable: "warn", empty: "warn", failed: "bad" };
const filter = { outcome: "", model: "", dataset: "", text: "", by: -1, down: false, page: 0, open: null }; // survives a change of language
function samples(s) {
  const box = el("div", { class: "panel", id: "samples-panel" }), body = el("tbody"), pager = el("div", { class: "tools" });
  const list = s.list || [], unique = k => [...new Set(list.map(x => x[k]))].sort(), models = unique("model");
  const pick = (key, all, values) => {
    if (values.length < 2) return null;
    const e = el("select", { "aria-label": tr(all), onchange: () => { filter[key] = e.value; refill(); } }, el("option", { value: "" }, tr(all)), values.map(v => el("option", { value: v }, v)));
    e.value = filter[key];
    return e;
  };
  const bad = s.total - (s.counts.right || 0);
  const buttons = [["", "All", s.total], ["!right", "Not right", bad]]
    .concat(["right", "wrong", "unparsable", "empty", "failed"].filter(o => s.counts[o]).map(o => [o, o, s.counts[o]]))
    .map(([v, name, k]) => el("button", { "data-outcome": v, "aria-pressed": String(filter.outcome === v), onclick: e => {
      filter.outcome = v;
      buttons.forEach(b => b.setAttribute("aria-pressed", String(b === e.currentTarget)));
      refill();
    } }, tr(name) + " " + k.toLocaleString("en")));
  const search = el("input", { type: "search", class: "grow", placeholder: tr("Search prompt and answer"), "aria-label": tr("Search prompt and answer"), oninput: () => { filter.text = search.value.toLowerCase(); refill(); } });
  search.value = filter.text;
  box.append(el("div", { class: "tools", role: "group", "aria-label": tr("Outcome") }, buttons), el("div", { class: "tools" }, search, pick("model", "All models", models), pick("dataset", "All datasets", unique("dataset"))));
  const columns = [
    models.length > 1 && { name: "Model", of: x => x.model },
    { name: "Dataset", of: x => x.dataset + (x.subset ? " / " + x.subset : "") },
    { name: "Id", of: x => x.id + (x.repeat ? " #" + (x.repeat + 1) : "") },
    { name: "Outcome", of: x => x.outcome, show: x => tr(x.outcome), cls: x => outcomes[x.outcome] || "" },
    { name: "Extracted", of: x => x.extracted, cls: () => "cut" },
    { name: "Gold", of: x => x.gold, cls: () => "cut" },
    { name: "Answer", of: x => x.answer || "", show: x => (x.answer || "").slice(0, 160), cls: () => "cut" },
    list.some(x => x.score !== undefined && x.score !== 0 && x.score !== 1) && { name: "Score", num: true, of: x => x.score ?? null },
    { name: "Output tokens", num: true, of: x => x.tokens ?? null },
    list.some(x => x.ttft_ms) && { name: "TTFT", unit: "ms", num: true, of: x => x.ttft_ms ?? null },
    list.some(x => x.e2e_ms) && { name: "E2EL", unit: "ms", num: true, of: x => x.e2e_ms ?? null },
  ].filter(Boolean);
  const heads = columns.map((c, i) => heading(labelled(c.name, c.unit), c.num, () => { filter.down = filter.by === i ? !filter.down : !!c.num; filter.by = i; refill(); }));
  box.append(el("div", { class: "scroll whole", tabindex: "0", role: "region", "aria-label": tr("Samples") }, el("table", { id: "samples-table" }, el("thead", {}, el("tr", {}, heads)), body)), pager);
  const size = 50;
  function matches(x) {
    if (filter.outcome === "!right" ? x.outcome === "right" : filter.outcome && x.outcome !== filter.outcome) return false;
    if (filter.model && x.model !== filter.model || filter.dataset && x.dataset !== filter.dataset) return false;
    return !filter.text || [x.id, x.prompt, x.answer, x.reasoning, x.gold, x.extracted].some(v => v && v.toLowerCase().includes(filter.text));
  }
  function part(name, text, cls) { return text ? el("div", {}, el("h4", {}, tr(name)), el("pre", { class: cls, tabindex: cls ? "0" : null, "aria-label": cls ? tr(name) : null }, text)) : null; }
  function detail(x) {
    const facts = [x.model, x.dataset, x.subset, x.finish && tr("Finish") + ": " + x.finish, x.score !== undefined && x.score !== null && tr("Score") + ": " + fmt(x.score)].filter(Boolean).join(" · ");
    return el("tr", {}, el("td", { colspan: columns.length }, el("div", { class: "detail" }, el("span", { class: "note" }, facts), part("Prompt", x.prompt, "prompt"), part("Reasoning", x.reasoning), part("Answer", x.answer),
      el("div", { class: "two" }, part("Extracted", x.extracted), part("Gold", x.gold)), part("Detail", x.detail))));
  }
  function row(x) {
    const at = list.indexOf(x);
    const toggle = e => { e.stopPropagation(); filter.open = filter.open === x ? null : x; fill(); body.querySelector('[data-sample="' + at + '"]').focus({ preventScroll: true }); };
    const opener = el("button", { class: "plain", "data-sample": at, "aria-expanded": String(filter.open === x), onclick: toggle }, filter.open === x ? "▾ " : "▸ ", columns[0].of(x));
    return el("tr", { class: "sample", onclick: toggle }, columns.map((c, i) => el("td", { class: [c.num ? "num" : "", c.cls ? c.cls(x) : ""].join(" ").trim() }, i === 0 ? opener : c.num ? fmt(c.of(x)) : (c.show || c.of)(x))));
  }
  function refill() { filter.page = 0; fill(); }
  function fill() {
    let rows = list.filter(matches);
    const by = columns[filter.by];
    if (by) { rows = rows.slice().sort((a, b) => compare(by.of(a), by.of(b), filter.down)); showSort(heads, filter.by, filter.down); }
    const pages = Math.max(1, Math.ceil(rows.length / size));
    filter.page = Math.min(filter.page, pages - 1);
    const out = [];
    for (const x of rows.slice(filter.page * size, filter.page * size + size)) {
      out.push(row(x));
      if (filter.open === x) out.push(detail(x));
    }
    if (!out.length) out.push(el("tr", {}, el("td", { colspan: columns.length }, tr("No sample matches."))));
    body.replaceChildren(...out);
    // The question stands at the end of a prompt, below the examples.
    body.querySelectorAll("pre.prompt").forEach(p => { p.scrollTop = p.scrollHeight; });
    pager.replaceChildren(el("span", { class: "note grow", id: "samples-count", role: "status" }, count(rows.length, s.total)),
      el("button", { disabled: filter.page === 0, onclick: () => { filter.page--; fill(); } }, tr("Previous")), filter.page + 1 + " / " + pages,
      el("button", { disabled: filter.page >= pages - 1, onclick: () => { filter.page++; fill(); } }, tr("Next")));
  }
  fill();
  return box;
}
