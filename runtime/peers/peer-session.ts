import type { A2AChannel } from '../channels/a2a-channel.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { receive, type ReceiveFinding, type ReceivePolicy } from '../protocol/receive-policy.ts';
import type { Clock, NewId } from '../protocol/seams.ts';
import { sessionSequence } from '../protocol/session-sequence.ts';
import { type Asking, notSaid, OwnRequest, type RequestUser, type SentRequest } from './own-request.ts';
import {
  cutText,
  type PeerAnswer,
  type PeerMessage,
  type PeerRequest,
  readPeerMessages,
} from './peer-message.ts';
import { PeerPulse } from './peer-pulse.ts';
import { PeerWriter } from './peer-writer.ts';
import { RequestQueue } from './request-queue.ts';

/** Messages that may wait before no more is said of how work gets on, and no ping is answered. */
const MAX_BACKLOG = 1_024;
/** What is left of the text of an error that no frame has room for. */
const MAX_SHORT_TEXT = 1_024;
/** A node has one session over a channel, and may call it as it likes. */
const MAX_SESSIONS = 2;

type LastAnswer = PeerAnswer & { type: 'done' | 'failed' };

/** A request of the other node that is being done here. */
export interface ServedRequest {
  pull(count: number): void;
  /** Nobody waits for it any more. `isFinal`: nor will it come again under its id, as it may when the session was lost. */
  abort(reason: string, isFinal: boolean): void;
}

/** What a session does with what the other node says. */
export interface SessionUser {
  /** Begins on a request; its answers go to `session.answer`, the last of them ends it. */
  serve(request: PeerRequest, session: PeerSession): ServedRequest;
  /** Cards, names, and what is said when a session begins. */
  onNews(message: PeerMessage, session: PeerSession): void;
  /** What the other node says makes no sense: the session is over. */
  onFault(reason: string, session: PeerSession): void;
  /** An envelope of the other node has not the number that was awaited. */
  onFinding(finding: ReceiveFinding, session: PeerSession): void;
  onOver(reason: string, session: PeerSession): void;
}

export interface PeerSessionDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly user: SessionUser;
  /** The largest message that the channel carries, in bytes. */
  readonly maxBytes: number;
  /** Requests of the other node that may be open at a time. */
  readonly maxServed: number;
}

/**
 * What two nodes say to each other over one channel, from when it is open until it is closed: requests both ways, each with its
 * answers. Whatever a session had open when it ends is lost, and told so.
 */
export class PeerSession {
  readonly channel: A2AChannel;
  /** The key that the other node has proved. */
  readonly publicKey: string;
  /** Where this node has dialled the other one, if it has. */
  address: string | undefined;
  readonly #deps: PeerSessionDeps;
  readonly #writer: PeerWriter;
  readonly #pulse: PeerPulse;
  readonly #rules: readonly ReceivePolicy[] = [sessionSequence({ maxSessions: MAX_SESSIONS })];
  /** Requests of ours that are on their way or there, by their numbers. */
  readonly #open = new Map<number, OwnRequest>();
  readonly #waiting = new RequestQueue();
  readonly #served = new Map<number, ServedRequest>();
  #maxOpen = 0;
  #nextNumber = 0;
  #nextServed = 0;
  #isOver = false;
  #isCut = false;
  readonly #onOver: (() => void)[] = [];
  readonly #onUsed: (() => void)[] = [];
  readonly #stopListening: () => void;

