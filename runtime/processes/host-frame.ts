import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Progress } from '../agent/context.ts';

/**
 * What the host tells the process of an agent.
 *
 * `n` numbers the envelopes of one life from 1; 0 is the life itself. `a` numbers what the agent's code waits for.
 *
 * - `load`   import the module and say what agent is in it.
 * - `start`  begin a life as `self`, from what a former process left, if there is such.
 * - `leave`  say what the next process can begin from; nothing is in hand.
 * - `handle` an envelope. `isAsked`: somebody waits for the answer. `isRead`: as a stream.
 * - `now`    what was to be handled `next` cannot wait for those before it.
 * - `abort`  the time of an envelope is over.
 * - `pull`   so many more chunks of a stream are wanted.
 * - `answer` of what the code waits for; `sent`, `progress`, `tainted` and `chunk` are not the last.
 * - `stop`   end the life.
 * - `watch`  somebody wants to be told the steps of its machine, or nobody does any more.
 * - `ping`   answer, if the event loop turns.
 */
export type HostFrame =
  | { readonly t: 'load'; readonly module: string }
  | { readonly t: 'start'; readonly self: string; readonly from?: Snapshot | undefined }
  | { readonly t: 'leave' }
  | {
      readonly t: 'handle';
      readonly n: number;
      readonly envelope: A2AEnvelope;
      readonly isAsked: boolean;
      readonly isRead: boolean;
      readonly turn: Turn;
    }
  | { readonly t: 'now'; readonly n: number }
  | { readonly t: 'abort'; readonly n: number; readonly error: ErrorData }
  | { readonly t: 'pull'; readonly n: number; readonly count: number }
  | ({ readonly t: 'answer'; readonly a: number } & Answer)
  | { readonly t: 'stop' }
  | { readonly t: 'watch'; readonly isOn: boolean }
  | { readonly t: 'ping' };

/**
 * When the code begins on an envelope: at once, because nothing else is in hand; when the one before it is done; or in
 * between, because the one in hand waits for what it causes.
 */
export type Turn = 'own' | 'next' | 'between';

export type Answer =
  | { readonly kind: 'value' | 'chunk'; readonly value?: unknown }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'sent'; readonly id: string }
  | { readonly kind: 'tainted'; readonly taint: Taint }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: ErrorData };

/** The answer to a call for which the process stands still. */
export type CallAnswer = { readonly value?: unknown } | { readonly error: ErrorData };
