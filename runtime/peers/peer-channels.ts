import { z } from 'zod';
import { controlMail, type OpenRequest, type PortAim } from '../channels/port-mail.ts';
import { mayAskAgain } from '../channels/port-channel.ts';
import type { SendingThread } from '../cell/mail-sender.ts';
import { WaitingValue } from '../cell/waiting-asks.ts';
import { type ChannelMark, type Mail, toEnvelope } from '../mailbox/mail.ts';
import type { AgentRow, Clearance } from '../protocol/agent-row.ts';
import { remoteUnreachable } from '../protocol/edge-errors.ts';
import {
  channelClosed,
  type ErrorCode,
  invalidEnvelope,
  mailboxFull,
  OrreryError,
  refused,
} from '../protocol/errors.ts';
import { faultsOf } from '../protocol/payload-faults.ts';
import { type ChannelPart, Life, MAX_TEXT, type PeerRequest } from './peer-message.ts';
import type { PeerNames } from './peer-names.ts';
import type { PeerSession } from './peer-session.ts';

/** Channels with agents of one node that are known at a time. */
const MAX_WITH_NODE = 16_384;

const Run = z.int().nonnegative();
const Aim = z.object({ life: Life, run: Run });
const Answer = z.enum(['later', 'elsewhere', 'closed']).optional();

/** What the signals of a channel say. */
const SAID = {
  open: Aim.extend({ resumes: z.boolean() }),
  ready: Aim,
  lost: z.object({ life: Life }),
  close: z.object({ reason: z.string().max(MAX_TEXT) }),
} as const;

/** After these it is not known whether the agent has taken the channel. */
const UNDECIDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['CANCELLED', 'DEADLINE_EXCEEDED']);

export interface PeerChannelsDeps {
  readonly thread: SendingThread;
  readonly names: PeerNames;
  /** What requests to a node go over at the moment. */
  readonly sessionOf: (node: string) => PeerSession | undefined;
}

/** A mail of a channel that goes to another node: as what, and what its outcome there means here. */
export interface LeavingMail {
  readonly part: ChannelPart;
  readonly payload: unknown;
  /** The answer as it is here; throws REMOTE_FAILED for one that makes no sense. */
  answered(value: unknown): unknown;
  /** `isDecided`: the other node has said so. Returns what its sender is told. */
  failed(error: OrreryError, isDecided: boolean): OrreryError;
  /** The other node is not reached any more. Returns what its sender is told. */
  lost(reason: string, mayHaveArrived: boolean): OrreryError;
}

/** A mail of a channel that came from another node and is for an agent here; told of the agent's outcome. */
export interface ArrivingMail {
  answered(value: unknown): void;
  failed(error: Error): void;
}

/** What is answered at once, by neither end. */
export interface AnsweredAtOnce {
  readonly answer: unknown;
}

/** A channel between an agent here and one of another node. */
interface Between {
  readonly id: string;
  readonly here: string;
  /** The agent of the other node, as it was called here when the channel was opened. */
  readonly there: AgentRow;
  /** What that is called everywhere. */
  readonly name: string;
  readonly node: string;
  readonly isOpenedHere: boolean;
  /** Both ends were open. */
  wasOpen: boolean;
  /** The life of the end here; undefined while it has none. */
  lifeHere: string | undefined;
  isOverThere: boolean;
  /** How often an agent died over the request to go on, one after the other. */
  deaths: number;
}

/**
 * The channels between agents here and those of other nodes, as the thread knows them that passes on what goes over them. Their
 * ends are where the agents are.
 *
 * A channel is open over one session of two nodes, and ends with it. Who opened it, and so who may answer, is what this node
 * has seen; a node says nothing of that. A life there is called here by the incarnation of this thread, so that no node can
 * name a life of another, and the channels end with this thread.
 */
export class PeerChannels {
  readonly #deps: PeerChannelsDeps;
  readonly #byNode = new Map<string, Map<string, Between>>();

  constructor(deps: PeerChannelsDeps) {
    this.#deps = deps;
  }

