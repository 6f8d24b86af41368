import { stateNotSerialisable } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { JournalledState } from './restore.ts';
import { type StateOwner, stateIdentity } from './state-identity.ts';

/**
 * An actor's state as data that shares nothing with it; undefined for an agent that keeps no state. Fails with
 * NOT_SERIALISABLE, naming what JSON cannot carry.
 */
export function takeSnapshot(
  definition: StateOwner,
  { state }: JournalledState,
  { agentId, atMs }: Pick<Snapshot, 'agentId' | 'atMs'>,
): Snapshot | undefined {
  const identity = stateIdentity(definition);
  if (identity === undefined) return undefined;
  if (state === undefined) throw stateNotSerialisable(agentId, 'state', 'undefined');
  const fault = findUnserialisable(state, 'state');
  if (fault !== undefined) throw stateNotSerialisable(agentId, fault.path, fault.kind);
  return { agentId, ...identity, state: JSON.parse(JSON.stringify(state)) as Snapshot['state'], atMs };
}
