// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/style.h"

namespace millrace {

const char* const kReportStyle = R"css(
:root{--page:#fbfaf8;--ink:#1d2428;--quiet:#68737a;--line:#e3e0da;--card:#fff;--accent:#0b6e63;--row:#f0eeea;
--t0:#2f6f9f;--t1:#d98c3a;--t2:#4c9a6a;--t3:#b6544f;--t4:#7d6aa8;--t5:#8f7a52;--t6:#4aa3a5;--t7:#c578a4;--t8:#8c979c}
@media (prefers-color-scheme:dark){:root{--page:#15191b;--ink:#e7e9e8;--quiet:#98a3a8;--line:#2c3337;--card:#1c2124;--accent:#5fc7b8;--row:#22282b}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:34px 28px 80px}
h1{font-size:26px;margin:0 0 2px;letter-spacing:-.01em}h2{font-size:18px;margin:44px 0 6px}
p{margin:4px 0 12px;max-width:78ch}.quiet{color:var(--quiet);fill:var(--quiet)}
.verdict{font-size:44px;font-weight:650;letter-spacing:-.02em;margin:18px 0 0;color:var(--accent);line-height:1.15}
.verdict.even{color:var(--ink)}.verdict small{font-size:17px;font-weight:400;color:var(--ink);letter-spacing:0}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px 16px;overflow-x:auto}
.facts{display:flex;flex-wrap:wrap;gap:10px 34px;margin:18px 0 0;padding:0;list-style:none}
.facts b{display:block;font-size:19px;font-weight:600}.facts span{color:var(--quiet);font-size:13px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{font-weight:500;color:var(--quiet);text-align:right;border-bottom:1px solid var(--line);padding:4px 10px;font-size:13px}
td{text-align:right;padding:5px 10px;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child,.text{text-align:left}td.text{white-space:normal}tr:last-child td{border-bottom:0}tr.best td{font-weight:600}
svg{display:block;width:100%;height:auto;font:12px system-ui,"DejaVu Sans",sans-serif}
svg text{fill:var(--ink)}svg .quiet,svg .tick,svg .unit{fill:var(--quiet)}
.unit{text-anchor:end}.tick{text-anchor:middle;font-size:11px}.tick.left{text-anchor:end;dominant-baseline:middle}.axis{text-anchor:middle;fill:var(--quiet)}
.plan-name{font-weight:600;font-size:13px}.plan-name .quiet{font-weight:400}.row{fill:var(--row)}.grid{stroke:var(--line);stroke-width:1}
.bar{stroke:var(--card);stroke-width:.5}.bar:hover{opacity:.75}.bar.gang{stroke-dasharray:none}.inbar{fill:#fff!important;font-size:11px;pointer-events:none}.many{fill:var(--t8)}
.t0{fill:var(--t0);background:var(--t0)}.t1{fill:var(--t1);background:var(--t1)}.t2{fill:var(--t2);background:var(--t2)}.t3{fill:var(--t3);background:var(--t3)}
.t4{fill:var(--t4);background:var(--t4)}.t5{fill:var(--t5);background:var(--t5)}.t6{fill:var(--t6);background:var(--t6)}.t7{fill:var(--t7);background:var(--t7)}.t8{fill:var(--t8);background:var(--t8)}
.key{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:7px;vertical-align:-1px}
.share{display:inline-block;height:9px;border-radius:2px;vertical-align:0}
.scatter{max-width:620px}.agree{stroke:var(--quiet);stroke-dasharray:5 4}.point{fill:var(--t0);fill-opacity:.72;stroke:var(--card)}.point.winner{fill:var(--accent);fill-opacity:1}
.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:22px}@media(max-width:900px){.two{grid-template-columns:1fr}}
input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:6px;padding:6px 10px;width:min(340px,100%);margin:0 0 10px}
.scroll{max-height:520px;overflow:auto}.warning{border-left:3px solid var(--t1);padding:2px 0 2px 12px}
code{font:13px ui-monospace,"DejaVu Sans Mono",monospace}
)css";

const char* const kReportScript = R"js(
(function () {
  var box = document.getElementById("filter");
  var rows = document.querySelectorAll("#groups tbody tr");
  document.documentElement.dataset.scripts = "done";
  box.addEventListener("input", function () {
    var wanted = box.value.toLowerCase();
    rows.forEach(function (row) { row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0; });
  });
})();
)js";

}  // namespace millrace
