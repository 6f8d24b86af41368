import { z } from 'zod';
import type { ChannelMark, Mail, MailExtras } from '../mailbox/mail.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { invalidOptions, mailboxFull, type OrreryError, refused } from '../protocol/errors.ts';
import { parseOptions, requireText } from '../protocol/parse-options.ts';
import type { Seams } from '../protocol/seams.ts';
import { type ChannelEventBody, type ChannelLogEvent, channelLogEvent } from './channel-event.ts';
import { type AgentChannel, PortChannel, type PortChannelStart } from './port-channel.ts';
import { OpenChannelOptions, PortChannelOptions } from './port-channel-options.ts';
import type { DataAnswer, OpenRequest, PortAim, PortStamp } from './port-mail.ts';
import { type ChannelAgent, PortMailer } from './port-mailer.ts';

/**
 * Accepts a channel that another agent opens: called before it is open, which it is when what this returns has settled.
 * What it throws declines: `refused('…')` by name, anything else ends the actor, as in any handler.
 */
export type ChannelAcceptor<Context> = (channel: AgentChannel<Context>, ctx: Context) => unknown;

/** `maxAccepted` channels that others have opened, at most; more are refused MAILBOX_FULL. @default 1_024 */
export const AcceptOptions = PortChannelOptions.extend({
  maxAccepted: z.int().nonnegative().default(1_024),
});
export type AcceptOptions = z.input<typeof AcceptOptions>;

/** Who accepts channels for an agent, and how those are kept. */
export interface Acceptance<Context> {
  readonly accept: ChannelAcceptor<Context>;
  readonly options: z.output<typeof AcceptOptions>;
}

/** Channels of one agent. Those that it has not closed are closed when its actor ends. */
export interface ChannelOpener<Context> {
  /**
   * Opens a channel to another agent of the system. It is listed at once, `connecting`; resolves when the other one has
   * accepted it.
   *
   * Rejects with what a request to that agent would be refused with (AGENT_NOT_FOUND, TIER_VIOLATION,
   * ESCALATION_REQUIRED, SANDBOX_VIOLATION, ...), with REFUSED when it accepts no channels or not this one, with
   * HANDLER_FAILED when it throws over it, ACTOR_DIED when it dies over it, and with CHANNEL_CLOSED when it is closed
   * meanwhile, or not open in time.
   */
  openChannel(remoteAgentId: string, options?: OpenChannelOptions): Promise<AgentChannel<Context>>;
  /** The channel, until it is closed. */
  getChannel(channelId: string): AgentChannel<Context> | undefined;
  /** All channels that are not closed, in the order in which they came about. */
  listChannels(): AgentChannel<Context>[];
  closeAll(): Promise<void>;
}

/** `isThere` says whether the thread of a life is there. */
export interface AgentChannelsDeps {
  readonly agent: ChannelAgent;
  readonly seams: Pick<Seams, 'clock' | 'newId' | 'random'>;
  readonly isThere: (life: string) => boolean;
  readonly log: { note(event: ChannelLogEvent): void };
}

/** What a mail of a channel is answered with; `settled` is there while a handler goes on after the answer. */
export interface PortAnswer {
  readonly answer: unknown;
  readonly settled?: Promise<unknown> | undefined;
}

const ACTOR_OVER = 'the actor at the other end is over';

const closedBecause = ({ payload }: Pick<Mail, 'payload'>): string =>
  `the other end closed it: ${(payload as { readonly reason: string }).reason}`;

/** The channels of one life of an agent: opens them, accepts them, and takes in what comes over them. */
export class AgentChannels<Context> implements ChannelOpener<Context> {
  readonly agentId: string;
  acceptance: Acceptance<Context> | undefined;
  readonly #deps: AgentChannelsDeps;
  readonly #ends = new Map<string, PortChannel<Context>>();

  constructor(deps: AgentChannelsDeps, acceptance: Acceptance<Context> | undefined) {
    this.agentId = deps.agent.agentId;
    this.acceptance = acceptance;
    this.#deps = deps;
  }

  async openChannel(remoteAgentId: string, options: OpenChannelOptions = {}): Promise<AgentChannel<Context>> {
    const { agentId } = this;
    const { seams } = this.#deps;
    requireText('remoteAgentId', remoteAgentId);
    if (remoteAgentId === agentId) throw invalidOptions('remoteAgentId', remoteAgentId, 'another agent');
    const { justification, ...settings } = parseOptions(OpenChannelOptions, options, 'channel');
    const identity = { channelId: seams.newId(), localAgentId: agentId, remoteAgentId };
    const stamp = { ...identity, granted: false, justification };
    const end = this.#begin(stamp, { settings, asks: true, isResumed: false });
    await end.opened;
    return end;
  }

  getChannel(channelId: string): AgentChannel<Context> | undefined {
    return this.#ends.get(channelId);
  }

  listChannels(): AgentChannel<Context>[] {
    return [...this.#ends.values()];
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.listChannels().map((channel) => channel.close()));
  }

