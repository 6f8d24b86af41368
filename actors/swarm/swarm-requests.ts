import { z } from 'zod';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import {
  deadlineExceeded,
  type ErrorData,
  errorFromData,
  errorToData,
  invalidPayload,
  OrreryError,
} from '../../runtime/protocol/errors.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { SwarmFault, SwarmSession, taintOfSession } from './swarm-session.ts';

const About = { swarmId: z.string().min(1) };
const OnSubTask = { ...About, subTaskId: z.string().min(1), epoch: z.int().positive().optional() };

/**
 * What an agent asks the coordinator of a swarm, as the payload of a request to the swarm's owner. It is meant for the
 * agent that sent it, unless the owner names another.
 *
 * - `swarm.read`     the shared state; for participants and the owner.
 * - `swarm.join`, `swarm.leave` in mid-work, too.
 * - `swarm.complete`, `swarm.fail`  of the agent's own assignment; without an epoch, its latest.
 */
export const SwarmRequest = z.discriminatedUnion('kind', [
  z.object({ ...About, kind: z.literal('swarm.read') }),
  z.object({ ...About, kind: z.literal('swarm.join') }),
  z.object({ ...About, kind: z.literal('swarm.leave'), reason: z.string().optional() }),
  z.object({ ...OnSubTask, kind: z.literal('swarm.complete'), result: z.unknown() }),
  z.object({ ...OnSubTask, kind: z.literal('swarm.fail'), error: z.string() }),
]);
export type SwarmRequest = z.infer<typeof SwarmRequest>;

/** The answer, as the payload of a response: the swarm as it is then to who reads or joins, that it is done to others. */
export const SwarmAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('swarm.picture'), session: SwarmSession }),
  z.object({ kind: z.literal('swarm.done') }),
]);
export type SwarmAnswer = z.infer<typeof SwarmAnswer>;

/** Says whether a payload is meant for a coordinator. */
export function isSwarmPayload(payload: unknown): payload is { readonly kind: string } {
  const { kind } = (payload ?? {}) as { kind?: unknown };
  return typeof kind === 'string' && kind.startsWith('swarm.');
}

/** The fault that an `error` envelope carries; whoever names no code of ours REFUSED. */
export function faultIn(payload: unknown): ErrorData {
  const parsed = SwarmFault.loose().safeParse(payload);
  if (parsed.success) return parsed.data as ErrorData;
  const { message, error } = (payload ?? {}) as { message?: unknown; error?: unknown };
  const told = [message, error, payload].find((one) => typeof one === 'string');
  return { code: 'REFUSED', message: told ?? 'it gave no reason' };
}

/** A fault as an `error` envelope carries it. */
export function faultPayload(error: unknown): SwarmFault {
  const { code, message } = errorToData(error, 'REFUSED');
  return { code, message };
}

/** How long the answer of a coordinator elsewhere is waited for. */
const ANSWER_MS = 30_000;

interface Waiting {
  readonly from: string;
  readonly resolve: (answer: SwarmAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimer: () => void;
}

/** What a coordinator answers; `taint` says where the request came from outside. */
type AnswerRequest = (callerId: string, request: SwarmRequest, taint: Taint | undefined) => SwarmAnswer;

/** Where the results in a picture came from outside. */
const taintOf = (answer: SwarmAnswer): Taint | undefined =>
  answer.kind === 'swarm.picture' ? taintOfSession(answer.session) : undefined;

/** A picture is of what the envelope that it came in is of. */
const marked = (answer: SwarmAnswer, taint: Taint | undefined): SwarmAnswer =>
  answer.kind !== 'swarm.picture' || taint === undefined
    ? answer
    : { ...answer, session: { ...answer.session, taint: mergeTaint(answer.session.taint, taint) } };

/** Requests to the coordinators of others' swarms, and the answers to those that come to this one. */
export class SwarmRequests {
  readonly #port: AgentPort;
  readonly #answer: AnswerRequest;
  readonly #waiting = new Map<string, Waiting>();

