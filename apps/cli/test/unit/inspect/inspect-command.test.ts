import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACTED_ON, HOSTILE, outcome, request, told } from '../../fixtures/told.ts';
import { orreryHere } from '../../run-here.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-inspect-'));
  file = join(folder, 'run.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const START = 1_795_300_000_000;
const header = {
  format: 'orrery-trace',
  version: 1,
  orrery: '0.1.0',
  startedAtMs: START,
  mission: 'audit',
  root: '/home/me/shop',
  agents: [
    { id: 'mars', name: 'MARS', tier: 2, capabilities: ['types.check'], place: 'worker-1' },
    { id: 'venus', name: 'VENUS', tier: 2, capabilities: ['docs.check'], place: 'worker-1' },
  ],
  machines: [
    {
      id: 'planet',
      agentId: 'mars',
      initial: 'resting',
      states: [
        { id: 'resting', name: 'resting', type: 'atomic' },
        { id: 'orbiting', name: 'orbiting', type: 'atomic' },
      ],
      transitions: [{ from: 'resting', to: 'orbiting', event: 'go' }],
    },
  ],
};
const at = (ms: number): number => START + ms;
const events = [
  told('mission', at(0), { mission: 'audit', step: 'mission-started' }),
  told('mission', at(10), { mission: 'audit', task: 'types', agentId: 'mars', step: 'task-started' }),
  ...request('types', 'mars', at(20)),
  told('machine-step', at(30), {
    machine: 'planet',
    actorId: 'mars',
    agentId: 'mars',
    event: 'go',
    from: 'resting',
    to: 'orbiting',
  }),
  outcome('types', 'mars', at(2_020)),
  told('mission', at(2_100), {
    mission: 'audit',
    task: 'types',
    step: 'task-accepted',
    reason: 'the gate approved it',
  }),
  ...request('docs', 'venus', at(2_200)),
  told('agent-crashed', at(3_000), { agentId: 'venus', reason: 'out of luck' }),
  told('agent-restarting', at(3_001), { agentId: 'venus' }),
  told('agent-started', at(3_100), { agentId: 'venus', place: 'worker-1' }),
  told('dead-letter', at(3_200), {
    ...{ envelopeId: 'docs', sender: 'system/loop', recipient: 'venus', messageType: 'request' },
    ...{ errorCode: 'ACTOR_DIED', reason: 'its agent died', correlationId: 'audit/docs' },
  }),
  ...request('last', 'mars', at(4_000)),
];
const write = (...lines: readonly unknown[]): void =>
  writeFileSync(
    file,
    lines
      .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
      .join('\n')
      .concat('\n'),
  );
const inspect = (...words: string[]) => orreryHere('inspect', file, ...words);

describe('orrery inspect', () => {
  it('says in plain words what a run did', async () => {
    write(header, ...events);
    const { code, stdout, stderr } = await inspect();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('audit on /home/me/shop\nRecorded 2026-11-');
    expect(stdout).toContain(`with Orrery 0.1.0: 4.0 s, ${events.length} events\n`);
    expect(stdout).toContain('2 agents in 2 threads sent 3 envelopes; 1 handled, 1 not ended\n');
    expect(stdout).toMatch(/At its end: MARS works at “audit”, of 2 agents; 1 of 1 task is done;/);
    expect(stdout).toMatch(/Tasks\n {2}accepted {2}types {2}mars +the gate approved it\n/);
    expect(stdout).toMatch(/What went wrong\n {2}0:03\.000 +crash +VENUS: out of luck\n/);
    expect(stdout).toMatch(
      /Dead letters\n {2}0:03\.200 {2}the mission loop to VENUS {2}request {2}its agent died\n/,
    );
    expect(stdout).toMatch(/Started again\n {2}VENUS {2}1 time +running/);
    expect(stdout).toMatch(
      /Waited longest\n {2}2\.0 s +the mission loop for MARS +types\.check +answered +audit\/types\n/,
    );
    expect(stdout).toMatch(
      /1\.0 s +the mission loop for VENUS +types\.check +dead-lettered ACTOR_DIED +audit\/docs\n/,
    );
  });

  it('shows a conversation, the story of an agent, and the team at a moment', async () => {
    write(header, ...events);
    const talk = await inspect('--conversation', 'audit/docs');
    expect(talk.stdout).toContain(
      'Conversation audit/docs: 1 step in 1.0 s\nBetween system/loop (host), venus (worker-1)\n',
    );
    expect(talk.stdout).toMatch(
      /0:00\.000 {2}system\/loop -> venus {2}x {2}request types\.check - dead-lettered ACTOR_DIED; its agent died/,
    );
    const story = await inspect('--agent', 'venus');
    expect(story.stdout).toMatch(/0:03\.000 {2}x {2}agent-crashed: out of luck\n/);
    expect(story.stdout).toMatch(/0:02\.201 +took request types\.check of audit\/docs from system\/loop\n/);
    for (const moment of ['1s', '0:01.000', String(5), new Date(at(1_000)).toISOString()]) {
      const { stdout } = await inspect('--at', moment);
      expect(stdout).toMatch(/MARS works at “audit”, of 2 agents; 0 of 1 task are done/);
      expect(stdout).toContain('in flight, 0 dead letters');
    }
  });

  it('draws a conversation and a machine, its state marked at that moment, as SVG or Mermaid', async () => {
    write(header, ...events);
    expect((await inspect('--sequence', 'audit/types')).stdout).toMatch(/^sequenceDiagram\n/);
    const svg = join(folder, 'talk.svg');
    expect(await inspect('--sequence', 'audit/types', '--out', svg)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg xmlns/);
    const late = await inspect('--machine', 'planet', '--agent', 'mars');
    expect(late.stdout).toMatch(/^stateDiagram-v2\n[\s\S]*state "● orbiting"/);
    expect(late.stderr).toBe('orrery: Marked is the state of mars of mars: orbiting\n');
    expect((await inspect('--machine', 'planet', '--at', '0s')).stdout).not.toContain('●');
    expect((await inspect('--machine', 'planet', '--as', 'svg')).stdout).toMatch(/^<svg/);
  });

  it('draws the machines of the system from a trace of before it had drawings', async () => {
    const { machines: _machines, ...older } = header;
    write(older, ...events);
    const { stdout } = await inspect('--machine', 'agent-life', '--agent', 'mars');
    expect(stdout).toContain('● running');
  });

  it('reads the trace of a simulation, whose times are virtual', async () => {
    const { format, version, agents } = header;
    write({ format, version, simulated: { seed: 3 }, startedAtMs: START, agents }, ...events);
    const { code, stdout } = await inspect();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^a simulation with seed 3\nRecorded in virtual time: 4\.0 s, /);
  });

  it('gives all of it as JSON', async () => {
    write(header, ...events);
    const { stdout } = await inspect('--json');
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'orrery-scene',
      totals: { handled: 1 },
      mission: { tasks: [{ id: 'types', state: 'accepted' }] },
      longestWaits: [{ ms: 2_000 }, { ms: 1_000 }, { ms: 1 }],
      faults: [],
    });
    expect(JSON.parse((await inspect('--json', '--agent', 'mars')).stdout)).toMatchObject({ id: 'mars' });
    expect(JSON.parse((await inspect('--json', '--conversation', 'audit/docs')).stdout)).toMatchObject({
      id: 'audit/docs',
    });
  });

  it('says which lines of a broken trace are wrong, shows the rest, and ends with 1', async () => {
    write(header, 'no json', ...events, '{"type":"message-se');
    writeFileSync(file, readFileSync(file, 'utf8').trimEnd());
    const { code, stdout, stderr } = await inspect();
    expect(code).toBe(1);
    expect(stdout).toContain('1 handled');
    expect(stderr).toBe(
      [
        `orrery: ${file}: Line 2 is not JSON: no json`,
        `orrery: ${file}: Line ${events.length + 3} ends in the middle: whoever wrote it was cut off`,
        '',
      ].join('\n'),
    );
    write(...Array.from({ length: 30 }, () => 'x'));
    const none = await inspect();
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toContain('and 20 more such lines\n');
    writeFileSync(file, '');
    expect(await inspect()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `orrery: ${file}: The file is empty\n`,
    });
  });

  it.each([
    [
      ['--conversation', 'a', '--sequence', 'b'],
      'Options "--conversation" and "--sequence" exclude each other',
    ],
    [['--conversation', 'a', '--agent', 'b'], 'Options "--conversation" and "--agent" exclude each other'],
    [['--sequence', 'audit/typo'], 'the trace tells of no such conversation; did you mean "audit/types"?'],
    [['--agent', 'mar'], 'Option "--agent" is "mar": the trace tells of no such agent; did you mean "mars"?'],
    [['--machine', 'planets'], 'expected one of planet; did you mean "planet"?'],
    [['--machine', 'planet', '--as', 'png'], 'Option "--as" is "png", expected svg or mermaid'],
    [['--out', 'x'], 'Option "--out" is of drawings'],
    [['--at', 'noon'], 'Option "--at" is "noon", expected a number of events, a time such as 12.5s'],
    [['--machine', 'planet', '--json'], 'Options "--machine" and "--json" exclude each other'],
  ])('refuses %j', async (words, message) => {
    write(header, ...events);
    const { code, stderr } = await inspect(...words);
    expect(code).toBe(64);
    expect(stderr).toContain(message);
  });

  it('leaves no file behind when there is nothing to draw, and says when there is no trace', async () => {
    write(header, ...events);
    const out = join(folder, 'none.svg');
    expect((await inspect('--sequence', 'nothing', '--out', out)).code).toBe(64);
    expect(existsSync(out)).toBe(false);
    rmSync(file);
    expect((await inspect()).stderr).toContain('there is no such file');
    expect((await orreryHere('inspect', folder)).stderr).toContain('it is a folder');
    expect((await orreryHere('inspect')).stderr).toContain('No file; expected "orrery inspect FILE"');
  });

  it('lets nothing through that a terminal acts on', async () => {
    write(
      { ...header, mission: HOSTILE, root: HOSTILE },
      told('mission', at(0), {
        mission: HOSTILE,
        task: HOSTILE,
        agentId: HOSTILE,
        step: 'task-failed',
        reason: HOSTILE,
      }),
      ...request('x', 'mars', at(1), { sender: HOSTILE, capability: HOSTILE, correlationId: HOSTILE }),
      told('error', at(2), { agentId: HOSTILE, reason: HOSTILE }),
      'not json \x1b[2J',
    );
    for (const words of [
      [],
      ['--at', '1s'],
      ['--agent', 'mars'],
      ['--conversation', HOSTILE],
      ['--sequence', HOSTILE],
    ]) {
      const { stdout, stderr } = await inspect(...words);
      expect(stdout).not.toBe('');
      for (const line of `${stdout}${stderr}`.split('\n')) expect(line).not.toMatch(ACTED_ON);
    }
  });
});
