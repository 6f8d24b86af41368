import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DELEGATION_URI } from '../../runtime/protocol/a2a-extension.ts';
import { narrower } from '../../runtime/protocol/budget.ts';
import type { RemoteEvent, RemoteTask } from '../../runtime/protocol/remote-agent.ts';
import type { Artifact } from '../../runtime/protocol/task.ts';
import { nameElsewhere } from '../../actors/remote/remote-terms.ts';
import { restOf } from '../../runtime/protocol/budget.ts';
import { waitMsAfter } from '../../gateway/a2a/client/wait.ts';
import { serverSentEvents } from '../../gateway/reach/server-sent-events.ts';
import { TaskSeen } from '../../gateway/a2a/client/task-seen.ts';
import { termsOf } from '../../gateway/a2a/server/delegation.ts';

const RUNS = { numRuns: 200 };

const arbUpdate = fc.record({
  artifactId: fc.constantFrom('a', 'b'),
  text: fc.string({ maxLength: 4 }),
  append: fc.boolean(),
});
type Update = { readonly artifactId: string; readonly text: string; readonly append: boolean };

const eventOf = ({ artifactId, text, append }: Update): RemoteEvent => ({
  kind: 'artifact',
  taskId: 't',
  contextId: undefined,
  artifact: { artifactId, parts: [{ text }] },
  append,
  lastChunk: false,
});

/** The task at the server after these updates. */
function taskAfter(updates: readonly Update[]): RemoteTask {
  const artifacts = new Map<string, Artifact>();
  for (const { artifactId, text, append } of updates) {
    const parts = append ? [...(artifacts.get(artifactId)?.parts ?? []), { text }] : [{ text }];
    artifacts.set(artifactId, { artifactId, parts });
  }
  const done = [...artifacts.values()];
  return { id: 't', contextId: undefined, status: { state: 'working' }, artifacts: done, history: [] };
}

const partsIn = (task: RemoteTask | undefined): Record<string, unknown> =>
  Object.fromEntries((task?.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, parts]));

describe('what a reader of a cut stream is given', () => {
  it('comes to the task as it is, whatever it has seen before, and says nothing twice', () => {
    fc.assert(
      fc.property(fc.array(arbUpdate, { maxLength: 12 }), fc.nat(12), (updates, cut) => {
        const seen = new TaskSeen();
        for (const news of seen.missing(taskAfter([]))) seen.take(news);
        for (const update of updates.slice(0, cut)) seen.take(eventOf(update));
        const now = taskAfter(updates);
        for (const news of seen.missing(now)) seen.take(news);
        expect(partsIn(seen.task)).toEqual(partsIn(now));
        expect(seen.missing(now)).toEqual([]);
      }),
      RUNS,
    );
  });

  it('is what is new alone, where artifacts only grow', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 12 }),
        fc.nat(12),
        (texts, cut) => {
          const updates = texts.map((text) => ({ artifactId: 'a', text, append: true }));
          const seen = new TaskSeen();
          const told: string[] = [];
          const tell = (event: RemoteEvent): void => {
            seen.take(event);
            if (event.kind === 'artifact')
              for (const part of event.artifact.parts) if ('text' in part) told.push(part.text);
          };
          for (const news of seen.missing(taskAfter([]))) tell(news);
          for (const update of updates.slice(0, cut)) tell(eventOf(update));
          for (const news of seen.missing(taskAfter(updates))) tell(news);
          expect(told).toEqual(texts);
        },
      ),
      RUNS,
    );
  });
});

describe('server-sent events', () => {
  it('are the same in whatever pieces they come, and with whatever ends of lines', async () => {
    const arbText = fc.string({ unit: fc.constantFrom('a', 'ß', '🙂', ':', ' ', '{') });
    const arbEvent = fc.record({
      id: fc.option(fc.nat(99), { nil: undefined }),
      lines: fc.array(arbText, { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbEvent, { maxLength: 5 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (events, end, sizes) => {
          const text = events
            .map(({ id, lines }) =>
              [
                ': heartbeat',
                ...(id === undefined ? [] : [`id: ${id}`]),
                ...lines.map((line) => `data: ${line}`),
                '',
                '',
              ].join(end),
            )
            .join('');
          const read: string[] = [];
          for await (const { data } of serverSentEvents(inPieces(Buffer.from(text), sizes), {
            maxChars: 10_000,
            from: 'x',
          }))
            read.push(data);
          expect(read).toEqual(events.map(({ lines }) => lines.join('\n')));
        },
      ),
      RUNS,
    );
  });
});

async function* inPieces(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const arbAmount = fc.option(fc.nat(1_000), { nil: undefined });
const arbBudget = fc
  .record({ tokens: arbAmount, costUsd: arbAmount, hops: arbAmount })
  .map((budget) => Object.fromEntries(Object.entries(budget).filter(([, amount]) => amount !== undefined)));
const arbName = fc.stringMatching(/^[a-z]{1,5}$/);

describe('the terms of work that another system asks for (C-15, F-04, F-05)', () => {
  it('are a moment for a time, the budget as it was given, and names that this system knows', () => {
    const hop = fc.record({ agent: arbName, capability: arbName, envelopeId: arbName });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        arbBudget,
        fc.array(hop, { maxLength: 5 }),
        arbName,
        (deadlineMs, budget, path, node) => {
          const told = path.map((one) => ({ ...one, agent: nameElsewhere(one.agent, node) }));
          const metadata = { [DELEGATION_URI]: { deadlineMs, budget, path: told } };
          const home = termsOf(metadata, 5_000, node);
          expect(home).toEqual({ deadlineAtMs: 5_000 + deadlineMs, budget, path });
          expect(narrower(home.budget, budget)).toEqual(budget);
          const elsewhere = termsOf(metadata, 5_000, `${node}x`);
          expect(elsewhere.path).toEqual(told);
        },
      ),
      RUNS,
    );
  });

  it('are refused when they are none, naming the field', () => {
    const wrong = [
      { deadlineMs: -1 },
      { budget: { tokens: -1 } },
      { path: [{ agent: 'a' }] },
      5,
      { budget: { gold: 1 } },
    ];
    for (const said of wrong)
      expect(() => termsOf({ [DELEGATION_URI]: said }, 0, 'n')).toThrow(
        expect.objectContaining({ code: 'INVALID_PAYLOAD' }),
      );
    expect(termsOf({ other: 1 }, 0, 'n')).toEqual({});
    expect(termsOf(undefined, 0, 'n')).toEqual({});
  });

  it('leave what was not spent, and never more than was granted', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(2_000), (granted, spent) => {
        const { tokens = 0 } = restOf({ tokens: granted }, { tokens: spent });
        expect(tokens).toBe(Math.max(0, granted - spent));
        expect(restOf({}, { tokens: spent })).toEqual({});
      }),
      RUNS,
    );
  });
});

describe('the wait before another attempt', () => {
  it('doubles up to its most, is never less than half of it, nor than the other side wants', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.nat(5_000),
        (attempt, chance, retryAfterMs) => {
          const settings = { backoffMs: 100, maxBackoffMs: 1_000 };
          const ms = waitMsAfter(attempt, settings, () => chance, retryAfterMs);
          const full = Math.min(1_000, 100 * 2 ** (attempt - 1));
          expect(ms).toBeGreaterThanOrEqual(Math.max(full / 2, retryAfterMs));
          expect(ms).toBeLessThanOrEqual(Math.max(full, retryAfterMs));
        },
      ),
      RUNS,
    );
  });
});
