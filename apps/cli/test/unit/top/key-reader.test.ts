import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Key, KeyReader } from '../../../top/key-reader.ts';

const keysOf = (...chunks: string[]): Key[] => {
  const reader = new KeyReader();
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.flush()];
};

describe('the reader of keys', () => {
  it('knows arrows, Enter, Escape, Ctrl-C and what is typed', () => {
    expect(keysOf('\x1b[A\x1bOB\x1b[5~\x1b[F')).toEqual(['up', 'down', 'page-up', 'end']);
    expect(keysOf('q\r\x7f\x03')).toEqual([{ typed: 'q' }, 'enter', 'backspace', 'ctrl-c']);
    expect(keysOf('火')).toEqual([{ typed: '火' }]);
    expect(keysOf('\x1b')).toEqual(['escape']);
  });

  it('leaves out sequences and characters that are no key of ours', () => {
    expect(keysOf('\x1b[200~\x1b[1;5C\x1bOP\x00\x1a\u202E')).toEqual([]);
  });

  it('waits for the rest of a sequence that came in pieces', () => {
    expect(keysOf('\x1b', '[', 'B')).toEqual(['down']);
    const reader = new KeyReader();
    expect(reader.push('\x1b')).toEqual([]);
    expect(reader.isUnfinished).toBe(true);
    expect(reader.flush()).toEqual(['escape']);
    expect(reader.isUnfinished).toBe(false);
  });

  it('reads the same keys wherever a text of whole keys is cut', () => {
    const pieces = fc.array(fc.constantFrom('\x1b[A', '\x1b[B', '\x1b[6~', '\x1bOH', 'j', '/', '\r', '\x7f'));
    fc.assert(
      fc.property(pieces, fc.nat(), (all, cut) => {
        const text = all.join('');
        const at = text === '' ? 0 : cut % text.length;
        expect(keysOf(text.slice(0, at), text.slice(at))).toEqual(keysOf(text));
      }),
    );
  });
});
