import { appended, type SceneDraft } from './scene-draft.ts';
import type { MachineScene } from './scene.ts';
import type { WatchedEvent } from './watched-event.ts';

const MAX_STEPS = 20;
const MAX_GUARDS = 10;

/** A step of a state machine; older traces tell of some machines by other events. */
export function applyMachine(draft: SceneDraft, event: WatchedEvent): void {
  const step = stepOf(draft, event);
  if (step === undefined) return;
  const { machine, actorId, agentId } = step;
  const found = draft.machineOf({ machine, actorId, agentId, place: event.place });
  const { timestamp, failedGuards, nextTimer, facts } = event;
  if (failedGuards !== undefined && failedGuards.length > 0)
    found.guards = appended(
      found.guards,
      { atMs: timestamp, event: step.event, guards: failedGuards },
      MAX_GUARDS,
    );
  if (step.to !== step.from || found.state === '') {
    if (found.state === '') found.beganAtMs = timestamp;
    found.sinceMs = timestamp;
    found.state = step.to;
  }
  if (step.to !== step.from || failedGuards === undefined)
    found.steps = appended(
      found.steps,
      { atMs: timestamp, event: step.event, from: step.from, to: step.to },
      MAX_STEPS,
    );
  found.isOver = false;
  found.nextTimer = nextTimer;
  if (facts !== undefined) takeFacts(found, facts);
}

/** New facts; another assignee than before is a reassignment. */
export function takeFacts(machine: MachineScene, facts: MachineScene['facts']): void {
  const before = machine.facts.get('assignee');
  const after = facts.get('assignee');
  if (typeof before === 'string' && before !== '' && typeof after === 'string' && after !== before)
    machine.reassignments += 1;
  machine.facts = new Map([...machine.facts, ...facts]);
}

interface Step {
  readonly machine: string;
  readonly actorId: string;
  readonly agentId: string | undefined;
  readonly event: string;
  readonly from: string;
  readonly to: string;
}

const LIFE: Readonly<Record<string, string>> = {
  'agent-started': 'running',
  'agent-crashed': 'restarting',
  'agent-restarting': 'starting',
  'agent-failed': 'failed',
  'agent-stopped': 'stopped',
  'agent-parked': 'parked',
};

function stepOf(draft: SceneDraft, event: WatchedEvent): Step | undefined {
  const { type, agentId, channelId, channelStatus } = event;
  if (type === 'machine-step') {
    const { machine, to } = event;
    if (machine === undefined || to === undefined) return undefined;
    const actorId = event.actorId ?? agentId ?? event.place ?? machine;
    return { machine, actorId, agentId, event: event.event ?? '', from: event.from ?? '', to };
  }
  const life = Object.hasOwn(LIFE, type) ? LIFE[type] : undefined;
  if (life !== undefined && agentId !== undefined)
    return guessed(draft, { machine: 'agentLife', actorId: agentId, agentId, to: life }, event);
  if (type === 'router-state' && event.place !== undefined && event.reason !== undefined)
    return guessed(
      draft,
      { machine: 'threadRouter', actorId: event.place, agentId: undefined, to: event.reason },
      event,
    );
  if (type === 'channel-status' && channelId !== undefined && channelStatus !== undefined)
    return guessed(draft, { machine: 'channel', actorId: channelId, agentId, to: channelStatus }, event);
  return undefined;
}

/** A step that another event tells of; none if the machine is there already, by a step of its own. */
function guessed(
  draft: SceneDraft,
  about: Pick<Step, 'machine' | 'actorId' | 'agentId' | 'to'>,
  event: WatchedEvent,
): Step | undefined {
  const place = about.agentId === undefined ? event.place : undefined;
  const { state } = draft.machineOf({ ...about, place: place ?? event.place });
  return state === about.to ? undefined : { ...about, event: event.type, from: state };
}
