import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { MissionReport } from '@orrery/ralph-loop';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Orrery, orrery } from '../spawn-orrery.ts';

const REMEMBERED = 'it was accepted in a run before';

let folder: string;
let repo: string;
let journal: string;
let mission: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-resume-'));
  [repo, journal, mission] = ['repo', 'journal', 'mission.json'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(repo);
  writeFileSync(join(repo, 'wrong.txt'), 'WRONG\n');
  writeMission('wait.for-word');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const WORKSHOP = fileURLToPath(new URL('../fixtures/workshop.agent.ts', import.meta.url));

/** First the wrong words, then what `last` does. */
function writeMission(last: string): void {
  const common = { description: 'x' };
  writeFileSync(
    mission,
    JSON.stringify({
      version: 1,
      name: 'two-steps',
      agents: [WORKSHOP],
      limits: { maxAttempts: 2 },
      tasks: [
        { id: 'first', title: 'First', capability: 'words.check', dependsOn: [], ...common },
        { id: 'last', title: 'Last', capability: last, dependsOn: ['first'], ...common },
      ],
    }),
  );
}

const words = (...more: string[]) => [
  ...['run', mission, '--repo', repo, '--journal', journal, '--verbose'],
  ...more,
];
/** What the last task waits for. */
const sayWord = () => writeFileSync(join(repo, 'word.txt'), 'go on');

describe('orrery run --resume', () => {
  it('does not do again what was accepted before the run was interrupted, and has its findings', async () => {
    const run = new Orrery(words());
    await run.printed('last is working');
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 130 });
    sayWord();
    const json = join(folder, 'report.json');
    const resumed = await orrery(...words('--resume', '--json', json));
    expect(resumed).toMatchObject({ code: 0, stderr: '' });
    expect(resumed.stdout).toContain(`first is accepted: ${REMEMBERED}`);
    expect(resumed.stdout).not.toContain('first is working');
    const { findings, tasks } = MissionReport.parse(JSON.parse(readFileSync(json, 'utf8')));
    expect(findings.map(({ rule, task }) => [rule, task])).toEqual([['words/wrong', 'first']]);
    expect(tasks.map(({ id, status }) => [id, status])).toEqual([
      ['first', 'accepted'],
      ['last', 'accepted'],
    ]);
  });

  it('completes a mission whose process was killed', async () => {
    const run = new Orrery(words());
    await run.printed('last is working');
    run.child.kill('SIGKILL');
    await run.ended;
    sayWord();
    const resumed = await orrery(...words('--resume'));
    expect(resumed).toMatchObject({ code: 0, stderr: '' });
    expect(resumed.stdout).toContain('2 of 2 tasks accepted');
  });

  it('begins anew without the word, and forgets what was', async () => {
    sayWord();
    for (let runs = 0; runs < 2; runs++) {
      const { stdout } = await orrery(...words());
      expect(stdout).toContain('first is working');
      expect(stdout).not.toContain(REMEMBERED);
    }
  });

  it('says what keeps it from going on', async () => {
    const none = await orrery(...words('--resume'));
    expect([none.code, none.stderr]).toEqual([
      64,
      expect.stringContaining('cannot be resumed: the journal has no progress of a mission'),
    ]);
    sayWord();
    await orrery(...words());
    writeMission('styles.check');
    const other = await orrery(...words('--resume'));
    expect([other.code, other.stderr]).toEqual([64, expect.stringContaining('is not what it was')]);
    const alone = await orrery('run', mission, '--repo', repo, '--resume');
    expect([alone.code, alone.stderr]).toEqual([
      64,
      expect.stringContaining('"--resume" needs "--journal FILE"'),
    ]);
    writeFileSync(journal, 'no database, but long enough to be more than the header of one '.repeat(4));
    const broken = await orrery(...words());
    expect(broken.code).not.toBe(0);
    expect(broken.stderr).toContain(journal);
  });
});
