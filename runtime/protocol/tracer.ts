import type { TraceContext } from './trace-context.ts';

/** What a span is of, in the words of OpenTelemetry. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** What a span ended with, if that was an error. Its code is written, and nothing of what it says. */
export type SpanFault = Error | { readonly code: string };

/**
 * - `parent`  what it is part of. @default what is active where it is started; `none`: nothing
 * - `startMs` when it began, Unix milliseconds. @default now
 */
export interface SpanOptions {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: SpanAttributes;
  readonly parent?: TraceContext | 'none' | undefined;
  readonly startMs?: number;
}

/** A piece of work that somebody traces. */
export interface Span {
  /** Goes with what is sent from it; undefined where nobody traces. */
  readonly context: TraceContext | undefined;
  /** Runs `work` with the span active, also in what that awaits. */
  run<Result>(work: () => Result): Result;
  set(attributes: SpanAttributes): void;
  /** Ends it; again does nothing. */
  end(fault?: SpanFault): void;
}

/** Makes the spans of one thread. */
export interface Tracer {
  start(options: SpanOptions): Span;
  /** Of the span that is active here. */
  active(): TraceContext | undefined;
  /** Has what ended exported, before the thread ends; resolves when that is done, or cannot be. */
  flush(): Promise<void>;
}
