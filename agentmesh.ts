import {
  type AgentMeshIdentity,
  type IdentityOptions,
  openIdentity as openIdentityAt,
} from './gateway/agentmesh/identity.ts';
import { systemClock } from './runtime/protocol/system-seams.ts';

export { amidOf, didOf, isAmid } from './gateway/agentmesh/amid.ts';
export type { SchemaFault } from './gateway/agentmesh/compiled-schema.ts';
export {
  type AgentMeshIdentity,
  type IdentityOptions,
  identityFile,
  loadIdentity,
} from './gateway/agentmesh/identity.ts';
export type { AgentMeshEvent, OnAgentMeshEvent } from './gateway/agentmesh/mesh-event.ts';
export {
  type EnvelopeOf,
  envelopeOfMessage,
  MESH_TYPES,
  type MeshMessage,
  type MeshType,
  messageOfEnvelope,
  readMeshMessage,
  writeMeshMessage,
} from './gateway/agentmesh/message.ts';
export { PayloadSchemas, type SchemaCheck, type SchemaOptions } from './gateway/agentmesh/payload-schemas.ts';
export {
  ClosePayload,
  ErrorPayload,
  PAYLOAD_TYPES,
  PAYLOADS,
  type PayloadReading,
  type PayloadType,
  RequestPayload,
  ResponsePayload,
  readPayload,
  StatusPayload,
} from './gateway/agentmesh/payloads.ts';
export { schemaFolder } from './gateway/agentmesh/schema-directory.ts';
export { payloadSchemas, SchemaMode } from './gateway/agentmesh/schema-policy.ts';
export { INTENT_SCHEMAS, type JsonSchema, STANDARD_SCHEMAS } from './gateway/agentmesh/standard-schemas.ts';
export {
  CapabilityNegotiation,
  CapabilityNegotiationResponse,
  readNegotiation,
  readNegotiationResponse,
  SuggestedAgent,
} from './actors/negotiator/capability-negotiation.ts';
export { matchCapabilities, type NegotiationOffer } from './actors/negotiator/capability-handlers.ts';
export {
  type SequenceOptions,
  type SequencePlace,
  SequenceWindow,
  SessionNumbers,
  SessionSequences,
  sessionSequence,
} from './policies/session-sequence.ts';
export {
  type Received,
  type ReceiveFinding,
  type ReceivePolicy,
  type ReceiveRequest,
  receive,
} from './runtime/protocol/receive-policy.ts';

/**
 * The identity in the file; where there is none, a new one that the file then has. Of two processes that make one at once, both
 * get the same. A file that cannot be used stays as it is.
 *
 * Throws STORE_INVALID naming file, field and value: for a wrong field, and for a file that others may read, or a folder that
 * others may write to. Throws STORE_FAILED if the file cannot be read or written.
 */
export const openIdentity = (options: IdentityOptions = {}): AgentMeshIdentity =>
  openIdentityAt(systemClock, options);
