import type { HandlingContext } from 'orrery';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { type Judging, mercuryMachine } from '../../agents/mercury.machine.ts';
import { sunMachine } from '../../agents/sun.machine.ts';
import type { Verification } from '../../findings/verification.ts';
import { finding } from './fake-team.ts';

/** An envelope in hand that says what became of it. */
function handling() {
  const stop = new AbortController();
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  const ctx = {
    signal: stop.signal,
    reply: (output: unknown) => resolve(output),
    fail: (error: unknown) => resolve(error),
    settle: () => resolve('settled'),
  } as unknown as HandlingContext;
  return { ctx, ended, stop };
}

const verdict: Verification = { verdict: 'APPROVED', approved: [finding()], rejected: [], feedback: '' };

function mercury(verify: (input: Judging) => Promise<Verification>) {
  const asked: Judging[] = [];
  const machine = mercuryMachine.provide({
    actors: {
      verify: fromPromise<Verification, Judging>(({ input }) => {
        asked.push(input);
        return verify(input);
      }),
    },
  });
  const actor = createActor(machine).start();
  const judge = (findings: readonly unknown[], ctx: HandlingContext) =>
    actor.send({ type: 'findings.verify', input: { root: '/repo', findings }, ctx });
  return { actor, asked, judge };
}

describe("MERCURY's machine", () => {
  it('judges what it is given, answers, and is ready again', async () => {
    const { actor, judge } = mercury(() => Promise.resolve(verdict));
    const { ctx, ended } = handling();
    judge([finding()], ctx);
    expect(actor.getSnapshot().hasTag('ready')).toBe(false);
    expect(await ended).toEqual(verdict);
    expect(actor.getSnapshot().hasTag('ready')).toBe(true);
  });

  it('approves no findings at once, without looking at anything', async () => {
    const { actor, asked, judge } = mercury(() => Promise.resolve(verdict));
    const { ctx, ended } = handling();
    judge([], ctx);
    expect(actor.getSnapshot().hasTag('ready')).toBe(true);
    expect(await ended).toMatchObject({ verdict: 'APPROVED', approved: [] });
    expect(asked).toEqual([]);
  });

  it('fails what cannot be judged, and goes on', async () => {
    const { actor, judge } = mercury(() => Promise.reject(new Error('no such folder')));
    const { ctx, ended } = handling();
    judge([finding()], ctx);
    expect(await ended).toMatchObject({ message: 'no such folder' });
    expect(actor.getSnapshot().hasTag('ready')).toBe(true);
  });

  it('goes no further when the task is cancelled', async () => {
    const { actor, judge } = mercury(() => new Promise(() => undefined));
    const { ctx, ended, stop } = handling();
    judge([finding()], ctx);
    stop.abort();
    expect(await ended).toBe('settled');
    expect(actor.getSnapshot().hasTag('ready')).toBe(true);
  });
});

describe("SUN's machine", () => {
  it('answers each of its three questions at once, and stays ready', async () => {
    const actor = createActor(sunMachine).start();
    const row = { id: 'mars', capabilities: ['work'], status: 'running', waiting: 0 };
    const task = { id: 'a', title: 'A', capability: 'work' };
    const assign = handling();
    actor.send({ type: 'mission.assign', input: { tasks: [task], roster: [row] }, ctx: assign.ctx });
    expect(await assign.ended).toEqual({
      assignments: [{ taskId: 'a', agent: 'mars' }],
      unassignable: [],
    });
    const recover = handling();
    actor.send({
      type: 'mission.recover',
      input: { task, why: 'it died', tried: [], roster: [row], isSecondTime: false },
      ctx: recover.ctx,
    });
    expect(await recover.ended).toMatchObject({ decision: 'again' });
    const rule = handling();
    const disputed = [{ finding: finding(), reason: 'it is not there' }];
    actor.send({ type: 'mission.rule', input: { agent: 'mars', approved: 3, disputed }, ctx: rule.ctx });
    expect(await rule.ended).toMatchObject({ ruling: 'withdraw' });
    expect(actor.getSnapshot().hasTag('ready')).toBe(true);
  });
});