  constructor(port: AgentPort, answer: AnswerRequest) {
    this.#port = port;
    this.#answer = answer;
  }

  /** Asks the coordinator of a swarm; rejects with what it refuses, what the rules do, and DEADLINE_EXCEEDED. */
  ask(ownerId: string, request: SwarmRequest, behalf?: Behalf): Promise<SwarmAnswer> {
    const { agentId, seams } = this.#port;
    const justification = `${agentId} takes part in the swarm ${request.swarmId}`;
    return new Promise((resolve, reject) => {
      const message = {
        recipient: ownerId,
        type: 'request' as const,
        expectsReply: true,
        payload: request,
        justification,
        behalf,
      };
      let askedIn = '';
      const sending = this.#port.send(message, (envelopeId) => {
        askedIn = envelopeId;
        const cancelTimer = seams.clock.setTimer(ANSWER_MS, () => {
          this.#waiting.delete(envelopeId);
          reject(deadlineExceeded(`${request.kind} by ${ownerId}`, ANSWER_MS));
        });
        this.#waiting.set(envelopeId, { from: ownerId, resolve, reject, cancelTimer });
      });
      void sending.then(({ delivered, errorCode = 'DELIVERY_FAILED', error = 'it was not delivered' }) => {
        if (delivered) return;
        this.#settle(askedIn);
        reject(new OrreryError(errorCode, error));
      });
    });
  }

  /** Takes an envelope that has come for the agent; false when it is none of this. */
  receive(envelope: A2AEnvelope): boolean {
    const { type, payload, sender, metadata } = envelope;
    if (type === 'request') {
      if (!isSwarmPayload(payload)) return false;
      void this.#serve(envelope);
      return true;
    }
    if (type !== 'response' && type !== 'error') return false;
    const askedIn = metadata?.inReplyTo;
    if (askedIn === undefined || this.#waiting.get(askedIn)?.from !== sender) return false;
    const waiting = this.#settle(askedIn) as Waiting;
    const answer = type === 'response' ? SwarmAnswer.safeParse(payload) : undefined;
    if (answer === undefined) waiting.reject(errorFromData(faultIn(payload)));
    else if (answer.success) waiting.resolve(marked(answer.data, metadata?.taint));
    else waiting.reject(invalidPayload('swarm', faultsOf(answer.error, payload)));
    return true;
  }

  close(): void {
    for (const askedIn of [...this.#waiting.keys()]) {
      this.#settle(askedIn)?.reject(new OrreryError('CANCELLED', 'The coordinator was closed'));
    }
  }

  async #serve({ id, sender, payload, correlationId, metadata }: A2AEnvelope): Promise<void> {
    const conversation = correlationId === undefined ? {} : { correlationId };
    const reply = { recipient: sender, inReplyTo: id, ...conversation };
    let fault: SwarmFault;
    try {
      const parsed = SwarmRequest.safeParse(payload);
      if (!parsed.success) throw invalidPayload('swarm', faultsOf(parsed.error, payload));
      const answer = this.#answer(sender, parsed.data, metadata?.taint);
      const taint = taintOf(answer);
      const message = taint === undefined ? reply : { ...reply, taint };
      const sent = await this.#port.send({ ...message, type: 'response', payload: answer });
      if (sent.delivered) return;
      // What cannot be told is told as that: whoever asked is not left waiting.
      fault = {
        code: sent.errorCode ?? 'DELIVERY_FAILED',
        message: sent.error ?? 'the answer was not delivered',
      };
    } catch (error) {
      fault = faultPayload(error);
    }
    await this.#port.send({ ...reply, type: 'error', payload: fault });
  }

  #settle(askedIn: string): Waiting | undefined {
    const waiting = this.#waiting.get(askedIn);
    this.#waiting.delete(askedIn);
    waiting?.cancelTimer();
    return waiting;
  }
}
