import type { KeyObject } from 'node:crypto';
import { toolAgentOver } from './actors/remote/tool-agent.ts';
import type { ToolAgentOptions } from './actors/remote/remote-options.ts';
import { systemTools } from './actors/tools/system-tools.ts';
import { noteFirewall } from './gateway/admit/firewall-events.ts';
import { LangoLink, type LangoLinkOptions } from './gateway/lango/client/lango-link.ts';
import { LangoService, type LangoServiceOptions } from './gateway/lango/server/lango-service.ts';
import { LangoNode, type PeerStreams } from './gateway/lango/session/lango-node.ts';
import type { SessionStore } from './gateway/lango/session/session-store.ts';
import type { ByteStream } from './gateway/lango/wire/byte-stream.ts';
import { LANGO_PROTOCOL } from './gateway/lango/wire/messages.ts';
import { servedTeam } from './gateway/team/served-team.ts';
import type { AgentDefinition } from './runtime/agent/agent-definition.ts';
import { keyInFile } from './runtime/peers/key-file.ts';
import { invalidOptions } from './runtime/protocol/errors.ts';
import { PACKAGES_FOR, requirePackages } from './runtime/protocol/optional-packages.ts';
import { parseOptions, requireMethod } from './runtime/protocol/parse-options.ts';
import { signingKeyPair } from './runtime/protocol/signing.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { noteAt } from './runtime/protocol/told-failure.ts';
import type { SystemWithStopWork } from './runtime/system/stop-work.ts';
import { requireOptions } from './runtime/system/system-options.ts';
import type { Libp2pNode } from './transports/libp2p/stream-node.ts';

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
export { LangoGrant, type LangoTrust } from './gateway/lango/server/lango-grants.ts';
export type { LangoServiceOptions } from './gateway/lango/server/lango-service.ts';
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
export { type KeyedPeer, LangoNode, type PeerStreams } from './gateway/lango/session/lango-node.ts';
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

/**
 * Where a node of Lango is, and who it is.
 *
 * - `key`    a private Ed25519 key, or the file of one, which is made if it is not there. @default a new key
 * - `listen` multiaddrs to listen at; none for a node that only calls others. @default ['/ip4/127.0.0.1/tcp/0']
 * - `libp2p` a node of libp2p 3 of your own with this key, in place of a new one. It stays yours to stop.
 */
export interface LangoNodeOptions {
  readonly key?: KeyObject | string;
  readonly listen?: readonly string[];
  readonly libp2p?: Libp2pNode<ByteStream>;
}

/**
 * Starts a node of libp2p for Lango's streams: TCP, Noise and Yamux. Its DID is the `did:key` of its key.
 *
 * Rejects with INVALID_OPTIONS naming field and value, and with PEERS_MISSING naming the packages of `orrery/libp2p` that it has not got.
 */
export async function langoNode(options: LangoNodeOptions = {}): Promise<LangoNode> {
  const { key, listen, libp2p, ...others } = requireOptions(options);
  const [unknown] = Object.entries(others);
  if (unknown !== undefined)
    throw invalidOptions(`langoNode.${unknown[0]}`, unknown[1], 'no option of this name');
  if (libp2p !== undefined && listen !== undefined)
    throw invalidOptions('langoNode.listen', listen, 'nothing: your node listens where it does');
  const privateKey = await privateKeyOf(key);
  requirePackages('A node of Lango', PACKAGES_FOR.libp2pStreams);
  const { StreamNode } = await import('./transports/libp2p/stream-node.ts');
  const started = libp2p ?? (await startedNode(privateKey, listen));
  requireMethod('langoNode.libp2p', started, 'handle', 'a node of libp2p 3');
  const streams: PeerStreams = new StreamNode(started);
  try {
    return new LangoNode(streams, { privateKey, stops: libp2p === undefined, seams: systemSeams() });
  } catch (error) {
    if (libp2p === undefined) await streams.stop();
    throw error;
  }
}

async function privateKeyOf(key: LangoNodeOptions['key']): Promise<KeyObject> {
  if (key === undefined) return signingKeyPair().privateKey;
  if (typeof key === 'string') return (await keyInFile(key)).privateKey;
  if (key?.asymmetricKeyType !== 'ed25519' || key.type !== 'private')
    throw invalidOptions('langoNode.key', key?.type, 'a private Ed25519 key, or the file of one');
  return key;
}

async function startedNode(
  privateKey: KeyObject,
  listen: readonly string[] | undefined,
): Promise<Libp2pNode<ByteStream>> {
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d as string, 'base64url');
  const { startNode } = await import('./transports/libp2p/libp2p-node.ts');
  const { Libp2pOptions } = await import('./transports/libp2p/libp2p-options.ts');
  return startNode(parseOptions(Libp2pOptions, { seed, ...(listen && { listen }) }, 'langoNode'));
}

