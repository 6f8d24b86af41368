import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import {
  deadlineExceeded,
  errorFromData,
  invalidPayload,
  OrreryError,
} from '../../runtime/protocol/errors.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import type { SwarmMedium } from './swarm-medium.ts';
import { type SwarmFault, taintOfSession } from './swarm-session.ts';
import { faultIn, faultPayload, isSwarmPayload, SwarmAnswer, SwarmRequest } from './swarm-request.ts';

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
export class SwarmPost {
  readonly #medium: SwarmMedium;
  readonly #answer: AnswerRequest;
  readonly #waiting = new Map<string, Waiting>();

  constructor(medium: SwarmMedium, answer: AnswerRequest) {
    this.#medium = medium;
    this.#answer = answer;
  }

  /** Asks the coordinator of a swarm; rejects with what it refuses, what the rules do, and DEADLINE_EXCEEDED. */
  ask(ownerId: string, request: SwarmRequest, behalf?: Behalf): Promise<SwarmAnswer> {
    const { agentId, seams } = this.#medium;
    const justification = `${agentId} takes part in the swarm ${request.swarmId}`;
    return new Promise((resolve, reject) => {
      const letter = {
        recipient: ownerId,
        type: 'request' as const,
        expectsReply: true,
        payload: request,
        justification,
        behalf,
      };
      let askedIn = '';
      const sending = this.#medium.send(letter, (envelopeId) => {
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
      const letter = taint === undefined ? reply : { ...reply, taint };
      const sent = await this.#medium.send({ ...letter, type: 'response', payload: answer });
      if (sent.delivered) return;
      // What cannot be told is told as that: whoever asked is not left waiting.
      fault = {
        code: sent.errorCode ?? 'DELIVERY_FAILED',
        message: sent.error ?? 'the answer was not delivered',
      };
    } catch (error) {
      fault = faultPayload(error);
    }
    await this.#medium.send({ ...reply, type: 'error', payload: fault });
  }

  #settle(askedIn: string): Waiting | undefined {
    const waiting = this.#waiting.get(askedIn);
    this.#waiting.delete(askedIn);
    waiting?.cancelTimer();
    return waiting;
  }
}
