// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/view_script.h"

namespace millrace {

const char* const kViewDrawingScript = R"js(
// ---- what is shown
const view = {from: 0, to: 1, first: 0, second: -1, transfers: true, path: true, memory: false, plan: 0, group: -1};
let blocks = [];
const kRow = 26, kBar = 22, kMemory = 40, kAxis = 22, kMostTransfers = 4000, kMostCritical = 200;
let colours = {};
const longest = () => Math.max(1e-12, ...blocks.map((block) => block.plan.makespan));

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  colours = {types: [0, 1, 2, 3, 4, 5, 6, 7, 8].map((i) => of("t" + i)), ink: of("ink"), quiet: of("quiet"),
    line: of("line"), row: of("row"), critical: of("critical"), memory: of("memory"), inbar: of("inbar"),
    transfer: of("transfer")};
}

async function show() {
  const wanted = [view.first].concat(view.second >= 0 && view.second !== view.first ? [view.second] : []);
  const shown = [];
  for (const number of wanted) {
    const plan = await planOf(number);
    if (plan) shown.push(plan);
  }
  byId("plans").replaceChildren();
  blocks = shown.map((plan) => new Block(plan));
  if (!(view.to > view.from) || view.whole) { view.from = 0; view.to = longest() * 1.002; }
  drawAll();
}

class Block {
  constructor(plan) {
    this.plan = plan;
    this.note = make("span", {className: "note quiet"});
    const title = make("h3", {}, plan.name + " ", make("span", {className: "quiet",
      textContent: (plan.method === plan.name ? "" : plan.method + ", ") + seconds(plan.makespan) + ", " + plan.shown}), " ", this.note);
    this.canvas = make("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    this.area = make("div", {className: "area", tabIndex: 0}, this.canvas);
    this.area.setAttribute("role", "application");
    this.area.setAttribute("aria-roledescription", "timeline");
    this.area.setAttribute("aria-label", "Timeline of " + plan.name + ", " + plan.shown + ", " + seconds(plan.makespan) +
      " long. Arrow keys go from op to op, plus and minus zoom, 0 shows everything.");
    this.labels = make("div", {className: "labels"});
    plan.rows.forEach((row, unit) => {
      const busy = row.reduce((sum, group) => sum + plan.finish[group] - plan.start[group], 0);
      const share = plan.makespan > 0 ? (100 * busy / plan.makespan).toFixed(0) + " %" : "";
      this.labels.append(make("div", {className: "label", title: base.units[unit]},
        make("span", {className: "unit", textContent: base.units[unit]}), make("span", {className: "busy", textContent: share})));
    });
    if (view.memory) plan.memory.forEach((memory, i) => {
      this.labels.append(make("div", {className: "label memory", title: base.memories[i] + ", at most " + bytes(memory.most)},
        make("span", {className: "unit", textContent: base.memories[i]})));
    });
    this.element = make("div", {className: "gantt-plan"}, title,
      make("div", {className: "lanes"}, this.labels, this.area));
    this.element.dataset.plan = plan.name;
    byId("plans").append(this.element);
    listen(this);
  }
  height() {
    return this.plan.rows.length * kRow + (view.memory ? this.plan.memory.length * kMemory : 0) + kAxis;
  }
  x(time) { return (time - view.from) / (view.to - view.from) * this.width; }
  time(x) { return view.from + x / this.width * (view.to - view.from); }

  // The first group of the row that ends after the time.
  firstAfter(row, time) {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.plan.finish[row[middle]] > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  draw() {
    const scale = window.devicePixelRatio || 1;
    this.width = this.area.clientWidth;
    this.canvas.width = this.width * scale;
    this.canvas.height = this.height() * scale;
    this.canvas.style.height = this.height() + "px";
    const pen = this.pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = "12px system-ui, sans-serif";
    this.drawAxis();
    this.plan.rows.forEach((row, unit) => this.drawRow(row, unit * kRow));
    if (view.transfers || view.path) this.drawTransfers();
    if (view.memory) this.plan.memory.forEach((memory, i) =>
      this.drawMemory(memory, base.capacities[i], this.plan.rows.length * kRow + i * kMemory));
    this.drawChosen();
  }

  drawAxis() {
    const pen = this.pen, span = view.to - view.from, bottom = this.height() - kAxis;
    const rough = span / Math.max(2, Math.floor(this.width / 110)), power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].find((nice) => nice * power >= rough) * power;
    pen.fillStyle = colours.row;
    this.plan.rows.forEach((row, unit) => pen.fillRect(0, unit * kRow, this.width, kBar));
    pen.textAlign = "center";
    for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
      const x = Math.round(this.x(i * step)) + 0.5;
      pen.fillStyle = colours.line;
      pen.fillRect(x - 0.5, 0, 1, bottom + 4);
      pen.fillStyle = colours.quiet;
      const text = roundSeconds(i * step, step), half = pen.measureText(text).width / 2;
      pen.fillText(text, Math.min(Math.max(x, half), this.width - half), bottom + 17);
    }
    pen.textAlign = "left";
  }

