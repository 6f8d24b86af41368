import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strongComponents } from '../../audit/strong-components.ts';

const components = (edges: readonly (readonly number[])[]): number[][] =>
  strongComponents(edges.length, (node) => edges[node] ?? [])
    .map((members) => members.sort((a, b) => a - b))
    .sort((a, b) => (a[0] as number) - (b[0] as number));

/** The same by definition: who is reached from whom. */
function byReach(edges: readonly (readonly number[])[]): number[][] {
  const reach = edges.map((_, start) => {
    const reached = new Set(edges[start]);
    for (const node of reached) for (const next of edges[node] ?? []) reached.add(next);
    return reached;
  });
  const groups = edges.flatMap((_, node) => {
    if (!reach[node]?.has(node)) return [];
    const group = edges.flatMap((_, other) =>
      reach[node]?.has(other) && reach[other]?.has(node) ? [other] : [],
    );
    return group[0] === node ? [group] : [];
  });
  return groups;
}

const graphs = fc
  .integer({ min: 1, max: 14 })
  .chain((count) =>
    fc.array(fc.array(fc.nat({ max: count - 1 }), { maxLength: 4 }), { minLength: count, maxLength: count }),
  );

describe('strong components', () => {
  it('are the groups in which each node reaches each other and itself', () => {
    fc.assert(
      fc.property(graphs, (edges) => {
        expect(components(edges)).toEqual(byReach(edges));
      }),
      { numRuns: 500 },
    );
  });

  it('are found in a ring of 100,000, where a recursive search overflows the stack', () => {
    const count = 100_000;
    const ring = strongComponents(count, (node) => [(node + 1) % count]);
    expect(ring.map((members) => members.length)).toEqual([count]);
    expect(strongComponents(count, (node) => (node + 1 < count ? [node + 1] : []))).toEqual([]);
  });
});
