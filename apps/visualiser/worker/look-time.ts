import { conversationIdOf } from '../model/watched-event.ts';
import {
  type Entry,
  entryText,
  isBadEntry,
  machineKey,
  type Recording,
  type Scene,
  timeOf,
  type WatchedEvent,
} from '../model/index.ts';
import type { EntryDetail, EntryLook, TimeLook } from './look.ts';
import { machineLook } from './look-agent.ts';

const BEFORE = 30;
/** Nobody reads more of what runs by. */
const BEFORE_LIVE = 16;
const AFTER = 20;
const MAX_MOVED = 6;

/** `key` of the machine to show, if another one than that of the event. */
export function timeLook(
  scene: Scene,
  recording: Recording,
  { isFollowing = false, key }: { readonly isFollowing?: boolean; readonly key?: string | undefined } = {},
): TimeLook {
  const { position } = scene;
  const from = Math.max(recording.first, position - (isFollowing ? BEFORE_LIVE : BEFORE));
  const until = Math.min(recording.length, position + AFTER);
  const entries: EntryLook[] = [];
  for (let number = from; number < until; number++) {
    const entry = recording.entryAt(number);
    if (entry !== undefined) entries.push(entryLook(entry, number, position));
  }
  const last = recording.entryAt(position - 1);
  const machines = [...scene.machines.values()].sort((one, other) => other.sinceMs - one.sinceMs);
  const own = last?.kind === 'event' ? machines.find(({ key }) => key === keyOf(last.event)) : undefined;
  const shown = (key === undefined ? undefined : scene.machines.get(key)) ?? own ?? machines[0];
  return {
    view: 'time',
    entries,
    current: last === undefined ? undefined : detailOf(last, position - 1),
    machine: shown === undefined ? undefined : machineLook(shown),
    moved: machines.slice(0, MAX_MOVED).map(machineLook),
  };
}

function keyOf({ type, machine, agentId, place, actorId }: WatchedEvent): string | undefined {
  if (type === 'machine-step' && machine !== undefined)
    return machineKey(machine, agentId ?? place ?? '', actorId ?? agentId ?? place ?? machine);
  return agentId === undefined ? undefined : machineKey('agentLife', agentId, agentId);
}

const entryLook = (entry: Entry, number: number, position: number): EntryLook => ({
  number,
  atMs: timeOf(entry),
  type: entry.kind === 'event' ? entry.event.type : 'state',
  text: entryText(entry),
  isBad: isBadEntry(entry),
  isCurrent: number === position - 1,
});

function detailOf(entry: Entry, number: number): EntryDetail {
  const about = { number, text: entryText(entry), atMs: timeOf(entry) };
  if (entry.kind === 'state') return { ...about, conversationId: undefined, agentId: undefined, fields: [] };
  const { event } = entry;
  return {
    ...about,
    conversationId: conversationIdOf(event),
    agentId: event.agentId ?? event.targetAgentId ?? event.recipient,
    fields: Object.entries(event).map(([name, value]) => [name, fieldText(value)] as const),
  };
}

export function fieldText(value: unknown): string {
  if (value instanceof Map) return [...value].map(([name, one]) => `${name} ${String(one)}`).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
