import { describe, expect, it } from 'vitest';
import { PendingCancels } from '../../../../actors/remote/pending-cancels.ts';
import { RemoteCall } from '../../../../actors/remote/remote-call.ts';
import { delegationMetadata } from '../../../../runtime/protocol/a2a-extension.ts';
import { remoteUnreachable } from '../../../../runtime/protocol/edge-errors.ts';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { RemoteEvent, RemoteLink, RemoteStatus } from '../../../../runtime/protocol/remote-agent.ts';
import type { TaskState } from '../../../../runtime/protocol/task.ts';
import type { HandlingContext } from '../../../../runtime/public.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const statusOf = (state: TaskState, tokens?: number): RemoteStatus => {
  const metadata = tokens === undefined ? {} : delegationMetadata({ spent: { tokens } });
  return { state, message: { messageId: 'm', role: 'agent', parts: [], metadata } };
};
const status = (state: TaskState, tokens?: number): RemoteEvent => ({
  kind: 'status',
  taskId: 't',
  contextId: 'c',
  status: statusOf(state, tokens),
});
const picture = (state: TaskState, tokens?: number): RemoteEvent => ({
  kind: 'task',
  task: { id: 't', contextId: 'c', status: statusOf(state, tokens), artifacts: [], history: [] },
});
const gone = remoteUnreachable('http://b', 'it died', { mayHaveArrived: true });

/** What of a grant of 10 tokens comes back when the agent elsewhere says all this, and then fails so. */
async function givenBack(
  events: readonly RemoteEvent[],
  { failure, isFormer = false }: { readonly failure?: Error; readonly isFormer?: boolean } = {},
): Promise<number> {
  const clock = new FakeClock();
  const link = {
    url: new URL('http://b/mars'),
    async *stream() {
      yield* events;
      if (failure !== undefined) throw failure;
    },
    cancel: async () => undefined,
  } as unknown as RemoteLink;
  let back = 0;
  const ctx = {
    envelope: { metadata: { tier: 3, ...(isFormer ? { a2a: { taskId: 't', answer: 'yes' } } : {}) } },
    self: 'b/mars',
    budget: { tokens: 10 },
    signal: new AbortController().signal,
    now: () => clock.now(),
    spend: () => undefined,
    refund: ({ tokens = 0 }: { tokens?: number }) => {
      back += tokens;
    },
    progress: () => undefined,
    checkpoint: () => undefined,
  } as unknown as HandlingContext<never>;
  const cancels = new PendingCancels(clock);
  const deps = { link, skill: 'work', isOrrery: true, self: 'a', maxBudget: undefined, cancels };
  await new RemoteCall(deps, ctx).value({}).catch(() => undefined);
  await cancels.settled();
  return back;
}

describe('what comes back of a grant to an agent elsewhere (F-04, C-15)', () => {
  it('is what it says at the end that it has not spent', async () => {
    expect(await givenBack([picture('working'), status('completed', 4)])).toBe(6);
    expect(await givenBack([picture('working'), status('input-required', 4)])).toBe(6);
    expect(await givenBack([picture('working'), status('completed')])).toBe(0);
  });

  it('is nothing of what it may go on to spend', async () => {
    expect(await givenBack([picture('working'), status('working', 4)], { failure: gone })).toBe(0);
  });

  it('is not reckoned by what a former turn of the task has spent', async () => {
    const isFormer = true;
    const before = picture('input-required', 1);
    expect(await givenBack([before], { isFormer, failure: gone })).toBe(0);
    expect(await givenBack([before, status('working')], { isFormer, failure: gone })).toBe(0);
    expect(await givenBack([before, status('working'), status('failed')], { isFormer })).toBe(0);
    expect(await givenBack([before, status('working'), status('completed', 4)], { isFormer })).toBe(6);
    expect(await givenBack([picture('completed', 4)], { isFormer })).toBe(6);
  });

  it('is all of it only when nothing can have arrived, whatever the code', async () => {
    const refused = (details: object): Error =>
      new OrreryError('UNAUTHENTICATED', 'no', { details: { url: 'http://b', ...details } });
    const absent = remoteUnreachable('http://b', 'nobody', { mayHaveArrived: false });
    expect(await givenBack([], { failure: refused({}) })).toBe(10);
    expect(await givenBack([], { failure: absent })).toBe(10);
    expect(await givenBack([], { failure: refused({ mayHaveArrived: true }) })).toBe(0);
    expect(await givenBack([], { failure: gone })).toBe(0);
  });

  it('is reckoned of a very long answer as well', async () => {
    const artifact = { artifactId: 'r', parts: Array.from({ length: 200_000 }, () => ({ text: 'x' })) };
    const more: RemoteEvent = {
      kind: 'artifact',
      taskId: 't',
      contextId: 'c',
      artifact,
      append: true,
      lastChunk: true,
    };
    expect(await givenBack([picture('working'), more, more, status('completed', 4)])).toBe(6);
  });
});
