import { z } from 'zod';
import type { AdmissionRule } from '../../../runtime/protocol/admission.ts';
import type { FirewallHooks } from '../../../runtime/protocol/firewall.ts';
import { parseOptions, requireFunction } from '../../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';
import type { NoteFailure } from '../../../runtime/protocol/told-failure.ts';
import type { ToolService } from '../../../runtime/protocol/tool-service.ts';
import type { FirewallEvent } from '../../admit/firewall-guard.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import { Firewall } from '../firewall/firewall.ts';
import { HANDSHAKE_PROTOCOL } from '../session/handshake.ts';
import { HandshakeResponder } from '../session/handshake-responder.ts';
import type { LangoNode } from '../session/lango-node.ts';
import { SessionStore } from '../session/session-store.ts';
import type { LangoPeer } from '../wire/byte-stream.ts';
import { LANGO_PROTOCOL } from '../wire/messages.ts';
import { langoCard } from './lango-card.ts';
import { LangoGrants, type LangoTrust } from './lango-grants.ts';
import { LangoHandler, LangoLimits } from './lango-handler.ts';
import { teamExecutor } from './team-executor.ts';

const Options = z.strictObject({
  attests: z.boolean().default(true),
  limits: LangoLimits.prefault({}),
});

/**
 * How a system is served over Lango's A2A.
 *
 * - `node`     where; it is not closed with what is served on it.
 * - `trust`    who is let in, and what they may, by DID; `*` is everybody who proves a DID.
 * - `admits`   is asked, too, before a peer that is trusted gets a session; it may ask a person. @default it does
 * - `rules`    of admission, asked for each request. @default none
 * - `firewall` decides what a peer may use, instead of the `tools` of its grant, and sanitises and attests. @default a `Firewall`
 * - `attests`  whether results come with a proof, by the node's key, where `firewall` is not given. @default true
 * - `sessions` @default a new `SessionStore`
 * - `limits`   of size, time and number, as of `LangoHandler`.
 */
export interface LangoServiceOptions extends z.input<typeof Options> {
  readonly node: LangoNode;
  readonly trust: LangoTrust;
  readonly admits?: (peer: LangoPeer) => boolean | Promise<boolean>;
  readonly rules?: readonly AdmissionRule[];
  readonly firewall?: FirewallHooks;
  readonly sessions?: SessionStore;
}

/** - `tools`, `team` what is served. `note`, `tell` as of `LangoHandler`. */
export interface LangoServiceDeps {
  readonly tools: ToolService;
  readonly team: ServedTeam;
  readonly seams: Seams;
  readonly note: NoteFailure;
  readonly tell: (event: FirewallEvent) => void;
}

/** A team on a node: sessions are begun, and requests of their peers are answered. */
export class LangoService {
  readonly sessions: SessionStore;
  readonly #node: LangoNode;
  readonly #grants: LangoGrants;
  readonly #handler: LangoHandler;
  readonly #responder: HandshakeResponder;
  readonly #stopWatching: () => void;

  /** Throws INVALID_OPTIONS, and PEERS_MISSING without `canonicalize`, which proofs need. */
  constructor(
    {
      node,
      trust,
      admits = () => true,
      rules = [],
      firewall: hooks,
      sessions,
      ...options
    }: LangoServiceOptions,
    { tools, team, seams, note, tell }: LangoServiceDeps,
  ) {
    requireFunction('serveLango.admits', admits);
    const { attests, limits } = parseOptions(Options, options, 'serveLango');
    const grants = new LangoGrants(trust);
    const { clock } = seams;
    const proofs = attests && hooks === undefined ? { zkAttest: node.attestation(), did: node.did } : {};
    const firewall = hooks ?? new Firewall({ rules: grants.rules(), ...proofs }, { clock });
    const mayUse = (did: string, toolName: string): boolean =>
      hooks !== undefined || grants.hasTool(did, toolName);
    this.#node = node;
    this.#grants = grants;
    this.sessions = sessions ?? new SessionStore({}, seams);
    this.#handler = new LangoHandler(
      {
        ...limits,
        sessions: this.sessions,
        firewall,
        rules,
        principalOf: (session) => grants.principalOf(session),
        cardProvider: ({ id }) =>
          langoCard(
            team.identity,
            node,
            tools.tools().filter(({ name, agentId }) => team.card(agentId) !== undefined && mayUse(id, name)),
          ),
        executor: teamExecutor(tools, {
          clock,
          callMs: limits.toolTimeoutMs,
          serves: ({ agentId }) => team.card(agentId) !== undefined,
          trusts: ({ id }) => grants.of(id)?.trusted === true,
          sandboxOf: ({ id }) => grants.of(id)?.sandboxId,
        }),
      },
      { clock, note, tell },
    );
    this.#responder = new HandshakeResponder(
      {
        identity: node.identity,
        sessions: this.sessions,
        admits: async (peer) => grants.of(peer.did) !== undefined && (await admits(peer)),
      },
      { clock, tell },
    );
    this.#stopWatching = this.sessions.watch(({ peerDid, reason }) => {
      if (reason === 'manual_revoke') this.#shutOut(peerDid);
    });
  }

  /** How many requests are being answered. */
  get openStreams(): number {
    return this.#handler.openStreams;
  }

  /** Begins to serve. Rejects if the node serves Lango already. */
  async open(): Promise<void> {
    await this.#node.handle(HANDSHAKE_PROTOCOL, (stream, peer) => {
      void this.#responder.handleStream(stream, peer);
    });
    try {
      await this.#node.handle(LANGO_PROTOCOL, (stream, peer) => {
        void this.#handler.handleStream(stream, peer);
      });
    } catch (error) {
      await this.#node.unhandle(HANDSHAKE_PROTOCOL);
      throw error;
    }
  }

  /** Ends the session of a DID, resets its streams, ends what is done for it, and lets it in no more. */
  revoke(did: string): void {
    if (!this.sessions.invalidate(did, 'manual_revoke')) this.#shutOut(did);
  }

  /** Takes no more streams; those that are open have `drainMs` to come to their end. */
  async close({ drainMs }: { readonly drainMs: number }): Promise<void> {
    const ends = [this.#handler.close({ drainMs }), this.#responder.close({ drainMs })];
    await Promise.all([
      ...ends,
      this.#node.unhandle(LANGO_PROTOCOL),
      this.#node.unhandle(HANDSHAKE_PROTOCOL),
    ]);
    this.#stopWatching();
  }

  #shutOut(did: string): void {
    this.#grants.revoke(did);
    this.#responder.cut(did);
    this.#handler.cut(did);
  }
}