/**
 * How a system is served over Lango's A2A.
 *
 * - `expose`                         which agents are served. @default all, also those that come later
 * - `name`, `description`, `version` on the card. @default those of a gateway
 */
export interface ServeLangoOptions extends LangoServiceOptions {
  readonly expose?: readonly string[];
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
}

/**
 * A system that is served over Lango's A2A.
 *
 * - `did`, `addresses` where and as whom.
 * - `sessions`         of the peers. One that is ended with the reason `manual_revoke` is that of a DID that is let in no more.
 * - `openStreams`      requests that are being answered.
 */
export interface LangoServing extends AsyncDisposable {
  readonly did: string;
  readonly addresses: readonly string[];
  readonly sessions: SessionStore;
  readonly openStreams: number;
  /** Ends the session of a DID, resets its streams, ends what is done for it, and lets it in no more. */
  revoke(did: string): void;
  /** Serves no more. What is under way has `drainMs` to come to its end, milliseconds. @default 1_000 */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const DRAIN_MS = 1_000;

/**
 * Serves the tools of a system's agents over `/lango/a2a/1.0.0`, until it is closed or the system stops.
 *
 * Rejects with INVALID_OPTIONS naming field and value, with SYSTEM_STOPPED, and with PEERS_MISSING without `canonicalize`, unless nothing is
 * attested.
 */
export async function serveLango(
  system: SystemWithStopWork,
  options: ServeLangoOptions,
): Promise<LangoServing> {
  requireMethod('system', system, 'beforeStop', 'a system of startSystem');
  const {
    expose,
    name = 'Orrery',
    description = 'A supervised team of agents',
    version = '1.0.0',
    ...others
  } = requireOptions(options);
  requireMethod('serveLango.node', others.node, 'handle', 'a node of langoNode()');
  const client = await system.client();
  const { seams } = client;
  const team = servedTeam(system.registry, { identity: { name, description, version }, expose }, seams);
  const deps = { tools: systemTools(system), team, seams, note: noteAt(client), tell: noteFirewall(client) };
  const service = new LangoService(others, deps);
  await service.open();
  let closed: Promise<void> | undefined;
  const close = ({ drainMs = DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> => {
    closed ??= service.close({ drainMs }).finally(forget);
    return closed;
  };
  let forget = (): void => undefined;
  try {
    forget = system.beforeStop(close);
  } catch (error) {
    await close({ drainMs: 0 });
    throw error;
  }
  const { node } = others;
  return {
    did: node.did,
    get addresses() {
      return node.addresses;
    },
    sessions: service.sessions,
    get openStreams() {
      return service.openStreams;
    },
    revoke: (did) => service.revoke(did),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/**
 * The membership of a peer of Lango in the team, as that of `remoteAgent`; `node` is who asks.
 *
 * - `name`      of the peer's system. @default its peer id
 * - `attested`  takes no result without a proof by the peer's key that holds. @default false
 * - `timeoutMs` for one request. @default 30 seconds
 * - `maxBytes`  of an answer. @default 1 MiB
 * - `debug`     hears of proofs that are not checked.
 */
export interface LangoAgentOptions extends Omit<ToolAgentOptions, 'node'>, Partial<LangoLinkOptions> {
  readonly node: LangoNode;
  readonly name?: string;
}

/**
 * Makes an agent of a peer that speaks Lango's A2A, at a multiaddr with `/p2p/` and its peer id. The tools on its card become
 * capabilities. It is asked and proposed to like any other agent; it streams nothing.
 *
 * Rejects with INVALID_OPTIONS naming field and value, with INVALID_CARD for a card without tools, with REMOTE_UNREACHABLE ("open stream
 * to …"), with UNAUTHENTICATED if the peer begins no session with us, and with REMOTE_FAILED.
 */
export async function langoAgent(address: string, options: LangoAgentOptions): Promise<AgentDefinition> {
  const { node, name, attested = false, timeoutMs, maxBytes, debug, ...member } = requireOptions(options);
  requireMethod('langoAgent.node', node, 'open', 'a node of langoNode()');
  const link = await LangoLink.open(node, address, {
    attested,
    timeoutMs,
    maxBytes,
    ...(debug && { debug }),
  });
  return toolAgentOver(link, {
    ...member,
    protocol: LANGO_PROTOCOL.slice(1),
    ...(name === undefined ? {} : { node: name }),
  });
}
