import { describe, expect, it } from 'vitest';
import type { ErrorData } from '../../../runtime/protocol/errors.ts';
import { JournalConnection } from '../../../runtime/journal/journal-connection.ts';
import { readUnit, type UnitMessage } from '../../../runtime/journal/unit-format.ts';
import type { StoreBatch } from '../../../runtime/protocol/store.ts';
import { handPorts } from '../../fixtures/hand-port.ts';
import { unitOf } from '../../fixtures/journal-rig.ts';

function makeLine(limits?: { units?: number; mails?: number; characters?: number }) {
  const [here, there] = handPorts();
  const heard: string[] = [];
  let ticks = 10;
  const line = new JournalConnection({
    port: here,
    order: { next: () => ticks++ },
    ...(limits && { limits: { units: 99, mails: 99, characters: 9_999, ...limits } }),
    onRoom: () => heard.push('room'),
    onFailure: (failure: ErrorData | undefined) => heard.push(failure?.code ?? 'well'),
  });
  const write = (name: string, mails = 1): void =>
    line.write(unitOf(name, mails), (first) => heard.push(`${name}@${first}`));
  /** What the journal says. */
  const say = (answer: unknown): void => {
    there.post(answer);
    here.deliver();
  };
  return { line, here, there, heard, write, say };
}

describe('A line to the journal', () => {
  it('posts each unit as it was given, at once and with the next number of all lines', () => {
    const { line, there } = makeLine();
    const batch: StoreBatch = {
      mails: [
        { recipient: 'ada', body: '{"n":1}' },
        { recipient: '', body: '\0' },
      ],
      settled: [4, 5, 9_007_199_254_740_991],
      records: [
        { kind: 'k', key: 'x', value: '' },
        { kind: 'k', key: 'y', value: undefined },
      ],
    };
    const empty: StoreBatch = { mails: [], settled: [], records: [] };
    line.write(batch, () => undefined);
    line.write(empty, () => undefined, false);
    expect(there.waiting.map((message) => readUnit(message as UnitMessage))).toEqual([
      { order: 10, isAwaited: true, batch },
      { order: 11, isAwaited: false, batch: empty },
    ]);
  });

  it('says of each unit when it is written, in the order of writing', () => {
    const { line, heard, write, say } = makeLine();
    for (const name of ['a', 'b', 'c']) write(name);
    say([7]);
    expect(heard).toEqual(['a@7']);
    expect(line.outstanding).toBe(2);
    say([8, 20]);
    expect(heard).toEqual(['a@7', 'b@8', 'c@20']);
    expect(line.outstanding).toBe(0);
  });

  it.each([
    ['units', { units: 2 }, 1],
    ['mails', { mails: 6 }, 3],
    ['characters', { characters: 30 }, 3], // Six a mail.
  ])('is full when so many %s are under way, and says when it is not any more', (_, limits, mails) => {
    const { line, heard, write, say } = makeLine(limits);
    write('a', mails);
    expect(line.isFull).toBe(false);
    write('b', mails);
    expect(line.isFull).toBe(true);
    say([1]);
    expect(line.isFull).toBe(false);
    expect(heard).toEqual(['a@1', 'room']);
    write('c', 9);
    write('d', 9);
    expect(line.isFull).toBe(true);
    say([4]);
    expect(heard).toEqual(['a@1', 'room', 'b@4']);
    say([7, 16]);
    expect(heard.slice(3)).toEqual(['c@7', 'd@16', 'room']);
  });

  it('may be written to from where it says that a unit is written', () => {
    const { line, heard, write, say } = makeLine({ units: 1 });
    line.write(unitOf('a'), () => write('b'));
    say([1]);
    expect(line.isFull).toBe(true);
    expect(heard).toEqual([]);
    say([2]);
    expect(heard).toEqual(['b@2', 'room']);
  });

  it('knows what keeps the journal from writing, until it writes again', () => {
    const { line, heard, write, say } = makeLine();
    write('a');
    const failure = { code: 'STORE_FAILED', message: 'the disk is full' } as const;
    say({ failure });
    expect(line.failure).toEqual(failure);
    expect(line.outstanding).toBe(1);
    say({ failure: null });
    expect(line.failure).toBeUndefined();
    say([1]);
    expect(heard).toEqual(['STORE_FAILED', 'well', 'a@1']);
  });

  it('fails for good when the thread of the journal ends, after what that had still said', () => {
    const { line, here, there, heard, write } = makeLine();
    write('a');
    write('b');
    there.post([1]);
    there.close();
    here.deliverAll();
    expect(heard).toEqual(['a@1', 'STORE_FAILED']);
    expect(line.failure?.message).toContain('its thread has ended');
    write('c');
    expect(heard).toHaveLength(2);
  });

  it('says nothing more once it is closed; what it posted before is on its way', () => {
    const { line, here, there, heard, write } = makeLine();
    write('a');
    line.close();
    there.post([1]);
    expect(here.deliver()).toBe(false);
    write('b');
    expect(heard).toEqual([]);
    expect(there.waiting).toHaveLength(2); // The unit, and the end.
  });
});
