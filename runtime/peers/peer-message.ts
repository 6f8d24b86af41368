import { z } from 'zod';
import { NodeId } from '../protocol/a2a-extension.ts';
import { Cost } from '../protocol/budget.ts';
import { A2AEnvelope } from '../protocol/envelope.ts';
import { invalidEnvelope } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import { faultsOf } from '../protocol/payload-faults.ts';
import { Taint } from '../protocol/taint.ts';
import { MAX_ADDRESS } from './peer-address.ts';
import { CardAnswer, CardDigest, MAX_PAGE_CARDS } from './card-digest.ts';

/** The version of what two nodes say to each other over their channel; they must agree. */
export const PEER_PROTOCOL_VERSION = 1;

/** What stands at both ends of a channel between two nodes. */
export const PEERS_ID = 'system/peers';

/** The most messages of one envelope, and the most cards of one message. */
export const MAX_MESSAGES = 1_024;
const MAX_CARDS = 64;
/** Channels that one key may have open here: one is used, others may be on their way out. */
export const MAX_CHANNELS = 8;

/** The most addresses that a node names of itself. */
export const MAX_ENDPOINTS = 16;

/** The longest text of an error, a note, a reason. */
export const MAX_TEXT = 16_384;

/** As much of a text as a message has room for. */
export const cutText = (text: string): string => text.slice(0, MAX_TEXT);

/** The number of a request: each end counts its own. */
const n = z.int().nonnegative();
const Name = z.string().min(1).max(1_024);
const Text = z.string().max(MAX_TEXT);

/** An error as the other node tells it: thrown text stays at home, and `errorId` finds it there. */
export const ToldError = z.object({
  code: z.string().max(128),
  message: Text,
  retryAfterMs: z.number().nonnegative().optional(),
  errorId: z.string().max(256).optional(),
});
export type ToldError = z.infer<typeof ToldError>;

/** What a node calls a life of one of its agents. */
export const Life = z.string().min(1).max(256);

/** Makes the envelope of a request part of a channel, as `ChannelMark` does; who may answer over it each node knows itself. */
export const ChannelPart = z.object({
  id: z.string().min(1).max(256),
  act: z.enum(['open', 'data', 'ready', 'lost', 'close']),
  to: Life.optional(),
  run: n.optional(),
});
export type ChannelPart = z.infer<typeof ChannelPart>;

/** What comes with the last word on a request. */
const outcome = { taint: Taint.optional(), spent: Cost.optional() };

/**
 * What one node says to another, in the payload of an envelope: a list of these. Agents have the names that they have
 * everywhere, `<node>/<agent>`.
 *
 * - `node`     the first message of each end. `epoch` grows with each start of the node; `maxOpen` requests it takes at a time.
 *              `channels`: all that it has with the other node. @default none
 * - `use`      this channel carries requests from here on. The node with the smaller key says so: both may have dialled at once.
 * - `endpoints` addresses at which the node that says so can be dialled; those it said before count no more.
 * - `cards`    of agents there, new or changed. `gone` names agents that are no more.
 * - `request`  an envelope for an agent here. `wants`: its outcome, a value, or a stream. `deadlineMs` is what is left of its
 *              time. `isRepeatable`: it may come again under its id. `isFrame`: it is a message of a shared document.
 *              `channel`: it is part of a channel of the two agents.
 * - `done`     the request was handled; with the answer, if one was wanted. The end of a stream, too.
 * - `failed`   it was not.
 * - `chunk`    the next value of a stream; `pull` asks for so many more.
 * - `progress` what the work says of itself in between.
 * - `abort`    nobody waits for the request any more.
 * - `capability_negotiation` is what a node that negotiates asks when a session begins (seed 4); the answer is a
 *              `capability_negotiation_response`. A node that does not negotiate passes both over.
 * - `ping`     is answered with a `pong` of the same number, unless much waits to be said.
 *
 * Of signed cards, of any node, each end tells the other what its book has:
 *
 * - `signed-cards`     they are new in it.
 * - `card-fingerprint` of all that it has: with the same there is nothing to ask for.
 * - `card-digest`      which it has in one part of the order; `card-answer` brings those that it has not, or older.
 */
export const PeerMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('node'),
    version: z.int(),
    node: NodeId,
    epoch: z.int().nonnegative(),
    maxOpen: z.int().positive(),
    channels: z.array(Text).max(MAX_CHANNELS).optional(),
  }),
  z.object({ type: z.literal('use') }),
  z.object({
    type: z.literal('endpoints'),
    addresses: z.array(z.string().max(MAX_ADDRESS)).max(MAX_ENDPOINTS),
  }),
  z.looseObject({ type: z.literal('capability_negotiation') }),
  z.looseObject({ type: z.literal('capability_negotiation_response') }),
  z.object({ type: z.literal('cards'), cards: z.array(z.unknown()).max(MAX_CARDS) }),
  z.object({ type: z.literal('gone'), agents: z.array(Name).max(MAX_MESSAGES) }),
  z.object({
    type: z.literal('request'),
    n,
    wants: z.enum(['outcome', 'value', 'stream']),
    envelope: A2AEnvelope,
    deadlineMs: z.number().nonnegative().optional(),
    isRepeatable: z.literal(true).optional(),
    isFrame: z.literal(true).optional(),
    channel: ChannelPart.optional(),
  }),
  z.object({ type: z.literal('done'), n, value: z.unknown().optional(), ...outcome }),
  z.object({ type: z.literal('failed'), n, error: ToldError, partial: z.unknown().optional(), ...outcome }),
  z.object({ type: z.literal('chunk'), n, value: z.unknown().optional(), taint: Taint.optional() }),
  z.object({ type: z.literal('pull'), n, count: z.int().positive().max(MAX_MESSAGES) }),
  z.object({
    type: z.literal('progress'),
    n,
    fraction: z.number(),
    note: Text.optional(),
    partial: z.unknown().optional(),
    report: z.unknown().optional(),
    taint: Taint.optional(),
  }),
  z.object({ type: z.literal('abort'), n, reason: Text }),
  z.object({ type: z.literal('ping'), n }),
  z.object({ type: z.literal('pong'), n }),
  z.object({ type: z.literal('signed-cards'), cards: z.array(z.unknown()).max(MAX_PAGE_CARDS) }),
  z.object({ type: z.literal('card-fingerprint'), fingerprint: z.string().max(64) }),
  z.object({ type: z.literal('card-digest'), digest: CardDigest }),
  z.object({ type: z.literal('card-answer'), answer: CardAnswer }),
]);
export type PeerMessage = z.infer<typeof PeerMessage>;
export type PeerRequest = PeerMessage & { type: 'request' };
export type CardMessage = PeerMessage & {
  type: 'signed-cards' | 'card-fingerprint' | 'card-digest' | 'card-answer';
};
export type PeerTermsMessage = PeerMessage & {
  type: 'capability_negotiation' | 'capability_negotiation_response';
};
export type PeerAnswer = PeerMessage & { type: 'done' | 'failed' | 'chunk' | 'progress' };

const Payload = z.array(PeerMessage).max(MAX_MESSAGES);

/** The messages in an envelope's payload. Throws INVALID_ENVELOPE naming field and value, also for what is nested too deep. */
export function readPeerMessages(payload: unknown): readonly PeerMessage[] {
  const fault = findUnserialisable(payload, 'payload');
  if (fault !== undefined) throw invalidEnvelope(`${fault.path}: ${fault.kind}`);
  const parsed = Payload.safeParse(payload);
  if (parsed.success) return parsed.data;
  throw invalidEnvelope(`payload: ${faultsOf(parsed.error, payload)}`);
}
