import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANE, Mail, NO_ASK, REPLY } from '../../runtime/mailbox/mail.ts';
import { OutFlow } from '../../runtime/mailbox/out-flow.ts';
import type { ErrorData } from '../../runtime/protocol/errors.ts';
import {
  type BatchSink,
  structuredKind,
  SendingNames,
  BatchWriter,
  BatchReader,
  type Outgoing,
} from '../../runtime/link/batch.ts';
import { arbJson, arbText } from './arbitraries/json.ts';
import { arbAsk, arbMailSpecs, arbStructured, mailOf, plain } from './arbitraries/mail.ts';

const FLOWS = [0, 1, 2, 511, 512].map(
  (flow) => new OutFlow(flow, flow + 7, LANE.user, new Int32Array(8), 0, false),
);
const SLAB = new SharedArrayBuffer(64);
const NOT_CARRIED = { code: 'NOT_SERIALISABLE', message: 'payload is a bigint' } as ErrorData;

/** What was told to the sink, a list each: between the lists the order does not count. */
function newHeard() {
  const heard = {
    headers: [] as unknown[],
    introductions: [] as unknown[],
    mails: [] as unknown[],
    replies: [] as unknown[],
    cancels: [] as string[],
    pulls: [] as number[],
  };
  const sink: BatchSink = {
    header: (tableVersion, peak) => heard.headers.push([tableVersion, peak]),
    introduce: (...introduction) => heard.introductions.push(introduction),
    mail: (flow, mail) => heard.mails.push([flow, plain(mail)]),
    reply: (...reply) => heard.replies.push(reply),
    cancel: (id) => heard.cancels.push(id),
    pull: (ask, count) => heard.pulls.push(ask, count),
  };
  return { heard, sink };
}

/** The two ends of a link's codec, and a port between them. */
function newLine() {
  const names = new SendingNames();
  const writer = new BatchWriter(names);
  const reader = new BatchReader();
  const write = (outgoing: Outgoing, { peak = 1, flows = [], slabs = [] }: Partial<Batch> = {}) =>
    writer.write(outgoing, { tableVersion: peak + 1, peak }, { flows, slabs });
  const post = (message: unknown, sink: BatchSink): number => {
    names.written();
    return reader.read(structuredClone(message), sink);
  };
  return { write, post };
}

interface Batch {
  readonly peak: number;
  readonly flows: readonly (readonly number[])[];
  readonly slabs: readonly (readonly [number, SharedArrayBuffer])[];
}

const arbReply = () =>
  fc.tuple(
    arbAsk(),
    fc.oneof(
      fc.tuple(
        fc.constantFrom<number>(REPLY.value, REPLY.error, REPLY.progress, REPLY.chunk, REPLY.end),
        arbJson(),
      ),
      fc.constant([REPLY.empty, undefined] as const),
      fc.tuple(fc.constantFrom(structuredKind(REPLY.value), structuredKind(REPLY.chunk)), arbStructured()),
    ),
  );

/** What a batch is made of. */
const arbContent = () =>
  fc.record({
    specs: fc.oneof(arbMailSpecs(5), arbMailSpecs(1)),
    to: fc.array(fc.nat(FLOWS.length - 1), { minLength: 1, maxLength: 3 }),
    replies: fc.array(arbReply(), { maxLength: 4 }),
    cancels: fc.oneof(fc.constant([]), fc.array(arbText(), { maxLength: 2 })),
    pulls: fc.oneof(fc.constant([]), fc.array(fc.tuple(arbAsk(), fc.nat()), { maxLength: 2 })),
  });

type Content = ReturnType<typeof arbContent> extends fc.Arbitrary<infer Value> ? Value : never;

const NOTHING: Outgoing = {
  flows: [],
  mails: [],
  replyAsks: [],
  replyKinds: [],
  replyPayloads: [],
  cancels: [],
  pulls: [],
};

const outgoingOf = ({ specs, to, replies, cancels, pulls }: Content): Outgoing => ({
  flows: specs.map((_, at) => FLOWS[to[Math.floor(at / 2) % to.length] as number] as OutFlow),
  mails: specs.map(mailOf),
  replyAsks: replies.map(([ask]) => ask),
  replyKinds: replies.map(([, [kind]]) => kind),
  replyPayloads: replies.map(([, [, payload]]) => payload),
  cancels,
  pulls: pulls.flat(),
});

/**
 * What becomes of a batch: it is posted; written and not posted; written twice, as the first writing was of no use; or
 * it has something in it that cannot be carried, which is replaced, or lets the whole batch fail.
 */
const arbFate = () =>
  fc.oneof(
    { arbitrary: fc.constant('posted' as const), weight: 4 },
    fc.constantFrom('lost' as const, 'twice' as const, 'replaced' as const, 'failed' as const),
  );

const arbBatch = () =>
  fc.record({
    content: arbContent(),
    fate: arbFate(),
    peak: fc.nat(300),
    isIntroducing: fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, fc.boolean()),
    isCircle: fc.boolean(),
  });

const circle: unknown[] = [];
circle.push(circle);

