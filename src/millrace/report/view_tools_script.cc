// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/view_script.h"

namespace millrace {

const char* const kViewToolsScript = R"js(
// ---- looking around
let waiting = false;
function drawAll() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => { waiting = false; blocks.forEach((block) => block.draw()); }, 12);
}
function setWindow(from, to) {
  const most = longest() * 1.002, span = Math.min(most, Math.max(most * 1e-6, to - from));
  view.from = Math.min(Math.max(0, from), most - span);
  view.to = view.from + span;
  view.whole = span >= most;
  drawAll();
}
function zoom(factor, around) {
  const at = around === undefined ? (view.from + view.to) / 2 : around;
  setWindow(at - (at - view.from) * factor, at + (view.to - at) * factor);
}
function pan(share) {
  const by = share * (view.to - view.from);
  setWindow(view.from + by, view.to + by);
}
function bringIntoView(plan, group) {
  const start = plan.start[group], finish = plan.finish[group], span = view.to - view.from;
  if (finish > view.from && start < view.to) return;
  setWindow((start + finish) / 2 - span / 2, (start + finish) / 2 + span / 2);
}
function choose(number, group) {
  const block = blocks.find((other) => other.plan.number === number);
  if (!block || group < 0) return;
  view.plan = number;
  view.group = group;
  bringIntoView(block.plan, group);
  describe(block.plan, group);
  drawAll();
}

function listen(block) {
  const area = block.area;
  let held = null, moved = false;
  const place = (event) => { const box = area.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  area.addEventListener("pointerdown", (event) => {
    held = {x: event.clientX, from: view.from, to: view.to};
    moved = false;
  });
  area.addEventListener("pointermove", (event) => {
    if (held && Math.abs(event.clientX - held.x) > 3) moved = true;
    if (held && moved) {
      area.setPointerCapture(event.pointerId);
      const by = (held.x - event.clientX) / block.width * (held.to - held.from);
      setWindow(held.from + by, held.to + by);
      return;
    }
    const group = block.groupAt(...place(event));
    area.title = group < 0 ? "" : nameOf(block.plan, group) + "\n" + typesOf(block.plan, group) + ", " +
      seconds(block.plan.finish[group] - block.plan.start[group]);
  });
  area.addEventListener("pointerup", (event) => {
    if (held && !moved) choose(block.plan.number, block.groupAt(...place(event)));
    held = null;
  });
  area.addEventListener("pointercancel", () => { held = null; });
  area.addEventListener("dblclick", (event) => zoom(0.4, block.time(place(event)[0])));
  area.addEventListener("wheel", (event) => {
    if (event.ctrlKey) {
      event.preventDefault();
      zoom(Math.exp(event.deltaY * 0.004), block.time(place(event)[0]));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan(event.deltaX / block.width);
    }
  }, {passive: false});
  area.addEventListener("keydown", (event) => {
    const done = key(block, event.key);
    if (done) event.preventDefault();
  });
}

// From bar to bar along a row, or to what runs at that time on the next one.
function key(block, name) {
  const plan = block.plan;
  const looking = {"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => setWindow(0, Infinity),
    PageDown: () => pan(0.8), PageUp: () => pan(-0.8)}[name];
  if (looking) { looking(); return true; }
  if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(name)) return false;
  let unit = 0, group = view.group;
  if (view.plan !== plan.number || group < 0) {
    unit = plan.rows.findIndex((row) => row.length > 0);
    if (unit < 0) return true;
    group = plan.rows[unit][Math.min(block.firstAfter(plan.rows[unit], view.from), plan.rows[unit].length - 1)];
    choose(plan.number, group);
    return true;
  }
  unit = base.devices[plan.device[group]].units[0];
  const row = plan.rows[unit], at = row.indexOf(group);
  if (name === "Home") group = row[0];
  if (name === "End") group = row[row.length - 1];
  if (name === "ArrowLeft") group = row[Math.max(0, at - 1)];
  if (name === "ArrowRight") group = row[Math.min(row.length - 1, at + 1)];
  if (name === "ArrowUp" || name === "ArrowDown") {
    const step = name === "ArrowUp" ? -1 : 1, time = (plan.start[group] + plan.finish[group]) / 2;
    for (unit += step; plan.rows[unit] && !plan.rows[unit].length;) unit += step;
    if (!plan.rows[unit]) return true;
    group = plan.rows[unit][Math.min(block.firstAfter(plan.rows[unit], time), plan.rows[unit].length - 1)];
  }
  choose(plan.number, group);
  return true;
}

