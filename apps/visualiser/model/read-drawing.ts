import type { DrawnState, DrawnTransition, MachineDrawing } from 'orrery/machines';
import { machineIdOf } from './watched-event.ts';
import { field, isRecord, listIn, textIn } from './narrow.ts';

const TYPES: ReadonlySet<string> = new Set<DrawnState['type']>([
  'atomic',
  'compound',
  'parallel',
  'final',
  'history',
]);
const MAX_STATES = 500;
const MAX_TRANSITIONS = 2_000;

/** The drawing of a machine as far as it can be read: what leads to a state that is not there is left out. */
export function readDrawing(value: unknown): MachineDrawing | undefined {
  if (!isRecord(value)) return undefined;
  const id = textIn(value, 'id');
  if (id === undefined) return undefined;
  const states = listIn(value, 'states', readDrawnState, MAX_STATES);
  const named = new Map(states.map((state) => [state.id, state]));
  const inside = [...named.values()].filter((state) => isInside(state.id, state.parent, named));
  const known = new Set(inside.map((state) => state.id));
  return {
    id: machineIdOf(id),
    ...field('agentId', textIn(value, 'agentId')),
    initial: textIn(value, 'initial', 2_000) ?? '',
    states: inside,
    transitions: listIn(value, 'transitions', readTransition, MAX_TRANSITIONS).filter(
      ({ from, to }) => (from === '' || known.has(from)) && (to === '' || known.has(to)),
    ),
  };
}

/** Whether a state's parents lead out of the machine, and not round in a circle or nowhere. */
function isInside(id: string, parent: string | undefined, known: ReadonlyMap<string, DrawnState>): boolean {
  const seen = new Set([id]);
  for (let at = parent; at !== undefined; at = known.get(at)?.parent) {
    if (seen.has(at) || !known.has(at)) return false;
    seen.add(at);
  }
  return true;
}

function readDrawnState(value: unknown): DrawnState | undefined {
  if (!isRecord(value)) return undefined;
  const id = textIn(value, 'id');
  if (id === undefined || id === '') return undefined;
  const type = textIn(value, 'type') ?? '';
  return {
    id,
    name: textIn(value, 'name') ?? id,
    ...field('parent', textIn(value, 'parent')),
    type: TYPES.has(type) ? (type as DrawnState['type']) : 'atomic',
    ...field('initial', textIn(value, 'initial')),
    ...field('description', textIn(value, 'description', 2_000)),
  };
}

function readTransition(value: unknown): DrawnTransition | undefined {
  if (!isRecord(value)) return undefined;
  const from = textIn(value, 'from');
  const to = textIn(value, 'to');
  const event = textIn(value, 'event');
  if (from === undefined || to === undefined || event === undefined) return undefined;
  return {
    from,
    to,
    event,
    ...field('guard', textIn(value, 'guard')),
    ...(value['delayed'] === true ? { delayed: true } : {}),
  };
}