  constructor(channel: A2AChannel, publicKey: string, deps: PeerSessionDeps) {
    this.channel = channel;
    this.publicKey = publicKey;
    this.#deps = deps;
    const { clock, newId, maxBytes } = deps;
    this.#writer = new PeerWriter(channel, {
      clock,
      newId,
      maxBytes,
      onGap: (reason) => this.end(reason),
    });
    this.#pulse = new PeerPulse({ clock, ping: (n) => this.say({ type: 'ping', n }) });
    this.#stopListening = channel.onMessage((envelope) => this.#hear(envelope));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** How long something takes to the other node and back, milliseconds: the median of the last five times, if there were any. */
  get roundTripMs(): number | undefined {
    return this.#pulse.roundTripMs;
  }

  /** Requests of ours without an outcome, and theirs. */
  get counts(): { readonly own: number; readonly served: number } {
    return { own: this.#open.size + this.#waiting.length, served: this.#served.size };
  }

  /** Messages that the other node has not acknowledged. */
  get backlog(): number {
    return this.#writer.backlog;
  }

  /** From now on so many requests may be open at the other node: those beyond wait here. */
  use(maxOpen: number): void {
    this.#maxOpen = maxOpen;
    for (const tell of this.#onUsed.splice(0)) tell();
    this.#pump();
    this.#pulse.start();
  }

  say(message: PeerMessage): void {
    if (!this.#isOver) this.#writer.write(message);
  }

  /** Asks the other node for something. Throws NOT_SERIALISABLE. */
  request(asking: Asking, user: RequestUser): SentRequest {
    const request = new OwnRequest(asking, user);
    this.carry(request);
    return request;
  }

  /** Says a request, at once if the other node takes one more. Throws NOT_SERIALISABLE. */
  carry(request: OwnRequest): void {
    if (this.#open.size >= this.#maxOpen || this.#waiting.length > 0) this.#waiting.push(request);
    else this.#give(request);
  }

  /** Nobody waits for the answer to request `n` of ours any more. */
  sayAbort(n: number, reason: string): void {
    this.say({ type: 'abort', n, reason: cutText(reason) });
  }

  /** These agents of ours are no more. One in a message, as with cards: no frame need have room for many names. */
  sayGone(agents: readonly string[]): void {
    for (const agent of agents) this.say({ type: 'gone', agents: [agent] });
  }

  /**
   * Answers a request of the other node; `done` and `failed` end it. Throws NOT_SERIALISABLE for a chunk that no frame has room
   * for: whoever streams ends its work, and answers with what was spent.
   */
  answer(answer: PeerAnswer): void {
    if (!this.#served.has(answer.n)) return;
    // A node that reads nothing is spared what is said in between, and gets the answer.
    if (answer.type === 'progress' && this.#writer.backlog > MAX_BACKLOG) return;
    if (answer.type === 'done' || answer.type === 'failed') this.#served.delete(answer.n);
    try {
      this.say(answer);
    } catch (error) {
      if (answer.type === 'chunk') throw error;
      if (answer.type !== 'progress') this.say(shortened(answer, error));
    }
  }

  /** Calls `tell` when requests go over it. */
  whenUsed(tell: () => void): void {
    if (this.#maxOpen > 0) tell();
    else this.#onUsed.push(tell);
  }

  /** Calls `tell` when it is over. */
  whenOver(tell: () => void): void {
    if (this.#isOver) tell();
    else this.#onOver.push(tell);
  }

  /** Ends it for good: what the other node asked for is not to be done any more. */
  cut(reason: string): void {
    this.#isCut = true;
    this.end(reason);
  }

  /** Ends it; closes the channel. */
  end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopListening();
    this.#writer.end();
    this.#pulse.stop();
    // Whoever is told may ask for something at once: it goes another way already, behind what has waited here.
    this.#deps.user.onOver(reason, this);
    const open = [...this.#open.values()];
    this.#open.clear();
    // The youngest first: each goes in front of all that wait for the next session.
    for (const own of this.#waiting.takeAll().reverse()) own.lose(reason, false);
    for (const own of open) own.lose(reason, true);
    const served = [...this.#served.values()];
    this.#served.clear();
    for (const request of served) request.abort(reason, this.#isCut);
    void this.channel.close();
    for (const tell of this.#onOver.splice(0)) tell();
  }

  #give(own: OwnRequest): void {
    own.sayAs(this.#nextNumber, this, this.#write);
    this.#open.set(this.#nextNumber++, own);
  }

  readonly #write = (request: PeerRequest): void => this.#writer.write(request);

  /** Gives what waits, as far as the other node takes more. */
  #pump(): void {
    while (this.#open.size < this.#maxOpen && !this.#isOver) {
      const own = this.#waiting.shift();
      if (own === undefined) return;
      try {
        this.#give(own);
      } catch (error) {
        own.refuse(error);
      }
    }
  }

  #hear(envelope: A2AEnvelope): void {
    const { isAccepted, findings } = receive(this.#rules, { peer: this.publicKey, envelope });
    for (const finding of findings) {
      this.#deps.user.onFinding(finding, this);
      if (finding.action === 'refuse') this.#fault(finding.reason);
    }
    if (!isAccepted) return;
    try {
      for (const message of readPeerMessages(envelope.payload)) if (!this.#isOver) this.#take(message);
    } catch (error) {
      this.#fault((error as Error).message);
    }
  }

  #take(message: PeerMessage): void {
    switch (message.type) {
      case 'request':
        return this.#serve(message);
      case 'done':
      case 'failed':
      case 'chunk':
      case 'progress':
        return this.#answered(message);
      case 'pull':
        this.#served.get(message.n)?.pull(message.count);
        return;
      case 'abort':
        this.#served.get(message.n)?.abort(message.reason, true);
        return;
      case 'ping':
        if (this.#writer.backlog <= MAX_BACKLOG) this.say({ type: 'pong', n: message.n });
        return;
      case 'pong':
        return this.#pulse.answered(message.n);
      default:
        this.#deps.user.onNews(message, this);
    }
  }

  #serve(request: PeerRequest): void {
    if (request.n !== this.#nextServed)
      return this.#fault(`request ${request.n} where ${this.#nextServed} is next`);
    this.#nextServed += 1;
    if (this.#served.size >= this.#deps.maxServed)
      return this.#fault(`more than ${this.#deps.maxServed} open requests`);
    let served: ServedRequest | undefined;
    // It may be answered within the call.
    this.#served.set(request.n, {
      pull: (count) => served?.pull(count),
      abort: (reason, isFinal) => served?.abort(reason, isFinal),
    });
    served = this.#deps.user.serve(request, this);
  }

  #answered(answer: PeerAnswer): void {
    const own = this.#open.get(answer.n);
    if (own === undefined) return this.#fault(`an answer to request ${answer.n}, which is not open`);
    const isLast = answer.type === 'done' || answer.type === 'failed';
    if (isLast) this.#open.delete(answer.n);
    own.answered(answer, isLast);
    if (isLast) this.#pump();
  }

  #fault(reason: string): void {
    this.#deps.user.onFault(reason, this);
    this.end(`what it says makes no sense: ${reason}`);
  }
}

/** The last answer to a request without what no frame has room for. */
function shortened({ n, taint, spent, ...answer }: LastAnswer, why: unknown): LastAnswer {
  const error = answer.type === 'failed' ? answer.error : notSaid(why);
  const message = error.message.slice(0, MAX_SHORT_TEXT);
  return { type: 'failed', n, error: { ...error, message }, taint, spent };
}
