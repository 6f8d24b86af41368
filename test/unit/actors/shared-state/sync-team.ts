import type * as Y from 'yjs';
import {
  CRDTSyncChannel,
  type SyncChannelDeps,
  type SyncChannelOptions,
} from '../../../../actors/shared-state/crdt-sync-channel.ts';
import { type MemberKeyPair, memberKeyPair } from '../../../../actors/shared-state/member-keys.ts';
import type { SyncEvent } from '../../../../actors/shared-state/sync-event.ts';
import type { SyncMedium } from '../../../../actors/shared-state/sync-medium.ts';
import { SyncMembership } from '../../../../actors/shared-state/sync-membership.ts';
import { type SyncMessage, signedBytes } from '../../../../actors/shared-state/sync-message.ts';
import { signBytes } from '../../../../actors/shared-state/member-keys.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { seededRandom } from '../../../fixtures/seeded-random.ts';

export const CHANNEL = 'plan';

const pairs = new Map<string, MemberKeyPair>();

/** The same keys for the same id in the whole run: making them takes time. */
export function keysOf(agentId: string): MemberKeyPair {
  const pair = pairs.get(agentId) ?? memberKeyPair();
  pairs.set(agentId, pair);
  return pair;
}

/** The message with other contents, signed by its source all the same. */
export function resigned(message: SyncMessage, change: Partial<SyncMessage>): SyncMessage {
  const changed = { ...message, ...change };
  const signature = signBytes(signedBytes(changed), keysOf(changed.sourceAgentId).privateKey);
  return { ...changed, signature };
}

/** A hub that keeps what is sent until it is told what becomes of it. */
export class HeldHub {
  readonly #ends = new Map<string, (message: unknown) => void>();
  held: { readonly to: string; readonly message: SyncMessage }[] = [];

  connect(agentId: string): SyncMedium {
    const others = () => [...this.#ends.keys()].filter((id) => id !== agentId);
    const hold = (to: string, message: SyncMessage) => {
      this.held.push({ to, message: structuredClone(message) });
    };
    return {
      publish: async (message) => {
        for (const to of others()) hold(to, message);
        return others().length;
      },
      send: async (to, message) => hold(to, message),
      onMessage: (listener) => void this.#ends.set(agentId, listener),
      close: async () => void this.#ends.delete(agentId),
    };
  }

  /** Delivers everything, and what that brings about, in the order of sending. */
  async deliverAll(): Promise<void> {
    await turns();
    for (let next = this.held.shift(); next !== undefined; next = this.held.shift()) {
      this.pass(next.to, next.message);
      await turns();
    }
  }

  /** Delivers everything there is in any order, some of it twice, some of it never. */
  async deliverBadly(
    random: () => number,
    { loss = 0, repeat = 0 }: { loss?: number; repeat?: number } = {},
  ) {
    while (this.held.length > 0) {
      const [{ to, message }] = this.held.splice(Math.floor(random() * this.held.length), 1) as [
        (typeof this.held)[0],
      ];
      if (random() < loss) continue;
      this.pass(to, message);
      if (random() < repeat) this.held.push({ to, message });
      await turns(3);
    }
  }

  /** Takes out what waits for `to`, of one kind. */
  take(to: string, kind: SyncMessage['kind']): SyncMessage[] {
    const isTaken = (one: (typeof this.held)[0]) => one.to === to && one.message.kind === kind;
    const taken = this.held.filter(isTaken);
    this.held = this.held.filter((one) => !isTaken(one));
    return taken.map(({ message }) => message);
  }

  pass(to: string, message: unknown): void {
    this.#ends.get(to)?.(message);
  }
}

/** Lets promises and microtasks settle. */
export async function turns(count = 12): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}

interface TeamOptions<Hub> {
  readonly hub: Hub;
  readonly seed?: number;
  readonly limits?: SyncChannelOptions['limits'];
}

/** A medium that says nothing any more once its process is gone. */
class MortalMedium implements SyncMedium {
  readonly #medium: SyncMedium;
  isGone = false;

  constructor(medium: SyncMedium) {
    this.#medium = medium;
  }

  async publish(message: SyncMessage): Promise<number | undefined> {
    return this.isGone ? undefined : this.#medium.publish(message);
  }

