import type { RosterRow } from '../protocol/roster.ts';
import type { SimulationView } from './simulate-options.ts';

export interface TraceFacts {
  readonly startedAtMs: number;
  readonly seed: number;
  readonly roster: readonly RosterRow[] | undefined;
}

/** The events as a trace (docs/trace.md): a header and one event a line. */
export function traceText(
  { events }: SimulationView,
  { startedAtMs, seed, roster = [] }: TraceFacts,
): string {
  const agents = roster.map(({ id, name, tier, capabilities, place }) => ({
    id,
    name,
    tier,
    capabilities,
    place,
  }));
  const header = { format: 'orrery-trace', version: 1, startedAtMs, simulated: { seed }, agents };
  return `${[header, ...events].map((line) => JSON.stringify(line)).join('\n')}\n`;
}
