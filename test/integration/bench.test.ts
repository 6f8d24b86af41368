import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BenchReport, RaceResult } from '../../bench/results/bench-report.ts';
import { reportIn } from '../../bench/results/read-report.ts';
import { pageOf } from '../fixtures/samples.ts';

const ROOT = new URL('../../', import.meta.url);
const EXAMPLE = 'bench/example.plugin.ts';
const ENTRANT = 'test/fixtures/bench/spread-entrant.ts';
const TINY = ['--rounds', '5', '--run-ms', '10', '--warm-up-ms', '20'];

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function bench(...args: string[]): Promise<Run> {
  const main = ['--conditions=orrery-source', 'bench/main.ts', ...args];
  const child = spawn(process.execPath, main, { cwd: fileURLToPath(ROOT) });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

describe('npm run bench', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-bench-test-'));
  const file = (name: string): string => join(folder, name);
  let run: Run;
  let report: BenchReport;
  let race: RaceResult;

  beforeAll(async () => {
    const plugins = ['--plugin', EXAMPLE, '--plugin', ENTRANT];
    const files = ['--json', file('a.json'), '--html', file('a.html')];
    run = await bench('--only', 'copy', ...plugins, ...TINY, ...files);
    report = reportIn(readFileSync(file('a.json'), 'utf8'), 'a.json');
    race = report.results[0] as RaceResult;
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('measures the race of a plug-in, and the contenders that another one enters', () => {
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(report.results).toHaveLength(1);
    const { contenders } = race;
    expect(contenders.map(({ contender, rate }) => [contender, rate?.rounds.length])).toEqual([
      ['JSON', 5],
      ['structuredClone', 5],
      ['spread <in> a thread', 5],
      ['exits', undefined],
    ]);
    expect(race.comparisons.map(({ contender, baseline }) => [contender, baseline])).toEqual([
      ['JSON', 'structuredClone'],
      ['spread <in> a thread', 'JSON'],
    ]);
  });

  it('goes on when the process of a contender ends, and says how', () => {
    expect(race.contenders.at(-1)?.failure).toBe('its process ended with 3: Error: it has had enough');
    expect(run.stdout).toContain('Defects:\n  copy: exits: its process ended with 3');
  });

  it('counts the CPU of all threads of a contender, and the memory of its process', () => {
    const measured = race.contenders.slice(0, 3);
    expect(measured.map(({ cpu }) => cpu?.rounds.length)).toEqual([5, 5, 5]);
    expect(measured.every(({ cpu }) => (cpu?.spread.median ?? 0) > 0)).toBe(true);
    for (const { memory } of measured) {
      const [only, ...more] = memory ?? [];
      expect(more).toEqual([]);
      expect(only?.startBytes).toBeGreaterThan(10e6);
      expect(only?.peakBytes).toBeGreaterThan(only?.startBytes ?? 0);
    }
  });

  it('says which machine, versions, calm and speed it was', () => {
    const { machine, versions, busyness, calibration } = report;
    expect(machine.cores).toBeGreaterThan(0);
    expect(versions.node).toBe(process.versions.node);
    expect(versions.orrery.version).toBe('0.1.0');
    expect(versions.packages).toEqual({ 'escape-goat': expect.stringMatching(/^\d/) });
    expect(busyness.watchedMs).toBeGreaterThan(0);
    expect(calibration.start.oneCore).toBeGreaterThan(0);
    expect(Object.keys(calibration.end.rates.allCores).sort()).toEqual([
      'copy',
      'hash',
      'json',
      'messages',
      'objects',
    ]);
  });

  it('writes a page of it, and the same one again from the results', async () => {
    const page = readFileSync(file('a.html'), 'utf8');
    expect(page).toContain('spread &lt;in&gt; a thread');
    const again = await bench('--from', file('a.json'), '--html', file('b.html'));
    expect(again).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(file('b.html'), 'utf8')).toBe(page);
  });

  it('compares two runs, and refuses with --gate what got worse', async () => {
    const [first, ...others] = race.contenders;
    // Rates of its own: what was measured may spread so far, on a busy machine, that nothing is told from chance.
    const withRate = (rounds: readonly number[]) => {
      const [, lowerQuartile, median, upperQuartile] = rounds;
      const rate = { rounds, spread: { median, lowerQuartile, upperQuartile } };
      return { ...report, results: [{ ...race, contenders: [{ ...first, rate }, ...others] }] };
    };
    writeFileSync(file('steady.json'), JSON.stringify(withRate([1_000, 1_010, 1_020, 1_030, 1_040])));
    writeFileSync(file('worse.json'), JSON.stringify(withRate([10, 10.1, 10.2, 10.3, 10.4])));
    const same = await bench('--compare', file('a.json'), file('a.json'), '--gate');
    expect(same).toMatchObject({ code: 0, stderr: '' });
    expect(same.stdout).toMatch(/\d+ rows: 0 better, 0 worse, /);
    const files = [file('steady.json'), file('worse.json')] as const;
    const gated = await bench('--compare', ...files, '--gate', '--html', file('c.html'));
    expect(gated.code).toBe(1);
    expect(gated.stdout).toMatch(/Worse:\n {2}copy: rate of JSON: .* slower/);
    expect(readFileSync(file('c.html'), 'utf8')).toContain('<span class="bad">slower</span>');
  });

  it('measures nothing with --require-quiet while another process burns a core', async () => {
    const burner = spawn(process.execPath, ['-e', 'for (;;);']);
    const refused = await bench('--only', 'copy', '--plugin', EXAMPLE, '--require-quiet');
    burner.kill();
    expect(refused).toMatchObject({ code: 75, stdout: '' });
    expect(refused.stderr).toMatch(/^MACHINE_BUSY: The machine is not quiet: other processes take \d+/);
  });

  it('refuses wrong options and files with 64, by name', async () => {
    const wrong = await bench('--plugin', 'test/fixtures/bench/no-plugin.ts', '--list');
    expect(wrong).toMatchObject({ code: 64, stdout: '' });
    expect(wrong.stderr).toMatch(/^PLUGIN_INVALID: .*no-plugin\.ts is no plug-in: it exports no `plugin`\n$/);
    const cut = await bench('--compare', EXAMPLE, file('a.json'));
    expect(cut.stderr).toMatch(
      /^RESULTS_INVALID: bench\/example\.plugin\.ts holds no results: it is no JSON/,
    );
  });
});

describe('docs/benchmarks.md', () => {
  it('shows the plug-in that is tested', () => {
    expect(pageOf('docs/benchmarks.md')).toContain(`\`\`\`ts\n${pageOf(EXAMPLE)}\`\`\``);
  });
});
