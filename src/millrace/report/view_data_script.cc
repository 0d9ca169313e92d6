// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/view_script.h"

namespace millrace {

const char* const kViewDataScript = R"js(
(function () {
"use strict";
const byId = (id) => document.getElementById(id);
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties || {});
  element.append(...children);
  return element;
};

// ---- times and sizes as people read them
const seconds = (s) => s >= 1 || s === 0 ? +s.toPrecision(3) + " s" : s >= 1e-3 ? (s * 1e3).toFixed(3) + " ms"
  : s >= 1e-6 ? (s * 1e6).toFixed(1) + " us" : +(s * 1e9).toPrecision(3) + " ns";
const roundSeconds = (s, step) => {
  const [unit, factor] = step >= 0.5 ? ["s", 1] : step >= 5e-4 ? ["ms", 1e3] : step >= 5e-7 ? ["us", 1e6] : ["ns", 1e9];
  return s === 0 ? "0" : +(s * factor).toPrecision(7) + " " + unit;
};
const bytes = (b) => {
  let unit = 0;
  while (b >= 1000 && unit < 4) { b /= 1000; unit++; }
  return b.toFixed(unit ? 1 : 0) + " " + ["B", "kB", "MB", "GB", "TB"][unit];
};

// ---- the data: parts of the page, packed
const unpack = (id) => {
  const packed = byId("data-" + id);
  if (!packed) return null;
  const raw = Uint8Array.from(atob(packed.textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};
const sums = (deltas) => { let at = 0; return deltas.map((delta) => at += delta); };
let base = null;
const groupings = {}, plans = [];

async function groupsOf(id) {
  if (!groupings[id]) {
    const raw = await unpack(id);
    const first = raw.op ? sums(raw.op) : null;
    const values = raw.values.map((value) => value === null ? Infinity : +value);
    groupings[id] = {
      size: raw.size, colour: raw.colour,
      ops: (group) => first ? [first[group]] : raw.ops[group],
      on: (group, device) => values[raw.columns[raw.columnOf[device]][group]],
    };
  }
  return groupings[id];
}

async function planOf(number) {
  if (plans[number]) return plans[number];
  const raw = await unpack("plan-" + number);
  if (!raw) return null;
  const groups = await groupsOf(raw.groups), tick = raw.makespan > 0 ? raw.makespan / 1e7 : 1;
  const plan = Object.assign({number, groups, memory: [], transfers: [], onPath: new Uint8Array(groups.size)},
    base.plans[number]);
  plan.start = new Float64Array(groups.size);
  plan.finish = new Float64Array(groups.size);
  plan.device = new Int32Array(groups.size);
  plan.why = new Int32Array(groups.size);
  plan.before = new Int32Array(groups.size).fill(-1);
  raw.lanes.forEach((lane, device) => {
    const order = sums(lane.groups);
    let time = 0;
    order.forEach((group, i) => {
      plan.start[group] = time += lane.gaps[i] * tick;
      plan.finish[group] = time += lane.lengths ? lane.lengths[i] * tick : groups.on(group, device);
      plan.device[group] = device;
      plan.why[group] = lane.why ? lane.why[i] : -1;
      if (i > 0) plan.before[group] = order[i - 1];
    });
  });
  plan.rows = base.units.map(() => []);
  for (let group = 0; group < groups.size; group++)
    for (const unit of base.devices[plan.device[group]].units) plan.rows[unit].push(group);
  for (const row of plan.rows) row.sort((a, b) => plan.start[a] - plan.start[b] || plan.finish[a] - plan.finish[b]);
  for (const group of sums(raw.path)) plan.onPath[group] = 1;
  if (raw.transfers) {
    const of = sums(raw.transfers.of), begin = sums(raw.transfers.begin);
    plan.transfers = of.map((from, i) => ({from, to: raw.transfers.to[i], begin: begin[i] * tick,
      end: (begin[i] + raw.transfers.lengths[i]) * tick, onPath: false}));
    for (const transfer of raw.pathTransfers) plan.transfers[transfer].onPath = true;
  } else {
    for (let group = 0; group < groups.size; group++) {
      if (plan.why[group] < 2 || (plan.why[group] - 2) % 3 !== 2) continue;
      const from = (plan.why[group] - 4) / 3;
      plan.why[group] = 4 + 3 * plan.transfers.length;
      plan.transfers.push({from, to: plan.device[group], begin: plan.finish[from], end: plan.start[group],
        onPath: plan.onPath[group] > 0});
    }
  }
  plan.memory = raw.memory.map((memory) => ({most: memory.most, times: sums(memory.times).map((t) => t * tick),
    parts: memory.parts}));
  return plans[number] = plan;
}

// What a group waited for: {what, group, transfer}.
function reasonOf(plan, group) {
  const why = plan.why[group];
  if (why <= 0) return {what: why < 0 ? "unknown" : "nothing"};
  if (why === 1) return {what: "device", group: plan.before[group]};
  const kind = (why - 2) % 3, number = (why - 2 - kind) / 3;
  if (kind < 2) return {what: kind ? "input" : "device", group: number};
  return {what: "transfer", group: plan.transfers[number].from, transfer: plan.transfers[number]};
}
const opName = (op) => base.names[op] || "op " + op;
const nameOf = (plan, group) => {
  const ops = plan.groups.ops(group);
  return opName(ops[0]) + (ops.length > 1 ? " + " + (ops.length - 1) : "");
};
const typesOf = (plan, group) =>
  [...new Set(plan.groups.ops(group).map((op) => base.types[base.typeOf[op]]))].join(" + ");
const groupWith = (plan, op) => {
  for (let group = 0; group < plan.groups.size; group++) if (plan.groups.ops(group).includes(op)) return group;
  return -1;
};
)js";

}  // namespace millrace
