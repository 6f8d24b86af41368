import { type AgentCard, parseAgentCard } from '../protocol/agent-card.ts';
import { BROADCAST } from '../protocol/envelope.ts';
import { invalidCard } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import { isSystemId } from '../protocol/policy.ts';

/**
 * Makes the registry's own frozen copy of a card. Throws INVALID_CARD naming what is missing, wrong, reserved, or would not
 * survive JSON.
 */
export function registeredCard(value: unknown): AgentCard {
  const card = parseAgentCard(value);
  const lost = findUnserialisable(card, 'card');
  if (lost !== undefined)
    throw invalidCard(`${lost.path.slice('card.'.length)}: ${lost.kind}, which JSON cannot carry`);
  if (card.id === BROADCAST || isSystemId(card.id)) throw invalidCard(`id: "${card.id}" is reserved`);
  return deepFreeze(parseAgentCard(JSON.parse(JSON.stringify(card))));
}

/** The card with this id and revision; the same object if it has them already. */
export function cardAs(card: AgentCard, id: string, revision: number): AgentCard {
  return card.id === id && card.revision === revision ? card : Object.freeze({ ...card, id, revision });
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
