import { describe, expect, it } from 'vitest';
import { htmlReport } from '../../../bench/report/html-report.ts';
import { roundPlot } from '../../../bench/report/round-plot.ts';
import { linearScale, scaleFor } from '../../../bench/report/scale.ts';
import { reportText } from '../../../bench/report/text-report.ts';
import type { ProbeResult, RaceResult } from '../../../bench/results/bench-report.ts';
import { defectsOf } from '../../../bench/results/defects.ts';
import { around, benchReport, raceOf, seriesOf } from '../../fixtures/bench/bench-reports.ts';

const HOSTILE = '<img src=x onerror="alert(1)">\u202e';

const probe: ProbeResult = {
  kind: 'probe',
  name: 'size',
  title: 'What is installed',
  readings: [
    {
      name: 'packed files',
      value: 7,
      unit: 'MB',
      goal: { better: 'less', target: 6, floor: 6 },
      goalStatus: 'BELOW FLOOR',
    },
  ],
};

const failing: RaceResult = {
  ...raceOf('slow', around(100), around(90)),
  unit: 'microseconds',
  contenders: [
    { contender: 'ours', failure: 'its process ended with 3' },
    { contender: 'theirs', unavailable: 'no taskset here' },
    {
      contender: 'child',
      rate: seriesOf(1_000, 1_010),
      cpu: seriesOf(900, 900),
      childCpu: seriesOf(300, 300),
    },
  ],
};

const report = benchReport({ results: [raceOf('tell', around(1_100), around(1_000)), failing, probe] });

describe('reportText', () => {
  const text = reportText(report);

  it('says where, what and how it was measured', () => {
    expect(text).toContain('2 x A processor');
    expect(text).toContain('Node 26.10.0, V8 14.6, Orrery 0.1.0 at 01234567');
    expect(text).toContain('comlink 4.4.2');
    expect(text).toContain(
      '15 rounds of 250 ms after 2500 ms of warming up, each contender in a process of its own',
    );
  });

  it('has rates with quartiles, CPU of an operation, memory, and ratios with their goals', () => {
    expect(text).toMatch(/ours +1,100\/s +\[1,095 \.\. 1,105\/s\] +909 us +\+11 MB, at most \+15 MB/);
    expect(text).toMatch(
      /ours \/ theirs +1\.10x +\[1\.10 \.\. 1\.10\] +target >= 1\.1x, floor >= 0\.9x +reached/,
    );
    expect(text).toMatch(/child +995 us .*900 us, 300 of them in its children/);
  });

  it('says what failed, what was not measured, and which floors were missed', () => {
    expect(text).toContain('FAILED: its process ended with 3');
    expect(text).toContain('not measured: no taskset here');
    expect(defectsOf(report.results)).toEqual([
      'slow: ours: its process ended with 3',
      'size: packed files is 7.00 MB',
    ]);
    expect(text).toContain('Defects:\n  slow: ours: its process ended with 3');
  });
});

describe('htmlReport', () => {
  const page = htmlReport(report);

  it('is one page that loads nothing and runs nothing', () => {
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\bsrc=|url\(|@import|https?:\/\//);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  it('is for light, dark and paper', () => {
    expect(page).toContain('@media (prefers-color-scheme: dark)');
    expect(page).toContain('@media print');
  });

  it('has a plot of the rates and one of the ratios, with a dot a round, floor and target', () => {
    const tell = page.slice(page.indexOf('id="m-tell"'), page.indexOf('id="m-slow"'));
    const [rates = '', ratios = ''] = [...tell.matchAll(/<svg .*?<\/svg>/gs)].map(([plot]) => plot);
    expect(rates.match(/<circle /g)).toHaveLength(30);
    expect(ratios.match(/<circle /g)).toHaveLength(15);
    expect(rates).not.toContain('class="floor"');
    expect(ratios.match(/class="floor"/g)).toHaveLength(1);
    expect(ratios.match(/class="target"/g)).toHaveLength(1);
  });

  it('says statuses in words', () => {
    expect(page).toContain('<span class="good">✓ reached</span>');
    expect(page).toContain('<span class="bad">✗ BELOW FLOOR</span>');
  });

  it('links to what it has', () => {
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => `id="${id}"`);
    expect(targets.length).toBeGreaterThan(3);
    expect(targets.filter((target) => !page.includes(target))).toEqual([]);
  });

  it('escapes every name, and shows what turns the direction of a text', () => {
    const race = raceOf(HOSTILE, around(1), around(1));
    const contenders = race.contenders.map((one) => ({ ...one, contender: HOSTILE }));
    const comparisons = race.comparisons.map((one) => ({ ...one, contender: HOSTILE, baseline: HOSTILE }));
    const machine = { ...report.machine, cpuModel: HOSTILE };
    const hostile = htmlReport(
      benchReport({
        machine,
        versions: { ...report.versions, packages: { [HOSTILE]: HOSTILE } },
        results: [
          { ...race, title: HOSTILE, contenders, comparisons },
          { ...probe, name: 'other', failure: HOSTILE },
          { ...probe, readings: probe.readings.map((one) => ({ ...one, name: HOSTILE, note: HOSTILE })) },
        ],
      }),
    );
    expect(hostile).not.toContain('<img');
    expect(hostile).not.toContain('\u202e');
    expect(hostile).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;\ufffd');
  });
});

describe('roundPlot', () => {
  const plotOf = (...rounds: number[]): string =>
    roundPlot([{ label: 'one', rounds }], { title: 'A plot', text: String });

  it('draws a round that is far out at the edge, as an open dot', () => {
    const plot = plotOf(10, 10, 11, 11, 12, 12, 900);
    expect(plot.match(/class="beyond"/g)).toHaveLength(1);
    expect(plot.match(/class="round"/g)).toHaveLength(6);
  });

  it('is nothing where nothing was measured', () => {
    expect(roundPlot([{ label: 'one', rounds: [] }], { title: 'A plot', text: String })).toBe('');
  });

  it('says where its axis is logarithmic', () => {
    const far = roundPlot(
      [
        { label: 'slow', rounds: [7] },
        { label: 'fast', rounds: [3_500] },
      ],
      {
        title: 'A plot',
        text: String,
      },
    );
    expect(far).toContain('>logarithmic</text>');
    expect(plotOf(7, 8)).not.toContain('logarithmic');
  });

  it('has no number that is none', () => {
    expect(plotOf(0, 0, 0)).not.toMatch(/NaN|Infinity/);
  });
});

describe('linearScale', () => {
  const extent = { from: 0, width: 100 };

  it('ends at a whole step above the most', () => {
    expect(linearScale(1_234, extent).ticks).toEqual([0, 500, 1_000, 1_500]);
    expect(linearScale(0.93, extent).most).toBeCloseTo(1);
    expect(linearScale(0, extent).ticks).toEqual([0, 1]);
  });
});

describe('scaleFor', () => {
  const extent = { from: 10, width: 100 };

  it('is linear where the values are near each other, or nothing is among them', () => {
    expect(scaleFor(100, 1_000, extent).kind).toBe('linear');
    expect(scaleFor(0, 1_000, extent).kind).toBe('linear');
  });

  it('is logarithmic where they are far apart, and puts what is beyond at its ends', () => {
    const { kind, ticks, at } = scaleFor(7, 3_500, extent);
    expect({ kind, ticks }).toEqual({ kind: 'logarithmic', ticks: [1, 10, 100, 1_000, 10_000] });
    expect([at(1), at(100), at(10_000)]).toEqual([10, 60, 110]);
    expect([at(0), at(1e9)]).toEqual([10, 110]);
  });
});
