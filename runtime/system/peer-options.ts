import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { AgentDefinition } from '../agent/agent-definition.ts';
import { ChannelOptions } from '../channels/channel-options.ts';
import { PeerAddress } from '../peers/peer-address.ts';
import { MAX_ENDPOINTS } from '../peers/peer-message.ts';
import { NodeKey, Trust } from '../peers/trust.ts';
import { NodeId } from '../protocol/a2a-extension.ts';
import { MAX_TIMER_MS } from '../protocol/milliseconds.ts';
import { canJoin, type Transport } from '../protocol/transport.ts';
import type { PeerExtensionOption } from '../protocol/peer-extension.ts';
import type { FoundCard } from '../routing/discovery.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';

/**
 * An agent of another node, as a lookup finds it.
 *
 * - `agent`   the way to it: such as `await remoteAgent(url)`, or one of your own that carries what it is sent. It runs in the
 *             embedder's thread.
 * - `card`    the card that its node gives it. @default that of `agent`
 * - `grant`   how it is judged, whatever its card says. @default tier 3, an unknown node
 * - `trusted` whether its card and its answers count as this system's own. @default false: they are marked `peer:<nodeId>`
 */
export interface FoundPeer extends Omit<FoundCard, 'card'> {
  readonly agent: AgentDefinition<unknown> | AgentDefinition;
  readonly card?: unknown;
  readonly trusted?: boolean;
}

const milliseconds = (least: number) => z.number().min(least).max(MAX_TIMER_MS);

/** The limits of `PeerOptions`. */
export const PeerLimits = z.strictObject({
  timeoutMs: milliseconds(1).default(2_000),
  missMs: milliseconds(0).default(5_000),
  maxFound: z.int().min(1).default(1_000),
});
export type PeerLimits = z.output<typeof PeerLimits>;

const TransportOption = z.custom<Transport>(
  (value) => typeof (value as Partial<Transport> | null)?.spec?.module === 'string',
  'a transport that another thread can make too, such as webSocket({ port })',
);

const ExtensionOption = z.custom<PeerExtensionOption>(
  (value) => typeof (value as Partial<PeerExtensionOption> | null)?.spec?.module === 'string',
  'what another thread can make too, such as agentMesh({ mode })',
);

const PrivateKey = z.custom<KeyObject>(
  (value) => (value as Partial<KeyObject> | null)?.asymmetricKeyType === 'ed25519',
  'an Ed25519 key',
);

/**
 * Who this node is, for others.
 *
 * - `node` its name: elsewhere its agents are called `<node>/<id>`.
 * - `key`  what proves it: a key pair, or the file of a private key (PEM), which is made if it is not there. Whoever trusts this
 *          node does so by the public key. @default a new one with each start
 */
export const PeerIdentity = z.strictObject({
  node: NodeId,
  key: z
    .union([z.strictObject({ publicKey: z.string(), privateKey: PrivateKey }), z.string().min(1)])
    .optional(),
});
export type PeerIdentity = z.input<typeof PeerIdentity>;

/** A name under which nodes find each other. */
export const Topic = z.string().min(1).max(256);

export const PeerOptions = z
  .strictObject({
    ...PeerLimits.shape,
    lookup: z
      .custom<NonNullable<PeerOptions['lookup']>>((value) => typeof value === 'function', 'a function')
      .optional(),
    transports: z.array(TransportOption).default([]),
    addresses: z.array(PeerAddress).max(MAX_ENDPOINTS).default([]),
    identity: PeerIdentity.optional(),
    trust: z.array(Trust).default([]),
    revoked: z.array(NodeKey).default([]),
    discover: z
      .strictObject({
        dial: z.array(PeerAddress).default([]),
        topic: z.union([Topic, z.array(Topic)]).default([]),
      })
      .prefault({}),
    channel: ChannelOptions.prefault({}),
    agentMesh: ExtensionOption.optional(),
  })
  .refine(({ lookup, transports }) => lookup !== undefined || transports.length > 0, {
    path: ['transports'],
    error: 'at least one transport, or a `lookup`',
  })
  .refine(({ identity, transports }) => identity !== undefined || transports.length === 0, {
    path: ['identity'],
    error: 'the name of this node, where there are transports',
  })
  .superRefine(({ addresses, transports }, context) => {
    const kinds: readonly string[] = transports.map(({ kind }) => kind);
    for (const [at, { transport, address }] of addresses.entries())
      if (!kinds.includes(transport))
        context.addIssue({
          code: 'custom',
          path: ['addresses', at],
          input: address,
          message: `an address of ${kinds.length === 0 ? 'a transport: there is none' : kinds.join(' or ')}`,
        });
  })
  .refine(({ discover, transports }) => discover.topic.length === 0 || transports.some(canJoin), {
    path: ['discover', 'topic'],
    error: 'a transport that joins topics, such as hyperSwarm(), or no topic',
  });

/**
 * Other nodes, with which this one works as one team: their agents are asked, told and streamed from as if they were here.
 *
 * - `transports` what carries the channels, in the order of preference. @default none
 * - `addresses`  where others find it, instead of where it listens with the same transport: behind a router that forwards a
 *                port, the address of the router. At most 16. @default where it listens
 * - `identity`   who this node is. Needed with transports.
 * - `trust`      which other nodes are let in, and how their agents are judged. @default nobody is
 * - `revoked`    keys that are let in no more, also where `trust` has them or `*`. @default none
 * - `discover`   `dial`: addresses of other nodes, tried until they are there. `topic`: names under which nodes find each other,
 *                with each transport that joins topics; one or several. @default none: others dial
 * - `agentMesh`  checks payloads of other nodes by their schemas, and negotiates when a session begins: `agentMesh()` of
 *                `orrery/agentmesh`. @default neither
 * - `channel`    how channels wait, try again, and bound what they keep; its `reconnectTimeoutMs` is how long a node that is
 *                lost is awaited.
 * - `lookup`     finds agents and capabilities that nobody here has in other ways; resolves to an empty list when there are none.
 *                `signal` aborts after `timeoutMs`. What it throws is an `error` event, and to whoever asked the agent is not found.
 * - `timeoutMs`  how long one lookup may take. @default 2_000
 * - `missMs`     how long it is remembered that nobody was found: until then the same is not looked up again. @default 5_000
 * - `maxFound`   agents that `lookup` adds at most, as long as the system runs. @default 1_000
 */
export interface PeerOptions {
  readonly transports?: readonly Transport[];
  readonly addresses?: readonly string[];
  readonly identity?: PeerIdentity;
  readonly trust?: readonly z.input<typeof Trust>[];
  readonly revoked?: readonly string[];
  readonly discover?: { readonly dial?: readonly string[]; readonly topic?: string | readonly string[] };
  readonly agentMesh?: PeerExtensionOption;
  readonly channel?: ChannelOptions;
  readonly lookup?: (query: RemoteQuery, signal: AbortSignal) => Promise<readonly FoundPeer[]>;
  readonly timeoutMs?: number;
  readonly missMs?: number;
  readonly maxFound?: number;
}
