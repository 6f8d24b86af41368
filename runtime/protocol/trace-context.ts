/**
 * Where in a trace something is, as W3C's Trace Context writes it in headers.
 *
 * - `traceparent` version 00: trace, span and flags.
 * - `tracestate`  what the systems on the way have added, at most 512 characters.
 */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Version, trace, span, flags. Later versions may have more behind a dash; nothing of that is passed on. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.{0,200})?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** The specification asks for room for 512 characters. */
const MAX_STATE = 512;
const MAX_MEMBERS = 32;
const KEY = /^[a-z\d][a-z\d_\-*/@]{0,255}$/;
const VALUE = /^[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/** The context in two headers, or in two fields of metadata; undefined when the first is none. A second that is none is dropped. */
export function traceContextOf(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  const [, version, trace, span, flags, more] =
    (typeof traceparent === 'string' && traceparent.length <= 256 && TRACEPARENT.exec(traceparent)) || [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (trace === NO_TRACE || span === NO_SPAN) return undefined;
  const state = stateOf(tracestate);
  const parent = `00-${trace}-${span}-${flags}`;
  return state === undefined ? { traceparent: parent } : { traceparent: parent, tracestate: state };
}

/** The list with its members, without empty ones; undefined when one of them is none, or they are too many. */
function stateOf(tracestate: unknown): string | undefined {
  if (typeof tracestate !== 'string' || tracestate.length > MAX_STATE) return undefined;
  const members = tracestate
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > MAX_MEMBERS) return undefined;
  const keys = new Set<string>();
  for (const member of members) {
    const at = member.indexOf('=');
    const key = member.slice(0, Math.max(0, at));
    if (at < 1 || !KEY.test(key) || !VALUE.test(member.slice(at + 1)) || keys.has(key)) return undefined;
    keys.add(key);
  }
  return members.join(',');
}
