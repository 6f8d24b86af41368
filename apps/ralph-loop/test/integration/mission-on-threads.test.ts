import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type Team } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loopAgents } from '../../agents/loop-agents.ts';
import type { LoopEvent } from '../../loop/loop-event.ts';
import type { MissionOutcome } from '../../loop/mission-outcome.ts';
import { runMission } from '../../loop/run-mission.ts';
import { wallClock } from '../../loop/wall-clock.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { mayGoOn } from './team/planted.agent.ts';
import { buildReport } from '../../report/build-report.ts';
import { explainTask } from '../../report/explain-task.ts';
import { gatherReceipts } from '../../report/gather-receipts.ts';

let system: Team;
let root: string;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'orrery-mission-'));
  const planted = { module: new URL('./team/planted.agent.ts', import.meta.url) };
  system = await startSystem({ agents: [...loopAgents(), planted] });
});
afterEach(async () => {
  await system.stop();
  rmSync(root, { recursive: true });
});

const missionOf = (
  tasks: readonly Record<string, unknown>[],
  limits: Record<string, number> = { maxAttempts: 2 },
) =>
  parseMission(
    JSON.stringify({
      version: 1,
      name: 'threads',
      limits,
      tasks: tasks.map((task) => ({ title: 'T', ...task })),
    }),
    'test',
  );

const run = (
  tasks: readonly Record<string, unknown>[],
  {
    limits,
    ...options
  }: { limits?: Record<string, number>; signal?: AbortSignal; onEvent?: (event: LoopEvent) => void } = {},
) => runMission(missionOf(tasks, limits), { root, ...options }, { team: system, clock: wallClock });

describe('a dispute', () => {
  const evals =
    'export const run = (text: string) => eval(text);\n\nexport const go = (text: string) => eval(text);\n';
  const explained = async (outcome: MissionOutcome) => {
    const report = buildReport(outcome, { receipts: await gatherReceipts(system, outcome) });
    return { report, lines: explainTask(report, 'disputed').join('\n') };
  };

  it('goes from MERCURY back to the agent, from it to SUN with a justification, and ends with what holds', async () => {
    writeFileSync(join(root, 'evals.ts'), evals);
    const { report, lines } = await explained(await run([{ id: 'disputed', capability: 'work.insists' }]));
    expect(report.stopReason).toBe('all-accepted');
    expect(report.tasks[0]?.attempts.map(({ ended }) => ended)).toEqual(['refused', 'accepted']);
    expect(report.findings.map(({ file, line }) => `${file}:${line}`)).toEqual(['evals.ts:1', 'evals.ts:3']);
    expect(report.tasks[0]?.notes).toMatchObject([{ kind: 'withdrawn', file: 'evals.ts' }]);
    expect(lines).toMatch(/system\/loop -> planted +task-proposal/);
    expect(lines).toMatch(/asks for work\.insists, again: 1 of the findings does not hold/);
    expect(lines).toMatch(
      /planted -> findings\.verify +request +asks for findings\.verify, because my last answer was refused/,
    );
    expect(lines).toMatch(
      /planted -> mission\.rule +request +asks for mission\.rule, because I find again what MERCURY refuses/,
    );
  });

  it('costs an agent its task when it is wrong more often than right', async () => {
    writeFileSync(join(root, 'evals.ts'), evals);
    const { report } = await explained(await run([{ id: 'disputed', capability: 'work.errs' }]));
    expect(report.stopReason).toBe('task-failed');
    expect(report.tasks[0]?.why).toContain(
      '4 of 6 findings of planted do not hold: the rest is not to be trusted',
    );
  });
});

