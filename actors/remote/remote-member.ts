import { z } from 'zod';
import type { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { type Capability, capability } from '../../runtime/protocol/capability.ts';
import { catalogueEvent, catalogueHash, unapproved } from '../../runtime/protocol/catalogue-approval.ts';
import type { RemoteIdentity, RemoteSkill } from '../../runtime/protocol/remote-agent.ts';
import { asSemanticVersion } from '../../runtime/protocol/semantic-version.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import { clientOf } from '../../runtime/public.ts';
import type { RemoteAgentSettings } from './remote-options.ts';

/* What members of a team have in common that are agents elsewhere, whatever they speak. */

type Membership = Pick<
  RemoteAgentSettings,
  'id' | 'grantedTier' | 'sandboxId' | 'handlingTimeoutMs' | 'mailboxCapacity'
>;

/** Taints the agent's card, whose texts come from outside, unless the owner of this system has approved this very card. */
export function markCatalogue(agent: AgentDefinition, taint: Taint, approved: string | undefined): void {
  // For an agent in a process of its own the host compares the hashes: the process is not trusted with that.
  agent.textFrom = taint;
  const hash = catalogueHash(agent.card(0));
  if (hash === approved) return;
  agent.taint = taint;
  agent.onStart((ctx) => {
    if (!('cell' in ctx)) return;
    // Errors about refused requests quote the card too.
    for (const source of taint) ctx.markOutside(source);
    const reason = unapproved(ctx.self, hash, approved);
    if (reason !== undefined) clientOf(ctx).note(catalogueEvent(ctx.self, { reason, taint }));
  });
}

const UNSAFE = /[^\p{L}\p{N}._-]+/gu;
const MAX_NAME = 100;

/** Who a remote agent is in the team; `name`: its id there, if that is known; `protocol` is what it speaks. */
export function identityOf(
  card: Pick<RemoteIdentity, 'name' | 'description' | 'version'>,
  {
    name,
    node,
    protocol,
    settings,
  }: {
    readonly name: string | undefined;
    readonly node: string;
    readonly protocol: string;
    readonly settings: Membership;
  },
) {
  const { grantedTier, handlingTimeoutMs, mailboxCapacity } = settings;
  const shown = card.name.toLowerCase().replace(UNSAFE, '-').slice(0, MAX_NAME);
  const id = settings.id ?? `${node}/${name ?? shown}`;
  const sandboxId = settings.sandboxId === undefined ? id : settings.sandboxId;
  return {
    id,
    name: card.name,
    version: asSemanticVersion(card.version),
    description: card.description,
    tier: grantedTier,
    protocols: [protocol],
    ...(sandboxId === null ? {} : { sandboxId }),
    ...(handlingTimeoutMs === undefined ? {} : { handlingTimeoutMs }),
    ...(mailboxCapacity === undefined ? {} : { mailboxCapacity }),
  };
}

/** The largest schema that is compiled, characters. A larger one allows everything. */
const MAX_SCHEMA = 65_536;

/** Makes a capability of a remote skill. Input and output are validated if the card has schemas for them. */
export function capabilityOf(
  skill: RemoteSkill,
  said: { readonly input?: unknown; readonly output?: unknown; readonly readOnly?: boolean | undefined } = {},
): Capability {
  const { input, output, readOnly = false } = said;
  const { id, name, description } = skill;
  const about = { id, name, description, readOnly };
  try {
    return capability({ ...about, input: schemaOf(input), output: schemaOf(output) });
  } catch {
    return capability({ ...about, input: z.unknown(), output: z.unknown() });
  }
}

/** Compiles a JSON Schema of the remote card. One that cannot be compiled allows everything. */
function schemaOf(schema: unknown): z.ZodType {
  if (typeof schema !== 'object' || schema === null) return z.unknown();
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA) return z.unknown();
    return z.fromJSONSchema(withoutPatterns(schema) as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.unknown();
  }
}

/** Removes regular expressions: the remote side could choose one that takes for ever on its own text. */
function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== 'object' || schema === null) return schema;
  const fields = Object.entries(schema).filter(
    ([name, value]) => !PATTERNS.has(name) || typeof value === 'object',
  );
  return Object.fromEntries(
    fields.flatMap(([name, value]) => (name === 'patternProperties' ? [] : [[name, withoutPatterns(value)]])),
  );
}

const PATTERNS: ReadonlySet<string> = new Set(['pattern', 'format', '$schema']);
