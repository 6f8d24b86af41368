import { describe, expect, it } from 'vitest';
import { RemoteProposals } from '../../../../actors/remote/remote-proposals.ts';
import type { TaskProposal } from '../../../../actors/negotiator/proposal.ts';
import type { NegotiationAnswer, NegotiationRequest } from '../../../../runtime/protocol/a2a-extension.ts';
import { remoteUnreachable } from '../../../../runtime/protocol/edge-errors.ts';
import type { RemoteLink } from '../../../../runtime/protocol/remote-agent.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { until } from '../../../fixtures/until.ts';

const PROPOSAL = {
  proposalId: 'p1',
  taskDescription: 'Count',
  requiredCapabilities: ['words.count'],
  estimatedComplexity: 'simple',
  deadlineMs: 5_000,
} as unknown as TaskProposal;

/** A negotiating agent elsewhere that answers as `answer` says; undefined: it cannot be reached. */
function rig(answer: (request: NegotiationRequest) => NegotiationAnswer | undefined) {
  const clock = new FakeClock();
  const asked: NegotiationRequest[] = [];
  const given: string[] = [];
  const link = {
    url: new URL('http://b/orrery-negotiator'),
    async *stream({ parts }: Parameters<RemoteLink['stream']>[0]) {
      const [part] = parts;
      const request = (part as { data: { arguments: unknown } }).data.arguments as NegotiationRequest;
      asked.push(request);
      const data = answer(request);
      if (data === undefined)
        throw remoteUnreachable('http://b', 'nobody is there', { mayHaveArrived: false });
      const artifact = { artifactId: 'r', parts: [{ data }] };
      yield { kind: 'artifact', taskId: 't', contextId: undefined, artifact, append: false, lastChunk: true };
    },
  } as unknown as RemoteLink;
  const seams = { clock, newId: () => 'id' };
  const proposals = new RemoteProposals({ link, agent: 'mars', seams });
  const propose = (signal = new AbortController().signal) =>
    proposals.propose(PROPOSAL, {
      path: [],
      signal,
      giveBack: (id, reason) => given.push(`${id} ${reason}`),
    });
  return { clock, asked, given, proposals, propose };
}

const accept = { kind: 'accept', proposalId: 'p1', epoch: 1, estimatedCompletionMs: 9 } as const;

