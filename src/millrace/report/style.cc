// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/style.h"

namespace millrace {

const char* const kReportStyle = R"css(
:root{color-scheme:light dark;--page:#fbfaf8;--ink:#1d2428;--quiet:#5d686f;--line:#e0ddd6;--card:#fff;--accent:#0b6e63;--row:#f1efeb;
--critical:#c2185b;--memory:#b9c6d2;--inbar:#fff;--transfer:#3d474d;--waits:#e0a030;--results:#b9b2d6;--idle:#e8e5df;
--t0:#2f6f9f;--t1:#c9761f;--t2:#3f8a5b;--t3:#b6544f;--t4:#7d6aa8;--t5:#8a7340;--t6:#2f8f92;--t7:#b5628f;--t8:#8c979c}
@media (prefers-color-scheme:dark){:root{--page:#15191b;--ink:#e7e9e8;--quiet:#a3aeb3;--line:#333b40;--card:#1c2124;--accent:#5fd3c2;--row:#262d31;
--critical:#ff6fa5;--memory:#42586a;--inbar:#0d1113;--transfer:#c9d2d6;--waits:#e8b04a;--results:#7c73a8;--idle:#2b3338;
--t0:#6fb2e6;--t1:#f0a65a;--t2:#77c796;--t3:#ec8a84;--t4:#b6a2e6;--t5:#cbb27a;--t6:#6ccfd2;--t7:#eb9fc8;--t8:#97a3a8}}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
main{max-width:1320px;margin:0 auto;padding:34px 28px 80px}
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;background:var(--card);padding:6px 10px}
h1{font-size:26px;margin:0 0 2px;letter-spacing:-.01em;line-height:1.25}h2{font-size:19px;margin:44px 0 6px}h3{font-size:14px;margin:16px 0 5px}
p{margin:4px 0 12px;max-width:82ch}.quiet{color:var(--quiet);font-weight:400}
.verdict{font-size:44px;font-weight:650;letter-spacing:-.02em;margin:18px 0 0;color:var(--accent);line-height:1.15}
.verdict.even{color:var(--ink)}.verdict small{display:inline-block;font-size:17px;line-height:1.4;font-weight:400;color:var(--ink);letter-spacing:0}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px 16px}
.facts{display:flex;flex-wrap:wrap;gap:10px 34px;margin:18px 0 0;padding:0;list-style:none}
.facts b{display:block;font-size:19px;font-weight:600}.facts span{color:var(--quiet);font-size:13px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}caption{text-align:left;color:var(--quiet);font-size:13px;padding:2px 10px 4px}
th{white-space:nowrap;font-weight:500;color:var(--quiet);text-align:right;border-bottom:1px solid var(--line);padding:4px 10px;font-size:13px}
td,tbody th{text-align:right;padding:5px 10px;border-bottom:1px solid var(--line);white-space:nowrap}tbody th{color:var(--ink);font-size:inherit;white-space:normal;min-width:7.5em}
th:first-child,td:first-child,.text{text-align:left}td.text{white-space:normal;min-width:9em}tr:last-child td,tbody tr:last-child th{border-bottom:0}tr.best td,tr.best th{font-weight:650}
.scroll{max-height:520px;overflow:auto}.warning{border-left:3px solid var(--t1);padding:2px 0 2px 12px;margin-top:12px}
svg{display:block;width:100%;height:auto;font:14px system-ui,"DejaVu Sans",sans-serif}
svg text{fill:var(--ink)}svg .tick{fill:var(--quiet);text-anchor:middle;font-size:13px}svg .tick.left{text-anchor:end;dominant-baseline:middle}svg .axis{text-anchor:middle;fill:var(--quiet)}
.grid{stroke:var(--line);stroke-width:1}.scatter{max-width:620px}.agree{stroke:var(--quiet);stroke-dasharray:5 4}
.point{fill:var(--t0);fill-opacity:.75;stroke:var(--card)}.point.winner{fill:var(--accent);fill-opacity:1}
.row{display:flex;align-items:center;margin:3px 0;height:22px;font-size:13px}.unit{flex:none;width:92px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;overflow-wrap:normal}
.busy{flex:none;width:48px;padding-right:9px;text-align:right;color:var(--quiet);white-space:nowrap}
.lane{flex:1;height:22px;background:var(--row);min-width:0}.bar{stroke:var(--card);stroke-width:1;vector-effect:non-scaling-stroke}.bar:hover{opacity:.75}
.ticks{position:relative;height:20px;margin-left:140px;font-size:12px;color:var(--quiet)}.ticks span{position:absolute;transform:translateX(-50%);white-space:nowrap}.ticks span:first-child{transform:none}
.parts{flex:1;display:flex;height:18px;min-width:0}.parts span{flex:none}.computing{background:var(--t0)}.transfers{background:var(--waits)}.results{background:var(--results)}.idle{background:var(--idle)}
.lanes{display:flex}.labels{flex:none;width:140px;font-size:13px}.label{display:flex;height:26px;line-height:22px}.label.memory{height:40px;line-height:36px}.label.memory .unit{width:130px}
.area{flex:1;min-width:0;cursor:grab;touch-action:pan-y;position:relative}.area canvas{display:block;width:100%}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.tools{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:center;margin-bottom:8px;font-size:14px}label.tick{white-space:nowrap}
button,select,input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:6px;padding:4px 9px;max-width:100%}
select{max-width:280px}button{cursor:pointer}button:hover{border-color:var(--accent)}.buttons{display:flex;gap:5px}.buttons button{min-width:34px;padding:4px 8px}
button.to{border:0;padding:0;background:none;color:var(--accent);text-decoration:underline;text-align:left}
input[type=checkbox]{accent-color:var(--accent)}#filter{width:min(340px,100%);margin:0 10px 10px 0}
#details{border-top:1px solid var(--line);margin-top:12px;padding-top:4px;min-height:64px}#details table{width:auto}#details h3{font-size:15px;margin:8px 0 4px}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;padding:0;margin:10px 0 2px;font-size:13px}
.key{display:inline-block;width:12px;height:12px;border-radius:2px;margin-right:7px;vertical-align:-1px}.share{display:inline-block;height:10px;border-radius:2px}
.t0{fill:var(--t0)}.t1{fill:var(--t1)}.t2{fill:var(--t2)}.t3{fill:var(--t3)}.t4{fill:var(--t4)}.t5{fill:var(--t5)}.t6{fill:var(--t6)}.t7{fill:var(--t7)}.t8{fill:var(--t8)}
span.t0{background:var(--t0)}span.t1{background:var(--t1)}span.t2{background:var(--t2)}span.t3{background:var(--t3)}span.t4{background:var(--t4)}span.t5{background:var(--t5)}span.t6{background:var(--t6)}span.t7{background:var(--t7)}span.t8{background:var(--t8)}
.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:22px}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:6px 18px;margin:8px 0}dt{font-weight:600}dd{margin:0;max-width:82ch}
details summary{cursor:pointer;margin:10px 0 6px;color:var(--quiet)}details .card{border:0;padding:0}
@media(max-width:900px){.two{grid-template-columns:minmax(0,1fr)}}
@media(max-width:600px){main{padding:20px 14px 60px}.card{padding:11px 10px}.verdict{font-size:34px}.unit{width:62px}.labels{width:106px}.busy{width:44px;padding-right:6px}.ticks{margin-left:106px}
.label.memory .unit{width:100px}dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin-bottom:8px}td,th,tbody th{padding-left:7px;padding-right:7px}.facts{gap:10px 24px}}
@media print{.tools,#details,.skip{display:none}}
)css";

}  // namespace millrace
