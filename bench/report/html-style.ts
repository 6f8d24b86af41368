/** For screens, light and dark, and for paper. Nothing is told by colour alone. */
export const PAGE_STYLE = `
:root { --ink: #1c2430; --soft: #5b6675; --line: #d5dae1; --paper: #fff; --band: #f3f5f8; --ours: #1f5fbf; --theirs: #7a8494; --good: #1a7f37; --warn: #8a5a00; --bad: #b42318; --goal: #b3540e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --soft: #9aa6b5; --line: #38424f; --paper: #12171e; --band: #1b222b; --ours: #7fb0ff; --theirs: #98a3b3; --good: #5fd07f; --warn: #e0b050; --bad: #ff8a80; --goal: #ffa657; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
p { margin: .3rem 0; }
small, .soft, figcaption { color: var(--soft); }
a { color: var(--ours); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .6rem 0; }
th, td { text-align: left; vertical-align: top; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 500; }
tbody th { font-weight: 500; }
nav ul { columns: 14rem; padding: 0; list-style: none; margin: .4rem 0; }
figure { margin: .8rem 0; }
svg { display: block; width: 100%; max-width: 60rem; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); }
svg.small { width: 160px; display: inline-block; }
svg .soft { fill: var(--soft); }
.grid { stroke: var(--line); stroke-width: 1; }
.one { stroke: var(--soft); stroke-dasharray: 3 3; }
.box { fill: var(--band); stroke: var(--theirs); }
.median { stroke: var(--ink); stroke-width: 2.5; }
.round { fill: var(--ours); fill-opacity: .75; }
.beyond { fill: none; stroke: var(--ours); }
.floor { stroke: var(--bad); stroke-width: 3; }
.target { fill: var(--goal); }
.same { fill: var(--line); }
.interval { stroke: var(--ours); stroke-width: 3; }
.good { color: var(--good); }
.warn { color: var(--warn); }
.bad { color: var(--bad); font-weight: 600; }
section.warn, section.bad { border-left: 4px solid; padding: .1rem 1rem .6rem; background: var(--band); margin-top: 1rem; color: var(--ink); font-weight: 400; }
section.warn { border-color: var(--warn); }
section.bad { border-color: var(--bad); }
section.warn h2, section.bad h2 { margin-top: .6rem; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --band: #eee; --ours: #1f5fbf; --theirs: #666; --good: #1a7f37; --warn: #8a5a00; --bad: #b42318; --goal: #b3540e; }
  body { font-size: 10pt; }
  nav { display: none; }
  figure, tr, section.warn, section.bad { break-inside: avoid; }
  h2 { break-after: avoid; }
}
`;
