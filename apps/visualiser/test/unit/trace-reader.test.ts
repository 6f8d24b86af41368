import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recording, type TraceFault } from '../../model/index.ts';
import { eventValues } from '../fixtures/events.ts';

const HEADER = {
  format: 'orrery-trace',
  version: 1,
  orrery: '0.1.0',
  startedAtMs: 1_000,
  mission: 'audit',
  agents: [],
};
const EVENT = { type: 'message-sent', timestamp: 1_001, envelopeId: 'e1', sender: 'a', recipient: 'b' };

function opened(content: string | Uint8Array, chunk = 7) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const { recording, reader } = Recording.ofTrace();
  for (let at = 0; at < bytes.length; at += chunk) reader.push(bytes.subarray(at, at + chunk));
  reader.end();
  return recording;
}

const codes = (faults: readonly TraceFault[]): string[] => faults.map(({ line, code }) => `${line} ${code}`);
const lines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

describe('a trace that is opened', () => {
  it('has the events of its lines, and its header', () => {
    const recording = opened(lines(HEADER, EVENT, { ...EVENT, type: 'a type of tomorrow' }));
    expect(recording.faults).toEqual([]);
    expect(recording.header).toMatchObject({ mission: 'audit', version: 1 });
    expect(recording.length).toBe(2);
    expect(recording.entryAt(0)).toEqual({ kind: 'event', event: EVENT });
  });

  it.each<[string, string | Uint8Array, string[], number]>([
    ['is empty', '', ['1 EMPTY'], 0],
    ['ends in the middle of a line', `${lines(HEADER, EVENT)}{"type":"mess`, ['3 CUT_OFF'], 1],
    ['has a line of garbage', `${lines(HEADER)}not json at all\n${lines(EVENT)}`, ['2 NOT_JSON'], 1],
    [
      'has a line that is no event',
      lines(HEADER, { type: 'x' }, [1], EVENT),
      ['2 NOT_AN_EVENT', '3 NOT_AN_EVENT'],
      1,
    ],
    ['has no header', lines(EVENT, EVENT), ['1 NO_HEADER'], 2],
    ['is something else', lines({ name: 'a package' }), ['1 NO_HEADER'], 0],
    ['is of another version', lines({ ...HEADER, version: 9 }, EVENT), ['1 VERSION'], 1],
    ['has two headers', lines(HEADER, HEADER, EVENT), ['2 NOT_AN_EVENT'], 1],
    ['is not text', new Uint8Array([0xff, 0xfe, 0x00, 0x0a, 0x80, 0x0a]), ['1 NOT_TEXT', '2 NOT_TEXT'], 0],
    [
      'has a line longer than any event',
      `${lines(HEADER)}"${'x'.repeat(1_100_000)}"\n${lines(EVENT)}`,
      ['2 TOO_LONG'],
      1,
    ],
  ])('opens as far as it can when it %s', (_what, content, faults, events) => {
    const recording = opened(content, 65_536);
    expect(codes(recording.faults)).toEqual(faults);
    expect(recording.length).toBe(events);
  });

  it('says which lines are wrong, in words, and counts those that it has no room to name', () => {
    const recording = opened(lines(HEADER) + 'x\n'.repeat(150));
    expect(recording.faults).toHaveLength(100);
    expect(recording.faults[0]?.text).toBe('Line 2 is not JSON: x');
    expect(recording.leftOutLines).toBe(150);
  });

  it('takes lines that end as on Windows, and empty ones', () => {
    expect(opened(`${JSON.stringify(HEADER)}\r\n\r\n${JSON.stringify(EVENT)}\r\n`)).toMatchObject({
      length: 1,
      faults: [],
    });
  });

  it('is the same wherever its bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(eventValues, fc.jsonValue(), fc.constant('ünïcödé 🪐')), { maxLength: 30 }),
        fc.integer({ min: 1, max: 50 }),
        (values, chunk) => {
          const text = lines(HEADER, ...values);
          const whole = opened(text, 1_000_000);
          const cut = opened(text, chunk);
          expect(cut.faults).toEqual(whole.faults);
          expect(cut.length).toBe(whole.length);
          for (let at = 0; at < whole.length; at++) expect(cut.entryAt(at)).toEqual(whole.entryAt(at));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('never throws, whatever its bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 1, max: 64 }), (bytes, chunk) => {
        opened(bytes, chunk).conversations();
      }),
      { numRuns: 200 },
    );
  });
});
