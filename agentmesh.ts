import {
  type AgentMeshIdentity,
  type IdentityOptions,
  openIdentity as openIdentityAt,
} from './gateway/agentmesh/identity.ts';
import { MeshPeerOptions, MeshPeers, type Negotiating } from './gateway/agentmesh/mesh-peers.ts';
import { readNegotiation, readNegotiationResponse } from './actors/negotiator/capability-negotiation.ts';
import { matchCapabilities } from './actors/negotiator/capability-handlers.ts';
import { parseOptions } from './runtime/protocol/parse-options.ts';
import type { PeerExtensionOption } from './runtime/protocol/peer-extension.ts';
import { systemClock } from './runtime/protocol/system-seams.ts';

export type { MeshPeerOptions } from './gateway/agentmesh/mesh-peers.ts';
export type {
  PeerAgreement,
  PeerExtension,
  PeerExtensionOption,
  PeerOffer,
  PeerTerms,
} from './runtime/protocol/peer-extension.ts';

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
export {
  type AskProgress,
  errorOfPayload,
  errorPayloadOf,
  statusPayloadOf,
} from './gateway/agentmesh/payload-mapping.ts';
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
} from './runtime/protocol/session-sequence.ts';
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

/**
 * Has a node check what other nodes send by AgentMesh's schemas, and find out, when a session begins, what both have in common:
 * `peers: { agentMesh: agentMesh({ mode: 'strict' }), ... }`.
 *
 * Throws INVALID_OPTIONS naming field and value. The system does not start, with STORE_FAILED, if the schemas cannot be read.
 */
export function agentMesh(options: MeshPeerOptions = {}): PeerExtensionOption {
  parseOptions(MeshPeerOptions, options, 'agentMesh');
  return {
    spec: { module: new URL('./agentmesh.ts', import.meta.url).href, make: 'agentMesh', options },
    open: (warn) => new MeshPeers(options, NEGOTIATING, warn),
  };
}

const NEGOTIATING: Negotiating = {
  answer: (question, offer, suggest) =>
    matchCapabilities(readNegotiation(question), offer, (capability) => {
      const other = suggest(capability);
      return (
        other && { amid: other.id, display_name: other.name, reason: `${other.id} offers ${capability}` }
      );
    }),
  read: readNegotiationResponse,
};