/** The batch with one more mail, which cannot be carried. */
function poisoned(outgoing: Outgoing, name: string, payload: unknown): { batch: Outgoing; mail: Mail } {
  const path = [{ agent: 'new', capability: 'c', envelopeId: 'e' }];
  const mail = new Mail('bad', '', 0, name, 'x', 'why', 5, payload, '', 0, NO_ASK, path, undefined);
  const flows = [...outgoing.flows, FLOWS[0] as OutFlow];
  return { batch: { ...outgoing, flows, mails: [...outgoing.mails, mail] }, mail };
}

const repliesOf = ({ replyAsks, replyKinds, replyPayloads }: Outgoing): unknown[] =>
  replyAsks.map((ask, at) => [ask, (replyKinds[at] as number) % structuredKind(0), replyPayloads[at]]);

function expectSame(actual: unknown, expected: unknown): void {
  // Its own comparison of long lists is slow, and only needed to show where they differ.
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toStrictEqual(expected);
}

/** Says whether some of it has to cross beside the JSON. */
const isCloned = ({ mails, replyKinds }: Outgoing): boolean =>
  mails.some(({ extras }) => extras?.structured === true) ||
  replyKinds.some((kind) => kind >= structuredKind(0));

const isNothing = ({ mails, replyAsks, cancels, pulls }: Outgoing): boolean =>
  mails.length + replyAsks.length + cancels.length + pulls.length === 0;

describe('a batch', () => {
  it('says on the other side what it said on this one, whatever became of those before it', () => {
    fc.assert(
      fc.property(fc.array(arbBatch(), { minLength: 1, maxLength: 8 }), (batches) => {
        const { write, post } = newLine();
        for (const [at, { content, fate, peak, isIntroducing, isCircle }] of batches.entries()) {
          const flows = isIntroducing
            ? [
                [3, 10, 1, -5, 0],
                [600, 11, 2, 9, 1],
              ]
            : [];
          const slabs = isIntroducing ? [[1, SLAB] as const] : [];
          let batch = outgoingOf(content);
          if (fate === 'replaced' || fate === 'failed') {
            const bad = poisoned(batch, `bad-${at}`, isCircle ? circle : { deep: [1n] });
            batch = bad.batch;
            expect(() => write(batch)).toThrow(TypeError);
            if (fate === 'failed') continue;
            bad.mail.tombstone = NOT_CARRIED;
            bad.mail.payload = null;
          }
          if (isNothing(batch) && flows.length === 0) continue;
          let message = write(batch, { peak, flows, slabs });
          if (fate === 'lost') continue;
          if (fate === 'twice') message = write(batch, { peak, flows, slabs });
          expect(typeof message).toBe(isCloned(batch) || isIntroducing ? 'object' : 'string');
          const { heard, sink } = newHeard();
          expect(post(message, sink)).toBe(batch.mails.length + batch.replyAsks.length);
          expectSame(heard, {
            headers: [[peak + 1, peak]],
            introductions: isIntroducing
              ? [
                  [3, 10, 1, -5, undefined],
                  [600, 11, 2, 9, SLAB],
                ]
              : [],
            mails: batch.mails.map((mail, index) => [batch.flows[index]?.flow, plain(mail)]),
            replies: repliesOf(batch),
            cancels: batch.cancels,
            pulls: batch.pulls,
          });
        }
      }),
      { numRuns: 400 },
    );
  });

  it('gives each mail its own conversation and path, with more of them than a link remembers', () => {
    const [flow] = FLOWS as [OutFlow];
    const handlers = Array.from({ length: 900 }, (_, at) => ({
      correlationId: `c${at}`,
      path: [{ agent: 'a', capability: 'c', envelopeId: `${at}` }],
    }));
    const arbStretch = fc.record({
      from: fc.oneof(fc.nat(899), fc.constantFrom(0, 255, 256, 511, 512)),
      step: fc.constantFrom(0, 1, 1, 1, 7, 899),
      count: fc.oneof(fc.nat(4), fc.constantFrom(128, 255, 256, 257, 300)),
    });
    const arbPost = fc.record({
      stretches: fc.array(arbStretch, { minLength: 1, maxLength: 3 }),
      isPosted: fc.oneof({ arbitrary: fc.constant(true), weight: 4 }, fc.boolean()),
    });
    fc.assert(
      fc.property(fc.array(arbPost, { maxLength: 12 }), (posts) => {
        const { write, post } = newLine();
        for (const { stretches, isPosted } of posts) {
          const handled = stretches.flatMap(({ from, step, count }) =>
            Array.from(
              { length: count },
              (_, at) => handlers[(from + at * step) % 900] as (typeof handlers)[0],
            ),
          );
          if (handled.length === 0) continue;
          const message = write({
            ...NOTHING,
            flows: handled.map(() => flow),
            mails: handled.map(
              ({ correlationId, path }, at) =>
                new Mail(at, 'o', 2, 'a', 'b', correlationId, 1, at, undefined, 0, NO_ASK, path, undefined),
            ),
          });
          if (!isPosted) continue;
          const arrived: unknown[] = [];
          const mail: BatchSink['mail'] = (_, { correlationId, path }) =>
            arrived.push({ correlationId, path });
          post(message, { ...newHeard().sink, mail });
          expectSame(arrived, handled);
        }
      }),
      { numRuns: 100 },
    );
  });
});
