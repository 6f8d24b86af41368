import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentProcess, type WorkFrame } from '../../runtime/processes/agent-process.ts';
import { ChildFrame } from '../../runtime/processes/child-frame.ts';
import {
  encodeFrame,
  FrameReader,
  MAX_FRAME_BYTES,
  isTooDeep,
  MAX_DEPTH,
} from '../../runtime/processes/frame-codec.ts';
import { ProcessOptions } from '../../runtime/agent/process-options.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { FakeProcessSpawner, SMALLEST } from '../fixtures/fake-process.ts';

/** The bytes in pieces, cut where `cuts` says. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set([0, ...cuts.map((one) => one % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  );
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

function readAll(pieces: readonly Buffer[]): unknown[] {
  const reader = new FrameReader();
  const frames: unknown[] = [];
  for (const piece of pieces) {
    reader.add(piece);
    for (let next = reader.next(); next !== undefined; next = reader.next()) frames.push(next.frame);
  }
  return frames;
}

const plain = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify({ value })) as object);
const rich = fc.record({ at: fc.date({ noInvalidDate: true }), big: fc.bigInt(), bytes: fc.uint8Array() });

describe('Frames (F-06)', () => {
  it('are read as they were written, in whatever pieces they arrive', () => {
    const frame = fc.oneof(
      plain.map((value) => ({ value, isStructured: false })),
      rich.map((value) => ({ value, isStructured: true })),
    );
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 20, size: 'max' }),
        fc.array(fc.nat(), { maxLength: 40, size: 'max' }),
        (frames, cuts) => {
          const bytes = Buffer.concat(
            frames.map(({ value, isStructured }) => encodeFrame(value, isStructured)),
          );
          expect(readAll(cut(bytes, cuts))).toEqual(frames.map(({ value }) => value));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('that are too large, or too deep, are not written', () => {
    expect(() => encodeFrame('x'.repeat(MAX_FRAME_BYTES))).toThrow(RangeError);
    let deep: unknown = 1;
    for (let at = 0; at <= MAX_DEPTH; at++) deep = [deep];
    expect(() => encodeFrame(deep)).toThrow(RangeError);
    expect(() => encodeFrame((deep as unknown[])[0])).not.toThrow();
  });

  it('are counted by their levels, and not by what stands in texts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[', '{', '"', '\\', ']', '}', 'a'), { maxLength: 30, size: 'max' }),
        fc.integer({ min: MAX_DEPTH - 3, max: MAX_DEPTH + 3 }),
        (characters, depth) => {
          let value: unknown = characters.join('');
          for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { '[': value };
          expect(isTooDeep(Buffer.from(JSON.stringify(value)))).toBe(depth > MAX_DEPTH);
        },
      ),
      { numRuns: 200 },
    );
  });
});

// What a process may say, well-formed or nearly, in any order.
const number = fc.oneof(fc.nat(5), fc.constantFrom(-1, 1.5, 1e9, '1', null, undefined));
const anyFrame = fc.oneof(
  fc.record({
    t: fc.constantFrom(
      ...[
        'loaded',
        'unloadable',
        'ready',
        'unready',
        'begun',
        'done',
        'failed',
        'chunk',
        'progress',
        'ask',
        'read',
      ],
      ...[
        'send',
        'cancel',
        'want',
        'call',
        'exited',
        'lost',
        'stray',
        'ended',
        'pong',
        'constructor',
        '__proto__',
      ],
    ),
    n: number,
    a: number,
    error: fc.constantFrom(undefined, { name: 'Error', message: 'x' }, { name: 1 }),
    what: fc.constantFrom(undefined, 'tell', 'spend', 'fly'),
    description: fc.constantFrom(undefined, SMALLEST, {}),
    options: fc.constantFrom(undefined, {}, { timeoutMs: 1 }),
    target: fc.constantFrom(undefined, {}, { agent: 'a' }, { agent: 1 }),
  }),
  fc.jsonValue(),
);
const someBytes = fc.uint8Array({ minLength: 1, maxLength: 64 });

describe('A process that says anything at all (F-06)', () => {
  it('has only that done which is well-formed and in its time; is ended for the first that is not; and nothing throws', () => {
    const saying = fc.oneof(
      { weight: 4, arbitrary: anyFrame.map((frame) => ({ frame })) },
      { weight: 1, arbitrary: someBytes.map((bytes) => ({ bytes })) },
    );
    fc.assert(
      fc.property(fc.boolean(), fc.array(saying, { maxLength: 20, size: 'max' }), (isRunning, sayings) => {
        const spawner = new FakeProcessSpawner();
        const options = ProcessOptions.parse({});
        const deps = { spawner, clock: new FakeClock(), starting: { quietMs: 1_000, computeMs: 1_000 } };
        const process = new AgentProcess('file:///agent.ts', options, deps);
        const child = spawner.last;
        const worked: WorkFrame[] = [];
        const gone: string[] = [];
        if (isRunning) {
          child.say({ t: 'loaded', description: SMALLEST });
          const listener = {
            onWork: (frame: WorkFrame) => worked.push(frame) > 0,
            onFinding: () => undefined,
            onGone: ({ reason }: { reason: string }) => gone.push(reason),
          };
          process.start('smallest', listener).catch(() => undefined);
          child.say({ t: 'ready' });
        }
        for (const one of sayings) {
          const before = worked.length;
          const wasHeard = process.isHeardOut;
          if ('bytes' in one) child.pour(Buffer.from(one.bytes));
          else child.say(one.frame);
          if (!wasHeard) expect(worked).toHaveLength(before);
        }
        if (!process.isHeardOut) expect(child.isKilled).toBe(true);
        for (const frame of worked) expect(ChildFrame.safeParse(frame).success).toBe(true);
        child.exit();
        expect(process.isGone).toBe(true);
        expect(gone).toHaveLength(isRunning ? 1 : 0);
      }),
      { numRuns: 1_000 },
    );
  });
});
