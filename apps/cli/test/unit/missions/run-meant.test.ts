import { describe, expect, it } from 'vitest';
import { keptOptions } from '../../../missions/kept-options.ts';
import { resumedOptions } from '../../../missions/resume-command.ts';
import type { FoundRun } from '../../../missions/run-folder.ts';
import { runToResume, runToSteer } from '../../../missions/run-meant.ts';
import type { RunRecord, RunStatus } from '../../../missions/run-record.ts';
import type { TypedOptions } from '../../../run-plan.ts';
import { unfinishedRun } from '../../../missions/unfinished-run.ts';
import { ENDED, FAILED } from './runs-here.ts';

const record = (mission: string, over: Partial<RunRecord> = {}): RunRecord => ({
  version: 1,
  mission,
  file: `/r/${mission}.json`,
  root: '/r',
  folder: '/r',
  options: {},
  leftOut: [],
  journal: '/j',
  process: { pid: 77 },
  startedAtMs: 1,
  ...over,
});
const own = (mission: string, status: RunStatus, over: Partial<RunRecord> = {}): FoundRun => ({
  kind: 'own',
  status,
  record: record(mission, over),
});
const running = (mission: string) => own(mission, 'running');
const foreign: FoundRun = {
  kind: 'foreign',
  name: 'theirs',
  file: '/r/.orrery/runs/theirs/run.json',
  why: 'it was not written by you',
};
const meant = (name?: string) => ({ root: '/r', name, place: 'Argument NAME' });

describe('the run that is steered', () => {
  it('is the only one that runs, or that of the name, however it is written, or of the file', () => {
    const runs = [own('done', 'ended', { ended: ENDED }), running('Spring clean'), foreign];
    for (const name of [undefined, 'Spring clean', 'spring-clean', '/r/Spring clean.json'])
      expect(runToSteer(runs, meant(name)).mission).toBe('Spring clean');
  });

  it.each<[string, readonly FoundRun[], string | undefined, string]>([
    ['none is there', [], undefined, 'No mission runs in /r'],
    [
      'the last one is over',
      [own('done', 'ended', { ended: ENDED })],
      undefined,
      'No mission runs in /r; "done": it ended as all-accepted',
    ],
    [
      'several run',
      [running('one'), running('two')],
      undefined,
      'Argument NAME is missing: there are several missions in /r: "one", "two"',
    ],
    [
      'none has the name',
      [running('one'), running('two')],
      'no-such-thing',
      'Argument NAME is "no-such-thing": no such mission was run in /r: "one", "two"',
    ],
    [
      'the name is almost one',
      [running('spring')],
      'sprung',
      'Argument NAME is "sprung": no such mission was run in /r; did you mean "spring"?',
    ],
    [
      'its process died',
      [own('one', 'died')],
      'one',
      '"one" does not run in /r: its process 77 died; \'orrery resume\' goes on with it',
    ],
    [
      'somebody else wrote its record',
      [foreign],
      'theirs',
      'The record /r/.orrery/runs/theirs/run.json is not used: it was not written by you',
    ],
  ])('is refused where %s', (_what, runs, name, message) => {
    expect(() => runToSteer(runs, meant(name))).toThrow(expect.objectContaining({ code: 'USAGE', message }));
  });
});

describe('the run that is resumed', () => {
  it('is the only one that died or ended with tasks that were not accepted', () => {
    const done = own('done', 'ended', { ended: ENDED });
    for (const run of [own('one', 'died'), own('one', 'ended', { ended: FAILED })])
      expect(runToResume([done, run, running('two')], meant()).mission).toBe('one');
  });

  it.each<[string, readonly FoundRun[], string | undefined, string]>([
    ['nothing was run', [], undefined, 'No mission was run in /r'],
    [
      'its process lives',
      [running('one')],
      undefined,
      'The mission "one" is carried out by process 77 already;',
    ],
    ['its process lives, and it is named', [running('one')], 'one', 'is carried out by process 77 already;'],
    [
      'everything was accepted',
      [own('one', 'ended', { ended: ENDED })],
      undefined,
      'Nothing is to be resumed: "one" ended with everything accepted',
    ],
    [
      'everything was accepted, and it is named',
      [own('one', 'ended', { ended: ENDED }), own('two', 'died')],
      'one',
      'Nothing is to be resumed: "one" ended with everything accepted',
    ],
    ['several were not finished', [own('one', 'died'), own('two', 'died')], undefined, ': "one", "two"'],
    ['there is only one of somebody else', [foreign], undefined, 'is not used: it was not written by you'],
  ])('is refused where %s', (_what, runs, name, message) => {
    expect(() => runToResume(runs, meant(name))).toThrow(message);
  });

  it('goes on as it was typed, with its journal', () => {
    expect(resumedOptions(record('x', { options: { quiet: true } }))).toEqual({
      quiet: true,
      journal: '/j',
      resume: true,
    });
    expect(() => resumedOptions(record('x', { leftOut: ['skills-store'] }))).toThrow(
      '"x" was begun with "--skills-store", which holds a password and was not kept; type its command again with --skills-store, --journal /j and --resume',
    );
  });
});

describe('what is kept of a command line', () => {
  it('has absolute paths, no password, and nothing of how it began', () => {
    const typed: TypedOptions = {
      ...{ repo: '.', json: 'r.json', agents: 'a.ts,/b.ts' },
      ...({ quiet: true, anew: true, resume: true } as const),
      'skills-store': 'postgres://ada:secret@host/db',
    };
    expect(keptOptions(typed, ['m.json'], '/home/ada')).toEqual({
      file: '/home/ada/m.json',
      options: { repo: '/home/ada', json: '/home/ada/r.json', agents: '/home/ada/a.ts,/b.ts', quiet: true },
      leftOut: ['skills-store'],
    });
    expect(keptOptions({ 'skills-store': 'env:STORE' }, [], '/x')).toEqual({
      file: undefined,
      options: { 'skills-store': 'env:STORE' },
      leftOut: [],
    });
  });
});

describe('a mission whose last run was not finished', () => {
  const asked = (found: FoundRun | undefined, over = {}) =>
    unfinishedRun({ read: () => found }, { isAnew: false, isResumed: false, ...over });

  it('is not begun anew before somebody says so', () => {
    const died =
      'The mission "one" was not finished: its process 77 died; \'orrery resume\' goes on with it, --anew begins anew';
    expect(asked(own('one', 'died'))).toBe(died);
    expect(asked(own('one', 'ended', { ended: FAILED }))).toContain('it ended as task-failed');
    expect(asked(foreign)).toBe(
      '/r/.orrery/runs/theirs/run.json tells of a run, but it was not written by you: --anew begins anew and replaces it',
    );
    for (const found of [own('one', 'died'), foreign])
      for (const over of [{ isAnew: true }, { isResumed: true }]) expect(asked(found, over)).toBeUndefined();
  });

  it('may be begun where there was none, or it was finished', () => {
    expect(asked(undefined)).toBeUndefined();
    expect(asked(own('one', 'ended', { ended: ENDED }))).toBeUndefined();
    const withFindings = { ...FAILED, stopReason: 'findings-at-or-above' } as const;
    expect(asked(own('one', 'ended', { ended: withFindings }))).toBeUndefined();
  });

  it('is not begun in any way while its process lives', () => {
    for (const over of [{}, { isAnew: true }, { isResumed: true }])
      expect(asked(running('one'), over)).toMatch(/is carried out by process 77 already/);
  });
});