// ---- the details of one group
const toGroup = (plan, group) => make("button", {type: "button", className: "to", textContent: nameOf(plan, group),
  onclick: () => choose(plan.number, group)});
function whyThen(plan, group) {
  const reason = reasonOf(plan, group), on = (other) => base.devices[plan.device[other]].name;
  if (reason.what === "unknown") return ["This is what was measured; why is not known."];
  if (reason.what === "nothing") return ["It starts at once."];
  if (reason.what === "device") return ["It waited for ", on(group), " to be free of ", toGroup(plan, reason.group), "."];
  if (reason.what === "input") return ["It waited for its input from ", toGroup(plan, reason.group), "."];
  const transfer = reason.transfer, made = plan.finish[reason.group], queued = transfer.begin - made;
  return ["It waited for a tensor of ", toGroup(plan, reason.group), " on ", on(reason.group), ": made at ", seconds(made),
    ", there at ", seconds(transfer.end), ...(queued > 1e-6 * plan.makespan ? [", ", seconds(queued), " of it behind other transfers"] : []), "."];
}
function describe(plan, group) {
  const device = plan.device[group], ops = plan.groups.ops(group);
  const lines = [make("h3", {}, nameOf(plan, group), " ", make("span", {className: "quiet", textContent: typesOf(plan, group)}))];
  lines.push(make("p", {textContent: "Plan " + plan.name + ": on " + base.devices[device].name + " from " +
    seconds(plan.start[group]) + " to " + seconds(plan.finish[group]) + ", " + seconds(plan.finish[group] - plan.start[group]) +
    (plan.onPath[group] ? "; on the critical path" : "") + "."}));
  lines.push(make("p", {}, ...whyThen(plan, group)));
  const other = blocks.find((block) => block.plan.number !== plan.number);
  if (other) {
    const same = groupWith(other.plan, ops[0]);
    if (same >= 0) lines.push(make("p", {}, "Plan " + other.plan.name + ": ", toGroup(other.plan, same), " on " +
      base.devices[other.plan.device[same]].name + " from " + seconds(other.plan.start[same]) + " to " +
      seconds(other.plan.finish[same]) + "."));
  }
  if (ops.length > 1) lines.push(make("p", {}, "Ops in it: " + ops.map((op) => opName(op) + " (" + base.types[base.typeOf[op]] + ")").join(", ") + "."));
  const times = new Map();
  base.devices.forEach((one, i) => {
    const time = plan.groups.on(group, i), word = time < Infinity ? seconds(time) : "cannot run";
    times.set(word, (times.get(word) || []).concat(one.name));
  });
  const body = make("tbody");
  for (const [time, names] of times) body.append(make("tr", {}, make("th", {scope: "row", textContent: names.join(", ")}), make("td", {textContent: time})));
  lines.push(make("table", {}, make("caption", {textContent: "How long it takes on each device"}), body));
  byId("details").replaceChildren(...lines);
}

