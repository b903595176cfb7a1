
// ---- charts -----------------------------------------------------------------
const drawers = []; // redrawn on resize, theme and language changes

function ticks(lo, hi, n, log) {
  const out = [];
  if (log) {
    const a = Math.floor(Math.log10(lo)), b = Math.ceil(Math.log10(hi));
    const steps = b - a > 5 ? [1] : b - a > 2 ? [1, 3] : [1, 2, 5];
    for (let e = a; e <= b; e++) for (const m of steps) { const v = m * Math.pow(10, e); if (v >= lo * 0.999 && v <= hi * 1.001) out.push(v); }
    if (out.length > 1) return out;
  }
  const raw = (hi - lo) / n, mag = Math.pow(10, Math.floor(Math.log10(raw || 1)));
  const step = [1, 2, 2.5, 5, 10].find(m => m * mag >= raw) * mag;
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) out.push(+(i * step).toPrecision(12));
  return out;
}
// tickText is a number beside an axis: short, or it would run into the axis' title.
const tickText = v => Math.abs(v) >= 1e4 && Math.abs(v) < 1e6 ? +(v / 1e3).toPrecision(4) + "k" : fmt(v);
function prepare(canvas, height) {
  const w = Math.max(120, canvas.clientWidth), r = devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = Math.round(w * r);
  canvas.height = Math.round(height * r);
  const g = canvas.getContext("2d");
  g.setTransform(r, 0, 0, r, 0, 0);
  g.font = "12px system-ui, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif";
  return [g, w];
}

// What a screen reader says of a chart: its title and the range of every series.
function described(c) {
  const parts = c.series.map(s => {
    const y = s.y.filter(v => v !== null);
    return tr(s.name) + ": " + fmt(y.reduce((a, b) => Math.min(a, b), Infinity)) + " – " + fmt(y.reduce((a, b) => Math.max(a, b), -Infinity));
  });
  const at = (c.marks || []).map(m => tr(m.Label) + " @ " + fmt(m.X));
  return [tr(c.title), tr(c.xlabel) + " / " + tr(c.ylabel)].concat(parts, at).join("; ");
}

// The numbers of a chart as a table, made when somebody opens it.
function chartData(c) {
  const limit = 500, details = el("details", { class: "data" }, el("summary", {}, tr("Data")));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    const body = el("tbody");
    for (const s of c.series) for (let k = 0; k < Math.min(limit, s.x.length); k++) {
      body.append(el("tr", {}, el("td", {}, tr(s.name)), el("td", { class: "num" }, fmt(s.x[k])), el("td", { class: "num" }, fmt(s.y[k]))));
    }
    details.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": tr("Data") + ": " + tr(c.title) }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, tr("Series")), el("th", { scope: "col", class: "num" }, tr(c.xlabel)), el("th", { scope: "col", class: "num" }, tr(c.ylabel)))), body)));
  });
  return details;
}

