import type { ErrorData } from '../../runtime/protocol/errors.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import { type ToolError, ToolInvocation } from '../../runtime/protocol/tool.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';

/** `kept`: how many calls are kept, the newest. `maxBytes`: of arguments and of a result; of larger ones only the size is kept. */
export interface InvocationLogOptions {
  readonly kept: number;
  readonly maxBytes: number;
}

/** What the tools of one caller keep. */
export const INVOCATION_LIMITS: InvocationLogOptions = { kept: 1_000, maxBytes: 16 * 1_024 };

/** One call, once it is over. `taint`: where what was said in it came from outside. */
export interface FinishedCall
  extends Pick<ToolInvocation, 'tool' | 'agentId' | 'startedAtMs' | 'durationMs'> {
  readonly args: unknown;
  readonly result?: unknown;
  readonly error?: ErrorData;
  readonly taint?: Taint | undefined;
}

/** A call with its values as text, so that nobody can change them later. */
interface Kept extends Pick<ToolInvocation, 'tool' | 'agentId' | 'startedAtMs' | 'durationMs'> {
  readonly args: string;
  readonly result: string | undefined;
  readonly error: string | undefined;
  readonly taint: Taint | undefined;
}

/** The last calls, within bounds of number and size. */
export class InvocationLog {
  readonly #options: InvocationLogOptions;
  readonly #calls: Kept[] = [];
  #oldest = 0;

  constructor(options: InvocationLogOptions) {
    this.#options = options;
  }

  add({ args, result, error, taint, ...call }: FinishedCall): void {
    const { kept, maxBytes } = this.#options;
    const made: Kept = {
      tool: call.tool,
      agentId: call.agentId,
      startedAtMs: call.startedAtMs,
      durationMs: call.durationMs,
      taint,
      args: jsonWithin(args ?? null, maxBytes),
      result: result === undefined ? undefined : jsonWithin(result, maxBytes),
      error: error === undefined ? undefined : errorText(error, call.agentId, maxBytes),
    };
    if (this.#calls.length < kept) this.#calls.push(made);
    else {
      this.#calls[this.#oldest] = made;
      this.#oldest = (this.#oldest + 1) % kept;
    }
  }

  /** The taint of the calls in the list. */
  get taint(): Taint | undefined {
    return this.#calls.reduce((all: Taint | undefined, { taint }) => mergeTaint(all, taint), undefined);
  }

  /** The newest last. */
  list(): readonly ToolInvocation[] {
    return [...this.#calls.slice(this.#oldest), ...this.#calls.slice(0, this.#oldest)].map(
      ({ args, result, error, taint: _taint, ...call }) => ({
        tool: call.tool,
        agentId: call.agentId,
        arguments: JSON.parse(args),
        ...(result === undefined ? {} : { result: JSON.parse(result) }),
        ...(error === undefined ? {} : { error: JSON.parse(error) as ToolError }),
        startedAtMs: call.startedAtMs,
        durationMs: call.durationMs,
      }),
    );
  }
}

/** The error as text. Details that are too large are left out, and a long message is cut. */
function errorText({ code, message, details }: ErrorData, agentId: string, maxBytes: number): string {
  const short = { code, message: message.slice(0, maxBytes) };
  const facts = details === undefined ? undefined : jsonWithin(details, maxBytes);
  const isWhole = facts !== undefined && facts === JSON.stringify(details);
  return JSON.stringify(
    toolError(isWhole ? { ...short, details: details as NonNullable<ErrorData['details']> } : short, agentId),
  );
}

/** The error as tools report it (N-5.4), without its stack. */
export const toolError = ({ code, message, details }: ErrorData, agentId: string): ToolError =>
  details === undefined ? { code, message, agentId } : { code, message, agentId, details };

/** The value as JSON text if that is within the bound, else how large it is: `{ omitted, bytes }`. Never throws. */
function jsonWithin(value: unknown, maxBytes: number): string {
  try {
    if (isClearlyLarger(value, maxBytes)) return omitted('it is too large', undefined);
    const text = JSON.stringify(value);
    if (text === undefined) return omitted('JSON cannot say it', undefined);
    // A character takes three bytes at most.
    if (text.length * 3 <= maxBytes) return text;
    const bytes = Buffer.byteLength(text);
    return bytes <= maxBytes ? text : omitted('it is too large', bytes);
  } catch {
    return omitted('JSON cannot say it', undefined);
  }
}

const omitted = (why: string, bytes: number | undefined): string =>
  JSON.stringify(bytes === undefined ? { omitted: why } : { omitted: why, bytes });

/** Whether a value is larger than the bound. It stops counting there, and writes no text. */
function isClearlyLarger(value: unknown, maxBytes: number): boolean {
  let left = maxBytes;
  const count = (item: unknown): boolean => {
    left -= 1;
    if (typeof item === 'string') left -= item.length;
    else if (Array.isArray(item)) return left < 0 || item.some(count);
    else if (typeof item === 'object' && item !== null) {
      if (left < 0) return true;
      return Object.entries(item).some(([key, field]) => {
        left -= key.length;
        return count(field);
      });
    }
    return left < 0;
  };
  return count(value);
}

/** The record as JSON text. */
export const serialiseInvocation = (record: ToolInvocation): string => JSON.stringify(record);

/** Reads `serialiseInvocation`'s text. Fails with INVALID_OPTIONS naming field and value. */
export function deserialiseInvocation(text: string): ToolInvocation {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = text;
  }
  return parseOptions(ToolInvocation, parsed as never, 'invocation');
}
