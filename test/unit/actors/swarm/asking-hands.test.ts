import { describe, expect, it } from 'vitest';
import { type Asker, AskingHands } from '../../../../actors/swarm/asking-hands.ts';
import type { WorkOrder } from '../../../../actors/swarm/swarm-reach.ts';
import { cancelled, refused } from '../../../../runtime/protocol/errors.ts';
import type { AskOptions } from '../../../../runtime/public.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { settle } from './swarm-team.ts';

const clock = new FakeClock();

const order = (fields: Partial<WorkOrder> = {}): WorkOrder => ({
  swarmId: '1@o',
  correlationId: 'c',
  subTaskId: 'a',
  epoch: 2,
  agentId: 'mars',
  capability: 'x',
  requiredCapabilities: ['x'],
  description: 'T',
  input: { n: 1 },
  partial: undefined,
  justification: undefined,
  leaseMs: 100,
  deadlineAtMs: clock.now() + 5_000,
  ...fields,
});

/** Hands the order over to an agent of whose answer the test decides. */
function handed(given: WorkOrder, isOver = false) {
  const asked: { target: unknown; input: unknown; options: AskOptions }[] = [];
  const answer = Promise.withResolvers<unknown>();
  const ask = (target: unknown, input: unknown, options: AskOptions) => {
    asked.push({ target, input, options });
    return answer.promise;
  };
  const heard: unknown[] = [];
  const work = new AskingHands({ ask: ask as Asker['ask'], isOver: () => isOver }, clock).hand(given, {
    sent: (envelopeId) => heard.push(['sent', envelopeId]),
    progressed: ({ partial }) => heard.push(['progressed', partial]),
    completed: (result) => heard.push(['completed', result]),
    failed: ({ code }) => heard.push(['failed', code]),
    orphaned: () => heard.push('orphaned'),
    suspended: () => heard.push('suspended'),
  });
  const options = async (): Promise<AskOptions> => {
    await settle();
    return asked[0]?.options as AskOptions;
  };
  return { asked, answer, heard, work, options };
}

describe('Handing over by asking (F-02, F-11)', () => {
  it('asks the agent for the capability, with everything that belongs to the assignment', async () => {
    const { asked, options } = handed(order({ partial: { half: 1 }, justification: 'needed' }));
    expect(asked).toEqual([]);
    await settle();
    expect(asked[0]).toMatchObject({ target: { agent: 'mars', capability: { id: 'x' } }, input: { n: 1 } });
    expect(await options()).toMatchObject({
      timeoutMs: 5_000,
      correlationId: 'c',
      whenFull: 'park',
      justification: 'needed',
      resumeFrom: { half: 1 },
      metadata: { swarm: { swarmId: '1@o', subTaskId: 'a', epoch: 2, leaseMs: 100 } },
    });
  });

  it('passes on that it is on its way, its progress, its checkpoints and its answer', async () => {
    const { answer, heard, options } = handed(order());
    const { onSent, onProgress } = await options();
    onSent?.('e-1');
    onProgress?.({ fraction: 0.2 });
    onProgress?.({ fraction: 0.5, partial: { half: 1 } });
    answer.resolve('done');
    await settle();
    expect(heard).toEqual([
      ['sent', 'e-1'],
      ['progressed', undefined],
      ['progressed', { half: 1 }],
      ['completed', 'done'],
    ]);
  });

  it('passes on why it failed; where the work above it is over, only that', async () => {
    const failing = handed(order());
    failing.answer.reject(refused('no'));
    const orphan = handed(order(), true);
    orphan.answer.reject(cancelled('it'));
    await settle();
    expect(failing.heard).toEqual([['failed', 'REFUSED']]);
    expect(orphan.heard).toEqual(['orphaned']);
  });

  it('cancels what it asked for, or leaves it alone, and listens to neither', async () => {
    for (const how of ['cancel', 'release'] as const) {
      const { answer, heard, work, options } = handed(order());
      const { signal, onProgress } = await options();
      work[how]('enough');
      expect(signal?.aborted).toBe(how === 'cancel');
      onProgress?.({ fraction: 1 });
      answer.resolve('late');
      await settle();
      expect(heard).toEqual([]);
    }
  });

  it('asks nobody when it is cancelled at once', async () => {
    const { asked, work, heard, answer } = handed(order());
    work.cancel('enough');
    answer.reject(cancelled('it'));
    await settle();
    expect(heard).toEqual([]);
    expect((asked[0]?.options as AskOptions | undefined)?.signal?.aborted ?? true).toBe(true);
  });
});
