/** Lango's A2A over streams of peers (seed 0), in both directions: `orrery/lango`. */
export {
  AttestationVerifier,
  type AttestationVerifierOptions,
  type Attested,
  type PublicKeyOfDid,
  schnorrAttestation,
} from './gateway/lango/attest/attestation.ts';
export {
  P2PRemoteAgent,
  type P2PRemoteAgentDeps,
  type P2PRemoteAgentOptions,
  type RequestOptions,
} from './gateway/lango/client/p2p-remote-agent.ts';
export { Firewall, type FirewallOptions, FirewallRule } from './gateway/lango/firewall/firewall.ts';
export { type Sanitised, sanitise } from './gateway/lango/firewall/sanitise.ts';
export {
  LangoHandler,
  type LangoHandlerDeps,
  type LangoHandlerOptions,
  type ToolCall,
  type ToolExecutor,
} from './gateway/lango/server/lango-handler.ts';
export { teamExecutor, type TeamExecutorDeps } from './gateway/lango/server/team-executor.ts';
export {
  beginSession,
  type BeginSessionOptions,
  type GivenSession,
} from './gateway/lango/session/begin-session.ts';
export { didKeyOf, publicKeyOfDid } from './gateway/lango/session/did-key.ts';
export {
  HANDSHAKE_PROTOCOL,
  type LangoIdentity,
  type VerifySignature,
} from './gateway/lango/session/handshake.ts';
export {
  HandshakeResponder,
  type HandshakeResponderOptions,
} from './gateway/lango/session/handshake-responder.ts';
export {
  type Invalidation,
  type InvalidationReason,
  principalOfSession,
  type Session,
  SessionStore,
  type SessionStoreDeps,
  type SessionStoreOptions,
} from './gateway/lango/session/session-store.ts';
export type { ByteChunk, ByteStream, LangoPeer, OpenStream } from './gateway/lango/wire/byte-stream.ts';
export { type JsonObject, LANGO_PROTOCOL } from './gateway/lango/wire/messages.ts';
export type { FirewallEvent } from './gateway/admit/firewall-guard.ts';
export type { NoteFailure } from './runtime/protocol/told-failure.ts';
export { responseHash } from './gateway/admit/firewall-guard.ts';
