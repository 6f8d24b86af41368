import { describe, expect, it } from 'vitest';
import type { AgentPort } from '../../../../actors/agent-port/agent-port.ts';
import { askingOver } from '../../../../actors/swarm/assignment-transport.ts';
import type {
  AssignmentTransport,
  AssignmentOrder,
  AssignmentReports,
} from '../../../../actors/swarm/swarm-reach.ts';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { Asking } from '../../../../runtime/public.ts';
import { settle } from './swarm-team.ts';

const ORDER: AssignmentOrder = {
  swarmId: '1@owner',
  correlationId: 'conversation',
  subTaskId: 'part',
  epoch: 3,
  agentId: 'mars',
  capability: 'types.check',
  requiredCapabilities: ['types.check'],
  description: 'Check the types',
  input: { root: '.' },
  partial: { half: true },
  justification: undefined,
  behalf: {
    requester: { principalId: 'anonymous', tenant: 'acme', roles: [] },
    outsider: { name: 'anonymous at 192.0.2.1', key: [1, 3] },
  },
  leaseMs: 100,
  deadlineAtMs: 1_000,
};

/** A transport of an owner for whom mars is durable, and a test that decides what is answered. */
function transport({ isOver = false, isLasting = true } = {}) {
  const asked: Asking[] = [];
  const answer = Promise.withResolvers<unknown>();
  const port = {
    records: isLasting ? {} : undefined,
    work: { isOver },
    isKeptFor: (agentId: string) => agentId === 'mars',
    ask: (asking: Asking) => {
      asked.push(asking);
      asking.onSent?.(asking.envelopeId ?? 'an id of its own');
      return answer.promise;
    },
  };
  const kept = askingOver(port as unknown as AgentPort) as AssignmentTransport;
  const heard: unknown[] = [];
  const reports: AssignmentReports = {
    sent: (envelopeId) => heard.push(['sent', envelopeId]),
    progressed: ({ partial }) => heard.push(['progressed', partial]),
    completed: (result) => heard.push(['completed', result]),
    failed: ({ code }) => heard.push(['failed', code]),
    orphaned: () => heard.push('orphaned'),
    suspended: () => heard.push('suspended'),
  };
  return { kept, asked, answer, heard, reports };
}

