import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissionReport } from '@orrery/ralph-loop';
import type { Log } from 'sarif';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Ended, MAIN, Orrery, orrery } from '../spawn-orrery.ts';
import { CONDITIONS } from '../../../../test/fixtures/conditions.ts';

const agent = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}.agent.ts`, import.meta.url));

let folder: string;
let repo: string;
let mission: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-run-'));
  [repo, mission] = [join(folder, 'repo'), join(folder, 'mission.json')];
  mkdirSync(repo);
  writeFileSync(join(repo, 'wrong.txt'), 'fine\nWRONG\n');
  writeMission([
    { id: 'words', capability: 'words.check' },
    { id: 'styles', capability: 'styles.check' },
  ]);
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeMission(tasks: readonly object[], agents = ['workshop']): void {
  const whole = {
    version: 1,
    name: 'workshop',
    agents: agents.map(agent),
    limits: { maxAttempts: 2 },
    tasks: tasks.map((task) => ({ title: 'T', ...task })),
  };
  writeFileSync(mission, JSON.stringify(whole));
}

const words = (...more: readonly string[]) => ['run', mission, '--repo', repo, ...more];
const readReport = (file: string) => MissionReport.parse(JSON.parse(readFileSync(file, 'utf8')));

describe('orrery run', () => {
  it('prints a line a task and a report that begins with the findings, and writes the report and the trace', async () => {
    const [json, record] = [join(folder, 'report.json'), join(folder, 'trace.jsonl')];
    const ended = await orrery(...words('--json', json, '--record', record));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).not.toContain('\x1b');
    expect(ended.stdout.split('\n')[0]).toBe(`workshop on ${realpathSync(repo)}: 2 tasks`);
    expect(ended.stdout.trimEnd().split('\n').at(-1)).toBe(`Written: ${json}, ${record}`);
    expect(ended.stdout).toMatch(/^0:\d\d {2}\d\/2 {2}words: 1 finding \(workshop\)$/m);
    expect(ended.stdout).toMatch(/^0:\d\d {2}\d\/2 {2}styles: nothing to read: no stylesheets$/m);
    expect(ended.stdout).toContain('MEDIUM (1)\n  wrong.txt:2  A wrong word.  words/wrong, workshop\n');
    expect(ended.stdout.trimEnd().split('\n').length).toBeLessThan(12);
    const report = readReport(json);
    expect(report).toMatchObject({
      stopReason: 'all-accepted',
      exitCode: 0,
      assigner: 'sun',
      gate: 'mercury',
    });
    expect(report.findings).toMatchObject([{ file: 'wrong.txt', line: 2, agent: 'workshop', task: 'words' }]);
    expect(report.tasks.map(({ status }) => status)).toEqual(['accepted', 'nothing']);
    expect(report.receipts?.envelopes.holds).toBe(true);
    const [header, ...events] = readFileSync(record, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(header).toMatchObject({
      format: 'orrery-trace',
      version: 1,
      mission: 'workshop',
      root: report.root,
    });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'envelope-settled',
        correlationId: 'workshop/words',
        outcome: 'handled',
      }),
    );
    expect(readdirSync(folder).sort()).toEqual(['mission.json', 'repo', 'report.json', 'trace.jsonl']);
  });

  it('writes the findings as SARIF and the report as a page', async () => {
    const [sarif, html] = [join(folder, 'report.sarif'), join(folder, 'report.html')];
    expect(await orrery(...words('--sarif', sarif, '--html', html))).toMatchObject({ code: 0 });
    const log = JSON.parse(readFileSync(sarif, 'utf8')) as Log;
    const places = log.runs[0]?.results?.map(({ locations }) => locations?.[0]?.physicalLocation);
    expect(places).toMatchObject([{ artifactLocation: { uri: 'wrong.txt', uriBaseId: 'SRCROOT' } }]);
    expect(readFileSync(html, 'utf8')).toContain('<code>wrong.txt:2</code>');
    expect(readdirSync(folder).sort()).toEqual(['mission.json', 'repo', 'report.html', 'report.sarif']);
  });

  it('says as much as it is asked to, in colours if they are wanted', async () => {
    const [quiet, verbose, coloured] = await Promise.all([
      orrery(...words('--quiet', '--json', join(folder, 'report.json'))),
      orrery(...words('--verbose')),
      new Orrery(words('--quiet'), { env: { FORCE_COLOR: '1' } }).ended,
    ]);
    expect(quiet.stdout.split('\n').slice(0, 2)).toEqual([
      'MEDIUM (1)',
      '  wrong.txt:2  A wrong word.  words/wrong, workshop',
    ]);
    expect(quiet.stdout.split('\n')).toHaveLength(6);
    expect(quiet.stdout).not.toContain('Written');
    expect(verbose.stdout).toContain('goes on: workshop works on words');
    expect(verbose.stdout).toMatch(/^Tasks\n {2}words +accepted +workshop/m);
    expect(coloured.stdout).toContain('\x1b[33mMEDIUM (1)');
  });

  it('prints nothing but lines of JSON for scripts: its events, and at last the report', async () => {
    const json = join(folder, 'report.json');
    const ended = await orrery(...words('--ndjson', '--json', json));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const lines = ended.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly type: string });
    expect(lines[0]).toMatchObject({ type: 'mission.started', mission: 'workshop' });
    expect(lines).toContainEqual(
      expect.objectContaining({ type: 'task.changed', task: 'words', status: 'accepted' }),
    );
    expect(lines.at(-2)).toMatchObject({ type: 'mission.ended', stopReason: 'all-accepted' });
    expect(lines.at(-1)).toEqual({ type: 'report', report: readReport(json) });
  });

  it('exits with 1 on findings that were asked to fail it, and not on milder ones or on those that are known', async () => {
    const json = join(folder, 'report.json');
    expect((await orrery(...words('--fail-on', 'medium', '--json', json))).code).toBe(1);
    expect(readReport(json)).toMatchObject({ stopReason: 'findings-at-or-above', failOn: 'medium' });
    const [milder, off, known] = await Promise.all([
      orrery(...words('--fail-on', 'medium', '--rule', 'words=low')),
      orrery(...words('--fail-on', 'info', '--rule', 'other=high', '--rule', 'words/wrong=off')),
      orrery(...words('--fail-on', 'info', '--baseline', json)),
    ]);
    expect([milder.code, off.code, known.code]).toEqual([0, 0, 0]);
    expect(milder.stdout).toContain('LOW (1)');
    expect(off.stdout).toContain('1 finding of rules that are off not listed');
    expect(known.stdout).toContain('No findings.\n1 finding of the former report not listed');
  });

  it('takes agents of the folder or the command line, and brings SUN and MERCURY where nobody stands in', async () => {
    const own = { version: 1, name: 'own', limits: { maxAttempts: 1 } };
    const task = { id: 'words', title: 'T', capability: 'words.check' };
    writeFileSync(mission, JSON.stringify({ ...own, tasks: [task] }));
    const named = await orrery(...words('--agents', agent('workshop')));
    expect(named.stdout).toContain('1 of 1 task accepted');
    const missing = await orrery(...words('--agents', agent('nobody')));
    expect(missing).toMatchObject({ code: 64, stdout: '' });
    writeFileSync(mission, JSON.stringify({ ...own, tasks: [task], agents: ['./gone.agent.ts'] }));
    const gone = await orrery(...words());
    expect(gone.code).toBe(64);
    expect(gone.stderr).toContain(`agents[0]: there is no file ${join(folder, 'gone.agent.ts')}`);
  });

  it('has its gate from the team where the team has one', async () => {
    const json = join(folder, 'report.json');
    const run = new Orrery(words('--json', json, '--agents', `${agent('workshop')},${agent('undecided')}`));
    await run.printed('styles: nothing');
    run.child.kill('SIGINT');
    await run.ended;
    expect(readReport(json)).toMatchObject({ gate: 'undecided', assigner: 'sun' });
  });

  it('refuses a mission that nobody in the team can do, before anything runs', async () => {
    writeMission([{ id: 'fly', capability: 'words.chek' }]);
    const ended = await orrery(...words('--json', join(folder, 'report.json')));
    expect(ended).toMatchObject({ code: 64, stdout: `workshop on ${realpathSync(repo)}: 1 task\n` });
    expect(ended.stderr).toContain(
      'tasks[0].capability: nobody in the team offers "words.chek"; did you mean "words.check"?',
    );
    expect(readdirSync(folder).sort()).toEqual(['mission.json', 'repo']);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'stops within a second of %s with what was found, judged or not, in every report, and exits with %i',
    async (signal, code) => {
      const [json, sarif, html] = ['report.json', 'report.sarif', 'report.html'].map((name) =>
        join(folder, name),
      );
      writeMission(
        [
          { id: 'words', capability: 'words.check' },
          { id: 'endless', capability: 'wait.forever', after: ['styles'] },
          { id: 'styles', capability: 'styles.check' },
        ],
        ['workshop', 'undecided'],
      );
      const startedAt = performance.now();
      const run = new Orrery(
        words('--verbose', '--json', json as string, '--sarif', sarif as string, '--html', html as string),
      );
      await Promise.all([run.printed('words is judging'), run.printed('endless is working')]);
      const sentAt = performance.now();
      run.child.kill(signal);
      const ended = await run.ended;
      // A machine that takes longer than that to get to work takes longer to end it, too.
      expect(performance.now() - sentAt).toBeLessThan(Math.max(1_500, sentAt - startedAt));
      expect(ended.code).toBe(code);
      expect(ended.stdout).toContain('wrong.txt:2  A wrong word.  words/wrong, workshop, not judged');
      expect(ended.stdout).toContain('Left\n');
      expect(ended.stdout.trimEnd().split('\n').at(-1)).toBe(`Written: ${json}, ${sarif}, ${html}`);
      const report = readReport(json as string);
      expect(report).toMatchObject({ stopReason: 'interrupted', exitCode: code });
      expect(report.findings).toMatchObject([{ file: 'wrong.txt', line: 2, judged: false }]);
      const log = JSON.parse(readFileSync(sarif as string, 'utf8')) as Log;
      expect(log.runs[0]?.results).toMatchObject([{ properties: { judged: false } }]);
      expect(readFileSync(html as string, 'utf8')).toContain('(not judged)');
    },
  );

  it('says a word when it is stopped while it starts, and leaves nothing behind', async () => {
    writeMission([{ id: 'words', capability: 'words.check' }], ['workshop', 'slow-to-start']);
    const run = new Orrery(words('--json', join(folder, 'report.json')));
    await run.printed('takes its time');
    run.child.kill('SIGINT');
    const ended = await run.ended;
    expect(ended).toMatchObject({
      code: 130,
      stdout: `workshop on ${realpathSync(repo)}: 1 task\ntakes its time\n`,
    });
    expect(ended.stderr).toBe('orrery: Stopped while the agents were starting; no task was begun\n');
    expect(readdirSync(folder).sort()).toEqual(['mission.json', 'repo']);
  });

  it('goes on without its reader, and ends as it would have', async () => {
    const json = join(folder, 'report.json');
    const run = new Orrery(words('--json', json, '--verbose'));
    await run.printed('is ready');
    run.child.stdout.destroy();
    const ended = await run.ended;
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(readReport(json).stopReason).toBe('all-accepted');
  });
});

/** The command as a shell runs it, `$ORRERY` standing for it. */
async function inShell(script: string): Promise<Ended> {
  const env = { ...process.env, ORRERY: [process.execPath, ...CONDITIONS, MAIN].join(' ') };
  const file = join(mkdtempSync(join(folder, 'shell-')), 'script.sh');
  writeFileSync(file, script);
  const { promise, resolve } = Promise.withResolvers<Ended>();
  execFile('bash', [file], { cwd: folder, env }, (error, stdout, stderr) =>
    resolve({ code: error === null ? 0 : Number(error.code), signal: null, stdout, stderr }),
  );
  return promise;
}

describe('orrery run, writing to what is no file,', () => {
  const NO_SPACE = 'no space is left (ENOSPC)';

  it('goes on when the report or the trace cannot be written, says so in a sentence, and exits with 74', async () => {
    const json = join(folder, 'report.json');
    const [report, trace] = await Promise.all([
      orrery(...words('--json', '/dev/full')),
      orrery(...words('--json', json, '--record', '/dev/full')),
    ]);
    expect(report).toMatchObject({
      code: 74,
      stderr: `orrery: The report could not be written to /dev/full: ${NO_SPACE}\n`,
    });
    expect(report.stdout).toContain('all tasks accepted');
    expect(trace.code).toBe(74);
    expect(trace.stderr).toMatch(
      /^orrery: The trace could not be written to \/dev\/full and stops after 0 of \d+ events: no space is left \(ENOSPC\)\n$/,
    );
    expect(trace.stdout).toContain('all tasks accepted');
    expect(readReport(json).stopReason).toBe('all-accepted');
  });

  it('writes the report as JSON although it cannot print', async () => {
    const ended = await inShell('$ORRERY run mission.json --repo repo --json report.json > /dev/full');
    expect(ended).toMatchObject({
      code: 74,
      stderr: `orrery: Standard output could not be written: ${NO_SPACE}\n`,
    });
    expect(readReport(join(folder, 'report.json')).stopReason).toBe('all-accepted');
  });

  it('writes to standard output, into pipes and beside what is printed into a file', async () => {
    const [piped, substituted, filed] = await Promise.all([
      inShell('set -o pipefail; $ORRERY run mission.json --repo repo --json /dev/stdout | cat'),
      inShell(
        '$ORRERY run mission.json --repo repo --json >(cat > report.json) > /dev/null; code=$?; wait $!; exit $code',
      ),
      inShell('$ORRERY run mission.json --repo repo --json /dev/stdout > all.txt'),
    ]);
    for (const ended of [piped, substituted, filed]) expect(ended).toMatchObject({ code: 0, stderr: '' });
    const all = readFileSync(join(folder, 'all.txt'), 'utf8');
    for (const printed of [piped.stdout, all]) {
      expect(printed).toContain('all tasks accepted');
      const json = printed.slice(printed.indexOf('\n{\n'));
      expect(MissionReport.parse(JSON.parse(json)).stopReason).toBe('all-accepted');
    }
    expect(readReport(join(folder, 'report.json')).stopReason).toBe('all-accepted');
  });
});

describe('orrery agents', () => {
  it('shows who is in the team', async () => {
    const team = ['--agents', agent('workshop')];
    const [table, json] = await Promise.all([orrery('agents', ...team), orrery('agents', '--json', ...team)]);
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toMatch(/^AGENT +TIER +CAPABILITIES +PLACE +STATUS +MAILBOX +RESTARTS\n/);
    expect(table.stdout).toMatch(/^workshop +L2 +words\.check, .* +worker-\d +running +0 +0$/m);
    expect((JSON.parse(json.stdout) as { id: string }[]).map(({ id }) => id)).toEqual(['workshop']);
  });
});
