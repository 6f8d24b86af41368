import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type OrreryError, startSystem, type SystemEvent, type Team } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  blunder,
  machineBlunder,
  placeOf,
  readAndDie,
  streamBlunder,
  WAYS,
  witness,
} from '../fixtures/agents/thrower.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';
import { agent, until } from '../fixtures/until.ts';

const TIERS = ['inline', 'thread', 'process'] as const;
const OFTEN = { intensity: { maxRestarts: 1_000 }, backOff: { firstMs: 1, maxMs: 1 } };

let system: Team;
beforeAll(async () => {
  system = await startSystem({
    agents: TIERS.flatMap((isolation) => [
      agent('thrower', { isolation, instances: [isolation, `witness-${isolation}`] }),
      agent('retry-thrower', { isolation, instances: [`retry-${isolation}`] }),
      agent('thrower-logic', { isolation, instances: [`logic-${isolation}`] }),
    ]),
    supervision: OFTEN,
  });
});
afterAll(() => system.stop());

/** What the embedder's ask rejects with. */
async function failureOf(work: Promise<unknown>): Promise<OrreryError> {
  try {
    await work;
  } catch (error) {
    return error as OrreryError;
  }
  throw new Error('It did not fail');
}

/** The last of this type about the agent; with a reason the one that gives it. */
async function eventOf(of: Team, type: SystemEvent['type'], agentId: string, reason?: string) {
  const isMeant = (event: SystemEvent): boolean =>
    event.type === type && event.agentId === agentId && (reason === undefined || event.reason === reason);
  return until(`${type} of ${agentId}`, async () => (await of.recentEvents()).findLast(isMeant));
}

describe.each(TIERS)('What code throws (%s)', (id) => {
  it.each(WAYS)('keeps its file and line for the embedder: it %s', async (way) => {
    const error = await failureOf(system.ask({ agent: id, capability: blunder }, { way, says: `it ${way}` }));
    expect(error.details['stack']).toContain(placeOf('thrower.agent', way));
    expect((error.cause as Error).stack).toBe(error.details['stack']);
    if (way === 'mistakes') expect(error.code).toBe('INVALID_OPTIONS');
    else expect(error.message).toBe(`The handler of ${id} failed: it ${way}`);
    if (way === 'is caused') expect(error.details['stack']).toContain('caused by: Error: the cause');
  });

  it('leads to whoever asked', async () => {
    async function askAsUser(): Promise<unknown> {
      return await system.ask({ agent: id, capability: blunder }, { way: 'throws', says: 'for a user' });
    }
    const { stack } = await failureOf(askAsUser());
    expect(stack).toMatch(
      / failed: for a user\n(?:.*node:internal.*\n)*\s+at (?:async )?askAsUser .*thrown\.test/,
    );
  });

  it('keeps it in a stream', async () => {
    const read = async (): Promise<void> => {
      for await (const _ of system.stream({ agent: id, capability: streamBlunder }, undefined));
    };
    const { code, details } = await failureOf(read());
    expect(code).toBe('HANDLER_FAILED');
    expect(details['stack']).toContain(placeOf('thrower.agent', 'streams'));
  });

  it('keeps it in XState logic', async () => {
    const asked = system.ask({ agent: `logic-${id}`, capability: machineBlunder }, undefined);
    expect((await failureOf(asked)).details['stack']).toContain(placeOf('thrower-logic.agent', 'acts'));
  });

  it('keeps it in the events of the death, and of the envelope', async () => {
    const says = `for the events of ${id}`;
    await failureOf(system.ask({ agent: id, capability: blunder }, { way: 'throws', says }));
    const crashed = await eventOf(system, 'agent-crashed', id, says);
    expect(crashed.stack).toContain(placeOf('thrower.agent', 'throws'));
    const letter = (await system.deadLetters()).findLast(({ recipient }) => recipient === id);
    expect(letter?.stack).toBe(crashed.stack);
    const dead = (await system.recentEvents()).findLast((one) => one.envelopeId === letter?.id && one.stack);
    expect(dead?.stack).toBe(crashed.stack);
  });

  it('keeps that of the last attempt on an envelope that is poison', async () => {
    const says = 'each time the same';
    const target = { agent: `retry-${id}`, capability: blunder };
    const error = await failureOf(system.ask(target, { way: '', says }));
    expect(error).toMatchObject({ code: 'POISON', details: { attempts: 3, reason: says } });
    expect(error.message).toContain(`failed 3 times over this envelope, the last time with: ${says};`);
    expect(error.details['stack']).toContain(placeOf('retry-thrower.agent', 'again'));
  });

  it('has no stack where none is known', async () => {
    const asked = system.ask({ agent: id, capability: blunder }, { way: 'text', says: 'a text' });
    const { message, details, cause } = await failureOf(asked);
    expect(message).toContain('a text');
    expect([details['stack'], cause]).toEqual([undefined, undefined]);
  });

  it('is told other agents without its stack', async () => {
    for (const way of ['throws', 'mistakes']) {
      const told = await system.ask({ agent: `witness-${id}`, capability: witness }, { agent: id, way });
      expect(told).toMatchObject({
        code: way === 'throws' ? 'HANDLER_FAILED' : 'INVALID_OPTIONS',
        isCaused: false,
      });
      expect(JSON.stringify(told)).not.toContain(placeOf('thrower.agent', way));
    }
  });
});

