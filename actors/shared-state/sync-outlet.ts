import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { LogWriter } from './log-writer.ts';
import type { SyncMedium } from './sync-medium.ts';
import { type SyncKind, type SyncMessage, signedBytes } from './sync-message.ts';
import type { SyncReporter } from './sync-event.ts';
import type { KeyObject } from 'node:crypto';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { CausalClock } from './causal-clock.ts';
import { signBytes } from './member-keys.ts';

export interface SyncOutletDeps {
  readonly agentId: string;
  readonly frames: SyncFrames;
  readonly medium: SyncMedium;
  readonly reporter: SyncReporter;
  readonly log: Pick<LogWriter, 'isIdle' | 'flush'>;
}

type Content = Partial<Pick<SyncMessage, 'payload' | 'sessions' | 'stateVector' | 'inReplyTo' | 'digest'>>;

/**
 * Makes a member's messages, passes them to the medium in their order, and knows which are still on their way.
 *
 * A message tells of all that was applied when it was made. It goes when the log has that, so nobody knows of a change that
 * its maker could lose.
 */
export class SyncOutlet {
  readonly #deps: SyncOutletDeps;
  readonly #passing = new Set<Promise<unknown>>();
  /** How many messages wait for the log. */
  #waiting = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: SyncOutletDeps) {
    this.#deps = deps;
  }

  /** To all; `passed` rejects as the medium does. */
  publish(
    kind: SyncKind,
    content: Content = {},
  ): { operationId: string; passed: Promise<number | undefined> } {
    const message = this.#deps.frames.make(kind, content);
    return { operationId: message.operationId, passed: this.#pass(() => this.#deps.medium.publish(message)) };
  }

  /** To one member; returns the operation id. */
  send(agentId: string, kind: SyncKind, content: Content = {}): string {
    const message = this.#deps.frames.make(kind, content);
    void this.#pass(() => this.#deps.medium.send(agentId, message));
    return message.operationId;
  }

  /** Resolves when the log has what was told of, and the medium has taken or refused everything so far. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#passing);
  }

  #pass<Result>(go: () => Promise<Result>): Promise<Result> {
    const passed = this.#inTurn(go);
    this.#passing.add(passed);
    passed.then(
      () => this.#passing.delete(passed),
      (error: unknown) => {
        this.#passing.delete(passed);
        this.#deps.reporter.tell('publish-failed', this.#deps.agentId, reasonOf(error));
      },
    );
    return passed;
  }

  #inTurn<Result>(go: () => Promise<Result>): Promise<Result> {
    const { log } = this.#deps;
    if (this.#waiting === 0 && log.isIdle) return go();
    this.#waiting += 1;
    this.#turn = Promise.all([this.#turn, log.flush()]);
    return this.#turn.then(() => {
      this.#waiting -= 1;
      return go();
    });
  }
}

interface SyncFramesDeps {
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly channelId: string;
  readonly agentId: string;
  readonly privateKey: KeyObject;
  readonly counted: CausalClock;
  readonly clientId: () => number;
}

/** Makes and signs a member's messages; each tells what had been applied when it was made. */
export class SyncFrames {
  readonly #deps: SyncFramesDeps;

  constructor(deps: SyncFramesDeps) {
    this.#deps = deps;
  }

  make(kind: SyncKind, { payload = new Uint8Array(), ...content }: Content = {}): SyncMessage {
    const { seams, channelId, agentId, privateKey, counted, clientId } = this.#deps;
    const message = {
      channelId,
      kind,
      sourceAgentId: agentId,
      session: counted.session,
      ...(counted.since === undefined ? {} : { since: counted.since }),
      clientId: clientId(),
      vectorClock: counted.toRecord(),
      operationId: seams.newId(),
      timestamp: seams.clock.now(),
      payload,
      ...content,
    };
    return { ...message, signature: signBytes(signedBytes(message), privateKey) };
  }
}
