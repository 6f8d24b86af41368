import type { MachineDrawing } from 'orrery/machines';
import { field, isRecord, listIn, momentIn, numberIn, textIn, type Untrusted } from './narrow.ts';
import { readDrawing } from './read-drawing.ts';
import { readTexts } from './watched-event.ts';

/** The first line of a trace, as far as it can be read. */
export interface TraceHeader {
  readonly version: number;
  readonly orrery?: string;
  readonly startedAtMs?: number;
  readonly mission?: string;
  readonly root?: string;
  /** Of the trace of a simulation. */
  readonly seed?: number;
  readonly agents: readonly HeaderAgent[];
  readonly machines: readonly MachineDrawing[];
}

export interface HeaderAgent {
  readonly id: string;
  readonly name?: string;
  readonly tier?: number;
  readonly capabilities: readonly string[];
  readonly place?: string;
}

export const isHeader = (value: unknown): value is Untrusted =>
  isRecord(value) && value['format'] === 'orrery-trace';

export function readHeader(value: Untrusted): TraceHeader {
  const simulated = isRecord(value['simulated']) ? value['simulated'] : {};
  return {
    version: numberIn(value, 'version') ?? 0,
    ...field('orrery', textIn(value, 'orrery')),
    ...field('startedAtMs', momentIn(value, 'startedAtMs')),
    ...field('mission', textIn(value, 'mission')),
    ...field('root', textIn(value, 'root', 1_000)),
    ...field('seed', numberIn(simulated, 'seed')),
    agents: listIn(value, 'agents', readAgent),
    machines: listIn(value, 'machines', readDrawing, 1_000),
  };
}

function readAgent(value: unknown): HeaderAgent | undefined {
  if (!isRecord(value)) return undefined;
  const id = textIn(value, 'id');
  if (id === undefined) return undefined;
  return {
    id,
    ...field('name', textIn(value, 'name')),
    ...field('tier', numberIn(value, 'tier')),
    capabilities: readTexts(value['capabilities']) ?? [],
    ...field('place', textIn(value, 'place')),
  };
}
