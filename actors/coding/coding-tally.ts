import type { CodeChangeResult } from './code-change.ts';
import type { CodingEvent, CodingUsage } from './coding-event.ts';

/** What the events of an attempt come to. */
export class CodingTally {
  usage: CodingUsage = {};
  /** The last rate limit that was told of. */
  rateLimit: Extract<CodingEvent, { type: 'rate.limited' }> | undefined;
  /** How the program says that it has ended. */
  end: Extract<CodingEvent, { type: 'ended' }> | undefined;
  #session: string | undefined;
  #summary: string | undefined;
  #toolCalls = 0;
  #refused = 0;

  take(event: CodingEvent): void {
    if (event.type === 'session.started') this.#session = event.sessionId;
    else if (event.type === 'said') this.#summary = event.text;
    else if (event.type === 'tool.started') this.#toolCalls += 1;
    else if (event.type === 'permission.answered') this.#refused += event.isAllowed ? 0 : 1;
    else if (event.type === 'usage') this.usage = { ...this.usage, ...event.usage };
    else if (event.type === 'rate.limited') this.rateLimit = event;
    else if (event.type === 'ended') this.end = event;
  }

  result(): CodeChangeResult {
    return {
      ...(this.#summary === undefined ? {} : { summary: this.#summary }),
      ...(this.#session === undefined ? {} : { session: this.#session }),
      usage: this.usage,
      toolCalls: this.#toolCalls,
      refusedPermissions: this.#refused,
    };
  }
}

/** All tokens of a usage. */
export const tokensOf = ({ inputTokens = 0, outputTokens = 0 }: CodingUsage): number =>
  Math.min(inputTokens + outputTokens, Number.MAX_SAFE_INTEGER);
