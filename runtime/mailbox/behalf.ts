import { z } from 'zod';
import { Requester } from '../protocol/requester.ts';
import { type TraceContext, traceContextOf } from '../protocol/trace-context.ts';

/** Two words of 32 bits; the second is never 0. */
const OutsiderKey = z.tuple([z.int32(), z.int32()]).readonly();
export type OutsiderKey = z.infer<typeof OutsiderKey>;

/**
 * The caller outside whose request is at the root of an envelope. Deaths over the envelope are charged to them.
 *
 * - `name` for people to read.
 * - `key`  identifies them in shared memory, which has room for 64 bits.
 */
export const Outsider = z.object({ name: z.string(), key: OutsiderKey });
export type Outsider = Readonly<z.infer<typeof Outsider>>;

/**
 * On whose behalf work is done. All that the work causes inherits it.
 *
 * - `requester` the caller outside who wants it, with tenant and roles.
 * - `outsider`  the caller outside whose request is at its root, as deaths over it are charged to them.
 * - `trace`     the trace that it is part of, and where in it.
 */
export const Behalf = z.object({
  requester: Requester.exactOptional(),
  outsider: Outsider.exactOptional(),
  trace: z.custom<TraceContext>((value) => isTraceContext(value), 'a context of a trace').exactOptional(),
});
export type Behalf = z.infer<typeof Behalf>;

/** Only the behalf of some work; undefined when it is done on nobody's behalf. */
export function behalfOf(work: Behalf | undefined): Behalf | undefined {
  if (work === undefined) return undefined;
  const { requester, outsider, trace } = work;
  if (requester === undefined && outsider === undefined && trace === undefined) return undefined;
  return {
    ...(requester === undefined ? {} : { requester }),
    ...(outsider === undefined ? {} : { outsider }),
    ...(trace === undefined ? {} : { trace }),
  };
}

function isTraceContext(value: unknown): boolean {
  const { traceparent, tracestate } = (value ?? {}) as Partial<TraceContext>;
  const known = traceContextOf(traceparent, tracestate);
  return known?.traceparent === traceparent && known?.tracestate === tracestate && known !== undefined;
}