// ---- tools
function tools() {
  const bar = document.querySelector("#view .tools");
  const available = base.plans.map((plan, i) => i).filter((i) => byId("data-plan-" + i));
  const chooser = (label, chosen, none, set) => {
    const select = make("select", {onchange: () => { set(+select.value); view.whole = true; show(); }});
    if (none) select.append(make("option", {value: -1, textContent: "nothing"}));
    for (const i of available) select.append(make("option", {value: i,
      textContent: base.plans[i].name + ", " + base.plans[i].shown + " (" + seconds(base.plans[i].makespan) + ")"}));
    select.value = chosen;
    return make("label", {}, label + " ", select);
  };
  const tick = (label, field, after) => make("label", {className: "tick"}, make("input", {type: "checkbox",
    checked: view[field], onchange: (event) => { view[field] = event.target.checked; after(); }}), " " + label);
  const button = (text, label, act) => { const b = make("button", {type: "button", textContent: text, title: label, onclick: act});
    b.setAttribute("aria-label", label); return b; };
  bar.append(chooser("Show", view.first, false, (i) => { view.first = i; }),
    chooser("beside", view.second, true, (i) => { view.second = i; }),
    make("span", {className: "buttons"}, button("\u2190", "earlier", () => pan(-0.5)), button("\u2192", "later", () => pan(0.5)),
      button("+", "zoom in", () => zoom(0.5)), button("\u2212", "zoom out", () => zoom(2)),
      button("all", "show everything", () => setWindow(0, Infinity))),
    tick("transfers", "transfers", drawAll), tick("critical path", "path", drawAll), tick("memory", "memory", show));
}

// ---- the table of groups, and buttons that lead from tables to the timelines
const kRowsShown = 300;
function filter() {
  const box = byId("filter"), body = document.querySelector("#groups tbody"), wanted = box.value.toLowerCase();
  const plan = plans[0];
  if (!plan) {
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    return;
  }
  const found = [];
  let count = 0;
  for (const group of plan.order) {
    const ops = plan.groups.ops(group).map(opName).join(", "), types = typesOf(plan, group), on = base.devices[plan.device[group]].name;
    if (wanted && !(ops + "\n" + types + "\n" + on).toLowerCase().includes(wanted)) continue;
    if (++count > kRowsShown) continue;
    const button = make("button", {type: "button", className: "to", textContent: group});
    button.dataset.op = plan.groups.ops(group)[0];
    found.push(make("tr", {}, make("th", {scope: "row"}, button), ...[ops, types, on].map((text) => make("td", {className: "text", textContent: text})),
      make("td", {textContent: seconds(plan.start[group])}), make("td", {textContent: seconds(plan.finish[group] - plan.start[group])})));
  }
  body.replaceChildren(...found);
  byId("found").textContent = count > kRowsShown ? "The first " + kRowsShown + " of " + count + "." : count + " of " + plan.groups.size + ".";
}
function follow(event) {
  const button = event.target.closest("button[data-op]");
  if (!button || !blocks.length) return;
  const plan = blocks[0].plan;
  choose(plan.number, groupWith(plan, +button.dataset.op));
  byId("view").scrollIntoView({block: "center"});
  blocks[0].area.focus({preventScroll: true});
}

async function begin() {
  const box = byId("filter");
  if (box) box.addEventListener("input", filter);
  let state = "plain";
  try {
    base = await unpack("base");
    const holder = byId("view");
    view.first = +holder.dataset.first;
    view.second = +holder.dataset.second;
    view.whole = true;
    if (base && await planOf(view.first)) {
      readColours();
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); drawAll(); });
      tools();
      byId("details").append(make("p", {className: "quiet", textContent: "Nothing chosen: click a bar."}));
      for (const element of document.querySelectorAll(".scripted")) element.hidden = false;
      await show();
      new ResizeObserver(drawAll).observe(byId("plans"));
      document.addEventListener("click", follow);
      if (box) {
        const plan = await planOf(0);
        plan.order = [...new Set(plan.rows.flat())].sort((a, b) => plan.start[a] - plan.start[b] || plan.finish[a] - plan.finish[b]);
        filter();
      }
      state = "done";
    }
  } catch (error) {
    console.error(error);
  }
  document.documentElement.dataset.scripts = state;
}
begin();
})();
)js";

}  // namespace millrace