  drawRow(row, y) {
    const pen = this.pen, plan = this.plan;
    // Of groups too narrow to see, every pixel has the colour of what takes most of it.
    let pixel = -1, weights = new Float64Array(9), path = false;
    const flush = () => {
      if (pixel < 0) return;
      let most = 0, all = 0;
      for (let colour = 0; colour < 9; colour++) { all += weights[colour]; if (weights[colour] > weights[most]) most = colour; }
      pen.globalAlpha = Math.min(1, Math.max(0.3, all));
      pen.fillStyle = colours.types[most];
      pen.fillRect(pixel, y, 1, kBar);
      pen.globalAlpha = 1;
      if (path && view.path) { pen.fillStyle = colours.critical; pen.fillRect(pixel, y + kBar - 4, 1, 4); }
      weights.fill(0);
      pixel = -1;
      path = false;
    };
    for (let i = this.firstAfter(row, view.from); i < row.length && plan.start[row[i]] < view.to; i++) {
      const group = row[i], x = Math.max(-2, this.x(plan.start[group])), end = Math.min(this.width + 2, this.x(plan.finish[group]));
      if (end - x < 1.5) {
        const at = Math.floor(x);
        if (at !== pixel) { flush(); pixel = at; }
        weights[plan.groups.colour[group]] += Math.max(0.02, end - x);
        path = path || plan.onPath[group] > 0;
        continue;
      }
      flush();
      const gap = end - x > 4 ? 1 : end - x > 2 ? 0.5 : 0;
      pen.fillStyle = colours.types[plan.groups.colour[group]];
      pen.fillRect(x, y, end - x - gap, kBar);
      if (plan.onPath[group] && view.path) { pen.fillStyle = colours.critical; pen.fillRect(x, y + kBar - 4, end - x - gap, 4); }
      if (end - x > 26) this.drawName(group, x, end, y);
    }
    flush();
  }

  drawName(group, x, end, y) {
    const pen = this.pen, room = end - x - 8;
    for (const text of [nameOf(this.plan, group), typesOf(this.plan, group)]) {
      if (text.length * 4 > room || pen.measureText(text).width > room) continue;
      pen.fillStyle = colours.inbar;
      pen.fillText(text, Math.max(x, 0) + 4, y + 15);
      return;
    }
  }

  drawTransfers() {
    const pen = this.pen, plan = this.plan;
    const seen = plan.transfers.filter((transfer) => transfer.end > view.from && transfer.begin < view.to);
    const all = view.transfers && seen.length <= kMostTransfers;
    const critical = view.path && seen.filter((transfer) => transfer.onPath).length <= kMostCritical;
    this.note.textContent = view.transfers && !all ?
      "(" + seen.length.toLocaleString("en") + " transfers in view: zoom in to see each)" : "";
    const middle = (device) => {
      const units = base.devices[device].units;
      return units.reduce((sum, unit) => sum + unit, 0) / units.length * kRow + kBar / 2;
    };
    for (const onPath of [false, true]) {
      if (!(onPath ? critical : all)) continue;
      pen.strokeStyle = onPath ? colours.critical : colours.transfer;
      pen.lineWidth = onPath ? 2 : 1;
      pen.globalAlpha = onPath ? 1 : seen.length > 300 ? 0.35 : 0.75;
      pen.beginPath();
      for (const transfer of seen) {
        if ((critical && transfer.onPath) !== onPath) continue;
        pen.moveTo(this.x(transfer.begin), middle(plan.device[transfer.from]));
        pen.lineTo(this.x(transfer.end), middle(transfer.to));
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  drawMemory(memory, capacity, y) {
    const pen = this.pen, bottom = y + kMemory - 4, height = kMemory - 8;
    const top = capacity && capacity < 4 * memory.most ? Math.max(capacity, memory.most) : memory.most;
    const at = (part) => bottom - (top > 0 ? part / 1000 * memory.most / top * height : 0);
    pen.fillStyle = colours.memory;
    pen.beginPath();
    pen.moveTo(this.x(0), bottom);
    memory.times.forEach((time, i) => {
      const end = i + 1 < memory.times.length ? memory.times[i + 1] : this.plan.makespan;
      pen.lineTo(this.x(time), at(memory.parts[i]));
      pen.lineTo(this.x(end), at(memory.parts[i]));
    });
    pen.lineTo(this.x(this.plan.makespan), bottom);
    pen.fill();
    if (top > memory.most) { pen.fillStyle = colours.critical; pen.fillRect(0, bottom - capacity / top * height, this.width, 1); }
    pen.fillStyle = colours.ink;
    pen.fillText("at most " + bytes(memory.most) + (capacity ? " of " + bytes(capacity) : ""), 4, y + 14);
  }

  drawChosen() {
    if (view.group < 0 || view.plan !== this.plan.number) return;
    const pen = this.pen, x = this.x(this.plan.start[view.group]), end = this.x(this.plan.finish[view.group]);
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 2;
    for (const unit of base.devices[this.plan.device[view.group]].units)
      pen.strokeRect(x - 1, unit * kRow - 0.5, Math.max(4, end - x + 1), kBar + 1);
  }

  groupAt(x, y) {
    const row = this.plan.rows[Math.floor(y / kRow)];
    if (!row || !row.length) return -1;
    const near = 3 / this.width * (view.to - view.from), time = this.time(x);
    const i = Math.min(this.firstAfter(row, time), row.length - 1);
    const away = (group) => Math.max(this.plan.start[group] - time, time - this.plan.finish[group], 0);
    const best = [i - 1, i].filter((k) => k >= 0).map((k) => row[k]).sort((a, b) => away(a) - away(b))[0];
    return away(best) <= near ? best : -1;
  }
}
)js";

}  // namespace millrace
