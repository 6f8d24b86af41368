import type { RequestMemory } from '../runtime/protocol/admission.ts';
import type { Seams } from '../runtime/protocol/seams.ts';
import type { AmendCard } from './a2a/server/card-routes.ts';
import type { A2AService } from './a2a/server/a2a-service.ts';
import type { GatewayPart } from './http/gateway-part.ts';

/** Another protocol that is served from A2A's operations, such as XPR. */
export interface Binding {
  readonly name: string;
  open(deps: BindingDeps): OpenBinding;
}

/** `seen`: which requests the gateways of the system have let in. */
export interface BindingDeps {
  readonly service: A2AService;
  readonly seams: Seams;
  readonly seen: RequestMemory;
}

/** `amendCard`: what the cards that A2A serves say for it. */
export interface OpenBinding {
  readonly part: GatewayPart;
  readonly amendCard?: AmendCard;
}

/** Amends a card by several bindings, one after the other. */
export function amendedByAll(bindings: readonly OpenBinding[]): AmendCard | undefined {
  const amending = bindings.flatMap(({ amendCard }) => (amendCard === undefined ? [] : [amendCard]));
  if (amending.length === 0) return undefined;
  return async (agentId, card) => {
    let shown = card;
    for (const amend of amending) shown = await amend(agentId, shown);
    return shown;
  };
}
