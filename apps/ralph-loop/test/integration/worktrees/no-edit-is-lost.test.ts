import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptedTasks } from '../../../worktrees/code-branch.ts';
import { type Files, gitIn, MISSION, type OpenMission, Project, RUN } from './project.ts';

const FILES = ['a.txt', 'src/b.txt'];

/** A task: lines of files that it replaces, by the file and the line. */
const task = fc.uniqueArray(fc.record({ file: fc.constantFrom(...FILES), line: fc.nat({ max: 9 }) }), {
  minLength: 1,
  maxLength: 3,
  selector: ({ file, line }) => `${file} ${line}`,
});
type Edits = readonly { readonly file: string; readonly line: number }[];

const plan = fc.array(task, { minLength: 2, maxLength: 4 }).chain((tasks) =>
  fc.record({
    tasks: fc.constant(tasks),
    order: fc.shuffledSubarray([...tasks.keys()], { minLength: tasks.length }),
  }),
);

/** Each task adds its mark to the lines, so that one that is lost, or is there twice, is seen. */
function edited(mission: OpenMission, at: number, edits: Edits): Files {
  const files = new Map(FILES.map((file) => [file, mission.file(file).split('\n')]));
  for (const { file, line } of edits) {
    const lines = files.get(file) ?? [];
    lines[line] = `${lines[line]} [task ${at}]`;
  }
  return Object.fromEntries([...files].map(([file, lines]) => [file, `${lines.join('\n')}\n`]));
}

describe('tasks that are worked on at once', () => {
  it('Feature: coding-missions, Property 1: the branch has every accepted edit exactly once, in whatever order they are merged', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ tasks, order }) => {
        await using project = new Project();
        const mission = await project.mission();
        const snapshots = await Promise.all(
          tasks.map((edits, at) => mission.changed(edited(mission, at, edits), `t${at}`)),
        );
        const outcomes = await Promise.all(
          order.map(async (at) => {
            const snapshot = snapshots[at];
            if (snapshot === undefined) throw new Error('no snapshot');
            return { at, outcome: await mission.merge(snapshot, `t${at}`) };
          }),
        );
        for (const { at, outcome } of outcomes) {
          if (outcome.kind !== 'conflict') continue;
          const again = await mission.changed(edited(mission, at, tasks[at] ?? []), `t${at}`);
          expect(await mission.merge(again, `t${at}`)).toMatchObject({ kind: 'merged' });
        }
        for (const file of FILES)
          for (const [line, text] of mission.file(file).split('\n').entries()) {
            const marks = [...text.matchAll(/\[task (\d+)\]/g)].map(([, at]) => Number(at)).sort();
            const expected = [...tasks.entries()].filter(([, edits]) =>
              edits.some((edit) => edit.file === file && edit.line === line),
            );
            expect(marks).toEqual(expected.map(([at]) => at));
            expect(text.startsWith(`line ${line}`)).toBe(true);
          }
        const accepted = await acceptedTasks(mission.repository, mission.branch, {
          mission: MISSION,
          run: RUN,
        });
        expect(accepted.map(({ task: id }) => id).sort()).toEqual(tasks.map((_, at) => `t${at}`));
        expect(gitIn(project.path, 'status', '--porcelain')).toBe('');
      }),
      { numRuns: process.env['ORRERY_SOAK'] === '1' ? 100 : 6 },
    );
  }, 600_000);
});
