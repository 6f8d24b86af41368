import type { AgentPort } from '../../actors/agent-port/agent-port.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { Outgoing, Sent } from '../../runtime/public.ts';
import type { FakeClock } from '../fixtures/fake-clock.ts';

/** What carries envelopes between negotiators when the test says so: it may lose, repeat, delay and reorder them. */
export class FaultyLine {
  readonly #clock: FakeClock;
  readonly #listeners = new Map<string, (envelope: A2AEnvelope) => unknown>();
  readonly #offers: ReadonlyMap<string, readonly string[]>;
  #underWay: A2AEnvelope[] = [];
  #sent = 0;

  /** `offers`: the capabilities of each agent. */
  constructor(clock: FakeClock, offers: ReadonlyMap<string, readonly string[]>) {
    this.#clock = clock;
    this.#offers = offers;
  }

  get underWay(): number {
    return this.#underWay.length;
  }

  /** The port of an agent on this line, whose envelopes nobody judges. */
  portOf(agentId: string, newId: () => string): AgentPort {
    return {
      agentId,
      seams: { clock: this.#clock, newId },
      work: undefined,
      taint: undefined,
      records: undefined,
      steps: undefined,
      ask: undefined,
      capabilities: this.#offers.get(agentId) ?? [],
      mailbox: { waiting: 0, capacity: 1 },
      whoOffers: (wanted) =>
        [...this.#offers].flatMap(([id, offered]) =>
          id !== agentId && wanted.every((one) => offered.includes(one)) ? [id] : [],
        ),
      judge: () => undefined,
      send: async (message) => this.#send(agentId, message),
      listen: (listener) => {
        this.#listeners.set(agentId, listener);
        return () => this.#listeners.delete(agentId);
      },
      open: () => Promise.resolve(),
      handles: () => true,
      loadOf: () => 0,
      isKeptFor: () => false,
      absorbTaint: () => undefined,
      behalf: () => undefined,
      delegate: () => undefined,
      delegateAgain: () => undefined,
      holdGrant: () => undefined,
      endGrant: () => undefined,
      note: () => undefined,
    };
  }

  /** Delivers one of those that are under way; `isKept`: it will come again. */
  deliver(which: number, isKept: boolean): void {
    const at = which % Math.max(1, this.#underWay.length);
    const [envelope] = isKept ? this.#underWay.slice(at, at + 1) : this.#underWay.splice(at, 1);
    if (envelope !== undefined) this.#listeners.get(envelope.recipient)?.(envelope);
  }

  lose(which: number): void {
    this.#underWay.splice(which % Math.max(1, this.#underWay.length), 1);
  }

  loseAll(): void {
    this.#underWay = [];
  }

  #send(
    sender: string,
    { recipient, type, payload, correlationId, inReplyTo, deadlineAtMs }: Outgoing,
  ): Sent {
    this.#sent += 1;
    const id = `envelope-${this.#sent}`;
    this.#underWay.push({
      id,
      schemaVersion: 1,
      sender,
      recipient,
      type,
      timestamp: this.#clock.now(),
      payload: structuredClone(payload),
      ...(correlationId === undefined ? {} : { correlationId }),
      metadata: {
        tier: 0,
        ...(inReplyTo === undefined ? {} : { inReplyTo }),
        ...(deadlineAtMs === undefined ? {} : { deadlineAtMs }),
      },
    });
    return { delivered: true, path: 'local', targetAgentId: recipient, latencyMs: 0, envelopeId: id };
  }
}
