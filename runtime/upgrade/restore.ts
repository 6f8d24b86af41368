import { isThenable } from '../protocol/promises.ts';
import { isOrreryError, type OrreryError, reasonOf, snapshotUnknown } from '../protocol/errors.ts';
import { faultsOf } from '../protocol/payload-faults.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { type MachineState, resolveMachineState } from './machine-state.ts';
import { type Migration, migrationPath } from './migrations.ts';
import { takesWhatItGives } from './schema-structure.ts';
import { isMachine, type StateOwner, stateIdentity } from './state-identity.ts';

/** The state that an actor hands on, as the agent's logic or handlers take it. */
export interface JournalledState {
  readonly state: unknown;
}

/** The state that an actor can begin with. Or SNAPSHOT_UNKNOWN, with both identities: then the agent is parked. */
export type Restored = JournalledState | { readonly parked: OrreryError };

/**
 * What the code of `definition` makes of a snapshot: the state itself if it is of the same kind, else what the migrations
 * make of it. It changes nothing, and runs nothing but the migrations, on a copy.
 */
export function restore(definition: StateOwner, snapshot: Snapshot): Restored {
  const { machineId, version, hash, agentId } = snapshot;
  const to = stateIdentity(definition);
  const parked = (reason: string): Restored => ({
    parked: snapshotUnknown(agentId, reason, { from: { machineId, version, hash }, to }),
  });
  if (to?.hash === hash) {
    try {
      return { state: sound(definition, structuredClone(snapshot.state)) };
    } catch (error) {
      return parked(`it does not fit: ${reasonOf(error)}`);
    }
  }
  if (to === undefined) return parked('nothing takes it over');
  const path = migrationPath(definition.migrations, version, to.version);
  if (path === undefined) return parked(`no migration leads from ${version} to ${to.version}`);
  const given = structuredClone(snapshot);
  let state: unknown = given.state;
  for (const migration of path) {
    try {
      state = migration.run(state as never, given);
    } catch (error) {
      return parked(`${nameOf(migration)} failed: ${reasonOf(error)}`);
    }
    if (isThenable(state)) return parked(`${nameOf(migration)} returned a promise, expected the state`);
  }
  try {
    return { state: checked(definition, state) };
  } catch (error) {
    return parked(`what ${path.map(nameOf).join(' and ')} made of it does not fit: ${reasonOf(error)}`);
  }
}

/** SNAPSHOT_UNKNOWN for a snapshot that fits, and from which the logic failed to begin all the same. */
export const notRestored = (
  definition: StateOwner,
  { agentId, machineId, version, hash }: Snapshot,
  cause: unknown,
): OrreryError =>
  snapshotUnknown(
    agentId,
    reasonOf(cause),
    { from: { machineId, version, hash }, to: stateIdentity(definition) },
    cause,
  );

/** What `restore` makes of a snapshot; throws SNAPSHOT_UNKNOWN. */
export function stateFrom(definition: StateOwner, snapshot: Snapshot): JournalledState {
  const restored = restore(definition, snapshot);
  if ('parked' in restored) throw restored.parked;
  return restored;
}

/** Says whether a start failed because its code cannot go on with the state. */
export const isSnapshotUnknown = (error: unknown): boolean =>
  isOrreryError(error) && error.code === 'SNAPSHOT_UNKNOWN';

/** A state of the same code, unchanged. Throws where it is damaged. */
function sound({ actorLogic, stateSchema }: StateOwner, state: unknown): unknown {
  // A schema that transforms its input cannot check its own output.
  const schema = stateSchema !== undefined && takesWhatItGives(stateSchema) ? stateSchema : undefined;
  const fitting = checked({ actorLogic, stateSchema: schema }, state);
  if (!isMachine(actorLogic)) return state;
  const resolved = fitting as MachineState;
  return { ...resolved, context: (state as Partial<MachineState>).context ?? resolved.context };
}

const nameOf = ({ from, to }: Migration): string => `the migration from ${from} to ${to}`;

/** The state if the agent can have it; what its schema makes of it, if it declares one. */
function checked(
  { actorLogic, stateSchema }: Pick<StateOwner, 'actorLogic' | 'stateSchema'>,
  state: unknown,
): unknown {
  const parse = (value: unknown): unknown => {
    if (stateSchema === undefined) return value;
    const parsed = stateSchema.safeParse(value, { reportInput: true });
    if (parsed.success) return parsed.data;
    throw new Error(faultsOf(parsed.error, value));
  };
  if (!isMachine(actorLogic)) return parse(state);
  const resolved = resolveMachineState(actorLogic, state);
  return { ...resolved, context: parse(resolved.context) };
}
