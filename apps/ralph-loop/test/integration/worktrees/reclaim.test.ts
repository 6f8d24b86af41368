import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { reclaim } from '../../../worktrees/reclaim.ts';
import { BRANCH, gitIn, MISSION, type OpenMission, Project, put, RUN } from './project.ts';

const DYING = fileURLToPath(new URL('fixtures/merge-and-die.ts', import.meta.url));

/** So many tests share the moments: a slow machine takes long for them all. */
const PARTS = 7;

const mergeAndDie = (project: Project, nth: number) =>
  spawnSync(process.execPath, [DYING, project.path, MISSION, RUN, String(nth)], { encoding: 'utf8' });

const reclaimed = ({ repository, branch, lock }: OpenMission) =>
  reclaim(repository, { branch, lock, run: RUN });

describe('a process that is killed while it merges', () => {
  const seen = new Set<string>();
  let moments: readonly number[] = [];
  beforeAll(async () => {
    await using whole = new Project();
    const unharmed = mergeAndDie(whole, 0);
    moments = unharmed.stdout.split(' ').map(Number);
    expect([unharmed.status, unharmed.stderr, moments.length >= 10]).toEqual([0, '', true]);
    // Each command is a process, which a task waits for.
    expect(moments.at(-1)).toBeLessThan(25);
  });

  it.each(Array.from({ length: PARTS }, (_, at) => at + 1))(
    'leaves the branch before or after the commit, and the next one goes on: killed at moment %i, and so on',
    async (first) => {
      for (let at = first - 1; at < moments.length; at += PARTS) {
        const nth = moments[at] ?? 0;
        await using project = new Project();
        put(project.path, { untracked: 'u' });
        const before = project.own();
        expect(mergeAndDie(project, nth).signal).toBe('SIGKILL');
        const mission = await project.mission();
        const isMerged = mission.log().length === 2;
        expect(mission.log()).toEqual(isMerged ? ['Do dying', 'A change'] : ['A change']);
        expect(gitIn(project.path, 'ls-tree', '--name-only', BRANCH)).toBe(
          isMerged ? 'a.txt\ndying\nsrc' : 'a.txt\nsrc',
        );
        const { accepted, kept, locks } = await reclaimed(mission);
        expect([accepted.map(({ task }) => task), locks]).toEqual([isMerged ? ['dying'] : [], []]);
        expect(
          readdirSync(join(project.path, '.orrery/worktrees/spring-clean')).filter(
            (name) => name !== 'merged',
          ),
        ).toEqual(['lock']);
        for (const { task, attempt, ...snapshot } of kept) {
          expect([task, attempt, isMerged]).toEqual(['dying', 1, false]);
          await mission.queue.merge({
            snapshot,
            text: { subject: 'Do dying' },
            trailers: { mission: MISSION, task, attempt, run: RUN },
            check: async () => ({ isAccepted: true }),
          });
        }
        if (kept.length === 0) await mission.merge(await mission.changed({ next: 'x' }, 'next'), 'next');
        const next = kept.length === 0 ? ['Do next'] : [];
        const dying = isMerged || kept.length > 0 ? ['Do dying'] : [];
        expect(mission.log()).toEqual([...next, ...dying, 'A change']);
        expect(project.own()).toEqual(before);
        seen.add(isMerged ? 'merged' : kept.length === 1 ? 'kept' : 'neither');
      }
    },
  );

  it('has been killed before there was a snapshot, before the merge, and after it', () => {
    expect([...seen].sort()).toEqual(['kept', 'merged', 'neither']);
  });
});

describe('what a dead process left', () => {
  it('is removed: worktrees that are listed or not, locks of its refs, snapshots of what is on the branch or of other runs', async () => {
    await using project = new Project();
    const mission = await project.mission();
    await mission.merge(await mission.changed({ one: '1' }, 'one'), 'one');
    const waiting = await mission.changed({ two: '2' }, 'two');
    const open = await mission.attempt('open');
    const folder = join(project.path, '.orrery/worktrees/spring-clean');
    put(folder, { 'half-1/x': 'x', 'gone-1.index': 'x' });
    put(project.path, { [`.git/${BRANCH}.lock`]: '', '.git/refs/orrery/spring-clean/one/1.lock': '' });
    project.git('update-ref', 'refs/orrery/spring-clean/odd/1', 'HEAD');
    const { accepted, kept, removed, locks } = await reclaimed(mission);
    expect(accepted.map(({ task }) => task)).toEqual(['one']);
    expect(kept).toMatchObject([{ task: 'two', attempt: 1, start: waiting.start, commit: waiting.commit }]);
    expect(removed).toEqual([
      join(project.path, '.git', `${BRANCH}.lock`),
      join(project.path, '.git/refs/orrery/spring-clean/one/1.lock'),
      join(folder, 'gone-1.index'),
      join(folder, 'half-1'),
      open.path,
      `${open.path}.index`,
      'refs/orrery/spring-clean/odd/1',
      'refs/orrery/spring-clean/one/1',
    ]);
    expect([existsSync(open.path), readdirSync(folder).sort(), locks]).toEqual([
      false,
      ['lock', 'merged'],
      [],
    ]);
    expect(project.git('for-each-ref', '--format=%(refname)', 'refs/orrery')).toBe(waiting.ref);
  });

  it('is told when it is a lock of the whole repository, which may be of somebody else', async () => {
    await using project = new Project();
    const mission = await project.mission();
    put(project.path, { '.git/packed-refs.lock': '' });
    expect((await reclaimed(mission)).locks).toEqual([join(project.path, '.git/packed-refs.lock')]);
    expect(existsSync(join(project.path, '.git/packed-refs.lock'))).toBe(true);
  });
});
