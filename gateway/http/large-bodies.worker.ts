import { parentPort, workerData } from 'node:worker_threads';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import { holdsInfinity } from '../../runtime/protocol/json.ts';
import type { BodyOrder, BodyReport } from './large-bodies.ts';
import { MemberCounter, type MemberLimits, readJson } from './json-text.ts';

// The thread that counts and reads the bodies of `LargeBodies`.

/** With more objects and lists than this, the receiver is faster to parse the JSON than to take a copy. */
const MANY_NESTS = 5_000;

interface Arriving {
  readonly members: MemberCounter;
  readonly chunks: Uint8Array[];
}

const limits = workerData as MemberLimits;
const port = parentPort as NonNullable<typeof parentPort>;
const arriving = new Map<number, Arriving>();

port.on('message', (order: BodyOrder) => {
  if ('chunk' in order) return take(order.id, order.chunk);
  const body = arriving.get(order.id);
  arriving.delete(order.id);
  if (order.isWhole && body !== undefined) port.postMessage(reportOf(order.id, body));
});

/** Counts a chunk. A refusal is reported at once, and later chunks are dropped. */
function take(id: number, chunk: Uint8Array): void {
  const body = arriving.get(id) ?? { members: new MemberCounter(limits), chunks: [] };
  arriving.set(id, body);
  try {
    body.members.take(chunk);
    body.chunks.push(chunk);
  } catch (error) {
    if (!isOrreryError(error)) throw error;
    body.chunks.length = 0;
    const { what, most } = error.details as { readonly what: string; readonly most: number };
    port.postMessage({ id, kind: 'too-many', what, most } satisfies BodyReport);
  }
}

function reportOf(id: number, { chunks }: Arriving): BodyReport {
  const read = readJson(Buffer.concat(chunks));
  if (read.kind !== 'value' || !hasManyNests(read.value)) return { id, ...read };
  // JSON has no infinity.
  return holdsInfinity(read.value) ? { id, ...read } : { id, kind: 'text', text: JSON.stringify(read.value) };
}

function hasManyNests(value: unknown): boolean {
  let nests = 0;
  const left: unknown[] = [value];
  while (left.length > 0 && nests <= MANY_NESTS) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    nests += 1;
    for (const one of Array.isArray(next) ? next : Object.values(next))
      if (typeof one === 'object' && one !== null) left.push(one);
  }
  return nests > MANY_NESTS;
}
