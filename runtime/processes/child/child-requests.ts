import { callOutside } from '../../agent/call-outside.ts';
import type { AskOptions, Target, TellOptions } from '../../agent/context.ts';
import { checkAskOptions, splitTarget } from '../../agent/send-options.ts';
import type { Capability } from '../../protocol/capability.ts';
import { cancelled, errorFromData, isOrreryError } from '../../protocol/errors.ts';
import type { RoutingResult } from '../../protocol/routing-result.ts';
import type { FrameTarget } from '../child-frame.ts';
import { ChunkQueue } from '../chunk-queue.ts';
import type { Answer } from '../host-frame.ts';
import type { HostConnection } from './host-connection.ts';
import { requireSerialisable, wholeValue } from './require-serialisable.ts';

type AnyTarget = Target<unknown, unknown>;

/** Who waits for an answer, and who listens meanwhile. */
interface Waiting {
  readonly take: (answer: Answer) => void;
  readonly onProgress: AskOptions['onProgress'];
  readonly onSent: AskOptions['onSent'];
  readonly onTaint: AskOptions['onTaint'];
}

/** What the agent's code waits for, by the number under which the host answers. */
export class ChildRequests {
  readonly #host: HostConnection;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;

  constructor(host: HostConnection) {
    this.#host = host;
  }

  answered(a: number, answer: Answer): void {
    const waiting = this.#waiting.get(a);
    if (answer.kind === 'progress') callOutside(waiting?.onProgress, answer.progress);
    else if (answer.kind === 'sent') callOutside(waiting?.onSent, answer.id);
    else if (answer.kind === 'tainted') callOutside(waiting?.onTaint, answer.taint);
    else {
      if (answer.kind !== 'chunk') this.#waiting.delete(a);
      waiting?.take(answer);
    }
  }

  ask(n: number, target: AnyTarget, input: unknown, options: AskOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const a = this.#begin('ask', n, target, input, options);
      const release = this.#onAbort(options.signal, a);
      this.#wait(a, options, (answer) => {
        release();
        if (answer.kind === 'error') reject(errorFromData(answer.error));
        else resolve(answer.kind === 'value' ? answer.value : undefined);
      });
    });
  }

  async *stream(
    n: number,
    target: AnyTarget,
    input: unknown,
    options: AskOptions,
  ): AsyncGenerator<unknown, void, undefined> {
    const a = this.#begin('read', n, target, input, options);
    const chunks = new ChunkQueue((count) => this.#host.say({ t: 'want', a, count }));
    const release = this.#onAbort(options.signal, a);
    this.#wait(a, options, (answer) => {
      if (answer.kind === 'chunk') chunks.put(answer.value);
      else chunks.end(answer.kind === 'error' ? errorFromData(answer.error) : undefined);
    });
    try {
      yield* chunks.read();
    } finally {
      release();
      if (this.#waiting.delete(a)) this.#host.say({ t: 'cancel', a });
    }
  }

  send(
    n: number,
    target: string | AnyTarget,
    payload: unknown,
    options: TellOptions,
  ): Promise<RoutingResult> {
    const sent = new Promise<RoutingResult>((resolve, reject) => {
      const a = this.#begin('send', n, target, payload, options);
      this.#wait(a, {}, (answer) => {
        if (answer.kind === 'error') reject(errorFromData(answer.error));
        else resolve((answer as { value: RoutingResult }).value);
      });
    });
    return sent.catch((error: unknown) => unsent(target, error));
  }

  tell(n: number, target: string | AnyTarget, payload: unknown, options: TellOptions): RoutingResult {
    const request = requestOf(target, payload, options);
    const frame = { t: 'call', what: 'tell', n, ...request.fields } as const;
    try {
      return requireSerialisable('payload', payload, () =>
        this.#host.call(frame, request.isStructured),
      ) as RoutingResult;
    } catch (error) {
      return unsent(target, error);
    }
  }

  #begin(
    t: 'ask' | 'read' | 'send',
    n: number,
    target: string | AnyTarget,
    input: unknown,
    options: AskOptions | TellOptions,
  ): number {
    const { signal, onProgress, onSent, onTaint } = options as AskOptions;
    if (t !== 'send') checkAskOptions(options as AskOptions);
    if (signal?.aborted === true) throw cancelled('What was to be asked');
    const request = requestOf(target, input, options);
    const a = ++this.#count;
    const frame = { n, a, ...request.fields };
    requireSerialisable('payload', input, () => {
      if (t === 'send') this.#host.say({ t, ...frame }, request.isStructured);
      else {
        const isFollowed = onProgress !== undefined || onTaint !== undefined;
        const listened = { isFollowed, isAnnounced: onSent !== undefined };
        this.#host.say({ t, ...frame, ...listened }, request.isStructured);
      }
    });
    return a;
  }

  #wait(a: number, { onProgress, onSent, onTaint }: AskOptions, take: (answer: Answer) => void): void {
    this.#waiting.set(a, { take, onProgress, onSent, onTaint });
  }

  #onAbort(signal: AbortSignal | undefined, a: number): () => void {
    if (signal === undefined) return () => undefined;
    const cancel = (): void => this.#host.say({ t: 'cancel', a });
    signal.addEventListener('abort', cancel, { once: true });
    return () => signal.removeEventListener('abort', cancel);
  }
}

/** What cannot be sent is refused, not thrown, where a refusal is a result. */
function unsent(target: string | AnyTarget, error: unknown): RoutingResult {
  if (!isOrreryError(error) || error.code !== 'NOT_SERIALISABLE') throw error;
  const { code, message } = error;
  const targetAgentId = typeof target === 'string' ? target : 'agent' in target ? target.agent : target.id;
  return { delivered: false, path: 'local', targetAgentId, error: message, errorCode: code };
}

function requestOf(target: string | AnyTarget, input: unknown, options: AskOptions | TellOptions) {
  const {
    signal: _signal,
    onProgress: _onProgress,
    onSent: _onSent,
    onTaint: _onTaint,
    ...plain
  } = options as AskOptions;
  const to = typeof target === 'string' ? { agent: target } : namedTarget(target);
  const isStructured = to.capability?.carries === 'structured';
  return { fields: { target: to, input: wholeValue(input, isStructured), options: plain }, isStructured };
}

function namedTarget(target: AnyTarget): FrameTarget {
  const { agent, capability } = splitTarget(target);
  const { id, carries } = capability as Capability;
  return { ...(agent === undefined ? {} : { agent }), capability: { id, carries: carries ?? 'json' } };
}
