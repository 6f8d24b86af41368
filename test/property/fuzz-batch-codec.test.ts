import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANE, REPLY } from '../../runtime/mailbox/mail.ts';
import { OutFlow } from '../../runtime/mailbox/out-flow.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import { type BatchSink, SendingNames, BatchWriter, BatchReader } from '../../runtime/link/batch.ts';
import { times } from '../fixtures/effort.ts';
import { arbDamaged, arbHostile, arbTorn } from './arbitraries/damage.ts';
import { arbJson } from './arbitraries/json.ts';
import { arbAsk, arbMailSpecs, mailOf } from './arbitraries/mail.ts';

const RUNS = { numRuns: times(400, 20_000) };
const FLOW = new OutFlow(0, 7, LANE.user, new Int32Array(8), 0, false);

/** The JSON of batches as a thread posts them. */
const arbBatchText = (): fc.Arbitrary<string> =>
  fc
    .tuple(arbMailSpecs(6), fc.array(fc.tuple(arbAsk(), arbJson()), { maxLength: 3 }), fc.boolean())
    .map(([specs, replies, isIntroducing]) => {
      const mails = specs.map(mailOf);
      const outgoing = {
        flows: mails.map(() => FLOW),
        mails,
        replyAsks: replies.map(([ask]) => ask),
        replyKinds: replies.map(() => REPLY.value),
        replyPayloads: replies.map(([, payload]) => payload),
        cancels: ['an-id'],
        pulls: [1, 2],
      };
      const flows = isIntroducing ? [[3, 10, 1, -5, 0]] : [];
      const header = { tableVersion: 1, peak: 3 };
      const batch = new BatchWriter(new SendingNames()).write(outgoing, header, { flows, slabs: [] });
      return typeof batch === 'string' ? batch : (batch as [string])[0];
    });

/** Reads it, and says how often the sink was called; what is thrown must be typed. */
function callsOf(batch: unknown): number {
  let calls = 0;
  const called = (): void => void calls++;
  const sink: BatchSink = {
    header: called,
    introduce: called,
    mail: called,
    reply: called,
    cancel: called,
    pull: called,
  };
  try {
    new BatchReader().read(batch, sink);
  } catch (error) {
    if (!isOrreryError(error)) throw error;
    expect(error.code).toBe('INVALID_ENVELOPE');
    expect(error.message).toMatch(/^The envelope is not valid: a batch of another thread: ./);
  }
  return calls;
}

describe('a batch between threads that was damaged', () => {
  it('is refused with a typed error or tells no more than it has text for, and never hangs', () => {
    const arbText = fc.oneof(
      arbTorn(arbBatchText()),
      arbDamaged(arbBatchText().map((text) => JSON.parse(text) as unknown)).map((body) =>
        JSON.stringify(body),
      ),
    );
    fc.assert(
      fc.property(arbText, (text) => {
        expect(callsOf(text)).toBeLessThanOrEqual(text.length);
      }),
      RUNS,
    );
  });

  it('is refused as well when it is something else altogether', () => {
    const anything = fc.anything({ withBigInt: true, withMap: true, withTypedArray: true });
    fc.assert(
      fc.property(anything, arbHostile(), (batch, body) => {
        callsOf(batch);
        callsOf([JSON.stringify(body), [], []]);
      }),
      RUNS,
    );
  });

  it('does not make the reader take a run for longer than the payloads that it has', () => {
    const columns = [1, 1, [2 ** 31], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, ['one'], 0];
    const body = [0, 1, 1, 0, 0, columns, 0, 0, 0];
    expect(callsOf(JSON.stringify(body))).toBeLessThan(5);
  });
});
