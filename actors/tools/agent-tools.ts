import type { Tool } from '../../runtime/protocol/tool.ts';
import type { ToolService } from '../../runtime/protocol/tool-service.ts';
import { type ActorContext, type AgentDesk, deskOf } from '../../runtime/public.ts';
import { taintOfOffers } from './catalogue.ts';
import { InvocationLog, KEPT_INVOCATIONS } from './invocation-log.ts';
import type { OfferBook } from './offer-book.ts';
import { listenToUpdates } from './resource-updates.ts';
import { teamOffers } from './team-offers.ts';
import { TeamTools } from './team-tools.ts';

/** Under which name a desk holds what all contexts of its agent see. */
const HELD_AS = 'tools';

/** What an agent sees of its team, and what it has called. */
interface AgentView {
  readonly offers: OfferBook;
  readonly log: InvocationLog;
}

const viewIfAny = (desk: AgentDesk): AgentView | undefined => desk.held.get(HELD_AS) as AgentView | undefined;

function viewAt(desk: AgentDesk): AgentView {
  const known = viewIfAny(desk);
  if (known !== undefined) return known;
  const offers = teamOffers(desk.team, (event) => desk.note(event));
  const made = { offers, log: new InvocationLog(KEPT_INVOCATIONS) };
  desk.held.set(HELD_AS, made);
  return made;
}

/** The tools that an agent may call, in its name, as part of the work in hand. */
export function agentTools(ctx: ActorContext<unknown>): ToolService {
  const desk = deskOf(ctx);
  const { offers, log } = viewAt(desk);
  return new TeamTools({
    clock: desk.seams.clock,
    offers,
    log,
    calls: {
      callerId: desk.agentId,
      ask: (asking) => desk.ask(asking, ctx),
      stream: (asking) => desk.stream(asking, ctx),
    },
    note: (event) => desk.note(event),
    taint: () => ctx.taint,
    takeIn: (taint) => desk.takeIn(taint, ctx),
    onUpdate: (listener) =>
      listenToUpdates(desk, (uri) => {
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
  const desk = deskOf(ctx);
  const tools = choose(viewAt(desk).offers.catalogue.tools);
  const taint = taintOfOffers(tools);
  if (taint !== undefined) desk.takeIn(taint, ctx);
  return { service: agentTools(ctx), tools };
}

/** The agent's actor has ended: nobody listens for it any more. */
export const endAgentTools = (desk: AgentDesk): void => viewIfAny(desk)?.offers.forgetListeners();