describe('Handing over what outlives the coordinator (F-02)', () => {
  it('asks a durable agent under an id of the assignment, the same when it asks again', async () => {
    const { kept, asked, heard, reports } = transport();
    kept.hand(ORDER, reports);
    expect(heard).toEqual([]);
    await settle();
    kept.handAgain(ORDER, asked[0]?.envelopeId, reports);
    kept.hand({ ...ORDER, epoch: 4 }, reports);
    await settle();
    const [first, again, next] = asked.map(({ envelopeId }) => envelopeId);
    expect(again).toBe(first);
    expect(next).not.toBe(first);
    expect(asked[0]).toMatchObject({
      recipient: 'mars',
      capability: 'types.check',
      payload: { root: '.' },
      correlationId: 'conversation',
      deadlineAtMs: 1_000,
      resumeFrom: { half: true },
      behalf: ORDER.behalf,
      metadata: { swarm: { swarmId: '1@owner', subTaskId: 'part', epoch: 3 } },
    });
    // What was on its way before is not sent now: its lease is not renewed.
    expect(heard).toEqual([
      ['sent', first],
      ['sent', next],
    ]);
  });

  it('asks those under ids of their own of whom nothing outlives the process, and has nothing to ask them again', async () => {
    for (const [isLasting, agentId] of [
      [true, 'venus'],
      [false, 'mars'],
    ] as const) {
      const { kept, asked, heard, reports } = transport({ isLasting });
      expect(kept.isKeptFor(agentId)).toBe(false);
      kept.hand({ ...ORDER, agentId }, reports);
      await settle();
      expect(asked[0]?.recipient).toBe(agentId);
      expect(asked[0]).not.toHaveProperty('envelopeId');
      expect(heard).toEqual([['sent', 'an id of its own']]);
      expect(kept.handAgain({ ...ORDER, agentId }, 'envelope', reports)).toBeUndefined();
    }
  });

  it('reports the answer, progress and checkpoints until it is released', async () => {
    const { kept, asked, answer, heard, reports } = transport();
    const work = kept.handAgain(ORDER, 'envelope', reports);
    asked[0]?.onProgress?.({ fraction: 0.1 });
    asked[0]?.onProgress?.({ fraction: 0.2, partial: { so: 'far' } });
    answer.resolve('done');
    await settle();
    expect(heard).toEqual([
      ['progressed', undefined],
      ['progressed', { so: 'far' }],
      ['completed', 'done'],
    ]);
    work?.release();
    asked[0]?.onProgress?.({ fraction: 0.3 });
    expect(heard).toHaveLength(3);
  });

  it('cancels what it has asked for again, at once', () => {
    const { kept, asked, reports } = transport();
    kept.handAgain(ORDER, 'envelope', reports)?.cancel('enough');
    expect(asked[0]?.signal?.aborted).toBe(true);
  });

  it('cancels what it asked for, or leaves it alone, and listens to neither', async () => {
    for (const how of ['cancel', 'release'] as const) {
      const { kept, asked, answer, heard, reports } = transport({ isLasting: false });
      const work = kept.hand(ORDER, reports);
      await settle();
      work[how]('enough');
      expect(asked[0]?.signal?.aborted).toBe(how === 'cancel');
      asked[0]?.onProgress?.({ fraction: 1 });
      answer.resolve('late');
      await settle();
      expect(heard).toEqual([['sent', 'an id of its own']]);
    }
  });

  it('does not ask for what is cancelled before it is on its way', async () => {
    const { kept, asked, heard, reports } = transport();
    kept.hand(ORDER, reports).cancel('enough');
    await settle();
    expect([asked, heard]).toEqual([[], []]);
  });

  it('takes a result that cannot be kept for a failure, and a checkpoint for progress', async () => {
    const { kept, asked, answer, heard, reports } = transport();
    kept.handAgain(ORDER, 'envelope', reports);
    asked[0]?.onProgress?.({ fraction: 0.2, partial: new Map() });
    answer.resolve({ at: 1n });
    await settle();
    expect(heard).toEqual([
      ['progressed', undefined],
      ['failed', 'NOT_SERIALISABLE'],
    ]);
  });

  it.each(['SYSTEM_STOPPED', 'CONTROL_LOST'] as const)('does not take %s for a failure', async (code) => {
    const [lasting, other] = [transport(), transport({ isLasting: false })];
    for (const { kept, answer, reports } of [lasting, other]) {
      kept.hand({ ...ORDER, agentId: 'venus' }, reports);
      answer.reject(new OrreryError(code, 'it ends'));
    }
    await settle();
    expect(lasting.heard.at(-1)).toBe('suspended');
    expect(other.heard.at(-1)).toEqual(['failed', code]);
  });

  it('gives what JSON cannot say to an owner whose swarms end with its thread', async () => {
    const { kept, answer, heard, reports } = transport({ isLasting: false });
    kept.hand(ORDER, reports);
    answer.resolve(new Map());
    await settle();
    expect(heard.at(-1)).toEqual(['completed', new Map()]);
  });

  it('reports other failures, and the end of the work that the swarm belongs to', async () => {
    for (const [isOver, expected] of [
      [false, ['failed', 'ACTOR_DIED']],
      [true, 'orphaned'],
    ] as const) {
      const { kept, answer, heard, reports } = transport({ isOver });
      kept.handAgain(ORDER, 'envelope', reports);
      answer.reject(new OrreryError('ACTOR_DIED', 'it died'));
      await settle();
      expect(heard).toEqual([expected]);
    }
  });
});