function chart(c) {
  const H = 270, canvas = el("canvas", { role: "img", tabindex: "0", "aria-label": described(c) });
  const box = el("div", { class: "panel", id: "chart-" + c.id });
  const off = new Set();
  let xlog = c.xlog, ylog = c.ylog, zoom = null, drag = null, geo = null, cursor = -1;
  const toggle = (name, get, set) => {
    const b = el("button", { "aria-pressed": String(!!get()), onclick: () => { set(!get()); b.setAttribute("aria-pressed", String(get())); zoom = null; draw(); } }, tr(name));
    return b;
  };
  const unzoom = el("button", { hidden: true, onclick: () => { zoom = null; draw(); } }, tr("Reset zoom"));
  box.append(el("div", { class: "chart-head" }, el("h3", {}, tr(c.title)), el("span", {}, unzoom, " ",
    toggle("Log x", () => xlog, v => { xlog = v; }), " ", toggle("Log y", () => ylog, v => { ylog = v; }))), canvas);
  const legend = el("div", { class: "legend" }, c.series.map((s, i) => el("button", { "aria-pressed": "true", title: tr(s.name), onclick: e => {
    off.has(i) ? off.delete(i) : off.add(i);
    e.currentTarget.setAttribute("aria-pressed", String(!off.has(i)));
    draw();
  } }, swatch("--c" + (i % 8)), tr(s.name) + (s.right ? " →" : ""))));
  if (c.series.length > 1) box.append(legend);
  for (const n of c.notes || []) box.append(el("p", { class: "note" }, tr(n)));
  box.append(chartData(c));

  function range(axis, list, log) {
    let lo = Infinity, hi = -Infinity;
    for (const s of list) {
      const v = s[axis], xs = s.x;
      for (let i = 0; i < v.length; i++) {
        if (v[i] === null || (log && v[i] <= 0)) continue;
        if (axis === "y" && zoom && (xs[i] < zoom[0] || xs[i] > zoom[1])) continue;
        if (v[i] < lo) lo = v[i];
        if (v[i] > hi) hi = v[i];
      }
    }
    if (axis === "x") for (const m of c.marks || []) if (!log || m.X > 0) { lo = Math.min(lo, m.X); hi = Math.max(hi, m.X); }
    if (lo > hi) return log ? [1, 10] : [0, 1];
    if (axis === "y" && !log) { if (lo > 0) lo = 0; hi += (hi - lo) * 0.06; }
    if (log && axis === "x") lo = Math.max(lo, hi / 2000); // values near 0 would take most of the width
    if (axis === "x" && c.kind === "scatter" && !log) { const pad = (hi - lo) * 0.02; lo = lo >= 0 ? Math.max(0, lo - pad) : lo - pad; hi += pad; } // no dot on the frame
    if (lo === hi) { if (log) { lo /= 2; hi *= 2; } else { hi += Math.abs(hi) * 0.1 || 1; } }
    return [lo, hi];
  }
  function draw() {
    const [g, w] = prepare(canvas, H);
    const list = c.series.filter((s, i) => !off.has(i));
    const left = list.filter(s => !s.right), right = list.filter(s => s.right);
    const x = zoom || range("x", list, xlog), y = range("y", left.length ? left : list, ylog);
    const y2 = right.length && left.length ? range("y", right, false) : null;
    const L = 62, R = y2 ? 58 : 16, T = 12, B = 44;
    const at = (v, r, log) => log ? Math.log(v / r[0]) / Math.log(r[1] / r[0]) : (v - r[0]) / (r[1] - r[0]);
    const px = v => L + at(v, x, xlog) * (w - L - R), py = (v, s) => s && s.right && y2 ? H - B - at(v, y2, false) * (H - T - B) : H - B - at(v, y, ylog) * (H - T - B);
    geo = { L, R, w, x, px, py, list, inv: p => { const f = (p - L) / (w - L - R); return xlog ? x[0] * Math.pow(x[1] / x[0], f) : x[0] + f * (x[1] - x[0]); } };
    unzoom.hidden = !zoom;
    const ink = colour("--soft"), line = colour("--line");
    g.strokeStyle = line; g.fillStyle = ink; g.lineWidth = 1;
    g.textAlign = "right"; g.textBaseline = "middle";
    for (const v of ticks(y[0], y[1], 5, ylog)) { const p = Math.round(py(v)) + 0.5; g.beginPath(); g.moveTo(L, p); g.lineTo(w - R, p); g.stroke(); g.fillText(tickText(v), L - 6, p); }
    if (y2) { g.textAlign = "left"; for (const v of ticks(y2[0], y2[1], 5, false)) g.fillText(tickText(v), w - R + 6, py(v, { right: true })); }
    g.textAlign = "center"; g.textBaseline = "top";
    let free = -Infinity;
    for (const v of ticks(x[0], x[1], Math.max(3, w / 110), xlog)) {
      const p = Math.round(px(v)) + 0.5, t = tickText(v), half = g.measureText(t).width / 2;
      g.beginPath(); g.moveTo(p, H - B); g.lineTo(p, H - B + 4); g.stroke();
      if (p - half > free) { g.fillText(t, Math.min(p, w - half - 2), H - B + 7); free = p + half + 8; }
    }
    g.fillText(tr(c.xlabel), L + (w - L - R) / 2, H - 17);
    const side = (text, at) => { g.save(); g.translate(at, T + (H - T - B) / 2); g.rotate(-Math.PI / 2); g.textAlign = "center"; g.textBaseline = "middle"; g.fillText(text, 0, 0); g.restore(); };
    side(tr(c.ylabel), 10);
    if (y2) side(tr(right[0].ylabel), w - 8);
    g.save(); g.beginPath(); g.rect(L, T - 4, w - L - R, H - T - B + 5); g.clip();
    c.series.forEach((s, i) => { if (!off.has(i)) series(g, s, i, geo, xlog, ylog); });
    g.restore();
    for (const m of c.marks || []) {
      const p = px(m.X), flip = p > w * 0.7;
      if (!(p >= L - 1 && p <= w - R + 1)) continue;
      g.strokeStyle = g.fillStyle = colour("--bad"); g.setLineDash([5, 4]); g.beginPath(); g.moveTo(p, T); g.lineTo(p, H - B); g.stroke(); g.setLineDash([]);
      g.textBaseline = "top"; g.textAlign = flip ? "right" : "left"; g.fillText(tr(m.Label), p + (flip ? -5 : 5), T);
    }
    if (drag) { g.fillStyle = colour("--accent"); g.globalAlpha = 0.15; g.fillRect(Math.min(drag[0], drag[1]), T, Math.abs(drag[1] - drag[0]), H - T - B); g.globalAlpha = 1; }
  }
  function series(g, s, i, q, xlog, ylog) {
    g.strokeStyle = g.fillStyle = colour("--c" + (i % 8));
    const ok = k => s.y[k] !== null && s.x[k] !== null && !(xlog && s.x[k] <= 0) && !(ylog && !s.right && s.y[k] <= 0);
    if (c.kind === "scatter") {
      const many = s.x.length > 800;
      g.globalAlpha = many ? 0.35 : 0.75;
      for (let k = 0; k < s.x.length; k++) if (ok(k)) { g.beginPath(); g.arc(q.px(s.x[k]), q.py(s.y[k], s), many ? 2 : 3, 0, 7); g.fill(); }
      g.globalAlpha = 1;
      return;
    }
    if (c.kind === "bar") {
      const n = c.series.length, bw = Math.max(1, (q.w - q.L - q.R) / Math.max(1, s.x.length) * 0.8 / n);
      for (let k = 0; k < s.x.length; k++) if (ok(k)) { const p = q.py(s.y[k], s); g.fillRect(q.px(s.x[k]) + (i - n / 2) * bw, p, bw, H - 44 - p); }
      return;
    }
    g.lineWidth = 1.8; g.lineJoin = "round"; g.beginPath();
    let pen = false, last = 0;
    for (let k = 0; k < s.x.length; k++) {
      if (!ok(k)) { pen = false; continue; }
      const X = q.px(s.x[k]), Y = q.py(s.y[k], s);
      if (!pen) g.moveTo(X, Y);
      else { if (c.kind === "step") g.lineTo(X, last); g.lineTo(X, Y); }
      pen = true; last = Y;
    }
    g.stroke();
    if (s.x.length <= 20) for (let k = 0; k < s.x.length; k++) if (ok(k)) { g.beginPath(); g.arc(q.px(s.x[k]), q.py(s.y[k], s), 3, 0, 7); g.fill(); }
  }
  // near is the index of the point of s whose x is nearest to v; x is ascending.
  function near(s, v) {
    let a = 0, b = s.x.length - 1;
    while (b - a > 1) { const m = (a + b) >> 1; s.x[m] <= v ? a = m : b = m; }
    return Math.abs(s.x[a] - v) <= Math.abs(s.x[b] - v) ? a : b;
  }
  function read(v) {
    return tr(c.xlabel) + "\n" + geo.list.filter(s => s.x.length).map(s => { const k = near(s, v); return tr(s.name) + ": " + fmt(s.y[k]) + "  @ " + fmt(s.x[k]); }).join("\n");
  }
  const local = e => e.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener("pointerdown", e => { if (e.button === 0) { drag = [local(e), local(e)]; canvas.setPointerCapture(e.pointerId); hideTip(); } });
  canvas.addEventListener("pointermove", e => {
    const p = local(e);
    if (drag) { drag[1] = Math.max(geo.L, Math.min(geo.w - geo.R, p)); draw(); return; }
    if (p < geo.L || p > geo.w - geo.R) { hideTip(); return; }
    if (c.kind !== "scatter") { showTip(e.clientX, e.clientY, read(geo.inv(p))); return; }
    const q = e.clientY - canvas.getBoundingClientRect().top;
    let best = 144, text = "";
    for (const s of geo.list) for (let k = 0; k < s.x.length; k++) {
      const d = (geo.px(s.x[k]) - p) ** 2 + (geo.py(s.y[k], s) - q) ** 2;
      if (d < best) { best = d; text = (c.series.length > 1 ? tr(s.name) + "\n" : "") + tr(c.xlabel) + ": " + fmt(s.x[k]) + "\n" + tr(c.ylabel) + ": " + fmt(s.y[k]); }
    }
    text ? showTip(e.clientX, e.clientY, text) : hideTip();
  });
  canvas.addEventListener("pointerup", () => {
    if (drag && Math.abs(drag[1] - drag[0]) > 8) zoom = [geo.inv(Math.min(...drag)), geo.inv(Math.max(...drag))];
    drag = null; draw();
  });
  canvas.addEventListener("pointercancel", () => { drag = null; draw(); });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("dblclick", () => { zoom = null; draw(); });
  // The arrow keys step through the points of the first series shown.
  canvas.addEventListener("keydown", e => {
    const s = geo.list[0], step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
    if (e.key === "Escape") { hideTip(); zoom = null; cursor = -1; draw(); return; }
    if (!s || !step) return;
    e.preventDefault();
    cursor = Math.max(0, Math.min(s.x.length - 1, cursor + step));
    const b = canvas.getBoundingClientRect(), text = c.kind === "scatter" ? tr(c.xlabel) + ": " + fmt(s.x[cursor]) + "\n" + tr(c.ylabel) + ": " + fmt(s.y[cursor]) : read(s.x[cursor]);
    showTip(b.left + geo.px(s.x[cursor]), b.top + 60, text);
  });
  canvas.addEventListener("blur", hideTip);
  drawers.push(draw);
  return box;
}
