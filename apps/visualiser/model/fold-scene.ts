import type { TraceHeader } from './trace-header.ts';
import type { WatchState } from './watch-state.ts';
import { applyLife } from './fold-life.ts';
import { applyMachine } from './fold-machines.ts';
import { applyMission } from './fold-mission.ts';
import { applyState } from './fold-state.ts';
import { applyTraffic } from './fold-traffic.ts';
import { applyWork } from './fold-work.ts';
import { SceneDraft } from './scene-draft.ts';
import type { Scene } from './scene.ts';
import type { WatchedEvent } from './watched-event.ts';

/** One entry of a recording: an event, or a state of the whole team. */
export type Entry =
  | { readonly kind: 'event'; readonly event: WatchedEvent }
  | { readonly kind: 'state'; readonly state: WatchState };

export const timeOf = (entry: Entry): number =>
  entry.kind === 'event' ? entry.event.timestamp : entry.state.nowMs;

/** Folds entries into a scene, one after the other. */
export class SceneFold {
  readonly #draft: SceneDraft;

  private constructor(draft: SceneDraft) {
    this.#draft = draft;
  }

  static begin(header?: TraceHeader): SceneFold {
    const draft = new SceneDraft();
    if (header !== undefined) applyHeader(draft, header);
    return new SceneFold(draft);
  }

  get position(): number {
    return this.#draft.position;
  }

  apply(entry: Entry): void {
    const draft = this.#draft;
    draft.position += 1;
    draft.seeTime(timeOf(entry));
    if (entry.kind === 'state') {
      applyState(draft, entry.state);
      return;
    }
    const { event } = entry;
    draft.totals.events += 1;
    draft.seePlace(event);
    applyTraffic(draft, event);
    applyLife(draft, event);
    applyMachine(draft, event);
    applyWork(draft, event);
    applyMission(draft, event);
  }

  /** Another fold that goes on from here; what is done to one does not change the other. */
  copy(): SceneFold {
    return new SceneFold(this.#draft.copy());
  }

  /** What is now. It stays as it is only until the next entry is applied: whoever keeps it takes it of a copy. */
  get scene(): Scene {
    return this.#draft;
  }
}

function applyHeader(draft: SceneDraft, header: TraceHeader): void {
  const { mission, root, seed, orrery, startedAtMs = 0, agents } = header;
  draft.about = {
    name: mission ?? (seed === undefined ? 'a recorded run' : `a simulation with seed ${seed}`),
    node: 'this node',
    ...(root === undefined ? {} : { root }),
    ...(seed === undefined ? {} : { seed }),
    ...(orrery === undefined ? {} : { orrery }),
  };
  draft.seeTime(startedAtMs);
  draft.startedAtMs = startedAtMs;
  draft.missionName = mission;
  for (const { id, name, tier, capabilities, place } of agents) {
    const agent = draft.agentOf(id);
    Object.assign(agent, { name: name ?? id, tier, capabilities, place, status: 'running' });
    if (place !== undefined) draft.placeOf(place);
  }
}