  async send(agentId: string, message: SyncMessage): Promise<void> {
    if (!this.isGone) await this.#medium.send(agentId, message);
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#medium.onMessage((message) => {
      if (!this.isGone) listener(message);
    });
  }

  async close(): Promise<void> {
    if (!this.isGone) await this.#medium.close();
  }

  async die(): Promise<void> {
    await this.close();
    this.isGone = true;
  }
}

/** Members of one channel, on one clock, with keys, events and ids that repeat themselves. */
export class SyncTeam<Hub extends { connect(agentId: string): SyncMedium }> {
  readonly clock = new FakeClock();
  readonly hub: Hub;
  readonly membership = new SyncMembership();
  readonly channels = new Map<string, CRDTSyncChannel>();
  readonly events = new Map<string, SyncEvent[]>();
  readonly joinedAtMs = new Map<string, number>();
  readonly #media = new Map<string, MortalMedium>();
  readonly #random: () => number;
  readonly #limits: SyncChannelOptions['limits'];
  #ids = 0;

  constructor({ hub, seed = 1, limits = {} }: TeamOptions<Hub>) {
    this.hub = hub;
    this.#random = seededRandom(seed);
    this.#limits = limits;
  }

  /** Members in a channel, joined one after the other. */
  static async of(
    ids: readonly string[],
    options: Partial<TeamOptions<HeldHub>> = {},
  ): Promise<SyncTeam<HeldHub>> {
    const team = new SyncTeam({ hub: new HeldHub(), ...options });
    for (const id of ids) await team.open(id);
    return team;
  }

  get docs(): Y.Doc[] {
    return [...this.channels.values()].map(({ document }) => document);
  }

  /** Opens a member's end, delivering what that takes. */
  async open(
    agentId: string,
    given: Partial<SyncChannelOptions & SyncChannelDeps> = {},
  ): Promise<CRDTSyncChannel> {
    const opening = this.opening(agentId, given);
    if (this.hub instanceof HeldHub) await this.hub.deliverAll();
    const channel = await opening;
    if (this.hub instanceof HeldHub) await this.hub.deliverAll();
    return channel;
  }

  /** The same without delivering anything. */
  async opening(
    agentId: string,
    given: Partial<SyncChannelOptions & SyncChannelDeps> = {},
  ): Promise<CRDTSyncChannel> {
    const { publicKey, privateKey } = keysOf(agentId);
    this.membership.join({ agentId, tier: 1, publicKey });
    const events: SyncEvent[] = [];
    this.events.set(agentId, events);
    this.clock.advance(1);
    this.joinedAtMs.set(agentId, this.clock.now());
    const { document, limits, ...deps } = given;
    const medium = new MortalMedium(this.hub.connect(agentId));
    this.#media.set(agentId, medium);
    const channel = await CRDTSyncChannel.open(
      {
        seams: { clock: this.clock, newId: () => `op-${this.#ids++}`, random: this.#random },
        medium,
        membership: this.membership,
        onEvent: (event) => events.push(event),
        ...deps,
      },
      {
        channelId: CHANNEL,
        agentId,
        privateKey,
        limits: { ...this.#limits, ...limits },
        ...(document === undefined ? {} : { document }),
      },
    );
    if (!medium.isGone) this.channels.set(agentId, channel);
    return channel;
  }

  /** Its process is gone: it says and hears nothing any more. */
  async crash(agentId: string): Promise<void> {
    await this.#media.get(agentId)?.die();
    this.channels.delete(agentId);
  }

  at(agentId: string): CRDTSyncChannel {
    return this.channels.get(agentId) as CRDTSyncChannel;
  }

  /** What a member skipped, and of whom. */
  refusals(agentId: string): string[] {
    return (this.events.get(agentId) ?? [])
      .filter(({ type }) => type === 'message-refused')
      .map(({ refusal, sourceAgentId }) => `${refusal} ${sourceAgentId}`);
  }

  /** The types of a member's events, in order. */
  told(agentId: string): string[] {
    return (this.events.get(agentId) ?? []).map(({ type }) => type);
  }

  /** Time passes, and what is sent meanwhile arrives. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      this.clock.advance(Math.min(500, left));
      if (this.hub instanceof HeldHub) await this.hub.deliverAll();
      else await turns();
    }
  }

  async close(): Promise<void> {
    for (const channel of this.channels.values()) await channel.close();
  }
}
