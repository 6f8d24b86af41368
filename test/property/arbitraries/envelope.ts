import fc from 'fast-check';
import {
  A2A_MESSAGE_TYPES,
  type A2AEnvelope,
  type A2AMessageType,
} from '../../../runtime/protocol/envelope.ts';
import { arbAgentId } from './agent-card.ts';
import { arbJson, arbText, arbTimestamp } from './json.ts';
import { arbTier } from './tier-pair.ts';

export const arbMessageType = (): fc.Arbitrary<A2AMessageType> => fc.constantFrom(...A2A_MESSAGE_TYPES);

/** Objects as JSON gives them. */
const EXACT = { noNullPrototype: true };

const arbHop = () =>
  fc.record({ agent: arbAgentId(), capability: arbText(), envelopeId: arbText({ minLength: 1 }) }, EXACT);

const arbMetadata = () =>
  fc.record(
    {
      tier: arbTier(),
      sandboxId: arbText(),
      routingHint: fc.constant('capability'),
      capability: arbText(),
      escalationJustification: arbText(),
      inReplyTo: arbText(),
      deadlineAtMs: arbTimestamp(),
      path: fc.array(arbHop(), { maxLength: 3 }),
      delivery: fc.constantFrom('once', 'retry'),
      budget: fc.record(
        {
          tokens: fc.nat(1_000),
          costUsd: fc.double({ min: 0, max: 100, noNaN: true }).map((usd) => usd + 0),
          hops: fc.nat(16),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fromANewerPeer: arbJson(),
    },
    { requiredKeys: ['tier'], noNullPrototype: true },
  );

/** Any valid envelope, routable or not; `fixed` replaces the arbitraries of single fields. */
export const arbA2AEnvelope = (
  fixed: { [Field in keyof A2AEnvelope]?: fc.Arbitrary<A2AEnvelope[Field]> } = {},
): fc.Arbitrary<A2AEnvelope> =>
  fc.record(
    {
      id: fc.uuid(),
      schemaVersion: fc.constant(1),
      sender: arbAgentId(),
      recipient: fc.oneof(arbAgentId(), fc.constant('*')),
      correlationId: arbText(),
      type: arbMessageType(),
      timestamp: arbTimestamp(),
      payload: arbJson(),
      metadata: arbMetadata(),
      session: fc.record({ id: arbText(), sequence: fc.nat() }, EXACT),
      schema: arbText(),
      ...fixed,
    },
    {
      requiredKeys: ['id', 'schemaVersion', 'sender', 'recipient', 'type', 'timestamp', 'payload'],
      noNullPrototype: true,
    },
  ) as fc.Arbitrary<A2AEnvelope>;
