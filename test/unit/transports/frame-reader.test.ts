import { describe, expect, it } from 'vitest';
import type { Frame } from '../../../runtime/protocol/transport.ts';
import { encodeCredit, encodeFrame } from '../../../transports/byte-frames/byte-frame.ts';
import { FrameReader } from '../../../transports/byte-frames/frame-reader.ts';

const MAX = 4_096;

const reading = (max = MAX) => {
  const frames: Frame[] = [];
  const seen = { frames, credit: 0, cost: 0 };
  const reader = new FrameReader(max, {
    onFrame: (frame) => frames.push(frame),
    onCredit: (credit) => {
      seen.credit += credit;
    },
    onCost: (cost) => {
      seen.cost += cost;
    },
  });
  return { reader, seen };
};

const STREAM = Buffer.concat([
  encodeFrame(''),
  encodeFrame('zwölf \u{feff}🥊'),
  encodeCredit(77),
  encodeFrame(new Uint8Array([0, 255, 10])),
  encodeFrame('x'.repeat(MAX)),
]);
const FRAMES: Frame[] = ['', 'zwölf \u{feff}🥊', new Uint8Array([0, 255, 10]), 'x'.repeat(MAX)];

describe('FrameReader', () => {
  it.each([1, 2, 5, 6, 7, 100, 4_000, STREAM.length])('finds frames in pieces of %i bytes', (size) => {
    const { reader, seen } = reading();
    for (let at = 0; at < STREAM.length; at += size)
      expect(reader.push(STREAM.subarray(at, at + size))).toBe(undefined);
    expect(seen.frames).toEqual(FRAMES);
    expect(seen.credit).toBe(77);
    expect(seen.cost).toBe(4 * 64 + Buffer.byteLength('zwölf \u{feff}🥊') + 3 + MAX);
    expect(reader.isWithinFrame).toBe(false);
  });

  it('gives frames whose memory is their own', () => {
    const { reader, seen } = reading();
    const stream = encodeFrame(new Uint8Array([1, 2]));
    reader.push(stream);
    stream.fill(9);
    expect(seen.frames).toEqual([new Uint8Array([1, 2])]);
  });

  it('writes frames as documented', () => {
    expect(encodeFrame('hi').toString('hex')).toBe('00000002006869');
    expect(encodeFrame(new Uint8Array([255])).toString('hex')).toBe('0000000101ff');
    expect(encodeCredit(262_144).toString('hex')).toBe('000000040200040000');
  });

  it.each([
    ['a frame above the cap', [0, 0, 16, 1, 0], 'a frame of 4097 bytes, at most 4096'],
    ['a gigabyte', [64, 0, 0, 0, 1], 'a frame of 1073741824 bytes, at most 4096'],
    ['an unknown kind', [0, 0, 0, 0, 3], 'a frame of the unknown kind 3'],
    ['a credit of another size', [0, 0, 0, 5, 2], 'a credit of 5 bytes instead of 4'],
    ['a text that is no UTF-8', [0, 0, 0, 1, 0, 255], 'a text that is no UTF-8'],
  ])('ends at %s, and allocates nothing for it', (_what, bytes, fault) => {
    const { reader, seen } = reading();
    expect(reader.push(Uint8Array.from(bytes))).toBe(fault);
    expect(reader.push(encodeFrame('after'))).toBe(fault);
    expect([seen.frames, reader.keptBytes]).toEqual([[], 0]);
  });

  it('keeps for a frame at most twice what came of it', () => {
    const { reader, seen } = reading(1_048_576);
    const encoded = encodeFrame(new Uint8Array(1_048_576));
    for (let at = 0; at < encoded.length - 1; at += 997) {
      const end = Math.min(at + 997, encoded.length - 1);
      reader.push(encoded.subarray(at, end));
      expect(reader.keptBytes).toBeLessThanOrEqual(Math.max(256, 2 * end));
    }
    expect([seen.frames, reader.isWithinFrame]).toEqual([[], true]);
    reader.push(encoded.subarray(-1));
    expect([seen.frames[0]?.length, reader.keptBytes]).toEqual([1_048_576, 0]);
  });
});
