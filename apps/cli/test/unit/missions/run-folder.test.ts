import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { identityOf } from 'orrery/coding';
import { describe, expect, it } from 'vitest';
import { readRuns } from '../../../missions/own-runs.ts';
import { RunFolder } from '../../../missions/run-folder.ts';
import { type RunRecord, statusOf } from '../../../missions/run-record.ts';
import { RunSeal } from '../../../missions/run-seal.ts';
import { UsageError } from '../../../usage-error.ts';
import { ENDED, RunsHere } from './runs-here.ts';

const fileOf = (folder: RunFolder): string => join(folder.path, 'run.json');
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('what is kept of a run', () => {
  it('is found again as it was written, readable by its user alone', () => {
    using here = new RunsHere();
    const folder = here.began();
    expect(folder.path).toBe(join(here.root, '.orrery/runs/spring-clean'));
    expect(folder.read()).toEqual({ kind: 'own', record: here.record(), status: 'died' });
    expect([modeOf(folder.path), modeOf(fileOf(folder))]).toEqual([0o700, 0o600]);
    expect(readdirSync(folder.path)).toEqual(['run.json']);
    expect(here.folder('Other').read()).toBeUndefined();
  });

  it('has the end of the run, unless another has begun meanwhile', () => {
    using here = new RunsHere();
    const folder = here.began();
    folder.end(here.record(), ENDED);
    expect(folder.read()).toMatchObject({ status: 'ended', record: { ended: ENDED } });
    folder.write(here.record({ startedAtMs: 3_000 }));
    folder.end(here.record(), ENDED);
    expect(folder.read()).toMatchObject({ status: 'died', record: { startedAtMs: 3_000 } });
  });

  it('is of a run that is running, has ended, or has died, also where another has the number of its process now', () => {
    using here = new RunsHere();
    const self = identityOf(process.pid);
    if (self === undefined) throw new Error('this test reads /proc');
    const { pid, start, machine } = self;
    const status = (over: Partial<RunRecord>) => statusOf(here.record(over));
    expect(status({ process: { pid, start, machine } })).toBe('running');
    expect(status({ process: { pid, start: `${start}0`, machine } })).toBe('died');
    expect(status({ process: { pid, start, machine: 'of another start of the machine' } })).toBe('died');
    expect(status({ process: { pid } })).toBe('running');
    expect(status({ process: { pid: 2 ** 31 - 1 } })).toBe('died');
    expect(status({ process: { pid, start, machine }, ended: ENDED })).toBe('ended');
  });

  it('says which field cannot be kept', () => {
    using here = new RunsHere();
    const folder = here.began();
    expect(() => folder.write(here.record({ mission: 'x'.repeat(9_000) }))).toThrow(
      /cannot be kept in .*run\.json: mission: Too big/,
    );
    expect(folder.read()).toMatchObject({ kind: 'own' });
  });
});

describe('a record that somebody else wrote', () => {
  const spoiled: readonly [string, (file: string, here: RunsHere) => void, RegExp][] = [
    [
      'changed by hand',
      (file) => writeFileSync(file, readFileSync(file, 'utf8').replace('"/r.json"', '"/etc/passwd"')),
      /it was not written by you/,
    ],
    [
      'with a foreign process',
      (file) => writeFileSync(file, readFileSync(file, 'utf8').replace(/"pid": \d+/, '"pid": 1')),
      /it was not written by you/,
    ],
    ['that is no JSON', (file) => writeFileSync(file, '\u001b[2J{'), /it is no JSON/],
    ['that has other fields', (file) => writeFileSync(file, '{"seal":"","record":{}}'), /no record of a run/],
    [
      'with a path that is none',
      (file, here) =>
        writeFileSync(file, JSON.stringify({ seal: '', record: here.record({ root: '../x' }) })),
      /record\.root: no absolute path/,
    ],
    ['that is huge', (file) => writeFileSync(file, ' '.repeat(300_000)), /more than 262144 bytes/],
    [
      'behind a link',
      (file) => {
        cpSync(file, `${file}.theirs`);
        rmSync(file);
        symlinkSync(`${file}.theirs`, file);
      },
      /ELOOP/,
    ],
    [
      'that is a pipe, which is not waited for',
      (file) => {
        rmSync(file);
        execFileSync('mkfifo', [file]);
      },
      /it is no file/,
    ],
    [
      'that is a folder',
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
      /it is no file/,
    ],
  ];

  it.each(spoiled)('%s is not used', (_what, spoil, why) => {
    using here = new RunsHere();
    const folder = here.began();
    spoil(fileOf(folder), here);
    expect(folder.read()).toEqual({
      kind: 'foreign',
      name: 'spring-clean',
      file: fileOf(folder),
      why: expect.stringMatching(why) as string,
    });
  });

  it('is not used in a copy of the repository, nor for another mission, nor by another user', () => {
    using here = new RunsHere();
    const folder = here.began();
    const copy = join(here.base, 'copy');
    cpSync(here.root, copy, { recursive: true });
    const why = (found: RunFolder) => found.read();
    expect(why(new RunFolder(copy, 'Spring clean', here.seal))).toMatchObject({
      kind: 'foreign',
      why: `it is of a run in ${here.root}`,
    });
    cpSync(folder.path, join(here.root, '.orrery/runs/autumn'), { recursive: true });
    expect(why(here.folder('autumn'))).toMatchObject({ why: 'it is of the mission "Spring clean"' });
    const other = new RunSeal(join(here.base, 'other', 'runs.key'));
    expect(why(here.folder('Spring clean', other))).toMatchObject({ why: 'it was not written by you' });
    other.seal('x');
    expect(why(here.folder('Spring clean', other))).toMatchObject({ why: 'it was not written by you' });
  });

  it('is not used where its folder is a link, and nothing is written there', () => {
    for (const place of ['.orrery', '.orrery/runs', '.orrery/runs/spring-clean']) {
      using here = new RunsHere();
      const folder = here.began();
      const theirs = join(here.base, 'theirs');
      const linked = join(here.root, place);
      cpSync(linked, theirs, { recursive: true });
      rmSync(linked, { recursive: true });
      symlinkSync(theirs, linked);
      expect(folder.read()).toMatchObject({ kind: 'foreign', why: 'it lies behind a link' });
      const before = readdirSync(theirs, { recursive: true });
      expect(() => folder.make()).toThrow(UsageError);
      expect(() => folder.make()).toThrow(`The folder ${linked} is a link or no folder`);
      expect(readdirSync(theirs, { recursive: true })).toEqual(before);
    }
  });
});

