import { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { invalidCard } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { RemoteLink } from '../../runtime/protocol/remote-agent.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { ActorContext, HandlingContext } from '../../runtime/public.ts';
import { considers, negotiatorOf, whenRefused } from '../negotiator/agent-negotiator.ts';
import { PendingCancels } from './pending-cancels.ts';
import { RemoteCall } from './remote-call.ts';
import { capabilityOf, identityOf, markCatalogue } from './remote-member.ts';
import { RemoteAgentOptions } from './remote-options.ts';
import { termsFor } from './remote-terms.ts';
import { RemoteProposals } from './remote-proposals.ts';

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
  const agent = new AgentDefinition(
    identityOf(card, { name: nameInUrl(link.url), node, protocol: 'a2a/1.0', settings }),
  );
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
    const declared = capabilityOf(skill, delegation?.skills?.[skill.id]);
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