  /** Takes in a mail that is marked as one of a channel; throws what it is refused with. */
  take(mail: Mail, envelope: () => A2AEnvelope, ctx: Context): PortAnswer | Promise<PortAnswer> {
    const { sender, payload, extras } = mail;
    const channel = extras?.channel as ChannelMark;
    const end = this.#ends.get(channel.id);
    if (end !== undefined && end.remoteAgentId !== sender) return this.#forged(end, sender);
    switch (channel.act) {
      case 'open':
        return this.#accept(mail, channel, ctx);
      case 'data':
        if (channel.to !== this.#deps.agent.life) return { answer: 'elsewhere' satisfies DataAnswer };
        return end?.take(channel.run, envelope, ctx) ?? { answer: 'closed' satisfies DataAnswer };
      case 'ready':
        end?.readyThere(payload as PortAim);
        break;
      case 'lost':
        end?.lost((payload as PortAim).life, ACTOR_OVER);
        break;
      case 'close':
        end?.closedThere(closedBecause(mail));
    }
    return { answer: undefined };
  }

  /**
   * Hears of a mail as it comes, before its turn: what says that the other end can be written to, or cannot any more, is what
   * the handler in hand may wait for. True when there is nothing left to take in.
   */
  hear({ sender, payload, extras }: Mail): boolean {
    const { id, act } = (extras as MailExtras).channel as ChannelMark;
    const end = this.#ends.get(id);
    if (end?.remoteAgentId !== sender) return false;
    if (act === 'ready') return end.readyThere(payload as PortAim);
    if (act === 'lost') return end.lost((payload as PortAim).life, ACTOR_OVER);
    if (act === 'close') end.leftThere(closedBecause({ payload }));
    return false;
  }

  /** Called when a thread has died, with every life that `wasThere`. */
  threadDied(wasThere: (life: string) => boolean): void {
    for (const end of [...this.#ends.values()]) {
      const { peerLife } = end;
      if (peerLife !== undefined && wasThere(peerLife))
        end.lost(peerLife, 'the thread at the other end died');
    }
  }

  /** Ends all channels with the agent's actor. The other ends may ask the next actor to go on. */
  end(reason: string): void {
    for (const end of [...this.#ends.values()]) end.end('lost', reason);
  }

  /** Ends all channels with the thread, without telling the other ends. */
  shut(because: OrreryError): void {
    for (const end of [...this.#ends.values()]) end.end(undefined, because.message, because);
  }

  async #accept(mail: Mail, { id, granted }: ChannelMark, ctx: Context): Promise<PortAnswer> {
    const { life, run, resumes } = mail.payload as OpenRequest;
    const { acceptance, agentId } = this;
    if (this.#ends.has(id)) throw refused(`${agentId} has the channel ${id} already`, { agentId });
    if (acceptance === undefined) throw refused(`${agentId} accepts no channels`, { agentId });
    const { accept, options } = acceptance;
    const { maxAccepted, ...settings } = options;
    const accepted = [...this.#ends.values()].filter(({ isAccepted }) => isAccepted).length;
    if (accepted >= maxAccepted) throw mailboxFull(`the book of channels of ${agentId}`, maxAccepted);
    const identity = { channelId: id, localAgentId: agentId, remoteAgentId: mail.sender };
    const stamp = { ...identity, granted: granted !== true, justification: mail.extras?.justification };
    const end = this.#begin(stamp, { settings, asks: false, isResumed: resumes });
    try {
      await accept(end, ctx);
    } catch (error) {
      end.end(undefined, `${agentId} did not accept it`);
      throw error;
    }
    if (end.status === 'closed') throw refused(`${agentId} did not accept it: it was closed`, { agentId });
    end.accepted({ life, run });
    return { answer: end.aim };
  }

  #begin(stamp: PortStamp, start: PortChannelStart): PortChannel<Context> {
    const { agent, seams, isThere } = this.#deps;
    const end = new PortChannel<Context>(
      stamp,
      {
        seams,
        agent,
        mailer: new PortMailer(stamp, agent, seams),
        report: (event) => this.#report(stamp, event),
        isThere,
        onClosed: () => this.#ends.delete(stamp.channelId),
      },
      start,
    );
    this.#ends.set(stamp.channelId, end);
    end.start();
    return end;
  }

  #forged(end: PortChannel<Context>, sender: string): never {
    const reason = `"${sender}" writes over a channel of "${end.remoteAgentId}"`;
    this.#report(end.stamp, { type: 'frame-skipped', fault: 'forged', reason });
    throw refused(reason);
  }

  #report(stamp: PortStamp, event: ChannelEventBody): void {
    const { channelId, localAgentId, remoteAgentId } = stamp;
    const timestamp = this.#deps.seams.clock.now();
    const logged = channelLogEvent({ ...event, channelId, localAgentId, remoteAgentId, timestamp });
    if (logged !== undefined) this.#deps.log.note(logged);
  }
}
