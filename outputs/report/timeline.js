
// ---- timeline ---------------------------------------------------------------
// Requests are painted pixel by pixel into one image: a frame costs one pass over
// the requests in view and one image, not one drawing call a request. When few
// are visible they become bars with a gap between them.
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
  const canvas = el("canvas", { role: "img", tabindex: "0", "aria-label": tr("Timeline") + ": " + count(t.shown, t.total) + "; " + tr("Time (s)") + " 0 – " + fmt(last * sec) + "; " + tr("Lane") + " 0 – " + t.lanes });
  const tool = (text, label, f) => el("button", { title: tr(label), "aria-label": tr(label), onclick: f }, text);
  const box = el("div", { class: "panel", id: "chart-timeline" },
    el("div", { class: "tools" }, el("span", { class: "note grow" }, count(t.shown, t.total) + (lang === "zh" ? "。" : ". ") + tr("Wheel zooms, drag moves, double-click resets; on the keyboard: arrows, + and −, 0.")),
      tool("+", "Zoom in", () => scale(0.5, 0.5, 0.5)), tool("−", "Zoom out", () => scale(2, 0.5, 0.5)),
      el("button", { onclick: () => reset() }, tr("Reset zoom"))), canvas);
  box.append(el("div", { class: "legend" }, [["waiting for the first token", "--c4"], ["receiving", "--c0"]].concat(t.statuses.some(s => s !== "ok") ? [["failed", "--bad"]] : [])
    .map(([name, c]) => el("span", {}, swatch(c), " " + tr(name)))));
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
    const from = lower(Math.max(0, view[0] - longest)), to = lower(view[1]), failed = [];
    function paint(i) {
      const y0 = Math.max(0, Math.floor((lane[i] - view[2]) * sy)), x0 = Math.max(0, Math.floor((sent[i] - view[0]) * sx));
      let y1 = Math.min(ph, Math.max(y0 + 1, Math.floor((lane[i] + 1 - view[2]) * sy) - bars));
      let x1 = Math.min(pw, Math.max(x0 + 1, Math.ceil((end[i] - view[0]) * sx)));
      const bad = t.statuses[status[i]] !== "ok";
      if (bad) { x1 = Math.min(pw, Math.max(x1, x0 + Math.round(2 * r))); y1 = Math.min(ph, Math.max(y1, y0 + Math.round(2 * r))); } // large enough to be seen
      const xm = bad ? x1 : first[i] === never ? x1 : Math.min(x1, Math.max(x0, Math.floor((first[i] - view[0]) * sx)));
      for (let y = y0; y < y1; y++) {
        const row = y * pw;
        px.fill(bad ? fail : wait, row + x0, row + Math.max(x0, xm));
        if (!bad) px.fill(recv, row + Math.max(x0, xm), row + x1);
      }
    }
    for (let i = from; i < to; i++) {
      if (end[i] < view[0] || lane[i] + 1 < view[2] || lane[i] > view[3]) continue;
      if (t.statuses[status[i]] !== "ok") failed.push(i); // on top: one among thousands must show
      else paint(i);
    }
    failed.forEach(paint);
    g.putImageData(img, Math.round(L * r), Math.round(T * r));
    g.strokeStyle = colour("--line"); g.fillStyle = colour("--soft"); g.strokeRect(L + 0.5, T + 0.5, w - L - R, H - T - B);
    g.textAlign = "center"; g.textBaseline = "top";
    for (const v of ticks(view[0] * sec, view[1] * sec, w / 110, false)) g.fillText(fmt(v), L + (v / sec - view[0]) / (view[1] - view[0]) * (w - L - R), H - B + 7);
    g.fillText(tr("Time (s)"), L + (w - L - R) / 2, H - 17);
    g.textAlign = "right"; g.textBaseline = "middle";
    for (const v of ticks(view[2], view[3], 6, false)) g.fillText(fmt(v), L - 6, T + (v - view[2]) / (view[3] - view[2]) * (H - T - B));
    g.save(); g.translate(10, T + (H - T - B) / 2); g.rotate(-Math.PI / 2); g.textAlign = "center"; g.fillText(tr("Lane"), 0, 0); g.restore();
  }
  function ask() { if (!pending) { pending = true; requestAnimationFrame(draw); } }
  function clampView() {
    for (const k of [0, 2]) {
      const size = Math.min(view[k + 1] - view[k], full[k + 1] - full[k]);
      view[k] = Math.max(full[k], Math.min(view[k], full[k + 1] - size));
      view[k + 1] = view[k] + size;
    }
    canvas.dataset.view = view.map(v => Math.round(v)).join(" ");
  }
  function reset() { view = full.slice(); clampView(); hideTip(); ask(); }
  // scale makes the view f times as large around a point of it; null keeps a direction.
  function scale(f, atX, atY) {
    for (const [k, at, min] of [[0, atX, 10], [2, atY, 4]]) {
      if (at === null) continue;
      const size = view[k + 1] - view[k], next = Math.min(full[k + 1] - full[k], Math.max(min, size * f)), mid = view[k] + size * at;
      view[k] = mid - next * at; view[k + 1] = view[k] + next;
    }
    clampView(); hideTip(); ask();
  }
  function move(dx, dy) {
    const w = view[1] - view[0], h = view[3] - view[2];
    view = [view[0] + dx * w, view[1] + dx * w, view[2] + dy * h, view[3] + dy * h];
    clampView(); hideTip(); ask();
  }
  const spot = e => { const b = canvas.getBoundingClientRect(); return [(e.clientX - b.left - L) / (W - L - R), (e.clientY - b.top - T) / (H - T - B)]; };
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    const p = spot(e);
    scale(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), e.shiftKey ? null : p[0], e.altKey ? null : p[1]);
  }, { passive: false });
  canvas.addEventListener("keydown", e => {
    const steps = { ArrowLeft: [-0.2, 0], ArrowRight: [0.2, 0], ArrowUp: [0, -0.2], ArrowDown: [0, 0.2] };
    if (steps[e.key]) move(...steps[e.key]);
    else if (e.key === "+" || e.key === "=") scale(0.5, 0.5, 0.5);
    else if (e.key === "-") scale(2, 0.5, 0.5);
    else if (e.key === "0" || e.key === "Escape") reset();
    else return;
    e.preventDefault();
  });
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
  canvas.addEventListener("dblclick", reset);
  drawers.push(draw);
  return box;
}
