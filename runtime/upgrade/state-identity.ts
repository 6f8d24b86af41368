import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import type { z } from 'zod';
import type { StateIdentity } from '../protocol/snapshot.ts';
import { structureOf } from './machine-structure.ts';
import { schemaStructure } from './schema-structure.ts';
import type { Migration } from './migrations.ts';
import { createHash } from 'node:crypto';

/** What of an agent's definition says which states it has, and which it can go on with. */
export interface StateOwner {
  readonly options: { readonly id: string; readonly version: string };
  readonly actorLogic: AnyActorLogic | undefined;
  readonly stateSchema: z.ZodType | undefined;
  readonly migrations: readonly Migration[];
}

const identities = new WeakMap<StateOwner, StateIdentity>();

/** Whose states an agent's states are: what restores them compares it. Undefined for an agent that keeps no state. */
export function stateIdentity(definition: StateOwner): StateIdentity | undefined {
  const { actorLogic, stateSchema } = definition;
  if (actorLogic === undefined && stateSchema === undefined) return undefined;
  const known = identities.get(definition);
  if (known !== undefined) return known;
  const { id, version } = definition.options;
  const machine = isMachine(actorLogic) ? actorLogic : undefined;
  const schema = stateSchema === undefined ? undefined : schemaStructure(stateSchema);
  // A transition function without a schema is known by its agent's version alone.
  const shape = machine === undefined ? (schema ?? { version }) : [structureOf(machine), schema ?? null];
  const machineId = machine?.id ?? id;
  const identity = { machineId, version, hash: stableHash({ machineId, shape }) };
  identities.set(definition, identity);
  return identity;
}

/** Says whether logic is an XState machine, made by whatever copy of XState. */
export const isMachine = (logic: AnyActorLogic | undefined): logic is AnyStateMachine =>
  (logic as { __xstatenode?: unknown } | undefined)?.__xstatenode === true;

/** The SHA-256 of a JSON value in hexadecimal digits; the order of an object's fields makes no difference. */
const stableHash = (value: unknown): string => createHash('sha256').update(stableText(value)).digest('hex');

function stableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${stableText(field)}`).join()}}`;
}
