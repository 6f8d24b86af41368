import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { CodeProject, edit } from '../code-project.ts';
import type { Ended, Orrery } from '../spawn-orrery.ts';

/** How often the process is killed. Each time it starts anew, cleans up, and comes as far as it comes. */
const KILLS = Number(process.env['ORRERY_TEST_KILLS'] ?? 25);
const SEED = Number(process.env['ORRERY_TEST_SEED'] ?? 18);
/** How far it comes at most before it is killed: lines that it prints, of which a task has about ten, and milliseconds after those. */
const MOST_LINES = Math.max(3, Math.round(300 / KILLS));
const MOST_MS = 1_500;
const HANG_TIMEOUT_MS = 3_600_000;

/** Numbers below `most`, the same ones for the same seed. */
function chance(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

const IDS = Array.from({ length: 20 }, (_, at) => `t${at}`);
/** One at the top, three rows of six that each wait for two of the row before, and one at the bottom that waits for a whole row. */
const dependsOn = (at: number): readonly string[] => {
  if (at === 0) return [];
  if (at <= 6) return ['t0'];
  if (at === 19) return IDS.slice(13, 19);
  return [`t${at - 6}`, `t${at % 6 === 1 ? at - 1 : at - 7}`];
};

it.skipIf(!existsSync('/proc/self/environ'))(
  `carries out twenty tasks, each accepted once and none of its edits lost, although it is killed ${KILLS} times`,
  async () => {
    using project = new CodeProject();
    const below = chance(SEED);
    const record = join(project.folder, 'asked.jsonl');
    project.plan(Object.fromEntries(IDS.map((id) => [id, [edit(`${id}.txt`, `of ${id}\n`, { record })]])));
    project.missionOf(
      IDS.map((id, at) => ({ id, title: `Write ${id}`, dependsOn: dependsOn(at) })),
      { code: { gates: [{ name: 'there', run: 'ls t*.txt' }] }, limits: { maxAttempts: 3, maxParallel: 3 } },
    );
    /** How often each task was asked for. */
    const asked = (): Map<string, number> => {
      const prompts = existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [];
      const of = prompts.map((line) => /Write (t\d+)/.exec(line)?.[1] ?? '');
      return new Map(IDS.map((id) => [id, of.filter((each) => each === id).length]));
    };
    const begin = (): Orrery =>
      project.isBegun
        ? project.start('resume')
        : project.start('run', project.mission, '--verbose', '--json', project.report);
    let known: readonly string[] = [];
    let before = asked();
    let last: Ended | undefined;
    for (let kills = 0; kills < KILLS; kills++) {
      const run = begin();
      await run.printedLines(known.length + 1 + below(MOST_LINES));
      await setTimeout(below(MOST_MS));
      run.child.kill('SIGKILL');
      const { code, signal, stdout, stderr } = await run.ended;
      // It was faster.
      if (code === 0) last = { code, signal, stdout, stderr };
      else expect(signal, `kill ${kills}: it ended with ${code}\n${stdout}\n${stderr}`).toBe('SIGKILL');
      // What was accepted before this start is not asked for again.
      const now = asked();
      for (const id of known) expect([id, now.get(id)]).toEqual([id, before.get(id)]);
      known = project.git('branch', '--list', 'orrery/shop') === '' ? [] : project.tasks;
      before = now;
      if (last !== undefined) break;
    }
    last ??= await begin().ended;
    const report = project.reportOf(last);

    expect({ code: last.code, why: report.tasks.map(({ id, why }) => [id, why]) }).toMatchObject({ code: 0 });
    expect([...project.tasks].sort()).toEqual([...IDS].sort());
    for (const id of IDS) expect([id, project.merged(`${id}.txt`)]).toEqual([id, `of ${id}`]);
    // The watcher of each process ends its family; it may take its time.
    while (project.processes.length > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(project.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
    expect(readdirSync(join(project.root, '.orrery/worktrees/shop'))).toEqual([]);
    expect(project.git('status', '--porcelain')).toBe('');
  },
  HANG_TIMEOUT_MS,
);
