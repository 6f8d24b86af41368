/** The schemas under the names that seed 1 gives them. */
export {
  AgentCard as AgentCardSchema,
  AgentEndpoint as AgentEndpointSchema,
  AgentTier as AgentTierSchema,
  CapabilityDescriptor as CapabilityDescriptorSchema,
} from './agent-card.ts';
export { CRDTSyncMessage as CRDTSyncMessageSchema } from './crdt-sync-message.ts';
export { A2AEnvelope as A2AEnvelopeSchema, A2AMessageType as A2AMessageTypeSchema } from './envelope.ts';
export { A2ALogEvent as A2ALogEventSchema } from './log-event.ts';
export { RoutingResult as RoutingResultSchema } from './routing-result.ts';
export { TaskProposalPayload as TaskProposalPayloadSchema } from './task-proposal.ts';
