import type { ClientInput } from '../../../runtime/protocol/client-input.ts';
import type { TraceContext } from '../../../runtime/protocol/trace-context.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { View } from './view.ts';

/** Abilities that a client may declare. `elicitation` is of forms, `url` of links to follow. */
export type ClientCan = 'elicitation' | 'url' | 'sampling' | 'roots' | 'tasks';

/**
 * One request of a client, over any transport.
 *
 * - `era`            `modern` since 2026-07-28, `legacy` before.
 * - `signal`         aborts when the client has gone, or cancels.
 * - `can`            whether the client has declared an ability.
 * - `progressToken`  token for progress notifications; undefined if the client wants none.
 * - `inputResponses`, `requestState` what the client sends back after it was asked for inputs.
 * - `trace`          the trace that the client says in `_meta` that it is part of.
 * - `notify`         sends a notification before the answer.
 * - `log`            sends a log message before the answer; undefined if the client wants none.
 * - `fault`          reports an error to the operator that the client is not told of.
 */
export interface McpCall {
  readonly principal: Principal;
  readonly view: View;
  readonly era: 'modern' | 'legacy';
  readonly signal: AbortSignal;
  can(what: ClientCan): boolean;
  readonly progressToken: string | number | undefined;
  readonly inputResponses: unknown;
  readonly requestState: unknown;
  readonly trace: TraceContext | undefined;
  notify(method: string, params: Record<string, unknown>): void;
  readonly log: ((level: string, data: unknown, logger: string | undefined) => void) | undefined;
  fault(error: unknown): void;
}

/** The ability that a client needs for each kind of input. */
export const NEEDS: Readonly<Record<ClientInput['kind'], ClientCan>> = {
  question: 'elicitation',
  link: 'url',
  sample: 'sampling',
  roots: 'roots',
};

/** Each ability as `ClientCapabilities` of MCP declare it. */
export const CAPABILITY: Readonly<Record<ClientCan, Readonly<Record<string, unknown>>>> = {
  elicitation: { elicitation: {} },
  url: { elicitation: { url: {} } },
  sampling: { sampling: {} },
  roots: { roots: {} },
  tasks: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Reads a client's `ClientCapabilities`. */
export function clientCan(capabilities: unknown): (what: ClientCan) => boolean {
  const { elicitation, sampling, roots, extensions } = (capabilities ?? {}) as Record<
    string,
    Record<string, unknown> | undefined
  >;
  return (what) => {
    switch (what) {
      // Clients of 2025-06-18 declare an empty object, which means forms.
      case 'elicitation':
        return (
          elicitation !== undefined && (elicitation['form'] !== undefined || elicitation['url'] === undefined)
        );
      case 'url':
        return elicitation?.['url'] !== undefined;
      case 'sampling':
        return sampling !== undefined;
      case 'roots':
        return roots !== undefined;
      case 'tasks':
        return extensions?.[TASKS_EXTENSION] !== undefined;
    }
  };
}
