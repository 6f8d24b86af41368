import type { AgentCard, CapabilityDescriptor } from '../../../runtime/protocol/agent-card.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import { agentNotFound } from '../../../runtime/protocol/errors.ts';
import type { A2AExtension, Caller } from './caller.ts';
import { fault } from '../wire/faults.ts';
import { inputModesOf, outputModesOf } from '../wire/media-modes.ts';
import type { SecurityScheme, ServedCard, ServedSkill } from '../wire/operations.ts';

/**
 * - `securitySchemes` how callers prove who they are. @default none: everybody is anonymous
 * - `grpcUrl`         where gRPC is served, or what says so as soon as it is known. @default nowhere
 * - `isExtended`      whether a capability stands on the extended card only. @default it is tagged `extended`, or a person
 *                     approves each use of it
 */
export interface CardOptions {
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  readonly grpcUrl?: string | (() => string | undefined);
  readonly isExtended?: (capability: CapabilityDescriptor, card: AgentCard) => boolean;
}

interface CardServiceDeps {
  readonly options: CardOptions;
  readonly team: ServedTeam;
  readonly isLive: boolean;
  readonly pushNotifications: boolean;
  readonly extensions: readonly A2AExtension[];
}

/**
 * The cards that a gateway shows.
 *
 * - `card`     for everybody; of an agent, or without an id of the system as a whole. undefined: there is no such agent.
 * - `extended` for those who have proved who they are. Throws UNSUPPORTED_OPERATION where there are none,
 *              EXTENDED_AGENT_CARD_NOT_CONFIGURED when others have one and this one would say no more, UNAUTHENTICATED, and
 *              AGENT_NOT_FOUND.
 * - `isLive`   a card may change without a change of the team's revision.
 */
export interface CardService {
  readonly isLive: boolean;
  card(agentId: string | undefined, baseUrl: string): ServedCard | undefined;
  extended(caller: Caller): ServedCard;
}

export function createCardService(deps: CardServiceDeps): CardService {
  const subjectOf = (agentId: string | undefined): Subject | undefined => {
    if (agentId === undefined) return systemOf(deps.team);
    const card = deps.team.card(agentId);
    return card === undefined ? undefined : agentOf(card, deps.team);
  };
  return {
    isLive: deps.isLive,
    card(agentId, baseUrl) {
      const subject = subjectOf(agentId);
      return subject === undefined ? undefined : cardOf(deps, subject, baseUrl, false);
    },
    extended({ agentId, baseUrl, principal }) {
      const subject = subjectOf(agentId);
      if (subject === undefined) throw agentNotFound(agentId ?? '');
      if (!hasExtended(deps, subject)) throw noExtendedCard(deps, agentId);
      if (principal.kind === 'anonymous')
        throw fault('UNAUTHENTICATED', 'The extended card is for those who have proved who they are');
      return cardOf(deps, subject, baseUrl, true);
    },
  };
}

/** The subject of a card: an agent, or the system as a whole. */
interface Subject {
  readonly facts: Pick<
    ServedCard,
    'id' | 'name' | 'description' | 'version' | 'documentationUrl' | 'iconUrl'
  >;
  readonly offers: readonly Offer[];
}

interface Offer {
  readonly card: AgentCard;
  readonly capability: CapabilityDescriptor;
}

function agentOf(card: AgentCard, { identity }: ServedTeam): Subject {
  const { id, name, description, version, website, icon } = card;
  const documentationUrl = website ?? identity.documentationUrl;
  return {
    facts: {
      id,
      name,
      description,
      version,
      ...(documentationUrl === undefined ? {} : { documentationUrl }),
      ...(icon === undefined || !URL.canParse(icon) ? {} : { iconUrl: icon }),
    },
    offers: card.capabilities.map((capability) => ({ card, capability })),
  };
}

/** The card of the system. A capability of several agents stands there once, by the first of them. */
function systemOf(team: ServedTeam): Subject {
  const { name, description, version, documentationUrl } = team.identity;
  const offers = new Map<string, Offer>();
  for (const card of team.cards())
    for (const capability of card.capabilities)
      if (!offers.has(capability.id)) offers.set(capability.id, { card, capability });
  return {
    facts: {
      id: undefined,
      name,
      description,
      version,
      ...(documentationUrl === undefined ? {} : { documentationUrl }),
    },
    offers: [...offers.values()],
  };
}

function cardOf(deps: CardServiceDeps, subject: Subject, baseUrl: string, isExtended: boolean): ServedCard {
  const { facts, offers } = subject;
  const { options, team, extensions, pushNotifications } = deps;
  const { securitySchemes = {} } = options;
  const grpcUrl = typeof options.grpcUrl === 'function' ? options.grpcUrl() : options.grpcUrl;
  const { provider } = team.identity;
  const shown = isExtended ? offers : offers.filter((offer) => !isForExtended(options, offer));
  return {
    ...facts,
    ...(provider === undefined ? {} : { provider }),
    skills: shown.map((offer) => skillOf(offer, facts.id)),
    baseUrl,
    ...(grpcUrl === undefined ? {} : { grpcUrl }),
    pushNotifications,
    hasExtendedCard: hasExtended(deps, subject),
    extensions: extensions.map((extension) => {
      const { uri, description, required } = extension;
      const capabilities = shown.map(({ capability }) => capability);
      const params = extension.paramsFor?.({ capabilities, baseUrl, team }) ?? extension.params;
      return { uri, description, required, ...(params === undefined ? {} : { params }) };
    }),
    securitySchemes,
  };
}

const noExtendedCard = (deps: CardServiceDeps, agentId: string | undefined) =>
  agentId !== undefined && hasExtended(deps, systemOf(deps.team))
    ? fault('EXTENDED_AGENT_CARD_NOT_CONFIGURED', `The card of "${agentId}" is all that there is of it`)
    : fault('UNSUPPORTED_OPERATION', 'There are no extended cards here');

/** Whether there is an extended card. Without authentication there is none. */
const hasExtended = ({ options }: CardServiceDeps, { offers }: Subject): boolean =>
  Object.keys(options.securitySchemes ?? {}).length > 0 &&
  offers.some((offer) => isForExtended(options, offer));

const isForExtended = ({ isExtended = isExtendedByDefault }: CardOptions, offer: Offer): boolean =>
  isExtended(offer.capability, offer.card);

const isExtendedByDefault = ({ tags, requiresConfirmation }: CapabilityDescriptor): boolean =>
  requiresConfirmation === true || (tags?.includes('extended') ?? false);

/** On the system's card a skill is tagged with the agent that has it. */
function skillOf({ card, capability }: Offer, subjectId: string | undefined): ServedSkill {
  const { id, name, description, inputSchema, outputSchema } = capability;
  const [topic = id] = id.split('.');
  const tags = capability.tags ?? [topic];
  return {
    id,
    name,
    description,
    tags: subjectId === undefined ? [...new Set([...tags, card.id])] : tags,
    inputModes: inputModesOf(inputSchema),
    outputModes: outputModesOf(outputSchema),
    inputSchema,
    outputSchema,
  };
}
