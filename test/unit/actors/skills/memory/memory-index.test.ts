import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type IndexedMemory, MemoryIndex } from '../../../../../actors/skills/memory/memory-index.ts';
import { vectorOf } from '../../../../../actors/skills/search/vector.ts';

const memory = (id: string, hash: string, more: Partial<IndexedMemory> = {}): IndexedMemory => ({
  id,
  layer: 2,
  owner: '',
  scope: '',
  hash,
  subject: null,
  tags: [],
  updatedAtMs: 0,
  validFromMs: null,
  validUntilMs: null,
  ...more,
});

const all = () => true;
const found = (index: MemoryIndex, text: string, vector?: readonly number[]) =>
  index
    .search({ text, vector: vector && vectorOf(Float32Array.from(vector)), takes: all, most: 100 })
    .map((hit) => hit.memory.id);
const ids = (memories: readonly { readonly id: string }[]) => memories.map(({ id }) => id).toSorted();

describe('The index of memories (A-13)', () => {
  it('finds a memory by its words now, and as it is now', () => {
    const index = new MemoryIndex();
    index.put(memory('a', '1'), 'apple');
    index.put(memory('a', '2', { tags: ['t'] }), 'pear');
    expect([found(index, 'apple'), found(index, 'pear'), index.size]).toEqual([[], ['a'], 1]);
    index.put(memory('a', '2', { tags: ['u'] }), 'pear');
    const [hit] = index.search({ text: 'pear', vector: undefined, takes: all, most: 1 });
    expect([hit?.memory.tags, index.size]).toEqual([['u'], 1]);
  });

  it('finds by meaning until the text is another, or gone, also one without words', () => {
    const index = new MemoryIndex();
    index.setVector('a', vectorOf(Float32Array.from([1, 0])));
    index.put(memory('a', '1'), '!!!');
    expect(found(index, 'x', [1, 0])).toEqual([]);
    index.setVector('a', vectorOf(Float32Array.from([1, 0])));
    expect(found(index, 'x', [1, 0])).toEqual(['a']);
    index.put(memory('a', '1', { tags: ['t'] }), '!!!');
    expect(found(index, 'x', [1, 0])).toEqual(['a']);
    index.put(memory('a', '2'), '???');
    expect(found(index, 'x', [1, 0])).toEqual([]);
    index.setVector('a', vectorOf(Float32Array.from([1, 0])));
    index.remove('a');
    index.remove('a');
    expect([found(index, 'x', [1, 0]), index.size]).toEqual([[], 0]);
  });

  it('asks of each only what is there, and gives the best of what is taken', () => {
    const index = new MemoryIndex();
    for (const id of ['a', 'b', 'c']) index.put(memory(id, id), `word ${id}`);
    index.remove('b');
    const asked: string[] = [];
    const takes = ({ id }: IndexedMemory) => asked.push(id) > 0 && id !== 'a';
    const hits = index.search({ text: 'word', vector: undefined, takes, most: 10 });
    expect([hits.map((hit) => hit.memory.id), asked.toSorted()]).toEqual([['c'], ['a', 'c']]);
    const similar = index.similar('word c', { takes, share: 0.2, most: 10 });
    expect(similar.map((hit) => [hit.memory.id, hit.similarity])).toEqual([['c', 1]]);
  });

  it('knows what is said about a subject, whatever was put in and taken out (property)', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      removes: fc.boolean(),
      hash: fc.constantFrom('apple', 'pear'),
      subject: fc.constantFrom('x', 'y', null),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const index = new MemoryIndex();
        const model = new Map<string, IndexedMemory>();
        for (const { id, removes, hash, subject } of steps) {
          if (removes) {
            index.remove(id);
            model.delete(id);
          } else {
            const one = memory(id, hash, { subject });
            index.put(one, hash);
            model.set(id, one);
          }
          const there = [...model.values()];
          expect(index.size).toBe(model.size);
          for (const about of ['x', 'y'])
            expect(ids(index.about(about))).toEqual(ids(there.filter((one) => one.subject === about)));
          for (const word of ['apple', 'pear'])
            expect(found(index, word).toSorted()).toEqual(ids(there.filter((one) => one.hash === word)));
        }
        for (const one of [...index.about('x'), ...index.about('y')])
          expect(one).toEqual({ ...model.get(one.id), rank: 2 });
      }),
      { numRuns: 200 },
    );
  });

  it('is worn when more than a fifth of what it had is gone or changed', () => {
    const index = new MemoryIndex();
    for (let at = 0; at < 80; at++) index.put(memory(`${at}`, 'one'), `word ${at}`);
    for (let at = 0; at < 20; at++) index.put(memory(`${at}`, 'two'), `other ${at}`);
    expect(index.isWorn).toBe(false);
    index.remove('50');
    expect(index.isWorn).toBe(true);
  });
});
