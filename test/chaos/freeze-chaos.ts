import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { type Figures, isWorthwhile, newFigures } from './figures.ts';
import { freezeHost } from './freeze-host-round.ts';
import { freezeParticipant } from './freeze-participant-round.ts';
import type { ScenarioDeps } from './scenario.ts';

/** Stops processes for longer than leases, limits and heartbeats last, and lets them go on: a participant, and whole hosts. */
export async function freezeChaos(deps: ScenarioDeps, freezes: number): Promise<Figures> {
  const figures = newFigures();
  const begunMs = performance.now();
  for (let number = 0; number < freezes && isWorthwhile(figures); number++) {
    const folder = join(deps.folder, String(number));
    mkdirSync(folder);
    const own = { ...deps, folder };
    if (number % 3 === 0) await freezeParticipant(own, figures);
    else await freezeHost(own, figures, number % 3 === 1 ? 'work' : 'boot');
  }
  figures.seconds = (performance.now() - begunMs) / 1_000;
  return figures;
}