describe('a mission on worker threads', () => {
  it('has a swarm for a task of several capabilities, and replaces whoever dies in it (N-T04)', async () => {
    const told: string[] = [];
    const stop = await system.onReceive('system/loop', ({ sender, recipient, payload }) => {
      told.push(`${sender} ${recipient} ${(payload as { kind: string }).kind}`);
    });
    const outcome = await run([{ id: 'both', requiredCapabilities: ['work.well', 'work.exits-once'] }]);
    expect(outcome.stopReason).toBe('all-accepted');
    const [well, exits] = outcome.tasks.map(({ context }) => context);
    expect(well?.swarm?.assignments).toMatchObject([{ agent: 'planted', end: 'completed' }]);
    expect(well?.attempts).toMatchObject([{ agent: 'planted', ended: 'accepted' }]);
    expect(exits?.swarm?.assignments[0]).toMatchObject({ agent: 'planted', end: 'failed' });
    expect(exits?.attempts.at(-1)?.ended).toBe('accepted');
    // It is the loop's, not the embedder's: who is proposed to and asked, who has it, and who hears how it goes.
    const [session, ...others] = system.loop.swarms.listSwarms();
    expect(others).toEqual([]);
    expect(session).toMatchObject({ ownerId: 'system/loop' });
    expect(system.swarms.listSwarms()).toEqual([]);
    const events = await system.recentEvents(10_000);
    const sent = events.filter(({ type, recipient }) => type === 'message-sent' && recipient === 'planted');
    expect(new Set(sent.map(({ messageType }) => messageType))).toContain('task-proposal');
    expect(new Set(sent.map(({ sender }) => sender))).toEqual(new Set(['system/loop']));
    expect(new Set(events.flatMap(({ type, agentId }) => (type === 'swarm' ? [agentId] : [])))).toEqual(
      new Set(['system/loop']),
    );
    await expect.poll(() => told.at(-1), { timeout: 100_000 }).toMatch(/swarm\.ended$/);
    expect(told).toContain('system/loop system/loop swarm.state');
    await stop();
  });

  it('is assigned by SUN, worked on with progress, and judged by MERCURY', async () => {
    const events: LoopEvent[] = [];
    const outcome = await run(
      [
        { id: 'first', capability: 'work.well' },
        { id: 'second', capability: 'work.well', dependsOn: ['first'] },
      ],
      { onEvent: (event) => events.push(event) },
    );
    expect(outcome).toMatchObject({ stopReason: 'all-accepted', assigner: 'sun', gate: 'mercury' });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'task.progress', fraction: 0.5, note: 'half way' }),
    );
  });

  it('sends as system/loop, and hears what agents answer to that and ask it (C-31, C-33)', async () => {
    const got: [type: string, sender: string, recipient: string, payload: unknown][] = [];
    const stop = await system.onReceive('system/loop', ({ type, sender, recipient, payload }) => {
      got.push([type, sender, recipient, payload]);
      return type === 'request' ? 'yes' : undefined;
    });
    const outcome = await run([{ id: 'asks', capability: 'work.asks-back' }]);
    const report = buildReport(outcome);
    expect(report.stopReason).toBe('all-accepted');
    expect(report.tasks[0]?.notes).toMatchObject([{ reason: 'yes, true' }]);
    expect(got).toEqual([
      ['notification', 'planted', 'system/loop', 'it begins'],
      ['request', 'planted', 'system/loop', { title: 'T' }],
    ]);
    const sent = (await system.recentEvents(10_000)).filter(({ type }) => type === 'message-sent');
    const senders = sent.flatMap(({ messageType, capability, sender }) =>
      messageType === 'task-proposal' ||
      (messageType === 'request' && (capability === 'work.asks-back' || capability === 'mission.assign'))
        ? [`${messageType} ${sender}`]
        : [],
    );
    expect(new Set(senders)).toEqual(new Set(['request system/loop', 'task-proposal system/loop']));
    const proposal = {
      taskDescription: 'Loop',
      requiredCapabilities: [],
      estimatedComplexity: 'simple',
      deadlineMs: 60_000,
    } as const;
    const answer = await system.negotiator.propose(proposal, { to: 'system/loop' });
    expect(answer).toMatchObject({ proposerAgentId: 'system/host', rejectionReason: 'NOT_CAPABLE' });
    await stop();
    expect(await system.loop.tellWhenRoom('system/loop', 'to nobody')).toMatchObject({ delivered: true });
    const alone = system.ask({ agent: 'system/loop', capability: mayGoOn }, { title: 'T' });
    await expect(alone).rejects.toMatchObject({
      code: 'REFUSED',
      message: 'Nobody receives for system/loop',
    });
    const again = await system.onReceive('system/loop', () => 'again');
    expect(await system.ask({ agent: 'system/loop', capability: mayGoOn }, { title: 'T' })).toBe('again');
    await again();
  });

  it.each(['work.exits-once', 'work.loops-once'])(
    'goes on after %s has ended the thread',
    async (capability) => {
      const { stopReason, tasks } = await run([{ id: 'dies', capability }]);
      expect(stopReason).toBe('all-accepted');
      expect(tasks[0]?.context.attempts.map(({ ended }) => ended)).toEqual(['lost', 'accepted']);
    },
  );

  it('ends with the limit when an agent dies every time, and accounts for every envelope', async () => {
    const outcome = await run([{ id: 'throws', capability: 'work.throws' }]);
    const report = buildReport(outcome, { receipts: await gatherReceipts(system, outcome) });
    expect(report).toMatchObject({ stopReason: 'attempts-exhausted', exitCode: 2 });
    expect(report.tasks[0]?.attempts.map(({ code }) => code)).toEqual(['HANDLER_FAILED', 'HANDLER_FAILED']);
    expect(report.receipts?.envelopes.holds).toBe(true);
    expect(report.receipts?.agents.find(({ id }) => id === 'planted')?.restarts).toBeGreaterThan(0);
  });

  it('ends when its time is over', async () => {
    const outcome = await run([{ id: 'never', capability: 'work.never' }], { limits: { timeoutMs: 300 } });
    expect(outcome).toMatchObject({ stopReason: 'time-limit', tasks: [{ status: 'cancelled' }] });
  });

  it('ends at once when it is stopped', async () => {
    const stop = new AbortController();
    const onEvent = (event: LoopEvent) => {
      if (event.type === 'task.changed' && event.status === 'working') stop.abort();
    };
    const outcome = await run([{ id: 'never', capability: 'work.never' }], { signal: stop.signal, onEvent });
    expect(outcome).toMatchObject({ stopReason: 'interrupted', tasks: [{ status: 'cancelled' }] });
  });
});
