import { describe, expect, it } from 'vitest';
import type { FakeClock } from '../../../fixtures/fake-clock.ts';
import { KeptTasks } from '../../../fixtures/kept-tasks.ts';
import { ALICE, artifact, engineInHand, said } from './engine-in-hand.ts';

describe('The terms of a message', () => {
  const terms = (clock: FakeClock, inMs: number) => ({ tier: 2 as const, deadlineAtMs: clock.now() + inMs });

  it('go with it to whoever works at it; without any it has those of anybody', async () => {
    const { clock, engine, turnOf } = await engineInHand();
    await engine.send(ALICE, said('m1', { terms: terms(clock, 1_000) }));
    await engine.send(ALICE, said('n1'));
    expect((await turnOf(0)).turn.terms).toEqual({ ...terms(clock, 1_000), readOnly: false });
    expect((await turnOf(1)).turn.terms).toEqual({ tier: 3, readOnly: false });
  });

  it('end the task and the work at it when its deadline passes, with what the work came to', async () => {
    const { clock, engine, turnOf, ended } = await engineInHand();
    const { id } = await engine.send(ALICE, said('m1', { terms: terms(clock, 1_000) }));
    const { turn } = await turnOf(0);
    turn.partial(artifact('half'));
    clock.advance(999);
    expect(turn.signal.aborted).toBe(false);
    clock.advance(1);
    expect(turn.signal.aborted).toBe(true);
    expect(await ended(id)).toMatchObject({
      status: { state: 'failed', message: { parts: [{}, { data: { code: 'DEADLINE_EXCEEDED' } }] } },
      artifacts: [{ parts: [{ text: 'half' }] }],
    });
  });

  it('are those of what is said last, also for a task that waits for its owner', async () => {
    const { clock, engine, turnOf, ended } = await engineInHand();
    const { id } = await engine.send(ALICE, said('m1', { terms: terms(clock, 1_000) }));
    (await turnOf(0)).end({ state: 'input-required' });
    await ended(id);
    await engine.send(ALICE, said('m2', { taskId: id, terms: terms(clock, 5_000) }));
    (await turnOf(1)).end({ state: 'input-required' });
    await ended(id);
    clock.advance(4_999);
    expect(engine.get(ALICE, id).status.state).toBe('input-required');
    clock.advance(1);
    expect((await ended(id)).status.state).toBe('failed');
    expect(clock.pending).toBe(1);
  });

  it('are there after a restart', async () => {
    const log = new KeptTasks();
    const first = await engineInHand({ log });
    const { id } = await first.engine.send(ALICE, said('m1', { terms: terms(first.clock, 1_000) }));
    await first.turnOf(0);
    await first.engine.close();
    const { clock, turnOf, ended } = await engineInHand({ log, onRestart: () => 'again' });
    const { turn } = await turnOf(0);
    expect(turn).toMatchObject({ terms: { tier: 2 }, number: 2, again: true });
    clock.advance(1_000);
    expect(turn.signal.aborted).toBe(true);
    expect((await ended(id)).status.state).toBe('failed');
  });
});
