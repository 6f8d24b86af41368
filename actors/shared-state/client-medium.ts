import { z } from 'zod';
import { type ErrorCode, OrreryError } from '../../runtime/protocol/errors.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { AgentClient, Sent } from '../../runtime/public.ts';
import { SYNC_SCHEMA } from './sync-envelope.ts';
import type { SyncMedium } from './sync-medium.ts';
import { type SyncMessage, SyncMessageJson } from './sync-message.ts';

/**
 * - `members`   whom `publish` writes to, the own id left out.
 * - `taint`     where what is written came from outside, beside what the agent has in it. @default nowhere
 * - `onClosed`  nothing arrives any more.
 * - `onStopped` the system stops: nothing more is passed on that no work under way sends.
 */
export interface ClientMediumDeps {
  readonly client: Pick<AgentClient, 'agentId' | 'send'>;
  readonly members: () => readonly string[];
  readonly justification: string;
  readonly taint?: () => Taint | undefined;
  readonly onClosed: () => void;
  readonly onStopped: () => void;
}

/** Codes of a recipient that is not there. It asks for what it missed when it comes. */
const ABSENT: ReadonlySet<ErrorCode | undefined> = new Set(['AGENT_NOT_FOUND', 'NOT_HERE']);

/** The medium of an agent in a running system, whose interceptor brings what comes in. Nothing of it is kept in the journal. */
export class ClientMedium implements SyncMedium {
  readonly #deps: ClientMediumDeps;
  #listener: ((message: unknown) => void) | undefined;
  readonly #early: SyncMessage[] = [];

  constructor(deps: ClientMediumDeps) {
    this.#deps = deps;
  }

  /** Resolves with how many of the others have the message in their mailboxes. Rejects when none has, though some are there. */
  async publish(message: SyncMessage): Promise<number> {
    const { client, members } = this.#deps;
    const others = members().filter((id) => id !== client.agentId);
    if (others.length === 0) return 0;
    const payload = z.encode(SyncMessageJson, message);
    const sent = others.map((id) => this.#post(id, message, payload));
    const reached = sent.filter(({ delivered }) => delivered).length;
    const refusal = sent.find(({ delivered, errorCode }) => !delivered && !ABSENT.has(errorCode));
    if (reached === 0 && refusal !== undefined) throw errorOf(refusal);
    return reached;
  }

  async send(agentId: string, message: SyncMessage): Promise<void> {
    const sent = this.#post(agentId, message, z.encode(SyncMessageJson, message));
    if (!sent.delivered && !ABSENT.has(sent.errorCode)) throw errorOf(sent);
  }

  /** Messages that were received before come in the next microtask, in front of newer ones. */
  onMessage(listener: (message: unknown) => void): void {
    queueMicrotask(() => {
      this.#listener = listener;
      for (const message of this.#early.splice(0)) listener(message);
    });
  }

  /** Takes a message that has come for the agent. */
  receive(message: SyncMessage): void {
    if (this.#listener === undefined) this.#early.push(message);
    else this.#listener(message);
  }

  async close(): Promise<void> {
    this.#listener = () => undefined;
    this.#deps.onClosed();
  }

  #post(recipient: string, { channelId }: SyncMessage, payload: unknown): Sent {
    const { client, justification, onStopped } = this.#deps;
    const taint = this.#deps.taint?.();
    const sent = client.send({
      recipient,
      type: 'stream-data',
      payload,
      correlationId: channelId,
      schema: SYNC_SCHEMA,
      justification,
      isFrame: true,
      isFleeting: true,
      ...(taint === undefined ? {} : { taint }),
    });
    if (sent.errorCode === 'SYSTEM_STOPPED') onStopped();
    return sent;
  }
}

const errorOf = ({ errorCode = 'DELIVERY_FAILED', error = 'It was not delivered' }: Sent): OrreryError =>
  new OrreryError(errorCode, error);
