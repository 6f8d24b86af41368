import { MachineHost } from '../machine/machine-host.ts';
import type { Outsider } from '../mailbox/behalf.ts';
import type { AgentCard, AgentEndpoint } from '../protocol/agent-card.ts';
import type { ChannelStatus } from '../protocol/channel-status.ts';
import type { PeerAgreement } from '../protocol/peer-extension.ts';
import type { Clock } from '../protocol/seams.ts';
import { peerMachine, type PeerLifeEvent, type PeerStatus } from './peer.machine.ts';
import type { PeerLine } from './peer-line.ts';
import type { PeerSession } from './peer-session.ts';
import type { Trust } from './trust.ts';

/** How another node is doing. */
export interface PeerDeps {
  readonly clock: Clock;
  /** How long a node without a session is awaited. */
  readonly patienceMs: number;
  readonly line: PeerLine;
  readonly onStatus: (peer: Peer, status: PeerStatus, reason: string | undefined) => void;
  readonly onCut: (peer: Peer) => void;
}

/** Who another node is: what it has proved, and what it was granted. */
export interface PeerIdentity {
  readonly node: string;
  readonly publicKey: string;
  readonly trust: Trust;
  readonly outsider: Outsider;
}

/** Another node, as long as this one runs: it keeps its name, whatever session carries it. */
export class Peer {
  identity: PeerIdentity;
  readonly line: PeerLine;
  /** Cards of its agents, by their ids there. */
  readonly cards = new Map<string, AgentCard>();
  /** When it was last heard to start: of two sessions that of the later one counts. */
  epoch = -1;
  /** Where it says that it can be dialled. */
  endpoints: readonly AgentEndpoint[] = [];
  sinceMs: number;
  session: PeerSession | undefined;
  /** What both agreed on when they last began a session. */
  agreed: PeerAgreement | undefined;
  readonly #life: MachineHost<typeof peerMachine>;
  #stopWaiting: () => void = () => undefined;

  constructor(identity: PeerIdentity, { clock, patienceMs, line, onStatus, onCut }: PeerDeps) {
    this.identity = identity;
    this.line = line;
    this.sinceMs = clock.now();
    this.#life = new MachineHost(peerMachine, {
      actions: {
        tellStatus: ({ event }) => {
          this.sinceMs = clock.now();
          onStatus(this, this.status, event.reason);
        },
        await: () => {
          this.#stopWaiting = clock.setTimer(patienceMs, () =>
            this.#life.send({
              type: 'patience.over',
              reason: `nothing was heard of it for ${patienceMs} ms`,
            }),
          );
        },
        stopWaiting: () => this.#stopWaiting(),
        giveUp: ({ event }) => this.line.lose(event.reason ?? 'it is lost'),
        cut: ({ event }) => {
          this.line.lose(event.reason ?? 'it was revoked');
          onCut(this);
        },
      },
    });
    this.#life.start();
  }

  get node(): string {
    return this.identity.node;
  }

  get status(): PeerStatus {
    return this.#life.value as PeerStatus;
  }

  /** What its agents say is tainted with this. */
  get taint(): string | undefined {
    return this.identity.trust.trusted ? undefined : `peer:${this.node}`;
  }

  /** It is known by another key from now on, under an entry that says the same of it. */
  rekey(publicKey: string, trust: Trust): void {
    this.identity = { ...this.identity, publicKey, trust };
  }

  /** Requests go over this session from now on. */
  use(session: PeerSession, maxOpen: number): void {
    this.session = session;
    session.use(maxOpen);
    this.line.use(session);
    this.#send({ type: 'session.used' });
  }

  /** One of its sessions is over. */
  sessionOver(session: PeerSession, reason: string): void {
    if (this.session !== session) return;
    this.session = undefined;
    this.line.pause();
    this.#send({ type: 'session.over', reason });
  }

  /** The channel of the session in use has lost its connection, or has one again. */
  channelIs(status: ChannelStatus, reason: string | undefined): void {
    if (this.session === undefined) return;
    if (status === 'reconnecting') {
      this.line.pause();
      this.#send({ type: 'session.broken', ...(reason === undefined ? {} : { reason }) });
    } else if (status === 'open' && this.status !== 'up') {
      this.line.use(this.session);
      this.#send({ type: 'session.used' });
    }
  }

  revoke(reason: string): void {
    this.#send({ type: 'peer.revoked', reason });
  }

  close(): void {
    this.#stopWaiting();
  }

  #send(event: PeerLifeEvent): void {
    if (this.#life.can(event)) this.#life.send(event);
  }
}