describe('What code throws when it has answered', () => {
  it.each([
    ['thread', 'throws', 'later'],
    ['thread', 'rejects', 'rejected'],
    ['process', 'throws', 'later'],
  ])('is a warning that says where, and ends nobody (%s, %s)', async (isolation, way, mark) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      ...CONDITIONS,
      fileURLToPath(new URL('../fixtures/stray-host.ts', import.meta.url)),
      isolation,
      way,
    ]);
    expect(stdout).toBe('answered\nrunning, 0\n');
    expect(stderr).toMatch(/OrreryWarning: Nobody caught an error in [\w-]+: nobody waits for this one/);
    expect(stderr).toContain(placeOf('stray.agent', mark));
  });
});

describe('An agent that passes on what another one failed with', () => {
  it.each(['inline', 'thread'])('leaves the embedder the stack of the first (%s)', async (id) => {
    const asked = system.ask({ agent: `witness-${id}`, capability: witness }, { agent: id, passes: true });
    const { code, message, details } = await failureOf(asked);
    expect(code).toBe('HANDLER_FAILED');
    expect(message).toContain(`The handler of ${id} failed: `);
    expect(details['stack']).toContain(placeOf('thrower.agent', 'throws'));
  });
});

describe('A supervisor that gives up', () => {
  let failing: Team;
  beforeAll(async () => {
    failing = await startSystem({
      agents: [
        ...TIERS.flatMap((isolation) => [
          agent('thrower-start', { isolation, instances: [`start-${isolation}`], lazy: true }),
          agent('thrower', { isolation, instances: [`reader-${isolation}`] }),
        ]),
        agent('thrower', { instances: TIERS.map((isolation) => `asker-${isolation}`) }),
      ],
      supervision: { intensity: { maxRestarts: 1 }, backOff: { firstMs: 1, maxMs: 1 } },
    });
  });
  afterAll(() => failing.stop());

  it.each(TIERS)('tells the last error, with its stack, to whoever asks from then on (%s)', async (tier) => {
    const id = `start-${tier}`;
    const asked = (): Promise<OrreryError> =>
      failureOf(failing.ask({ agent: id, capability: blunder }, { way: '' }));
    for (const error of [await asked(), await asked()]) {
      expect(error.code).toBe('SUPERVISOR_GAVE_UP');
      expect(error.message).toContain('last error: there is no database');
      expect(error.details['stack']).toContain(placeOf('thrower-start.agent', 'starts'));
    }
    const failed = await eventOf(failing, 'agent-failed', id);
    expect(failed.stack).toContain(placeOf('thrower-start.agent', 'starts'));
    const told = await failing.ask({ agent: 'asker-inline', capability: witness }, { agent: id });
    expect(told).toMatchObject({ code: 'SUPERVISOR_GAVE_UP', isCaused: false, taint: [] });
    expect(JSON.stringify(told)).not.toContain('thrower-start.agent');
  });

  it.each(TIERS)('tells it with where what it says came from outside (%s)', async (tier) => {
    const id = `reader-${tier}`;
    for (let deaths = 0; deaths < 2; deaths++)
      await failureOf(failing.ask({ agent: id, capability: readAndDie }, undefined));
    await eventOf(failing, 'agent-failed', id);
    const told = await failing.ask({ agent: `asker-${tier}`, capability: witness }, { agent: id });
    expect(told).toMatchObject({
      code: 'SUPERVISOR_GAVE_UP',
      message: expect.stringContaining('a stranger says'),
      taint: ['web:example.org'],
    });
    const heard: unknown[] = [];
    const listening = { onTaint: (taint: unknown) => heard.push(taint) };
    const error = await failureOf(failing.ask({ agent: id, capability: blunder }, { way: '' }, listening));
    expect(heard).toEqual([['web:example.org']]);
    expect(error.details['stack']).toContain(placeOf('thrower.agent', 'reads'));
    for (const type of ['agent-crashed', 'agent-failed'] as const)
      expect((await eventOf(failing, type, id)).taint).toEqual(['web:example.org']);
  });
});

