import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MissionReport } from '@orrery/ralph-loop';
import { PLANETS } from 'orrery/planets';
import type { Log } from 'sarif';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Ended, MAIN, Orrery, orrery } from '../spawn-orrery.ts';

let folder: string;
let repo: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-run-'));
  repo = join(folder, 'repo');
  mkdirSync(repo);
  writeFileSync(
    join(repo, 'tsconfig.json'),
    '{ "compilerOptions": { "strict": true, "noEmit": true }, "include": ["*.ts"] }\n',
  );
  writeFileSync(join(repo, 'wrong.ts'), 'export const count: number = "three";\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

const readReport = (file: string) => MissionReport.parse(JSON.parse(readFileSync(file, 'utf8')));

describe('orrery run', () => {
  it('writes the findings as SARIF and the report as a page', async () => {
    const [sarif, html] = [join(folder, 'report.sarif'), join(folder, 'report.html')];
    expect(await orrery('run', '--repo', repo, '--sarif', sarif, '--html', html)).toMatchObject({ code: 0 });
    const log = JSON.parse(readFileSync(sarif, 'utf8')) as Log;
    const places = log.runs[0]?.results?.map(({ locations }) => locations?.[0]?.physicalLocation);
    expect(places).toContainEqual(
      expect.objectContaining({ artifactLocation: { uri: 'wrong.ts', uriBaseId: 'SRCROOT' } }),
    );
    expect(readFileSync(html, 'utf8')).toContain('<code>wrong.ts:1:14</code>');
    expect(readdirSync(folder).sort()).toEqual(['repo', 'report.html', 'report.sarif']);
  });

  it('audits a repository, prints plain lines and a report, and writes the report and the trace', async () => {
    const [json, record] = [join(folder, 'report.json'), join(folder, 'trace.jsonl')];
    const ended = await orrery('run', '--repo', repo, '--json', json, '--record', record);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).not.toContain('\x1b');
    expect(ended.stdout).toContain('goes on: ');
    expect(ended.stdout).toContain('wrong.ts:1');
    const report = readReport(json);
    expect(report).toMatchObject({
      stopReason: 'all-accepted',
      exitCode: 0,
      assigner: 'sun',
      gate: 'mercury',
    });
    expect(report.findings).toContainEqual(
      expect.objectContaining({ file: 'wrong.ts', line: 1, agent: 'mars', task: 'types' }),
    );
    expect(report.receipts?.envelopes.holds).toBe(true);
    const [header, ...events] = readFileSync(record, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(header).toMatchObject({
      format: 'orrery-trace',
      version: 1,
      mission: 'repository-audit',
      root: report.root,
    });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'envelope-settled',
        correlationId: 'repository-audit/types',
        outcome: 'handled',
      }),
    );
    expect(readdirSync(folder).sort()).toEqual(['repo', 'report.json', 'trace.jsonl']);
  });

  it('exits with 1 on findings that were asked to fail it, and not on milder ones', async () => {
    writeFileSync(join(repo, 'wrong.ts'), 'export const count = 3;\n');
    writeFileSync(join(repo, 'a.ts'), "import { b } from './b.ts';\nexport const a = () => b();\n");
    writeFileSync(join(repo, 'b.ts'), "import { a } from './a.ts';\nexport const b = (): void => a();\n");
    const json = join(folder, 'report.json');
    expect((await orrery('run', '--repo', repo, '--fail-on', 'info', '--json', json)).code).toBe(1);
    expect(readReport(json)).toMatchObject({
      stopReason: 'findings-at-or-above',
      failOn: 'info',
      exitCode: 1,
    });
  });

  it('audits an empty folder', async () => {
    rmSync(repo, { recursive: true });
    mkdirSync(repo);
    const ended = await orrery('run', '--repo', repo);
    expect(ended).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('No findings.') as string,
    });
  });

  it('refuses a mission that nobody in the team can do, before anything runs', async () => {
    const mission = join(folder, 'mission.json');
    const task = { id: 'fly', title: 'Fly', capability: 'types.chek' };
    writeFileSync(
      mission,
      JSON.stringify({ version: 1, name: 'm', limits: { maxAttempts: 1 }, tasks: [task] }),
    );
    const ended = await orrery('run', mission, '--repo', repo, '--json', join(folder, 'report.json'));
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toContain(
      'tasks[0].capability: nobody in the team offers "types.chek"; did you mean "types.check"?',
    );
    expect(readdirSync(folder).sort()).toEqual(['mission.json', 'repo']);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops within a second of %s, says what was left, and exits with %i', async (signal, code) => {
    const json = join(folder, 'report.json');
    const run = new Orrery(['run', '--repo', repo, '--json', json]);
    await run.printed('works on');
    const sentAt = performance.now();
    run.child.kill(signal);
    const ended = await run.ended;
    expect(performance.now() - sentAt).toBeLessThan(1_500);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toContain('Left\n');
    expect(readReport(json)).toMatchObject({ stopReason: 'interrupted', exitCode: code });
  });

  it('goes on without its reader, and ends as it would have', async () => {
    const json = join(folder, 'report.json');
    const run = new Orrery(['run', '--repo', repo, '--json', json]);
    await run.printed('is ready');
    run.child.stdout.destroy();
    const ended = await run.ended;
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(readReport(json).stopReason).toBe('all-accepted');
  });
});

/** The command as a shell runs it, `$ORRERY` standing for it. */
async function inShell(script: string): Promise<Ended> {
  const env = { ...process.env, ORRERY: `${process.execPath} --conditions=orrery-source ${MAIN}` };
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
      orrery('run', '--repo', repo, '--json', '/dev/full'),
      orrery('run', '--repo', repo, '--json', json, '--record', '/dev/full'),
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
    const ended = await inShell('$ORRERY run --repo repo --json report.json > /dev/full');
    expect(ended).toMatchObject({
      code: 74,
      stderr: `orrery: Standard output could not be written: ${NO_SPACE}\n`,
    });
    expect(readReport(join(folder, 'report.json')).stopReason).toBe('all-accepted');
  });

  it('writes to standard output, into pipes and beside what is printed into a file', async () => {
    const [piped, substituted, filed] = await Promise.all([
      inShell('set -o pipefail; $ORRERY run --repo repo --json /dev/stdout | cat'),
      inShell(
        '$ORRERY run --repo repo --json >(cat > report.json) > /dev/null; code=$?; wait $!; exit $code',
      ),
      inShell('$ORRERY run --repo repo --json /dev/stdout > all.txt'),
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
    const [table, json] = await Promise.all([orrery('agents'), orrery('agents', '--json')]);
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toMatch(/^AGENT +TIER +CAPABILITIES +PLACE +STATUS +MAILBOX +RESTARTS\n/);
    expect(table.stdout).toMatch(/^mars +L2 +types\.check +worker-\d +running +0 +0$/m);
    const ids = (JSON.parse(json.stdout) as { id: string }[]).map(({ id }) => id);
    expect(ids.sort()).toEqual(Object.keys(PLANETS).sort());
    expect(ids).toHaveLength(21);
  });
});
