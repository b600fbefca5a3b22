/** The page brings everything with it; colours follow the reader's own choice of light or dark. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f8fa; --line: #d1d9e0; --text: #1f2328; --soft: #59636e; --link: #0969da;
  --good: #1a7f37; --bad: #cf222e; --warn: #9a6700;
  --client: #0969da; --log: #6639ba; --upstream: #1a7f37; --fault: #cf222e; --other: #59636e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --card: #161b22; --line: #3d444d; --text: #e6edf3; --soft: #9198a1; --link: #58a6ff;
    --good: #3fb950; --bad: #f85149; --warn: #d29922;
    --client: #58a6ff; --log: #b083f0; --upstream: #3fb950; --fault: #f85149; --other: #9198a1;
  }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; margin: 0 0 .25rem } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem }
p { margin: .25rem 0 } .soft { color: var(--soft) }
.verdict { font-size: 1.1rem; font-weight: 600; padding: .6rem .9rem; border-radius: .5rem; margin: 1rem 0;
  border: 1px solid currentColor }
.good { color: var(--good) } .bad { color: var(--bad) } .warn { color: var(--warn) }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .6rem; margin: 1rem 0 }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem }
.card b { display: block; font-size: 1.35rem }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 }
th.wide { width: 30% }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid var(--line) }
th { color: var(--soft); font-weight: 500; font-size: .85rem }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; overflow-wrap: normal }
code { font: .85em ui-monospace, monospace; background: var(--card); border: 1px solid var(--line); border-radius: .25rem;
  padding: .1rem .3rem }
.case { border: 1px solid var(--line); border-radius: .5rem; padding: .25rem .9rem .75rem; margin: 1rem 0 }
.violation { margin-top: 1rem }
.rule { color: var(--page); background: var(--bad); border-radius: .25rem; padding: 0 .4rem; font-size: .85rem }
summary { cursor: pointer; color: var(--link) }
svg { display: block; width: 100%; height: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  margin: .5rem 0 0 }
svg line { stroke: var(--line) }
.ends { display: flex; justify-content: space-between; font-size: .8rem; color: var(--soft) }
.timeline td { font-size: .87rem; padding: .15rem .5rem }
.who { white-space: nowrap; overflow-wrap: normal; font-weight: 600 }
.who.client { color: var(--client) } .who.log { color: var(--log) } .who.upstream { color: var(--upstream) }
.who.fault { color: var(--fault) } .who.other { color: var(--other) }
circle.client { fill: var(--client) } circle.log { fill: var(--log) } circle.upstream { fill: var(--upstream) }
circle.fault { fill: var(--fault) } circle.other { fill: var(--other) }
.bar { background: var(--log); height: .5rem; border-radius: .25rem; min-width: 2px; margin-top: .45rem }
@media (max-width: 40rem) {
  body { padding: .6rem; font-size: 14px } .case { padding: .25rem .6rem .6rem } th, td { padding: .25rem .3rem }
  .timeline td { padding: .15rem .25rem } .wide { display: none }
}
@media print { details > * { display: block } }
`;
