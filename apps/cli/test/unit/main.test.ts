import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orreryHere } from '../run-here.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-cli-'));
  writeFileSync(join(folder, 'file'), '');
  writeFileSync(join(folder, 'broken.json'), '{\n  "version": 1,,\n}');
  writeFileSync(
    join(folder, 'endless.json'),
    '{"version":1,"name":"m","limits":{},"tasks":[{"id":"a","title":"A","capability":"c"}]}',
  );
  writeFileSync(
    join(folder, 'good.json'),
    '{"version":1,"name":"m","limits":{"maxAttempts":1},"tasks":[{"id":"types","title":"A","capability":"c"}]}',
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('orrery', () => {
  it('prints its version', async () => {
    expect(await orreryHere('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^orrery \d+\.\d+\.\d+\n$/) as string,
    });
  });

  it('prints help for itself and for a command', async () => {
    const [all, run] = await Promise.all([orreryHere('--help'), orreryHere('run', '--help')]);
    expect(all).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('orrery agents') as string,
    });
    expect(run).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('--fail-on SEVERITY') as string,
    });
  });

  const workshop = ['--agents', fileURLToPath(new URL('../fixtures/workshop.agent.ts', import.meta.url))];

  it("draws an agent's machine, and those of its own, without starting anybody", async () => {
    const [agent, sun, life, mission] = await Promise.all([
      orreryHere('agents', '--machine', 'mars'),
      orreryHere('agents', ...workshop, '--machine', 'sun'),
      orreryHere('agents', '--machine', 'agentLife'),
      orreryHere('agents', '--machine', 'missionTask'),
    ]);
    for (const ended of [agent, sun, life, mission]) {
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toMatch(/^stateDiagram-v2\n/);
    }
    expect(agent.stdout).toContain('state "tsc" as busy_atWork_tsc');
    expect(sun.stdout).toContain('waiting --> recovering : mission.recover');
    expect(life.stdout).toContain('starting --> running : agent.started');
    expect(mission.stdout).toContain('judging --> accepted : gate.judged [isApproved] / learn');
  });

  it('says which machine was meant', async () => {
    const { stderr } = await orreryHere('agents', ...workshop, '--machine', 'agent-life');
    expect(stderr).toContain('; did you mean "agentLife"?');
  });

  /** Who would do it does not matter: it is refused before. */
  const good = () => [join(folder, 'good.json'), '--agents', join(folder, 'file')];

  const refused: readonly [string, () => string[], string][] = [
    [
      'no command',
      () => [],
      "No command; expected run, check, ps, stop, pause, continue, skip, approve, resume, init, doctor, up, peers, mcp, key, simulate, journal, inspect, top, stately or agents\nSee 'orrery --help'.",
    ],
    [
      'an unknown option',
      () => ['run', '--recrd', 'x'],
      `Unknown option "--recrd" for "run"; did you mean "--record"?\nSee 'orrery run --help'.`,
    ],
    [
      'a severity that is none',
      () => ['run', '--fail-on', 'severe'],
      'Option "--fail-on" is "severe", expected one of',
    ],
    [
      'a repository that does not exist',
      () => ['run', '--repo', '/no/such'],
      'Option "--repo" is "/no/such": The repository /no/such does not exist',
    ],
    ['a repository that is a file', () => ['run', '--repo', join(folder, 'file')], 'is not a directory'],
    [
      'a mission that does not exist',
      () => ['run', '/no/mission.json'],
      'The mission /no/mission.json cannot be run:\n  no such file',
    ],
    ['a mission that is not JSON', () => ['run', join(folder, 'broken.json')], 'line 2, column 16: not JSON'],
    [
      'a mission without a limit',
      () => ['run', join(folder, 'endless.json')],
      'limits: no limit; expected maxAttempts, timeoutMs or both',
    ],
    [
      'a report that cannot be written',
      () => ['run', ...good(), '--json', '/no/such/report.json'],
      'Option "--json" is "/no/such/report.json": the folder /no/such does not exist',
    ],
    [
      'a trace that cannot be written',
      () => ['run', ...good(), '--json', join(folder, 'r.json'), '--record', folder],
      'which is a folder, expected a file',
    ],
    [
      'one file for two things',
      () => ['run', ...good(), '--json', join(folder, 'x'), '--record', `${folder}/./x`],
      'both name',
    ],
    [
      'a level of a rule that is none',
      () => ['run', '--rule', 'oxlint=off', '--rule', 'knip=loud'],
      'Option "--rule" is "knip=loud", expected NAME=LEVEL with critical, high, medium, low, info or off',
    ],
    [
      'a former report that is none',
      () => ['run', '--baseline', join(folder, 'good.json')],
      'expected a report as "--json FILE" writes it',
    ],
    [
      'two ways of showing a run',
      () => ['run', '--quiet', '--verbose'],
      'Options "--quiet" and "--verbose" exclude each other',
    ],
    [
      'lines for scripts among others',
      () => ['run', '--ndjson', '--verbose'],
      'Options "--verbose" and "--ndjson" exclude each other',
    ],
    [
      'to explain a task in lines for scripts',
      () => ['run', ...good(), '--ndjson', '--explain', 'types'],
      'Options "--explain" and "--ndjson" exclude each other',
    ],
    [
      'the text of a pull request for a mission that changes nothing',
      () => ['run', ...good(), '--pull-request', join(folder, 'pr.md')],
      'Option "--pull-request" is given, but no task of the mission changes the repository',
    ],
    [
      'a task to explain that there is not',
      () => ['run', ...good(), '--explain', 'type'],
      'Option "--explain" is "type", expected a task: types; did you mean "types"?',
    ],
    [
      'a machine that there is not',
      () => ['agents', ...workshop, '--machine', 'agent-life'],
      'Option "--machine" is "agent-life", expected one of agentLife, agentProcess, assignment, cell, channel, coordinator, mercury, missionTask,',
    ],
    [
      'a machine of an agent that has none',
      () => ['agents', ...workshop, '--machine', 'workshop'],
      'that agent has no state machine of its own. The life of every agent is "agentLife"',
    ],
    [
      'a drawing as JSON',
      () => ['agents', ...workshop, '--machine', 'sun', '--json'],
      'Options "--machine" and "--json" exclude each other',
    ],
  ];

  it.each(refused)('refuses %s with 64, and leaves nothing behind', async (_, words, message) => {
    const ended = await orreryHere(...words());
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toContain(`orrery: `);
    expect(ended.stderr).toContain(message);
    expect(readdirSync(folder).sort()).toEqual(['broken.json', 'endless.json', 'file', 'good.json']);
  });
});