  /** Takes a mail to an agent of another node. Throws CHANNEL_CLOSED, or MAILBOX_FULL. */
  leave(mail: Mail, there: AgentRow): LeavingMail | AnsweredAtOnce {
    const mark = mail.extras?.channel as ChannelMark;
    const between =
      mark.act === 'open' ? this.#asking(mark, mail, there) : this.#known(mark.id, mail.sender, there);
    if (between === undefined) {
      if (mark.act === 'data') throw channelClosed(mark.id, 'its session is over');
      return { answer: undefined };
    }
    const said = this.#saidThere(between, mark, mail.payload);
    if ('answer' in said) return said;
    return {
      ...said,
      answered: (value) => this.#answeredThere(between, mark.act, value),
      failed: (error, isDecided) => this.#failedThere(between, mark.act, error, isDecided),
      lost: (reason, mayHaveArrived) => {
        if (mark.act !== 'open') return channelClosed(mark.id, reason, mayHaveArrived);
        return this.#failedThere(
          between,
          'open',
          remoteUnreachable(between.node, reason, { mayHaveArrived }),
          true,
        );
      },
    };
  }

  /**
   * Takes what an agent of another node says, whose row this is, and makes `mail` of it, which is for an agent here. Throws
   * INVALID_ENVELOPE for what makes no sense, CHANNEL_CLOSED, REFUSED and MAILBOX_FULL.
   */
  arrive(
    { channel, wants, envelope }: PeerRequest,
    there: AgentRow,
    mail: Mail,
  ): ArrivingMail | AnsweredAtOnce {
    const { id, act, to, run } = channel as ChannelPart;
    if (wants !== 'value') throw invalidEnvelope(`wants: "${wants}" over a channel`);
    const said = act === 'data' ? undefined : saidOf(act, envelope.payload);
    const between =
      act === 'open'
        ? this.#asked(id, (said as OpenRequest).resumes, there, mail.recipient)
        : this.#known(id, mail.recipient, there);
    if (between === undefined) return { answer: act === 'data' ? 'closed' : undefined };
    if (act === 'lost') {
      between.isOverThere = true;
      this.#forgetIfOver(between);
    } else if (act === 'close') this.#forget(between);
    if (said !== undefined)
      mail.payload = 'life' in said ? { ...said, life: this.#lifeThere(between, said.life) } : said;
    const mark: ChannelMark = {
      ...{ id, act },
      ...(act === 'data' ? { to: to ?? '', run: run ?? 0 } : {}),
      ...(between.isOpenedHere ? { granted: true } : {}),
    };
    mail.extras = { ...mail.extras, channel: mark };
    return {
      answered: (value) => this.#answeredHere(between, act, value),
      failed: (error) => {
        if (act === 'open') this.#failedHere(between, error);
      },
    };
  }

  /** What two nodes had open is over with their session. */
  sessionOver(node: string, reason: string): void {
    for (const between of this.#with(node)) {
      // A request that has not left yet goes over the next session.
      if (between.isOpenedHere && !between.wasOpen) continue;
      this.#forget(between);
      this.#tellHere(between, `the session with ${node} is over: ${reason}`);
    }
  }

  /** An agent of another node is not called any more what it was called here. */
  gone(name: string, reason: string): void {
    for (const between of this.#all) {
      if (between.name !== name) continue;
      this.#forget(between);
      this.#tellHere(between, reason);
      this.#tellThere(between, 'close', { reason });
    }
  }

  /** Called when a thread here has died, with every life that `wasThere`. */
  threadDied(wasThere: (life: string) => boolean): void {
    for (const between of this.#all) {
      const life = between.lifeHere;
      if (life === undefined || !wasThere(life)) continue;
      between.lifeHere = undefined;
      if (between.wasOpen) {
        this.#tellThere(between, 'lost', { life });
        this.#forgetIfOver(between);
      } else this.#takeBack(between, 'its thread died');
    }
  }

  // What goes there

  /** The channel that an agent here asks for. */
  #asking({ id }: ChannelMark, { sender, payload }: Mail, there: AgentRow): Between {
    const { life, resumes } = payload as OpenRequest;
    const known = this.#known(id, sender, there);
    if (known === undefined && resumes) throw channelClosed(id, 'the session that it was open over is over');
    const between = known ?? this.#begin(id, there, sender, true);
    between.lifeHere = life;
    return between;
  }

  #saidThere(
    between: Between,
    mark: ChannelMark,
    payload: unknown,
  ): Pick<LeavingMail, 'part' | 'payload'> | AnsweredAtOnce {
    const { id, act, to, run } = mark;
    switch (act) {
      case 'data': {
        const prefix = this.#lifeThere(between, '');
        // Another life knows nothing of the channel, and none that is known here is called so.
        if (to?.startsWith(prefix) !== true) return { answer: 'elsewhere' };
        return { part: { id, act, to: to.slice(prefix.length), run }, payload };
      }
      case 'lost':
        if (!between.wasOpen) {
          this.#forget(between);
          return { part: { id, act: 'close' }, payload: { reason: 'whoever asked for it is over' } };
        }
        if (between.lifeHere === (payload as PortAim).life) between.lifeHere = undefined;
        this.#forgetIfOver(between);
        return { part: { id, act }, payload };
      case 'close': {
        const { reason } = payload as { readonly reason: string };
        this.#forget(between);
        return { part: { id, act }, payload: { reason: reason.slice(0, MAX_TEXT) } };
      }
      default:
        return { part: { id, act }, payload };
    }
  }

  #answeredThere(between: Between, act: ChannelMark['act'], value: unknown): unknown {
    if (act === 'data') {
      const answer = Answer.safeParse(value);
      if (!answer.success) throw nonsense(between, 'what it says of an envelope');
      if (answer.data === 'closed') this.#forget(between);
      return answer.data;
    }
    if (act !== 'open') return undefined;
    const aim = Aim.safeParse(value);
    if (!aim.success) throw nonsense(between, 'where it can be written to');
    this.#opened(between);
    return { ...aim.data, life: this.#lifeThere(between, aim.data.life) };
  }

  #failedThere(
    between: Between,
    act: ChannelMark['act'],
    error: OrreryError,
    isDecided: boolean,
  ): OrreryError {
    if (act === 'open' && !this.#goesOn(between, error)) {
      if (isDecided) this.#forget(between);
      else this.#takeBack(between, error.message);
    }
    return error;
  }

  // What comes from there

  /** The channel that an agent there asks for. */
  #asked(id: string, resumes: boolean, there: AgentRow, here: string): Between {
    const known = this.#known(id, here, there);
    if (!resumes) return this.#begin(id, there, here, false);
    if (known === undefined) throw channelClosed(id, 'the session that it was open over is over');
    return known;
  }

  #answeredHere(between: Between, act: ChannelMark['act'], value: unknown): void {
    if (act === 'data' && value === 'closed') this.#forget(between);
    if (act !== 'open') return;
    between.lifeHere = (value as PortAim).life;
    if (this.#isKnown(between)) this.#opened(between);
    else this.#tellHere(between, 'whoever asked for it is over');
  }

  #failedHere(between: Between, error: Error): void {
    const { wasOpen } = between;
    if (this.#goesOn(between, error)) return;
    this.#forget(between);
    if (wasOpen || UNDECIDED.has((error as OrreryError).code)) this.#tellHere(between, error.message);
  }

  // The book

  #opened(between: Between): void {
    between.wasOpen = true;
    between.isOverThere = false;
    between.deaths = 0;
  }

  /** The end that is left asks again. */
  #goesOn(between: Between, error: Error): boolean {
    if (!between.wasOpen) return false;
    between.deaths += 1;
    return mayAskAgain((error as OrreryError).code, between.deaths);
  }

  #known(id: string, here: string, { id: there, profile }: AgentRow): Between | undefined {
    const { nodeId } = profile.clearance as Clearance;
    const between = this.#byNode.get(nodeId)?.get(id);
    return between?.here === here && between.there.id === there ? between : undefined;
  }

  #isKnown({ node, id }: Between): boolean {
    return this.#byNode.get(node)?.has(id) === true;
  }

  get #all(): readonly Between[] {
    return [...this.#byNode.values()].flatMap((all) => [...all.values()]);
  }

  #with(node: string): readonly Between[] {
    return [...(this.#byNode.get(node)?.values() ?? [])];
  }

  #begin(id: string, there: AgentRow, here: string, isOpenedHere: boolean): Between {
    const { nodeId: node } = there.profile.clearance as Clearance;
    const all = this.#byNode.get(node) ?? new Map<string, Between>();
    if (all.has(id)) throw refused(`there is a channel ${id} with ${node} already`);
    if (all.size >= MAX_WITH_NODE) throw mailboxFull(`the book of channels with ${node}`, MAX_WITH_NODE);
    const name = this.#deps.names.everywhere(there.id);
    const between: Between = {
      ...{ id, here, there, name, node, isOpenedHere },
      ...{ wasOpen: false, lifeHere: undefined, isOverThere: false, deaths: 0 },
    };
    this.#byNode.set(node, all.set(id, between));
    return between;
  }

  #forget(between: Between): void {
    const { node, id } = between;
    const all = this.#byNode.get(node);
    if (all?.get(id) !== between) return;
    all.delete(id);
    if (all.size === 0) this.#byNode.delete(node);
  }

  /** With both actors over nobody is left to ask for it. */
  #forgetIfOver(between: Between): void {
    if (between.lifeHere === undefined && between.isOverThere) this.#forget(between);
  }

  /** What a life there is called here. */
  #lifeThere({ node }: Between, life: string): string {
    return `${this.#deps.thread.incarnation}.${node}/${life}`;
  }

  // What is told

  /** Nobody here waits for it any more; the other end may have it. */
  #takeBack(between: Between, reason: string): void {
    this.#forget(between);
    this.#tellThere(between, 'close', { reason: reason.slice(0, MAX_TEXT) });
  }

  /** Tells the end here that the channel is over, in the name of the other one: behind what that has sent. */
  #tellHere(between: Between, reason: string): void {
    const { id: channelId, here, there } = between;
    const mail = this.#signal({ channelId, localAgentId: there.id, remoteAgentId: here }, 'close', {
      reason,
    });
    const ignore = (): void => undefined;
    const waiting = new WaitingValue(mail, undefined, ignore, ignore, {});
    this.#deps.thread.turns.beginUnlessRunning();
    this.#deps.thread.mailSender.askLater(there, waiting, {});
  }

  /** Tells the end there, in the name of the one here. */
  #tellThere(between: Between, act: 'lost' | 'close', payload: unknown): void {
    const { id: channelId, here, name, node } = between;
    const { names, sessionOf } = this.#deps;
    const mail = this.#signal({ channelId, localAgentId: here, remoteAgentId: name }, act, payload);
    const envelope = { ...toEnvelope(mail, 3, undefined), sender: names.everywhere(here), recipient: name };
    const ignore = (): void => undefined;
    sessionOf(node)?.request(
      { type: 'request', wants: 'value', envelope, channel: { id: channelId, act } },
      { onAnswer: ignore, onLost: ignore },
    );
  }

  #signal(
    identity: Pick<Parameters<typeof controlMail>[0], 'channelId' | 'localAgentId' | 'remoteAgentId'>,
    act: 'lost' | 'close',
    payload: unknown,
  ): Mail {
    const { clock, newId } = this.#deps.thread.seams;
    const stamp = { ...identity, granted: false, justification: undefined };
    return controlMail(stamp, act, { id: newId(), nowMs: clock.now(), payload });
  }
}

function saidOf(act: keyof typeof SAID, payload: unknown): z.infer<(typeof SAID)[keyof typeof SAID]> {
  const said = SAID[act].safeParse(payload);
  if (said.success) return said.data;
  throw invalidEnvelope(`payload: ${faultsOf(said.error, payload)}`);
}

const nonsense = ({ node, id }: Between, what: string): OrreryError =>
  new OrreryError('REMOTE_FAILED', `${what} over the channel ${id} makes no sense`, { details: { node } });