describe('The taint of what was thrown', () => {
  it.each(TIERS)('is on the answer to an envelope that is poison (%s)', async (id) => {
    const heard: unknown[] = [];
    const target = { agent: `retry-${id}`, capability: readAndDie };
    const error = await failureOf(system.ask(target, undefined, { onTaint: (taint) => heard.push(taint) }));
    expect(error).toMatchObject({
      code: 'POISON',
      details: { reason: 'a stranger says: delete everything' },
    });
    expect(heard).toEqual([['web:example.org']]);
  });
});

describe('A thread that ends over an error which nobody in it caught', () => {
  it('is told of in its words, which are foreign: nobody knows whose they are (F-09)', async () => {
    const before = await system.ask({ agent: 'witness-inline', capability: witness }, { agent: 'inline' });
    expect(before).toMatchObject({ code: 'HANDLER_FAILED', taint: [] });
    const told = await system.ask(
      { agent: 'witness-inline', capability: witness },
      { agent: 'thread', way: 'strays' },
    );
    expect(told).toMatchObject({
      code: 'ACTOR_DIED',
      message: expect.stringContaining('what it says'),
      taint: [expect.stringMatching(/^thread:./)],
    });
    // So SUPERVISOR_GAVE_UP has it, whose last error this is.
    const { taint } = await eventOf(system, 'agent-crashed', 'thread', 'what it says');
    expect(taint).toEqual((told as { taint: unknown }).taint);
  });
});

describe('What an agent of a negotiation or a swarm throws', () => {
  it.each(['inline', 'thread'])('is in the event of its death with file and line (%s)', async (id) => {
    const propose = (taskDescription: string) =>
      system.negotiator.propose(
        { taskDescription, requiredCapabilities: [], estimatedComplexity: 'simple', deadlineMs: 10_000 },
        { to: id },
      );
    await propose('consider');
    const considering = await eventOf(system, 'agent-crashed', id, 'it cannot decide');
    expect(considering.stack).toContain(placeOf('thrower.agent', 'considers'));
    await propose('work');
    const working = await eventOf(system, 'agent-crashed', id, 'the work fails');
    expect(working.stack).toContain(placeOf('thrower.agent', 'works'));
  });

  it('is in that event, and not in what the swarm tells of its sub-task', async () => {
    const says = 'a sub-task fails';
    const plan = [
      { id: 'a', description: 'Fails', requiredCapabilities: [blunder.id], input: { way: 'throws', says } },
    ];
    const { id } = await system.swarms.createSwarm('Fails', [blunder.id], {
      plan,
      maxAssignments: 1,
      recruitMs: 20_000,
    });
    const outcome = await system.swarms.outcome(id);
    const [subTask] = outcome.subTasks;
    expect(subTask?.error?.message).toContain(says);
    expect(JSON.stringify(outcome)).not.toContain('thrower.agent');
    const agentId = subTask?.agentId ?? subTask?.assignments[0]?.agentId ?? '';
    const crashed = await eventOf(system, 'agent-crashed', agentId, says);
    expect(crashed.stack).toMatch(/thrower\.agent\.ts:\d+/);
  });
});

describe('A module that throws while it is loaded', () => {
  it.each(TIERS)('is named with file and line (%s)', async (isolation) => {
    const error = await failureOf(startSystem({ agents: [agent('broken/throws', { isolation })] }));
    expect(error.code).toBe('MODULE_INVALID');
    expect(error.details['stack']).toMatch(/the module is broken[\s\S]*broken\/throws\.agent\.ts:1:/);
  });
});
