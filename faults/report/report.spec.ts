import { describe, expect, it } from 'vitest';
import { dangerousStates } from '../history/dangerous-states.js';
import { htmlReport } from './html-report.js';
import { jsonReport, readReport } from './json-report.js';
import { addUp, runsOf } from './run-report.js';
import { caseReport, doubled, mixedRun, runReport } from './runs.spec-helper.js';
import { textReport } from './text-report.js';

const hostile = `</title><script>alert("1")</script>\u001b[31m'"><img src=x onerror=alert(2)>\u0000\n✓ all held`;

describe('the text report', () => {
  it('tells what was run, reached, not reached and broken, and how to run it again', () => {
    const lines = textReport(mixedRun()).split('\n');
    expect(lines).toContain('2026-01-02 03:04 UTC, 3 min, seed 7, commit abcdef012345');
    expect(lines).toContain('L1  1 case, 90 s, 0 violations, states 120,345');
    expect(lines).toContain('L4  1 case, 1 intent, 2.3 s, 0 violations, 1 not judged');
    expect(lines).toContain('L5  2 cases, 600 intents, 3 min, 4 violations');
    expect(lines).toContain('       5  kill');
    expect(lines).toContain(`   1,012  ${dangerousStates[0]?.name}`);
    const untested = lines.slice(lines.indexOf('Not tested: dangerous states that were never reached') + 1);
    expect(untested[0]).toContain(': ');
    expect(untested.indexOf('')).toBe(dangerousStates.length - 2);
    expect(lines).toContain('✗ L5 round 8: 4 violations');
    expect(lines).toContain('  again: npm run faults -- --replay .intendant/faults/runs/x/2/replay.json');
    expect(lines).toContain('  I1  intent 01 of keyed: 2 effects');
    expect(lines).toContain('       +0.000  client        submit order-1 over http');
    expect(lines).toContain('       +3.250  upstream      request POST /effects/x (2 times)');
    expect(lines).toContain('               dispatcher/1  out of memory');
    expect(lines).toContain('  and 1 more; the other reports tell all of them');
    expect(lines).toContain('  L4 S23: the port was taken');
    expect(lines).toContain('    again: npm run faults -- --case S23 --seed 7');
    expect(lines).toContain('2 rounds, 601 intents in all. 4 violations in 1 of 4 cases; 1 case could not be judged.');
  });

  it('says so when everything held, and when nothing was run', () => {
    expect(textReport(runReport([caseReport('round 7')]))).toMatch(
      /1 round, 300 intents in all\. No violation in 1 case\.\n$/,
    );
    expect(textReport(runReport([]))).toMatch(/No case was run\.\n$/);
    const ended = runReport([caseReport('round 7')], { notRun: 8 });
    expect(textReport(ended)).toMatch(/No violation in 1 case\. 8 of 9 cases not run\.\n$/);
    expect(textReport(addUp([ended]))).toContain('8 of 9 cases not run.');
  });

  it('lets nobody steer the terminal or write lines of their own', () => {
    const text = textReport(runReport([caseReport('x', { violations: [{ ...doubled, message: hostile }] })]));
    expect(text).not.toContain('\u001b');
    expect(text.split('\n')).not.toContain('✓ all held');
  });
});

describe('the page', () => {
  it('has the verdict, the numbers, every violation with its story, and what was not tested', () => {
    const page = htmlReport(mixedRun());
    expect(page).toContain('4 violations in 1 of 4 cases; 1 case could not be judged.');
    expect(page.match(/<details( open)?><summary>6 lines of its story/g)).toHaveLength(4);
    expect(page.match(/<svg/g)).toHaveLength(4);
    expect(page.match(/<circle class="upstream"/g)).toHaveLength(8);
    expect(page).toContain('npm run faults -- --replay .intendant/faults/runs/x/2/replay.json');
    expect(page.match(/not tested/g)).toHaveLength(dangerousStates.length - 2);
    expect(page).toContain('layers L5, rounds 2');
    expect(page).not.toContain('/home/somebody');
  });

  it('needs nothing from elsewhere and no script', () => {
    const page = htmlReport(mixedRun());
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\bsrc=|url\(|@import|https?:/);
    expect(page).toContain("default-src 'none'");
  });

  it('escapes whatever anybody wrote, wherever it stands', () => {
    const line = { at: 1, who: hostile, what: hostile };
    const violation = { rule: hostile, message: hostile, intentId: hostile, timeline: [line, { ...line, who: 'log' }] };
    const counts = { [hostile]: 1 };
    const everywhere = caseReport(hostile, {
      ...{ violations: [violation], faults: counts, reached: counts, figures: counts, replayFile: hostile },
    });
    const run = runReport([everywhere, caseReport(hostile, { broken: hostile })], {
      ...{ commit: hostile, options: { [hostile]: hostile } },
    });
    const page = htmlReport(run);
    expect(page).not.toMatch(/<script|<img/);
    for (const control of ['\u0000', '\u001b']) expect(page).not.toContain(control);
    const tags = (text: string) => (text.match(/<[a-z][^>]*>/g) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));
    const plain = structuredClone(
      JSON.parse(JSON.stringify(run).replaceAll(JSON.stringify(hostile).slice(1, -1), 'plain')),
    );
    expect(tags(page)).toEqual(tags(htmlReport(plain)));
  });

  it('says so when everything held', () => {
    expect(htmlReport(runReport([caseReport('round 7')]))).toContain(
      '<p class="verdict good">No violation in 1 case.</p>',
    );
  });
});

describe('reports of several runs', () => {
  const other = runReport([caseReport('round 9', { seed: 9 })], { seed: 9, startedAt: Date.UTC(2026, 0, 1) });

  it('add up to one that knows them all', () => {
    const sum = addUp([mixedRun(), other]);
    expect(runsOf(sum).map(({ seed }) => seed)).toEqual([9, 7]);
    expect(sum.seconds).toBe(360);
    expect(textReport(sum)).toContain('3 rounds, 901 intents in all.');
    expect(textReport(sum)).toContain('2026-01-01 00:00 UTC, 3 min, seed 9');
    expect(runsOf(addUp([sum, runReport([], { seed: 10 })])).map(({ seed }) => seed)).toEqual([9, 7, 10]);
  });

  it('are not counted twice', () => {
    expect(() => addUp([other, mixedRun(), other])).toThrow(
      'seed 9, begun at 2026-01-01T00:00:00.000Z, is there twice',
    );
  });

  it('come back from JSON, without the plans of what held', () => {
    const run = mixedRun();
    const back = readReport(jsonReport(run), 'run.json');
    expect(back).toEqual({
      ...run,
      cases: run.cases.map((each) =>
        each.violations.length + (each.broken?.length ?? 0) > 0 ? each : { ...each, replay: {} },
      ),
    });
    expect(textReport(back)).toBe(textReport(run));
  });

  it('are refused when they are something else', () => {
    expect(() => readReport('{"cases":3}', 'a.json')).toThrow('a.json is not a JSON report of a run');
    expect(() => readReport('nothing', 'b.json')).toThrow('b.json is not a JSON report of a run');
  });
});