describe('the journal of a run', () => {
  it('is one that is not there yet, whatever has come with the repository', () => {
    using here = new RunsHere();
    const folder = here.began();
    const first = folder.newJournal(7);
    expect(first).toBe(join(folder.path, `journal-7-${process.pid}`));
    symlinkSync('/nowhere', first);
    expect(folder.newJournal(7)).toBe(join(folder.path, `journal-8-${process.pid}`));
  });

  it('is kept with what stands beside it, and those of runs before are not, nor followed where they lead', () => {
    using here = new RunsHere();
    const folder = here.began();
    const theirs = join(here.base, 'theirs');
    writeFileSync(theirs, 'theirs');
    for (const name of ['journal-1-1', 'journal-1-1-wal', 'journal-2-1', 'journal-2-1-wal', 'notes'])
      writeFileSync(join(folder.path, name), '');
    symlinkSync(theirs, join(folder.path, 'journal-3-1'));
    folder.sweep(join(folder.path, 'journal-2-1'));
    expect(readdirSync(folder.path)).toEqual(['journal-2-1', 'journal-2-1-wal', 'notes', 'run.json']);
    folder.sweep('/home/ada/own-journal');
    expect(readdirSync(folder.path)).toEqual(['notes', 'run.json']);
    expect(readFileSync(theirs, 'utf8')).toBe('theirs');
  });
});

describe('the runs of a repository', () => {
  const readHere = (here: RunsHere) => readRuns(here.root, { XDG_STATE_HOME: join(here.base, 'state') });

  it('are those of all missions, the last first, and those of others at the end', () => {
    using here = new RunsHere();
    expect(readHere(here)).toEqual([]);
    mkdirSync(join(here.base, 'state'));
    const seal = new RunSeal(join(here.base, 'state', 'orrery', 'runs.key'));
    for (const [at, mission] of ['One', 'Two', 'Zwölf – ÆØ'].entries()) {
      const folder = here.folder(mission, seal);
      folder.make();
      folder.write(here.record({ mission, startedAtMs: at }));
    }
    here.began({ mission: 'theirs', startedAtMs: 9 });
    writeFileSync(join(here.root, '.orrery/runs/file'), '');
    mkdirSync(join(here.root, '.orrery/runs/Not Fitted'));
    expect(readHere(here).map((run) => (run.kind === 'own' ? run.record.mission : run.why))).toEqual([
      'Zwölf – ÆØ',
      'Two',
      'One',
      'it was not written by you',
    ]);
  });

  it('are none where their folder is a link', () => {
    using here = new RunsHere();
    here.began();
    const runs = join(here.root, '.orrery/runs');
    renameSync(runs, join(here.base, 'theirs'));
    symlinkSync(join(here.base, 'theirs'), runs);
    expect(readHere(here)).toEqual([]);
  });
});

describe('the seal of a user', () => {
  it('is not made with a key that others can read, or that is a link', () => {
    using here = new RunsHere();
    const file = join(here.base, 'user', 'runs.key');
    const made = here.seal.seal('text');
    expect(modeOf(file)).toBe(0o600);
    expect(new RunSeal(file).seal('text')).toBe(made);
    expect(new RunSeal(file).fits('text', made)).toBe(true);
    expect(new RunSeal(file).fits('text', `${made}0`)).toBe(false);
    chmodSync(file, 0o644);
    expect(() => new RunSeal(file).seal('text')).toThrow(`No key can be kept at ${file}: others may read it`);
    expect(new RunSeal(file).fits('text', made)).toBe(false);
    chmodSync(file, 0o600);
    symlinkSync(file, `${file}.link`);
    expect(() => new RunSeal(`${file}.link`).seal('text')).toThrow('it is no file');
  });
});
