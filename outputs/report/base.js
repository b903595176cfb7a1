"use strict";
// Everything shown comes from the JSON block of the page and enters the
// document as text, never as markup. The files of the script are joined in the
// order base, chart, timeline, samples, page, inside one function.
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const marks = ["", "good", "bad", "warn"];

// ---- language and theme -----------------------------------------------------
function store(key, value) {
  try { if (value === undefined) return localStorage.getItem(key); localStorage.setItem(key, value); } catch (e) { /* file pages may have no storage */ }
  return null;
}
let theme = store("ais_bench_theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
let lang = store("ais_bench_lang") || (data.lang === "zh" ? "zh" : "en");
// tr is a fixed text in the reader's language. data.terms holds every fixed text
// of this page that has a Chinese one.
function tr(s) {
  return lang === "zh" && s && Object.hasOwn(data.terms, s) ? data.terms[s] : s || "";
}
function labelled(name, unit) {
  if (!unit) return tr(name);
  return lang === "zh" ? tr(name) + "（" + tr(unit) + "）" : name + " (" + unit + ")";
}
function count(shown, total) {
  const a = shown.toLocaleString("en"), b = total.toLocaleString("en");
  return lang === "zh" ? "共 " + b + "，显示 " + a : a + " of " + b + " shown";
}

// ---- building blocks --------------------------------------------------------
function el(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const k in attrs || {}) {
    const v = attrs[k];
    if (v === undefined || v === null || v === false) continue;
    if (k === "class") e.className = v;
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined && c !== false) e.append(c);
  return e;
}
const colour = name => getComputedStyle(root).getPropertyValue(name).trim();
function swatch(name) {
  const e = el("span", { class: "swatch" });
  e.style.background = "var(" + name + ")";
  return e;
}
const tip = document.getElementById("tip");
function showTip(x, y, text) {
  tip.textContent = text;
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(innerWidth - w - 8, x + 14)) + "px";
  tip.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 12) : y + 18) + "px";
}
const hideTip = () => { tip.hidden = true; };

function fmt(v) {
  if (v === null || v === undefined || Number.isNaN(v)) return "-";
  const a = Math.abs(v);
  if (a >= 1e6) return (v / 1e6).toPrecision(4).replace(/\.?0+$/, "") + "M";
  if (a >= 1e4) return Math.round(v).toLocaleString("en");
  if (a >= 100) return String(+v.toFixed(1));
  if (a >= 1) return String(+v.toFixed(3));
  return a === 0 ? "0" : String(+v.toPrecision(3));
}

// compare orders two values; undefined ones (null) stay last whatever the direction.
function compare(x, y, down) {
  if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
  const d = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true });
  return down ? -d : d;
}

// heading is a column heading that sorts.
function heading(label, numeric, onclick) {
  return el("th", { class: numeric ? "num" : "", scope: "col", "aria-sort": "none" }, el("button", { onclick, title: tr("Sort") }, label));
}
function showSort(heads, by, down) {
  heads.forEach((h, i) => h.setAttribute("aria-sort", i !== by ? "none" : down ? "descending" : "ascending"));
}

function table(t) {
  const box = el("div", { class: "panel" });
  if (t.title) box.append(el("h3", {}, tr(t.title)));
  const body = el("tbody"), rows = t.rows || [];
  let by = -1, down = false;
  const sortKey = r => { const c = r[by] || []; return c.length > 1 && c[1] !== null ? c[1] : c[0] === undefined || c[0] === "-" ? null : c[0]; };
  const heads = t.columns.map((c, i) => heading(labelled(c.name, c.unit), c.numeric, () => { down = by === i ? !down : c.numeric; by = i; fill(); }));
  function cellOf(c, cell) {
    const number = cell.length > 1 && cell[1] !== null;
    const cls = [c.numeric || number ? "num" : "", number ? "" : cell[0].length > 40 ? "long" : cell[0].length <= 16 ? "short" : "", marks[cell[2] || 0]].filter(Boolean).join(" ");
    return el("td", { class: cls, title: cell[3] ? tr(cell[3]) : null }, number ? cell[0] : tr(cell[0]), cell[4] ? " " + tr(cell[4]) : null, cell[3] ? el("sup", {}, tr(cell[3])) : null);
  }
  function fill() {
    const list = by < 0 ? rows : rows.slice().sort((a, b) => compare(sortKey(a), sortKey(b), down));
    if (by >= 0) showSort(heads, by, down);
    body.replaceChildren(...list.map(r => el("tr", {}, t.columns.map((c, i) => cellOf(c, r[i] || ["-"])))));
  }
  fill();
  box.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": tr(t.title) || tr("Table") }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body)));
  if (t.more) box.append(el("p", { class: "note" }, "+ " + t.more + " " + tr("rows not shown")));
  for (const n of t.notes || []) box.append(el("p", { class: "note" }, tr(n)));
  return box;
}
