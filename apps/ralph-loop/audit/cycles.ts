import type { ImportEdge, ImportGraph } from './import-graph.ts';
import { strongComponents } from './strong-components.ts';

/** A circle of imports: `edges[0]` starts at the first file of the circle by name, the last edge closes it. */
export interface Cycle {
  readonly edges: readonly ImportEdge[];
}

/** A tangle has more circles than anybody wants to read; cutting this many shows where it hangs together. */
const MAX_CYCLES_A_TANGLE = 50;

/** The imports between files that are in circles, file by file. */
export function edgesInCycles(graph: ImportGraph): ImportEdge[] {
  return components(graph).flatMap((component) => {
    const members = new Set(component);
    return component.flatMap((id) =>
      [...graph.outgoing(id)].filter(({ to, kind }) => kind !== 'type' && members.has(to)),
    );
  });
}

/**
 * Circles of imports, each the shortest through its first file, such that removing the import that closes each leaves the
 * graph without any; `tangles` counts the groups of files for which that would take too many. Takes them out of `graph`.
 */
export function cutCycles(graph: ImportGraph): { readonly cycles: Cycle[]; readonly tangles: number } {
  const cycles: Cycle[] = [];
  let tangles = 0;
  for (const component of components(graph)) {
    const found = cut(graph, component);
    cycles.push(...found.cycles);
    if (found.isUnfinished) tangles += 1;
  }
  return { cycles, tangles };
}

const runtimeTargets = (graph: ImportGraph, id: number): number[] =>
  [...graph.outgoing(id)].filter(({ kind }) => kind !== 'type').map(({ to }) => to);

const components = (graph: ImportGraph): number[][] =>
  strongComponents(graph.files.length, (id) => runtimeTargets(graph, id));

/** Takes circles out of one component until none is left. */
function cut(graph: ImportGraph, component: readonly number[]): { cycles: Cycle[]; isUnfinished: boolean } {
  const cycles: Cycle[] = [];
  const pending = [component];
  for (let members = pending.pop(); members !== undefined; members = pending.pop()) {
    if (cycles.length === MAX_CYCLES_A_TANGLE) return { cycles, isUnfinished: true };
    const cycle = shortestCycle(graph, members);
    cycles.push(cycle);
    graph.remove(cycle.edges.at(-1) as ImportEdge);
    pending.push(...componentsWithin(graph, members));
  }
  return { cycles, isUnfinished: false };
}

function componentsWithin(graph: ImportGraph, members: readonly number[]): number[][] {
  const places = new Map(members.map((id, place) => [id, place]));
  const found = strongComponents(members.length, (place) =>
    runtimeTargets(graph, members[place] as number).flatMap((id) => places.get(id) ?? []),
  );
  return found.map((component) => component.map((place) => members[place] as number));
}

/** The shortest circle through the component's first file by name, which therefore also starts it. */
function shortestCycle(graph: ImportGraph, members: readonly number[]): Cycle {
  const byName = [...members].sort((a, b) => (graph.nameOf(a) < graph.nameOf(b) ? -1 : 1));
  const start = byName[0] as number;
  const inside = new Set(members);
  const reachedBy = new Map<number, ImportEdge>();
  const queue = [start];
  for (const id of queue) {
    for (const edge of graph.outgoing(id)) {
      if (edge.kind === 'type' || !inside.has(edge.to) || reachedBy.has(edge.to)) continue;
      reachedBy.set(edge.to, edge);
      if (edge.to === start) return { edges: backFrom(start, reachedBy) };
      queue.push(edge.to);
    }
  }
  throw new Error('a strong component without a cycle');
}

function backFrom(start: number, reachedBy: ReadonlyMap<number, ImportEdge>): ImportEdge[] {
  const edges: ImportEdge[] = [];
  let at = start;
  do {
    const edge = reachedBy.get(at) as ImportEdge;
    edges.push(edge);
    at = edge.from;
  } while (at !== start);
  return edges.reverse();
}
