import type { WatchedEvent } from '@orrery/visualiser/model';
import type { DrawnState, MachineDrawing } from 'orrery/machines';

/** The state of a machine as XState writes it. */
type StateValue = string | { readonly [region: string]: StateValue };

/** What every message of the inspection protocol has (`@statelyai/inspect` 0.7). */
interface StatelyBase {
  readonly sessionId: string;
  readonly rootId: string;
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
}

interface StatelySnapshot {
  readonly status: 'active';
  readonly value: StateValue;
  readonly context: Readonly<Record<string, string | number | boolean>>;
}

/** A message of the inspection protocol of XState, as Stately's inspector takes it. */
export type StatelyEvent = StatelyBase &
  (
    | {
        readonly type: '@xstate.actor';
        readonly name: string;
        readonly definition: string;
        readonly parentId: undefined;
        readonly snapshot: StatelySnapshot;
      }
    | {
        readonly type: '@xstate.event';
        readonly event: { readonly type: string };
        readonly sourceId: undefined;
      }
    | {
        readonly type: '@xstate.snapshot';
        readonly event: { readonly type: string };
        readonly snapshot: StatelySnapshot;
      }
  );

/** The version of the protocol. */
const VERSION = '0.7.2';
/** Actors that are remembered as told of; one beyond that is told of again. */
const MAX_ACTORS = 10_000;

/** Makes the steps of machines, as a system tells them, into the messages of XState's inspection protocol. */
export class StatelyEvents {
  readonly #drawings = new Map<string, MachineDrawing>();
  readonly #told = new Set<string>();

  constructor(drawings: readonly MachineDrawing[]) {
    for (const drawing of drawings) this.#drawings.set(keyOf(drawing.id, drawing.agentId), drawing);
  }

  /** Nobody has been told of any actor any more: who comes is told of each again. */
  forget(): void {
    this.#told.clear();
  }

  /** The messages for an event: none for one that is no step of a machine. */
  of(event: WatchedEvent): readonly StatelyEvent[] {
    const { type, machine, actorId, from, to, agentId, place = '', node, facts, timestamp } = event;
    if (type !== 'machine-step' || machine === undefined || from === undefined || to === undefined) return [];
    const sessionId = [node, agentId ?? place, machine, actorId]
      .filter((part) => part !== undefined)
      .join('/');
    const base = { sessionId, rootId: sessionId, createdAt: String(timestamp), id: null, _version: VERSION };
    const drawing =
      this.#drawings.get(keyOf(machine, agentId)) ?? this.#drawings.get(keyOf(machine, undefined));
    const snapshotAt = (state: string): StatelySnapshot => ({
      status: 'active',
      value: stateValueOf(state, drawing),
      context: Object.fromEntries(facts ?? []),
    });
    const taken = { type: event.event ?? '' };
    const messages: StatelyEvent[] = [];
    if (this.#isNew(sessionId)) {
      const definition = JSON.stringify(drawing === undefined ? { id: machine } : definitionOf(drawing));
      const name = `${agentId ?? place}: ${actorId === undefined || actorId === agentId ? machine : `${machine} ${actorId}`}`;
      messages.push({
        ...base,
        type: '@xstate.actor',
        name,
        definition,
        parentId: undefined,
        snapshot: snapshotAt(from),
      });
    }
    messages.push({ ...base, type: '@xstate.event', event: taken, sourceId: undefined });
    messages.push({ ...base, type: '@xstate.snapshot', event: taken, snapshot: snapshotAt(to) });
    return messages;
  }

  #isNew(sessionId: string): boolean {
    if (this.#told.has(sessionId)) return false;
    if (this.#told.size >= MAX_ACTORS) this.#told.clear();
    this.#told.add(sessionId);
    return true;
  }
}

const keyOf = (machine: string, agentId: string | undefined): string => `${agentId ?? ''}\n${machine}`;

/** A state as text, `pending.open` or `a.b c.d`, as XState writes it. */
function stateValueOf(state: string, drawing: MachineDrawing | undefined): StateValue {
  const ids = new Set(drawing?.states.map(({ id }) => id));
  const tree: Branch = new Map();
  let above: readonly string[] = [];
  for (const path of state.split(' ')) {
    // Of parallel states within one, only the first is written with what is above it.
    const own = path.split('.');
    const parts = ids.has(path) || above.length === 0 ? own : placed(own, above, ids);
    above = parts.slice(0, -1);
    let branch = tree;
    for (const part of parts) {
      const known: Branch = branch.get(part) ?? new Map();
      branch.set(part, known);
      branch = known;
    }
  }
  return written(tree);
}

type Branch = Map<string, Branch>;

/** Below the nearest state above that there is such a one. */
function placed(
  own: readonly string[],
  above: readonly string[],
  ids: ReadonlySet<string>,
): readonly string[] {
  for (let depth = above.length; depth > 0; depth--) {
    const parts = [...above.slice(0, depth), ...own];
    if (ids.has(parts.join('.'))) return parts;
  }
  return own;
}

function written(branch: Branch): StateValue {
  const [first, ...others] = branch;
  if (first !== undefined && others.length === 0 && first[1].size === 0) return first[0];
  return Object.fromEntries(
    [...branch].map(([name, inner]) => [name, inner.size === 0 ? {} : written(inner)]),
  );
}

interface Definition {
  type?: 'parallel' | 'final' | 'history';
  initial?: string;
  description?: string;
  on?: Record<string, { target: string; guard?: string }[]>;
  states?: Record<string, Definition>;
}

/** The drawing as a machine's definition: what can be drawn of it, and nothing that it does. */
function definitionOf({
  id,
  initial,
  states,
  transitions,
}: MachineDrawing): Definition & { readonly id: string } {
  const root: Definition & { id: string } = { id, initial: initial.split(/[ .]/)[0] ?? initial };
  const made = new Map<string, Definition>([['', root]]);
  for (const state of states) {
    const definition = definedAs(state);
    made.set(state.id, definition);
    const parent = made.get(state.parent ?? '') ?? root;
    parent.states = { ...parent.states, [state.name]: definition };
  }
  for (const { from, to, event, guard } of transitions) {
    const source = made.get(from);
    if (source === undefined) continue;
    const target = { target: `#${id}.${to}`, ...(guard === undefined ? {} : { guard }) };
    source.on = { ...source.on, [event]: [...(source.on?.[event] ?? []), target] };
  }
  return root;
}

const definedAs = ({ id, type, initial, description }: DrawnState): Definition => ({
  ...(type === 'parallel' || type === 'final' || type === 'history' ? { type } : {}),
  ...(initial === undefined ? {} : { initial: initial.slice(id.length + 1) }),
  ...(description === undefined ? {} : { description }),
});