describe('a proposal to an agent of another system (N-7.1, N-7.2, N-7.3, F-02)', () => {
  it('is carried there, and its answer back', async () => {
    const { propose, asked } = rig(() => accept);
    expect(await propose()).toEqual({ isTakenOn: true, estimatedCompletionMs: 9 });
    expect(asked).toMatchObject([
      { kind: 'propose', agent: 'mars', taskDescription: 'Count', deadlineMs: 5_000 },
    ]);
    const refusing = rig(() => ({ kind: 'reject', proposalId: 'p1', reason: 'BUSY', alternative: 'venus' }));
    expect(await refusing.propose()).toEqual({ isTakenOn: false, reason: 'BUSY', alternative: 'venus' });
    const silent = rig(() => ({ kind: 'timed-out', proposalId: 'p1' }));
    expect(await silent.propose()).toMatchObject({ isTakenOn: false, reason: 'TIMED_OUT' });
    const absent = rig(() => undefined);
    expect(await absent.propose()).toMatchObject({ isTakenOn: false, reason: 'REMOTE_UNREACHABLE' });
    const liar = rig(() => ({ ...accept, proposalId: 'another' }));
    expect(await liar.propose()).toMatchObject({ isTakenOn: false, reason: 'REMOTE_FAILED' });
  });

  it('keeps its lease as long as it is renewed, and is given back when it is not', async () => {
    let isThere = true;
    const { clock, propose, asked, given } = rig((request) =>
      !isThere
        ? undefined
        : request.kind === 'propose'
          ? accept
          : { kind: 'held', proposalId: 'p1', epoch: 1 },
    );
    await propose();
    for (let renewals = 1; renewals <= 5; renewals += 1) {
      clock.advance(10_000);
      await until('an answer', () => asked.length === 1 + renewals && clock.pending === 1);
    }
    expect(given).toEqual([]);
    isThere = false;
    for (let at = 1; at <= 2; at += 1) {
      clock.advance(10_000);
      await until('an answer', () => asked.length === 6 + at && clock.pending === 1);
    }
    expect(given).toEqual([]);
    clock.advance(10_000);
    await until('an answer', () => given.length > 0);
    expect(given).toEqual(['p1 LAPSED']);
    expect(clock.pending).toBe(0);
  });

  it('is given back at once when the agent there has it no more', async () => {
    const { clock, propose, given } = rig((request) =>
      request.kind === 'propose' ? accept : { kind: 'reject', proposalId: 'p1', reason: 'OVERDUE' },
    );
    await propose();
    clock.advance(10_000);
    await until('an answer', () => given.length > 0);
    expect(given).toEqual(['p1 OVERDUE']);
  });

  it('is asked for again as long as it is not decided, and has its lease from when it was (F-02)', async () => {
    let isDecided = false;
    const { clock, propose, asked, given } = rig((request) => {
      if (request.kind !== 'propose') return undefined;
      return isDecided ? accept : { kind: 'open', proposalId: 'p1' };
    });
    const decision = propose();
    for (const [at, waitMs] of [100, 200, 400, 800, 1_000].entries()) {
      await until('another question', () => asked.length === at + 1 && clock.nextInMs === waitMs);
      isDecided = at === 4;
      clock.advance(waitMs);
    }
    expect(await decision).toMatchObject({ isTakenOn: true });
    expect(new Set(asked.map((request) => JSON.stringify(request))).size).toBe(1);
    for (const wanted of [[], [], ['p1 LAPSED']]) {
      await clock.advanceAsync(10_000);
      expect(given).toEqual(wanted);
    }
  });

  it('is withdrawn there when nobody waits for it any more', async () => {
    const late = rig(() => ({ kind: 'open', proposalId: 'p1' }));
    const tooLate = late.propose();
    while (!late.asked.some(({ kind }) => kind === 'release')) await late.clock.advanceAsync(1_000);
    expect(await tooLate).toMatchObject({ isTakenOn: false, reason: 'DEADLINE_EXCEEDED' });
    expect(late.asked.at(-1)).toEqual({ kind: 'release', proposalId: 'p1', reason: 'WITHDRAWN' });
    const cut = rig(() => ({ kind: 'open', proposalId: 'p1' }));
    const stopping = new AbortController();
    const unwanted = cut.propose(stopping.signal);
    await until('a question', () => cut.clock.pending === 1);
    stopping.abort();
    expect(await unwanted).toMatchObject({ isTakenOn: false, reason: 'CANCELLED' });
    await until('a release', () => cut.asked.length === 2);
    expect(cut.asked[1]).toMatchObject({ kind: 'release' });
    expect(cut.clock.pending).toBe(0);
  });

  it('is released there at once when the member here ends', async () => {
    const { clock, propose, proposals, asked } = rig((request) =>
      request.kind === 'propose' ? accept : { kind: 'released', proposalId: 'p1' },
    );
    await propose();
    await proposals.end();
    expect(asked[1]).toEqual({ kind: 'release', proposalId: 'p1', reason: 'AGENT_ENDED' });
    expect(clock.pending).toBe(0);
    await proposals.end();
    expect(asked).toHaveLength(2);
  });

  it('is released there when it is over here', async () => {
    const { clock, propose, proposals, asked } = rig((request) =>
      request.kind === 'propose' ? accept : { kind: 'released', proposalId: 'p1' },
    );
    await propose();
    proposals.release('p1', 'COMPLETED');
    proposals.release('p1', 'COMPLETED');
    await until('an answer', () => asked.length === 2);
    expect(asked[1]).toEqual({ kind: 'release', proposalId: 'p1', reason: 'COMPLETED' });
    expect(clock.pending).toBe(0);
  });
});
