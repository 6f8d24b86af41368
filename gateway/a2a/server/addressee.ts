import type { AgentCard, CapabilityDescriptor } from '../../../runtime/protocol/agent-card.ts';
import { agentNotFound } from '../../../runtime/protocol/errors.ts';
import type { TaskMessage } from '../../../runtime/protocol/task.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import { fault } from '../wire/faults.ts';
import { answersOf, outputModesOf } from '../wire/media-modes.ts';
import type { Caller } from './caller.ts';
import type { SendOrder } from '../wire/operations.ts';

/** Who is to work at a message, and in which media types that can answer. */
export interface Addressee {
  readonly agentId: string;
  readonly outputModes: readonly string[];
}

/**
 * Who a message is for: `atTask`, who works at its task; or whom the caller names; or, by the capability that a data part
 * `{tool, arguments}` names, the first that has it; or the team's entry.
 *
 * Throws AGENT_NOT_FOUND, and INVALID_PARAMS naming the choices when nobody is meant.
 */
export function addresseeOf(
  { team }: { readonly team: ServedTeam },
  { message }: SendOrder,
  caller: Caller,
  atTask: string | undefined,
): Addressee {
  const tool = toolOf(message);
  const named = atTask ?? caller.agentId;
  if (named === undefined) {
    const card = tool === undefined ? entryOf(team) : ownerOfTool(team, tool);
    return { agentId: card.id, outputModes: modesOf(card, tool) };
  }
  const card = team.card(named);
  if (card !== undefined) return { agentId: named, outputModes: modesOf(card, tool) };
  // Who works at a task may have left the team: the task says what becomes of it.
  if (named === atTask) return { agentId: named, outputModes: [] };
  throw agentNotFound(named);
}

/** The capability that a message names by a data part `{tool, arguments}`. */
function toolOf({ parts }: TaskMessage): string | undefined {
  for (const part of parts) {
    if (!('data' in part)) continue;
    const { data } = part;
    if (typeof data !== 'object' || data === null || Array.isArray(data)) continue;
    if (typeof data['tool'] === 'string') return data['tool'];
  }
  return undefined;
}

function entryOf(team: ServedTeam): AgentCard {
  const card = team.entry === undefined ? undefined : team.card(team.entry);
  if (card !== undefined) return card;
  const choices = team.cards().map(({ id }) => id);
  throw fault(
    'INVALID_PARAMS',
    `tenant: names no agent, expected one of ${choices.join(', ')}, or a data part {tool, arguments}`,
    { field: 'tenant', choices },
  );
}

function ownerOfTool(team: ServedTeam, tool: string): AgentCard {
  const entry = team.entry === undefined ? undefined : team.card(team.entry);
  const cards = entry === undefined ? team.cards() : [entry, ...team.cards()];
  const card = cards.find((candidate) => capabilityOf(candidate, tool) !== undefined);
  if (card !== undefined) return card;
  const choices = [...new Set(cards.flatMap(({ capabilities }) => capabilities.map(({ id }) => id)))];
  throw fault(
    'INVALID_PARAMS',
    `message.parts: names the tool "${tool}", expected one of ${choices.join(', ')}`,
    { field: 'message.parts', value: tool, choices },
  );
}

function modesOf(card: AgentCard, tool: string | undefined): readonly string[] {
  const capability = tool === undefined ? undefined : capabilityOf(card, tool);
  return capability === undefined ? answersOf(card) : outputModesOf(capability.outputSchema);
}

/** By its id, or with its agent before it. */
const capabilityOf = (
  { id, name, capabilities }: AgentCard,
  tool: string,
): CapabilityDescriptor | undefined =>
  capabilities.find((one) => tool === one.id || tool === `${id}.${one.id}` || tool === `${name}.${one.id}`);
