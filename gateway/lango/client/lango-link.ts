import { z } from 'zod';
import { remoteFailed } from '../../../runtime/protocol/edge-errors.ts';
import { invalidPayload, isOrreryError } from '../../../runtime/protocol/errors.ts';
import type {
  RemoteCallOptions,
  RemoteToolCard,
  RemoteToolLink,
} from '../../../runtime/protocol/remote-agent.ts';
import { AttestationVerifier } from '../attest/attestation.ts';
import type { LangoNode } from '../session/lango-node.ts';
import { INVALID_TOKEN, type JsonObject } from '../wire/messages.ts';
import { LangoSession } from './lango-session.ts';
import { P2PRemoteAgent, type P2PRemoteAgentDeps, type RequestOptions } from './p2p-remote-agent.ts';

const text = z.string().max(4_096).optional().catch(undefined);
const Skill = z.object({
  id: z.string().min(1).max(512),
  name: text,
  description: text,
  tags: z.array(z.string().max(256)).max(64).catch([]),
  inputSchema: z.unknown(),
});

/** What is read of a card; whatever else it says is not. */
const Card = z.object({
  name: text,
  description: text,
  version: text,
  skills: z.array(Skill.or(z.undefined()).catch(undefined)).max(1_000).catch([]),
  capabilities: z.array(z.string().min(1).max(512)).max(1_000).catch([]),
});

/**
 * - `attested`  whether a result whose proof is missing, or does not hold, is an error.
 * - `timeoutMs`, `maxBytes` as of `P2PRemoteAgent`.
 * - `debug`     hears of proofs that are not checked.
 */
export interface LangoLinkOptions {
  readonly attested: boolean;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly debug?: P2PRemoteAgentDeps['debug'];
}

/** A peer of Lango as an agent elsewhere: a session that is kept up, and requests over it. */
export class LangoLink implements RemoteToolLink {
  readonly node: string;
  readonly source: string;
  readonly #session: LangoSession;
  readonly #agent: P2PRemoteAgent;

  private constructor(session: LangoSession, agent: P2PRemoteAgent) {
    this.#session = session;
    this.#agent = agent;
    this.node = agent.peerId;
    this.source = `lango:${agent.did}`;
  }

  /** Begins a session with the peer at a multiaddr. Rejects with REMOTE_UNREACHABLE, and as `beginSession` does. */
  static async open(
    node: LangoNode,
    address: string,
    { attested, timeoutMs, maxBytes, debug }: LangoLinkOptions,
  ): Promise<LangoLink> {
    const session = new LangoSession(node, address);
    await session.token();
    if (session.peer === undefined) throw remoteFailed(address, 'nobody is known to be there');
    const { id: peerId, did } = session.peer;
    const { seams } = node;
    const agent = new P2PRemoteAgent(
      {
        id: peerId,
        name: peerId,
        did,
        peerId,
        sessionToken: () => session.token(),
        open: async (_peerId, protocol, options) => (await node.open(address, protocol, options)).stream,
        ...(attested && { attestations: new AttestationVerifier({}, seams) }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(maxBytes !== undefined && { maxBytes }),
      },
      { ...seams, ...(debug && { debug }) },
    );
    return new LangoLink(session, agent);
  }

  /** The tools of a card are its skills, and what its capabilities name beside them. */
  async card({ signal }: RemoteCallOptions = {}): Promise<RemoteToolCard> {
    const said = await this.#asked(signal, (options) => this.#agent.queryCapabilities(options));
    const { name, description = '', version = '0.0.0', skills, capabilities } = Card.parse(said);
    const known = skills.flatMap((skill) => (skill === undefined ? [] : [skill]));
    const named = new Set(known.map(({ id }) => id));
    const tools = known.map(({ id, inputSchema: input, ...skill }) => ({
      id,
      name: skill.name || id,
      description: skill.description ?? '',
      tags: skill.tags,
      ...(input === undefined ? {} : { input }),
    }));
    const others = capabilities.flatMap((id) =>
      named.has(id) ? [] : [{ id, name: id, description: '', tags: [] }],
    );
    return { name: name || this.node, description, version, tools: [...tools, ...others] };
  }

  /** `input` is an object, or nothing: Lango's tools take no other. */
  async call(tool: string, input: unknown, { signal }: RemoteCallOptions = {}): Promise<JsonObject> {
    const params = paramsOf(tool, input);
    return this.#asked(signal, (options) => this.#agent.invokeTool(tool, params, options));
  }

  /** A token that is denied has had nothing done: the request is made once more, over a new session. */
  async #asked<Answer>(
    signal: AbortSignal | undefined,
    ask: (options: RequestOptions) => Promise<Answer>,
  ): Promise<Answer> {
    const ended = signal === undefined ? {} : { signal };
    const sessionToken = await this.#session.token(ended);
    try {
      return await ask({ ...ended, sessionToken });
    } catch (error) {
      if (!isTokenDenied(error)) throw error;
      this.#session.drop(sessionToken);
      return ask({ ...ended, sessionToken: await this.#session.token(ended) });
    }
  }
}

const isTokenDenied = (error: unknown): boolean =>
  isOrreryError(error) &&
  error.code === 'REMOTE_FAILED' &&
  error.details['status'] === 'denied' &&
  error.details['reason'] === INVALID_TOKEN;

function paramsOf(tool: string, input: unknown): JsonObject {
  if (input === undefined || input === null) return {};
  if (typeof input === 'object' && !Array.isArray(input)) return input as JsonObject;
  throw invalidPayload(tool, 'a tool of a Lango peer takes an object');
}
