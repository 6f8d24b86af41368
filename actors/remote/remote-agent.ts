import { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { catalogueEvent, catalogueHash, unapproved } from '../../runtime/protocol/catalogue-approval.ts';
import { invalidCard } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { RemoteIdentity, RemoteLink, RemoteSkill } from '../../runtime/protocol/remote-agent.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { asSemanticVersion } from '../../runtime/protocol/semantic-version.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import { type ActorContext, clientOf, type HandlingContext } from '../../runtime/public.ts';
import { considers, negotiatorOf, whenRefused } from '../negotiator/agent-negotiator.ts';
import { PendingCancels } from './pending-cancels.ts';
import { RemoteCall } from './remote-call.ts';
import { RemoteAgentOptions, type RemoteAgentSettings } from './remote-options.ts';
import { termsFor } from './remote-terms.ts';
import { RemoteProposals } from './remote-proposals.ts';
import { z } from 'zod';
import type { DelegationParams } from '../../runtime/protocol/a2a-extension.ts';
import { type Capability, capability } from '../../runtime/protocol/capability.ts';

export interface RemoteAgentDeps {
  readonly link: RemoteLink;
  readonly seams: Seams;
}

/**
 * Makes an agent of a remote one. Its skills become capabilities; a request creates a task there, under the terms of the work
 * here. It has the tier that it is granted, and by default a sandbox of its own.
 *
 * Rejects with INVALID_OPTIONS naming field and value, and with INVALID_CARD for a card without skills. If the card cannot be
 * fetched it rejects with REMOTE_UNREACHABLE, REMOTE_FAILED or UNAUTHENTICATED.
 */
export async function remoteAgentOver(
  { link, seams }: RemoteAgentDeps,
  options: RemoteAgentOptions = {},
): Promise<AgentDefinition> {
  const settings = parseOptions(RemoteAgentOptions, options, 'remoteAgent');
  const card = await link.card();
  if (card.skills.length === 0)
    throw invalidCard(`${link.url.href} has no skills that it could be asked for`);
  const node = settings.node ?? card.delegation?.node ?? link.url.host;
  const agent = new AgentDefinition(identityOf(card, { url: link.url, node, settings }));
  agent.node = node;
  agent.isProxy = true;
  agent.concurrency = settings.concurrency;
  const cancels = new PendingCancels(seams.clock);
  const { delegation } = card;
  const mark = (ctx: Pick<ActorContext, 'markOutside'>): void => {
    if (!settings.trusted) ctx.markOutside(`a2a:${link.url.host}`);
  };
  const deps = {
    link,
    cancels,
    isOrrery: delegation !== undefined,
    self: settings.self ?? `unnamed-${seams.newId()}`,
    maxBudget: settings.maxBudget,
  };
  for (const skill of card.skills) {
    if (agent.handlers.has(skill.id)) continue;
    const declared = capabilityOf(skill, delegation);
    const call = (ctx: HandlingContext<never>): RemoteCall =>
      new RemoteCall({ ...deps, skill: skill.id }, ctx);
    const streams = settings.streams?.includes(skill.id) ?? delegation?.skills?.[skill.id]?.streams ?? false;
    if (streams)
      agent.handleStream(declared, (input, ctx) => {
        mark(ctx);
        return call(ctx as HandlingContext<never>).values(input);
      });
    else
      agent.handle(declared, (input, ctx) => {
        mark(ctx);
        return ctx.effect(`${agent.options.id} ${skill.id}`, () =>
          call(ctx as HandlingContext<never>).value(input),
        );
      });
  }
  if (!settings.trusted) markCatalogue(agent, [`a2a:${link.url.host}`], settings.catalogue.approved);
  const negotiates = delegation?.negotiator;
  const name = nameInUrl(link.url);
  let proposals: RemoteProposals | undefined;
  if (negotiates !== undefined && name !== undefined)
    proposals = negotiateOver(agent, link, { url: negotiates, name, self: deps.self, seams, mark });
  return agent.onStop(async () => {
    await Promise.all([cancels.settled(), proposals?.end()]);
  });
}

/** Taints the agent's card, whose texts come from outside, unless the owner of this system has approved this very card. */
function markCatalogue(agent: AgentDefinition, taint: Taint, approved: string | undefined): void {
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

/**
 * Carries proposals to the agent there, by its name there. Without our extension, or a name, they are decided here, by its
 * card.
 */
function negotiateOver(
  agent: AgentDefinition,
  link: RemoteLink,
  {
    url,
    name,
    self,
    seams,
    mark,
  }: {
    readonly url: string;
    readonly name: string;
    readonly self: string;
    readonly seams: Seams;
    readonly mark: (ctx: ActorContext) => void;
  },
): RemoteProposals {
  const proposals = new RemoteProposals({ link: link.linkTo(url), agent: name, seams });
  agent.on(
    'task-proposal',
    considers((proposal, ctx) => {
      mark(ctx);
      const { path } = termsFor(ctx as HandlingContext<never>, { self, maxBudget: undefined }).order;
      const negotiator = negotiatorOf(ctx);
      const giveBack = (proposalId: string, reason: string): void =>
        void negotiator.release(proposalId, reason);
      return proposals.propose(proposal, { path, signal: ctx.signal, giveBack });
    }),
  );
  agent.on(
    'task-reject',
    whenRefused(({ proposalId, rejectionReason }) => proposals.release(proposalId, rejectionReason)),
  );
  return proposals;
}

const UNSAFE = /[^\p{L}\p{N}._-]+/gu;
const MAX_NAME = 100;

function identityOf(
  card: RemoteIdentity,
  {
    url,
    node,
    settings,
  }: { readonly url: URL; readonly node: string; readonly settings: RemoteAgentSettings },
) {
  const { grantedTier, handlingTimeoutMs, mailboxCapacity } = settings;
  const name = card.name.toLowerCase().replace(UNSAFE, '-').slice(0, MAX_NAME);
  const id = settings.id ?? `${node}/${nameInUrl(url) ?? name}`;
  const sandboxId = settings.sandboxId === undefined ? id : settings.sandboxId;
  return {
    id,
    name: card.name,
    version: asSemanticVersion(card.version),
    description: card.description,
    tier: grantedTier,
    protocols: ['a2a/1.0'],
    ...(sandboxId === null ? {} : { sandboxId }),
    ...(handlingTimeoutMs === undefined ? {} : { handlingTimeoutMs }),
    ...(mailboxCapacity === undefined ? {} : { mailboxCapacity }),
  };
}

/**
 * The agent's id in the URL of a gateway: the last segment of the path, or of the path before `.well-known`. Undefined if
 * there is none: at the root, at another file, or if the segment is no valid name.
 */
export function nameInUrl({ pathname }: Pick<URL, 'pathname'>): string | undefined {
  const steps = pathname.split('/').filter(Boolean);
  const wellKnown = steps.lastIndexOf('.well-known');
  // Split before decoding, because a segment may hold an encoded "/".
  const name = decoded((wellKnown === -1 ? steps : steps.slice(0, wellKnown)).at(-1) ?? '');
  return name === '' || name.endsWith('.json') || /[\s\p{Cc}]/u.test(name) ? undefined : name;
}

/** Decodes a segment; empty if its encoding is invalid. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return '';
  }
}

/** The largest schema that is compiled, characters. A larger one allows everything. */
const MAX_SCHEMA = 65_536;

/** Makes a capability of a remote skill. Input and output are validated if the card has schemas for them. */
function capabilityOf(skill: RemoteSkill, delegation: DelegationParams | undefined): Capability {
  const { input, output, readOnly = false } = delegation?.skills?.[skill.id] ?? {};
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
