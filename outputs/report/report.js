"use strict";
// Everything shown comes from the JSON block of the page and enters the
// document as text, never as markup.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const marks = ["", "good", "bad", "warn"];

  // ---- language and theme -------------------------------------------------
  const words = {
    "Light": "浅色", "Dark": "深色", "Overview": "概览", "Warnings": "警告", "Clauses": "条款", "Samples": "样本", "Timeline": "请求时间线",
    "Charts": "图表", "Reset zoom": "还原缩放", "Log x": "X 轴对数", "Log y": "Y 轴对数",
    "Drag to zoom, double-click to reset.": "拖动以放大，双击还原。",
    "All": "全部", "Not right": "非正确", "Search prompt and answer": "搜索提示与回答", "All models": "全部模型", "All datasets": "全部数据集",
    "Sort by": "排序", "not right first": "非正确优先", "output tokens": "输出词元数", "end-to-end latency": "端到端时延",
    "Id": "编号", "Outcome": "判定", "Gold": "参考答案", "Extracted": "提取结果", "Tokens": "词元", "Prompt": "提示", "Reasoning": "推理过程", "Answer": "回答", "Detail": "说明",
    "Previous": "上一页", "Next": "下一页", "No sample matches.": "没有符合条件的样本。", "Finish": "结束原因", "Score": "得分",
    "waiting for the first token": "等待首个词元", "receiving": "接收中", "Wheel zooms, drag moves, double-click resets.": "滚轮缩放，拖动平移，双击还原。",
    "Time (s)": "时间（秒）", "Lane": "泳道", "sent": "发送", "first token": "首个词元", "end": "结束", "rows not shown": "行未显示", "Charts need a wider window.": "图表需要更宽的窗口。",
    "Requests in flight over time": "在途请求数随时间变化", "Output token throughput over time": "输出词元吞吐随时间变化", "Finished requests over time": "完成请求数随时间变化",
    "Time to first token: share of requests below": "首字时延分布（累计占比）", "End-to-end latency: share of requests below": "端到端时延分布（累计占比）",
    "TPOT and inter-token latency: share below": "TPOT 与词元间时延分布（累计占比）", "TTFT against input length": "首字时延与输入长度", "Inter-token latency by output position": "词元间时延与输出位置",
    "Share of requests (%)": "请求占比（%）", "Share (%)": "占比（%）", "Input tokens": "输入词元数", "Output position (tokens)": "输出位置（词元）", "Requests": "请求",
    "Mean in interval": "区间平均", "Peak in interval": "区间峰值", "Output tokens per second": "每秒输出词元", "Successful requests per second": "每秒成功请求", "Failed requests per second": "每秒失败请求",
    "ITL (per chunk gap)": "ITL（按数据块间隔）", "A uniform sample of the requests is drawn.": "图中为请求的均匀抽样。"
  };
  let lang = data.lang === "zh" ? "zh" : "en";
  function store(key, value) {
    try { if (value === undefined) return localStorage.getItem(key); localStorage.setItem(key, value); } catch (e) { /* file pages may have no storage */ }
    return null;
  }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let theme = store("ais_bench_theme") || (dark.matches ? "dark" : "light");
  lang = store("ais_bench_lang") || lang;
  function tr(s) {
    if (lang !== "zh" || !s) return s || "";
    return data.terms[s] || words[s] || s;
  }
  function count(shown, total) {
    return lang === "zh" ? "共 " + total.toLocaleString("en") + "，显示 " + shown.toLocaleString("en") : shown.toLocaleString("en") + " of " + total.toLocaleString("en") + " shown";
  }

  // ---- building blocks ----------------------------------------------------
  function el(tag, attrs, ...children) {
    const e = document.createElement(tag);
    for (const k in attrs || {}) {
      const v = attrs[k];
      if (v === undefined || v === null || v === false) continue;
      if (k === "class") e.className = v;
      else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else e.setAttribute(k, v === true ? "" : v);
    }
    for (const c of children.flat()) if (c !== null && c !== undefined) e.append(c);
    return e;
  }
  const colour = name => getComputedStyle(root).getPropertyValue(name).trim();
  const tip = document.getElementById("tip");
  function showTip(x, y, text) {
    tip.textContent = text;
    tip.hidden = false;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(innerWidth - w - 8, x + 14)) + "px";
    tip.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 12) : y + 18) + "px";
  }
  const hideTip = () => { tip.hidden = true; };

  function table(t) {
    const box = el("div", { class: "panel" });
    if (t.title) box.append(el("h3", {}, tr(t.title)));
    const body = el("tbody");
    let rows = t.rows || [], by = -1, down = false;
    const heads = t.columns.map((c, i) => {
      const label = tr(c.name) + (c.unit ? " (" + c.unit + ")" : "");
      return el("th", { class: c.numeric ? "num" : "", scope: "col" }, el("button", { onclick: () => { down = by === i ? !down : c.numeric; by = i; fill(); } }, label));
    });
    function fill() {
      let list = rows;
      if (by >= 0) {
        const key = r => { const c = r[by] || []; return c.length > 1 && c[1] !== null ? c[1] : null; };
        list = rows.slice().sort((a, b) => {
          const x = key(a), y = key(b);
          let d;
          if (x === null && y === null) d = String((a[by] || [""])[0]).localeCompare(String((b[by] || [""])[0]), undefined, { numeric: true });
          else if (x === null) return 1; // undefined stays last
          else if (y === null) return -1;
          else d = x - y;
          return down ? -d : d;
        });
        heads.forEach((h, i) => h.setAttribute("aria-sort", i !== by ? "none" : down ? "descending" : "ascending"));
      }
      body.replaceChildren(...list.map(r => el("tr", {}, t.columns.map((c, i) => {
        const cell = r[i] || ["-"];
        const cls = [c.numeric || (cell.length > 1 && cell[1] !== null) ? "num" : "", marks[cell[2] || 0]].join(" ").trim();
        const text = cell.length > 1 && cell[1] !== null ? cell[0] : tr(cell[0]);
        return el("td", { class: cls, title: cell[3] || null }, text, cell[3] ? el("sup", {}, cell[3]) : null);
      }))));
    }
    fill();
    box.append(el("div", { class: "scroll", tabindex: "0" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body)));
    if (t.more) box.append(el("p", { class: "note" }, "+ " + t.more + " " + tr("rows not shown")));
    for (const n of t.notes || []) box.append(el("p", { class: "note" }, tr(n)));
    return box;
  }

  // ---- charts -------------------------------------------------------------
  const drawers = []; // redrawn on resize, theme and language changes
  function fmt(v) {
    if (v === null || v === undefined || Number.isNaN(v)) return "-";
    const a = Math.abs(v);
    if (a >= 1e6) return (v / 1e6).toPrecision(4).replace(/\.?0+$/, "") + "M";
    if (a >= 1e4) return Math.round(v).toLocaleString("en");
    if (a >= 100) return String(+v.toFixed(1));
    if (a >= 1) return String(+v.toFixed(3));
    return a === 0 ? "0" : String(+v.toPrecision(3));
  }
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
  function prepare(canvas, height) {
    const w = Math.max(120, canvas.clientWidth), r = devicePixelRatio || 1;
    canvas.style.height = height + "px";
    canvas.width = Math.round(w * r);
    canvas.height = Math.round(height * r);
    const g = canvas.getContext("2d");
    g.setTransform(r, 0, 0, r, 0, 0);
    g.font = "12px system-ui, 'Noto Sans CJK SC', sans-serif";
    return [g, w];
  }

  function chart(c) {
    const box = el("div", { class: "panel", id: "chart-" + c.id });
    const canvas = el("canvas", { role: "img", "aria-label": tr(c.title) });
    const off = new Set();
    let xlog = c.xlog, ylog = c.ylog, zoom = null, drag = null, geo = null;
    const logX = el("button", { "aria-pressed": String(!!xlog), onclick: () => { xlog = !xlog; logX.setAttribute("aria-pressed", String(xlog)); zoom = null; draw(); } }, tr("Log x"));
    const logY = el("button", { "aria-pressed": String(!!ylog), onclick: () => { ylog = !ylog; logY.setAttribute("aria-pressed", String(ylog)); zoom = null; draw(); } }, tr("Log y"));
    box.append(el("div", { class: "chart-head" }, el("h3", {}, tr(c.title)), el("span", {}, logX, " ", logY)), canvas);
    const colours = () => c.series.map((s, i) => colour("--c" + (i % 8)));
    const legend = el("div", { class: "legend" }, c.series.map((s, i) => {
      const sw = el("span", { class: "swatch" });
      sw.style.background = "var(--c" + (i % 8) + ")";
      return el("button", { title: tr(s.name), onclick: e => { off.has(i) ? off.delete(i) : off.add(i); e.currentTarget.classList.toggle("off"); draw(); } }, sw, tr(s.name) + (s.right ? " →" : ""));
    }));
    if (c.series.length > 1) box.append(legend);
    for (const n of c.notes || []) box.append(el("p", { class: "note" }, tr(n)));

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
      if (lo > hi) return log ? [1, 10] : [0, 1];
      if (axis === "y" && !log) { if (lo > 0) lo = 0; hi += (hi - lo) * 0.06; }
      if (lo === hi) { if (log) { lo /= 2; hi *= 2; } else { hi += Math.abs(hi) * 0.1 || 1; } }
      return [lo, hi];
    }
    function draw() {
      const [g, w] = prepare(canvas, 270);
      const list = c.series.filter((s, i) => !off.has(i));
      const left = list.filter(s => !s.right), right = list.filter(s => s.right);
      const x = zoom || range("x", list, xlog), y = range("y", left.length ? left : list, ylog);
      const y2 = right.length && left.length ? range("y", right, false) : null;
      const L = 62, R = y2 ? 58 : 16, T = 12, B = 44, H = 270;
      const at = (v, r, log) => log ? Math.log(v / r[0]) / Math.log(r[1] / r[0]) : (v - r[0]) / (r[1] - r[0]);
      const px = v => L + at(v, x, xlog) * (w - L - R), py = (v, s) => s && s.right && y2 ? H - B - at(v, y2, false) * (H - T - B) : H - B - at(v, y, ylog) * (H - T - B);
      geo = { L, R, w, px, py, list, inv: p => { const f = (p - L) / (w - L - R); return xlog ? x[0] * Math.pow(x[1] / x[0], f) : x[0] + f * (x[1] - x[0]); } };
      const ink = colour("--soft"), line = colour("--line"), cs = colours();
      g.strokeStyle = line; g.fillStyle = ink; g.lineWidth = 1;
      g.textAlign = "right"; g.textBaseline = "middle";
      for (const v of ticks(y[0], y[1], 5, ylog)) { const p = Math.round(py(v)) + 0.5; g.beginPath(); g.moveTo(L, p); g.lineTo(w - R, p); g.stroke(); g.fillText(fmt(v), L - 6, p); }
      if (y2) { g.textAlign = "left"; for (const v of ticks(y2[0], y2[1], 5, false)) g.fillText(fmt(v), w - R + 6, py(v, { right: true })); }
      g.textAlign = "center"; g.textBaseline = "top";
      let free = -Infinity;
      for (const v of ticks(x[0], x[1], Math.max(3, w / 110), xlog)) {
        const p = Math.round(px(v)) + 0.5, t = fmt(v), half = g.measureText(t).width / 2;
        g.beginPath(); g.moveTo(p, H - B); g.lineTo(p, H - B + 4); g.stroke();
        if (p - half > free) { g.fillText(t, Math.min(p, w - half - 2), H - B + 7); free = p + half + 8; }
      }
      g.fillText(tr(c.xlabel), L + (w - L - R) / 2, H - 17);
      g.save(); g.translate(12, T + (H - T - B) / 2); g.rotate(-Math.PI / 2); g.textBaseline = "middle"; g.fillText(tr(c.ylabel), 0, 0); g.restore();
      if (y2) { g.save(); g.translate(w - 8, T + (H - T - B) / 2); g.rotate(-Math.PI / 2); g.textBaseline = "middle"; g.fillText(tr(right[0].ylabel), 0, 0); g.restore(); }
      g.save(); g.beginPath(); g.rect(L, T - 4, w - L - R, H - T - B + 5); g.clip();
      c.series.forEach((s, i) => {
        if (off.has(i)) return;
        g.strokeStyle = g.fillStyle = cs[i];
        const ok = k => s.y[k] !== null && s.x[k] !== null && !(xlog && s.x[k] <= 0) && !(ylog && !s.right && s.y[k] <= 0);
        if (c.kind === "scatter") {
          g.globalAlpha = s.x.length > 800 ? 0.35 : 0.75;
          for (let k = 0; k < s.x.length; k++) if (ok(k)) { g.beginPath(); g.arc(px(s.x[k]), py(s.y[k], s), s.x.length > 800 ? 2 : 3, 0, 7); g.fill(); }
          g.globalAlpha = 1;
          return;
        }
        if (c.kind === "bar") {
          const n = c.series.length, bw = Math.max(1, (w - L - R) / Math.max(1, s.x.length) * 0.8 / n);
          for (let k = 0; k < s.x.length; k++) if (ok(k)) { const p = py(s.y[k], s); g.fillRect(px(s.x[k]) + (i - n / 2) * bw, p, bw, H - B - p); }
          return;
        }
        g.lineWidth = 1.8; g.lineJoin = "round"; g.beginPath();
        let pen = false, last = 0;
        for (let k = 0; k < s.x.length; k++) {
          if (!ok(k)) { pen = false; continue; }
          const X = px(s.x[k]), Y = py(s.y[k], s);
          if (!pen) g.moveTo(X, Y);
          else { if (c.kind === "step") g.lineTo(X, last); g.lineTo(X, Y); }
          pen = true; last = Y;
        }
        g.stroke();
        if (s.x.length <= 20) for (let k = 0; k < s.x.length; k++) if (ok(k)) { g.beginPath(); g.arc(px(s.x[k]), py(s.y[k], s), 3, 0, 7); g.fill(); }
      });
      g.restore();
      for (const m of c.marks || []) {
        const p = px(m.X);
        if (!(p >= L && p <= w - R)) continue;
        g.strokeStyle = g.fillStyle = colour("--bad"); g.setLineDash([5, 4]); g.beginPath(); g.moveTo(p, T); g.lineTo(p, H - B); g.stroke(); g.setLineDash([]);
        g.textBaseline = "top"; g.textAlign = p > w * 0.7 ? "right" : "left"; g.fillText(tr(m.Label), p + (p > w * 0.7 ? -5 : 5), T);
      }
      if (drag) { g.fillStyle = colour("--accent"); g.globalAlpha = 0.15; g.fillRect(Math.min(drag[0], drag[1]), T, Math.abs(drag[1] - drag[0]), H - T - B); g.globalAlpha = 1; }
    }
    const local = e => e.clientX - canvas.getBoundingClientRect().left;
    canvas.addEventListener("pointerdown", e => { if (e.button === 0) { drag = [local(e), local(e)]; canvas.setPointerCapture(e.pointerId); hideTip(); } });
    canvas.addEventListener("pointermove", e => {
      const p = local(e);
      if (drag) { drag[1] = Math.max(geo.L, Math.min(geo.w - geo.R, p)); draw(); return; }
      if (p < geo.L || p > geo.w - geo.R) { hideTip(); return; }
      const v = geo.inv(p), q = e.clientY - canvas.getBoundingClientRect().top;
      if (c.kind === "scatter") {
        let best = 144, text = "";
        for (const s of geo.list) for (let k = 0; k < s.x.length; k++) {
          const d = (geo.px(s.x[k]) - p) ** 2 + (geo.py(s.y[k], s) - q) ** 2;
          if (d < best) { best = d; text = tr(c.xlabel) + ": " + fmt(s.x[k]) + "\n" + tr(c.ylabel) + ": " + fmt(s.y[k]); }
        }
        text ? showTip(e.clientX, e.clientY, text) : hideTip();
        return;
      }
      const lines = [];
      for (const s of geo.list) {
        let a = 0, b = s.x.length - 1;
        while (b - a > 1) { const m = (a + b) >> 1; s.x[m] <= v ? a = m : b = m; }
        const k = Math.abs(s.x[a] - v) <= Math.abs(s.x[b] - v) ? a : b;
        if (s.x.length) lines.push(tr(s.name) + ": " + fmt(s.y[k]) + "  @ " + fmt(s.x[k]));
      }
      showTip(e.clientX, e.clientY, tr(c.xlabel) + "\n" + lines.join("\n"));
    });
    canvas.addEventListener("pointerup", () => {
      if (drag && Math.abs(drag[1] - drag[0]) > 8) zoom = [geo.inv(Math.min(...drag)), geo.inv(Math.max(...drag))];
      drag = null; draw();
    });
    canvas.addEventListener("pointercancel", () => { drag = null; draw(); });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("dblclick", () => { zoom = null; draw(); });
    drawers.push(draw);
    return box;
  }

  // ---- timeline -----------------------------------------------------------
  // Requests are painted pixel by pixel into one image: the cost depends on
  // the screen, not on the number of requests. When few are visible they become
  // bars with a border that can be pointed at.
  function unpack(s, bytes) {
    const raw = atob(s), b = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) b[i] = raw.charCodeAt(i);
    if (bytes === 1) return b;
    const v = new DataView(b.buffer), out = new Uint32Array(b.length / 4);
    for (let i = 0; i < out.length; i++) out[i] = v.getUint32(4 * i, true);
    return out;
  }
  function rgb(css) {
    const m = /^#(..)(..)(..)$/.exec(css);
    return m ? [parseInt(m[1], 16), parseInt(m[2], 16), parseInt(m[3], 16)] : [128, 128, 128];
  }
  function timeline(t) {
    const sent = unpack(t.sent), first = unpack(t.first), end = unpack(t.end), lane = unpack(t.lane), status = unpack(t.status, 1);
    const n = sent.length, sec = t.unit_ns / 1e9, never = 0xffffffff;
    let last = 1, longest = 0;
    for (let i = 0; i < n; i++) { if (end[i] > last) last = end[i]; if (end[i] - sent[i] > longest) longest = end[i] - sent[i]; }
    const full = [0, last, 0, Math.max(1, t.lanes)];
    let view = full.slice(), drag = null, pending = false;
    const canvas = el("canvas", { role: "img", "aria-label": tr("Timeline") });
    const box = el("div", { class: "panel", id: "chart-timeline" },
      el("div", { class: "tools" }, el("span", { class: "note grow" }, count(t.shown, t.total) + ". " + tr("Wheel zooms, drag moves, double-click resets.")),
        el("button", { onclick: () => { view = full.slice(); ask(); } }, tr("Reset zoom"))), canvas);
    const legend = el("div", { class: "legend" });
    for (const [name, c] of [["waiting for the first token", "--c4"], ["receiving", "--c0"]].concat(t.statuses.some(s => s !== "ok") ? [["failed", "--bad"]] : [])) {
      const sw = el("span", { class: "swatch" });
      sw.style.background = "var(" + c + ")";
      legend.append(el("span", {}, sw, " " + tr(name)));
    }
    box.append(legend);
    const H = 380, L = 62, R = 16, T = 8, B = 42;
    let W = 300;
    function lower(v) { let a = 0, b = n; while (a < b) { const m = (a + b) >> 1; sent[m] < v ? a = m + 1 : b = m; } return a; }
    function draw() {
      pending = false;
      const [g, w] = prepare(canvas, H), r = devicePixelRatio || 1;
      W = w;
      const pw = Math.max(1, Math.round((w - L - R) * r)), ph = Math.max(1, Math.round((H - T - B) * r));
      const sx = pw / (view[1] - view[0]), sy = ph / (view[3] - view[2]);
      const img = g.createImageData(pw, ph), px = new Uint32Array(img.data.buffer);
      const pack = c => { const [x, y, z] = rgb(colour(c)); return (255 << 24 | z << 16 | y << 8 | x) >>> 0; };
      const wait = pack("--c4"), recv = pack("--c0"), fail = pack("--bad");
      const bars = sy >= 6 * r ? Math.round(r) : 0; // a gap between bars once they are tall enough
      const from = lower(Math.max(0, view[0] - longest)), to = lower(view[1]);
      for (let i = from; i < to; i++) {
        if (end[i] < view[0] || lane[i] + 1 < view[2] || lane[i] > view[3]) continue;
        const y0 = Math.max(0, Math.floor((lane[i] - view[2]) * sy)), y1 = Math.min(ph, Math.max(y0 + 1, Math.floor((lane[i] + 1 - view[2]) * sy) - bars));
        const x0 = Math.max(0, Math.floor((sent[i] - view[0]) * sx)), x1 = Math.min(pw, Math.max(x0 + 1, Math.ceil((end[i] - view[0]) * sx)));
        const bad = t.statuses[status[i]] !== "ok";
        const xm = bad ? x1 : first[i] === never ? x1 : Math.min(x1, Math.max(x0, Math.floor((first[i] - view[0]) * sx)));
        for (let y = y0; y < y1; y++) {
          const row = y * pw;
          px.fill(bad ? fail : wait, row + x0, row + Math.max(x0, xm));
          if (!bad) px.fill(recv, row + Math.max(x0, xm), row + x1);
        }
      }
      g.putImageData(img, Math.round(L * r), Math.round(T * r));
      const ink = colour("--soft"), line = colour("--line");
      g.strokeStyle = line; g.fillStyle = ink; g.strokeRect(L + 0.5, T + 0.5, w - L - R, H - T - B);
      g.textAlign = "center"; g.textBaseline = "top";
      for (const v of ticks(view[0] * sec, view[1] * sec, w / 110, false)) g.fillText(fmt(v), L + (v / sec - view[0]) / (view[1] - view[0]) * (w - L - R), H - B + 7);
      g.fillText(tr("Time (s)"), L + (w - L - R) / 2, H - 17);
      g.textAlign = "right"; g.textBaseline = "middle";
      for (const v of ticks(view[2], view[3], 6, false)) g.fillText(fmt(v), L - 6, T + (v - view[2]) / (view[3] - view[2]) * (H - T - B));
      g.save(); g.translate(12, T + (H - T - B) / 2); g.rotate(-Math.PI / 2); g.textAlign = "center"; g.fillText(tr("Lane"), 0, 0); g.restore();
    }
    function ask() { if (!pending) { pending = true; requestAnimationFrame(draw); } }
    function clampView() {
      for (const k of [0, 2]) {
        const size = Math.min(view[k + 1] - view[k], full[k + 1] - full[k]);
        view[k] = Math.max(full[k], Math.min(view[k], full[k + 1] - size));
        view[k + 1] = view[k] + size;
      }
    }
    const spot = e => { const b = canvas.getBoundingClientRect(); return [(e.clientX - b.left - L) / (W - L - R), (e.clientY - b.top - T) / (H - T - B)]; };
    canvas.addEventListener("wheel", e => {
      e.preventDefault();
      const p = spot(e), f = Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300)));
      for (const [k, at, min] of e.shiftKey ? [[2, p[1], 4]] : e.altKey ? [[0, p[0], 10]] : [[0, p[0], 10], [2, p[1], 4]]) {
        const size = view[k + 1] - view[k], next = Math.min(full[k + 1] - full[k], Math.max(min, size * f)), mid = view[k] + size * at;
        view[k] = mid - next * at; view[k + 1] = view[k] + next;
      }
      clampView(); hideTip(); ask();
    }, { passive: false });
    canvas.addEventListener("pointerdown", e => { drag = [e.clientX, e.clientY, view.slice()]; canvas.setPointerCapture(e.pointerId); hideTip(); });
    canvas.addEventListener("pointerup", () => { drag = null; });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointermove", e => {
      if (drag) {
        const v = drag[2], dx = (e.clientX - drag[0]) / (W - L - R) * (v[1] - v[0]), dy = (e.clientY - drag[1]) / (H - T - B) * (v[3] - v[2]);
        view = [v[0] - dx, v[1] - dx, v[2] - dy, v[3] - dy];
        clampView(); ask();
        return;
      }
      const p = spot(e), x = view[0] + p[0] * (view[1] - view[0]), y = Math.floor(view[2] + p[1] * (view[3] - view[2]));
      const slack = 3 * (view[1] - view[0]) / (W - L - R);
      for (let i = lower(x + slack) - 1; i >= 0 && sent[i] >= x - longest - slack; i--) {
        if (lane[i] !== y || end[i] < x - slack) continue;
        const lines = [tr("sent") + ": " + fmt(sent[i] * sec) + " s"];
        if (first[i] !== never) lines.push(tr("first token") + ": +" + fmt((first[i] - sent[i]) * sec * 1000) + " ms");
        lines.push(tr("end") + ": +" + fmt((end[i] - sent[i]) * sec * 1000) + " ms", tr(t.statuses[status[i]]));
        showTip(e.clientX, e.clientY, lines.join("\n"));
        return;
      }
      hideTip();
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("dblclick", () => { view = full.slice(); ask(); });
    drawers.push(draw);
    return box;
  }

  // ---- samples ------------------------------------------------------------
  const outcomes = { right: "good", wrong: "bad", unparsable: "warn", empty: "warn", failed: "bad" };
  const filter = { outcome: "", model: "", dataset: "", text: "", sort: "", page: 0, open: null };
  function samples(s) {
    const box = el("div", { class: "panel", id: "samples-panel" }), body = el("tbody"), pager = el("div", { class: "tools" });
    const list = s.list || [], unique = k => [...new Set(list.map(x => x[k]))].sort();
    const pick = (key, all, values) => {
      if (values.length < 2) return null;
      const e = el("select", { "aria-label": tr(all), onchange: () => { filter[key] = e.value; filter.page = 0; fill(); } }, el("option", { value: "" }, tr(all)), values.map(v => el("option", { value: v }, v)));
      e.value = filter[key];
      return e;
    };
    const buttons = [["", "All", s.total], ["!right", "Not right", s.total - (s.counts.right || 0)]]
      .concat(["right", "wrong", "unparsable", "empty", "failed"].filter(o => s.counts[o]).map(o => [o, o, s.counts[o]]))
      .map(([v, name, k]) => el("button", { "data-outcome": v, "aria-pressed": String(filter.outcome === v), onclick: e => {
        filter.outcome = v; filter.page = 0;
        buttons.forEach(b => b.setAttribute("aria-pressed", String(b === e.currentTarget)));
        fill();
      } }, tr(name) + " " + k.toLocaleString("en")));
    const search = el("input", { type: "search", class: "grow", placeholder: tr("Search prompt and answer"), "aria-label": tr("Search prompt and answer"), oninput: () => { filter.text = search.value.toLowerCase(); filter.page = 0; fill(); } });
    search.value = filter.text;
    const sort = el("select", { "aria-label": tr("Sort by"), onchange: () => { filter.sort = sort.value; filter.page = 0; fill(); } },
      [["", "not right first"], ["outcome", "Outcome"], ["id", "Id"], ["tokens", "output tokens"], ["ttft_ms", "TTFT"], ["e2e_ms", "end-to-end latency"], ["score", "Score"]].map(([v, n]) => el("option", { value: v }, tr("Sort by") + ": " + tr(n))));
    sort.value = filter.sort;
    box.append(el("div", { class: "tools" }, buttons), el("div", { class: "tools" }, search, pick("model", "All models", unique("model")), pick("dataset", "All datasets", unique("dataset")), sort));
    const heads = ["Dataset", "Id", "Outcome", "Extracted", "Gold", "Answer", "Tokens", "E2EL (ms)"];
    box.append(el("div", { class: "scroll", tabindex: "0" }, el("table", { id: "samples-table" }, el("thead", {}, el("tr", {}, heads.map((h, i) => el("th", { class: i > 5 ? "num" : "", scope: "col" }, tr(h))))), body)), pager);
    const size = 50;
    function matches(x) {
      if (filter.outcome === "!right" ? x.outcome === "right" : filter.outcome && x.outcome !== filter.outcome) return false;
      if (filter.model && x.model !== filter.model || filter.dataset && x.dataset !== filter.dataset) return false;
      return !filter.text || [x.id, x.prompt, x.answer, x.reasoning, x.gold, x.extracted].some(v => v && v.toLowerCase().includes(filter.text));
    }
    function part(name, text, cls) { return text ? el("div", {}, el("h4", {}, tr(name)), el("pre", { class: cls }, text)) : null; }
    function detail(x) {
      const facts = [x.model, x.dataset, x.subset, x.finish && tr("Finish") + ": " + x.finish, x.score !== undefined && x.score !== null && tr("Score") + ": " + fmt(x.score), x.ttft_ms && "TTFT: " + fmt(x.ttft_ms) + " ms"].filter(Boolean).join(" · ");
      return el("tr", {}, el("td", { colspan: heads.length }, el("div", { class: "detail" }, el("span", { class: "note" }, facts), part("Prompt", x.prompt), part("Reasoning", x.reasoning), part("Answer", x.answer),
        el("div", { class: "two" }, part("Extracted", x.extracted), part("Gold", x.gold)), part("Detail", x.detail))));
    }
    function fill() {
      let rows = list.filter(matches);
      if (filter.sort) {
        const k = filter.sort, num = k !== "id" && k !== "outcome";
        rows = rows.slice().sort((a, b) => num ? (b[k] ?? -Infinity) - (a[k] ?? -Infinity) : String(a[k]).localeCompare(String(b[k]), undefined, { numeric: true }));
      }
      const pages = Math.max(1, Math.ceil(rows.length / size));
      filter.page = Math.min(filter.page, pages - 1);
      const shown = rows.slice(filter.page * size, filter.page * size + size), out = [];
      for (const x of shown) {
        const toggle = () => { filter.open = filter.open === x ? null : x; fill(); };
        out.push(el("tr", { class: "sample", tabindex: "0", "aria-expanded": String(filter.open === x), onclick: toggle, onkeydown: e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); toggle(); } } },
          el("td", {}, x.dataset), el("td", {}, x.id + (x.repeat ? " #" + (x.repeat + 1) : "")), el("td", { class: outcomes[x.outcome] || "" }, tr(x.outcome)),
          el("td", { class: "cut" }, x.extracted), el("td", { class: "cut" }, x.gold), el("td", { class: "cut" }, (x.answer || "").slice(0, 160)), el("td", { class: "num" }, x.tokens ?? "-"), el("td", { class: "num" }, fmt(x.e2e_ms))));
        if (filter.open === x) out.push(detail(x));
      }
      if (!out.length) out.push(el("tr", {}, el("td", { colspan: heads.length }, tr("No sample matches."))));
      body.replaceChildren(...out);
      pager.replaceChildren(el("span", { class: "note grow", id: "samples-count" }, count(rows.length, s.total)),
        el("button", { disabled: filter.page === 0, onclick: () => { filter.page--; fill(); } }, tr("Previous")), filter.page + 1 + " / " + pages,
        el("button", { disabled: filter.page >= pages - 1, onclick: () => { filter.page++; fill(); } }, tr("Next")));
    }
    fill();
    return box;
  }

  // ---- the page -----------------------------------------------------------
  function section(main, nav, id, title) {
    const h = el("h2", { id: "s-" + id }, tr(title));
    nav.append(el("a", { href: "#s-" + id }, tr(title)));
    main.append(h);
  }
  function render() {
    root.lang = lang === "zh" ? "zh-CN" : "en";
    root.dataset.theme = theme;
    drawers.length = 0;
    hideTip();
    const nav = el("nav", { "aria-label": tr("Overview") }), main = document.getElementById("main");
    nav.append(el("a", { href: "#top" }, tr("Overview")));
    main.replaceChildren();
    document.getElementById("top").replaceChildren(el("div", { class: "bar" }, nav,
      el("button", { id: "lang", onclick: () => { lang = lang === "zh" ? "en" : "zh"; store("ais_bench_lang", lang); render(); } }, lang === "zh" ? "English" : "中文"),
      el("button", { id: "theme", onclick: () => { theme = theme === "dark" ? "light" : "dark"; store("ais_bench_theme", theme); render(); } }, tr(theme === "dark" ? "Light" : "Dark"))));
    main.append(el("h1", {}, tr(data.title)), el("div", { class: "meta" }, [data.run, data.generated, data.tool].filter(Boolean).join(" · ")));
    const v = data.verdict;
    if (v) main.append(el("div", { class: "banner " + marks[v.Mark], id: "verdict" }, el("strong", {}, tr(v.State)), tr(v.Reason)));
    if ((data.notes || []).length) main.append(el("div", { class: "banner warn" }, data.notes.map(n => el("div", {}, tr(n)))));
    if ((data.headlines || []).length) main.append(el("div", { class: "cards" }, data.headlines.map(h => el("div", { class: "card " + marks[h.Mark] },
      el("div", { class: "name" }, tr(h.Name)), el("div", { class: "value" }, tr(h.Value), h.Unit ? el("small", {}, tr(h.Unit)) : null), h.Note ? el("div", { class: "note" }, tr(h.Note)) : null))));
    if (v && v.Clauses) { section(main, nav, "clauses", "Clauses"); main.append(table(v.Clauses)); }
    for (const s of data.sections || []) {
      section(main, nav, s.id, s.title);
      for (const n of s.notes || []) main.append(el("p", { class: "note" }, tr(n)));
      for (const t of s.tables || []) main.append(table(t));
      if ((s.charts || []).length) {
        main.append(el("p", { class: "note" }, tr("Drag to zoom, double-click to reset.")), el("div", { class: "grid" }, s.charts.map(chart)));
      }
      if (s.id === "charts" && data.timeline) { section(main, nav, "timeline", "Timeline"); main.append(timeline(data.timeline)); }
      if (s.id === "status" || !data.sections.some(x => x.id === "status") && s === data.sections[0]) addSamples(main, nav);
    }
    if (!(data.sections || []).length) addSamples(main, nav);
    drawers.forEach(d => d());
  }
  function addSamples(main, nav) {
    if (!data.samples) return;
    section(main, nav, "samples", "Samples");
    main.append(samples(data.samples));
  }
  let waiting = 0, seen = innerWidth;
  addEventListener("resize", () => { if (innerWidth === seen) return; seen = innerWidth; clearTimeout(waiting); waiting = setTimeout(() => drawers.forEach(d => d()), 120); });
  render();
  root.dataset.ready = "1";
})();
