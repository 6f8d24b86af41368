import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../runtime/protocol/transport.ts';
import { encodeCredit, encodeFrame } from '../../transports/byte-frames/byte-frame.ts';
import { FrameReader } from '../../transports/byte-frames/frame-reader.ts';
import { times } from '../fixtures/effort.ts';

const MAX = 2_048;

const arbFrame = (): fc.Arbitrary<Frame> =>
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.uint8Array({ maxLength: MAX }),
    fc.constantFrom('', 'x'.repeat(MAX)),
  );

const arbMutation = () =>
  fc.record({
    at: fc.nat(20_000),
    how: fc.constantFrom('flip', 'insert', 'remove', 'cut'),
    byte: fc.nat(255),
  });

type Mutation = ReturnType<typeof arbMutation> extends fc.Arbitrary<infer Value> ? Value : never;

const read = (stream: Uint8Array, cuts: readonly number[]) => {
  const frames: Frame[] = [];
  let most = 0;
  const reader = new FrameReader(MAX, {
    onFrame: (frame) => frames.push(frame),
    onCredit: () => undefined,
    onCost: () => undefined,
  });
  let [at, next] = [0, 0];
  let fault: string | undefined;
  while (at < stream.length) {
    const size = cuts[next++ % cuts.length] ?? 1;
    fault = reader.push(stream.subarray(at, at + size));
    most = Math.max(most, reader.keptBytes);
    at += size;
  }
  return { frames, fault, most };
};

const mutated = (stream: Buffer, mutations: readonly Mutation[]): Buffer =>
  mutations.reduce((bytes, { at, how, byte }) => {
    const place = bytes.length === 0 ? 0 : at % bytes.length;
    const [before, after] = [bytes.subarray(0, place), bytes.subarray(place + (how === 'insert' ? 0 : 1))];
    if (how === 'cut') return before;
    return Buffer.concat(how === 'remove' ? [before, after] : [before, Buffer.from([byte]), after]);
  }, stream);

const arbCuts = () => fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 });

describe('frames in a stream of bytes (N-3.6)', () => {
  it('arrive as they were sent, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(arbFrame(), { maxLength: 20 }), arbCuts(), (sent, cuts) => {
        const stream = Buffer.concat(sent.map(encodeFrame));
        const wellFormed = sent.map((frame) => (typeof frame === 'string' ? frame.toWellFormed() : frame));
        expect(read(stream, cuts)).toMatchObject({ frames: wellFormed, fault: undefined });
      }),
      { numRuns: times(500, 5_000) },
    );
  });

  it('of 5,000 mutated streams none makes the reader throw, grow, or give what is above the cap', () => {
    fc.assert(
      fc.property(
        fc.array(arbFrame(), { minLength: 1, maxLength: 8 }),
        fc.array(arbMutation(), { minLength: 1, maxLength: 6 }),
        arbCuts(),
        (sent, mutations, cuts) => {
          const stream = mutated(Buffer.concat([encodeCredit(9), ...sent.map(encodeFrame)]), mutations);
          const { frames, most } = read(stream, cuts);
          expect(most).toBeLessThanOrEqual(MAX);
          for (const frame of frames) expect(Buffer.from(frame as string).length).toBeLessThanOrEqual(MAX);
          const given = frames.reduce((sum, frame) => sum + Buffer.from(frame as string).length, 0);
          expect(given).toBeLessThanOrEqual(stream.length);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
