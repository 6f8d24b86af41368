import type { Tool } from '../../runtime/protocol/tool.ts';
import type { ToolService } from '../../runtime/protocol/tool-service.ts';
import { type ActorContext, type AgentClient, clientOf } from '../../runtime/public.ts';
import { taintOfOffers } from './catalogue.ts';
import { InvocationLog, INVOCATION_LIMITS } from './invocation-log.ts';
import type { OfferIndex } from './offer-index.ts';
import { listenToUpdates } from './resource-updates.ts';
import { teamOffers } from './team-offers.ts';
import { TeamTools } from './team-tools.ts';

/** The key under which a client holds the tools of its agent. */
const HELD_AS = 'tools';

/** What an agent sees of its team, and what it has called. */
interface AgentView {
  readonly offers: OfferIndex;
  readonly log: InvocationLog;
}

const viewIfAny = (client: AgentClient): AgentView | undefined =>
  client.held.get(HELD_AS) as AgentView | undefined;

function viewAt(client: AgentClient): AgentView {
  const known = viewIfAny(client);
  if (known !== undefined) return known;
  const offers = teamOffers(client.team, (event) => client.note(event));
  const made = { offers, log: new InvocationLog(INVOCATION_LIMITS) };
  client.held.set(HELD_AS, made);
  return made;
}

/** The tools that an agent may call, in its name, as part of the work in hand. */
export function agentTools(ctx: ActorContext<unknown>): ToolService {
  const client = clientOf(ctx);
  const { offers, log } = viewAt(client);
  return new TeamTools({
    clock: client.seams.clock,
    offers,
    log,
    caller: {
      callerId: client.agentId,
      ask: (asking) => client.ask(asking, ctx),
      stream: (asking) => client.stream(asking, ctx),
      note: (event) => client.note(event),
      taint: () => ctx.taint,
      absorbTaint: (taint) => client.absorbTaint(taint, ctx),
    },
    onUpdate: (listener) =>
      listenToUpdates(client, (uri) => {
        // What it may not see it does not hear of either.
        if (offers.catalogue.ownerOf(uri) !== undefined) listener(uri);
      }),
  });
}

/**
 * The tools that are chosen for the agent, and what calls them: it is shown these alone, and has what is said of them. `choose`
 * is its owner's code, and is shown all.
 */
export function toolsFor(
  ctx: ActorContext<unknown>,
  choose: (tools: readonly Tool[]) => readonly Tool[],
): { readonly service: ToolService; readonly tools: readonly Tool[] } {
  const client = clientOf(ctx);
  const tools = choose(viewAt(client).offers.catalogue.tools);
  const taint = taintOfOffers(tools);
  if (taint !== undefined) client.absorbTaint(taint, ctx);
  return { service: agentTools(ctx), tools };
}

/** Removes the agent's listeners when its actor has ended. */
export const endAgentTools = (client: AgentClient): void => viewIfAny(client)?.offers.forgetListeners();
