import type { ClientInput } from '../../../runtime/protocol/client-input.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { View } from './view.ts';

/** What a client may say that it can. `url`: asked to follow a link. */
export type ClientCan = 'elicitation' | 'url' | 'sampling' | 'roots' | 'tasks';

/**
 * One request of a client, whatever it came by.
 *
 * - `era`            `modern` since 2026-07-28, `legacy` before.
 * - `signal`         aborts when it is not wanted any more.
 * - `can`            what the client says that it can.
 * - `progressToken`  under which it wants to hear how far the work is.
 * - `inputResponses`, `requestState` what it brings back when it was asked for something.
 * - `notify`, `log`  tell it something before the answer; `log` undefined: it does not want to hear of what happens.
 * - `fault`          tells whoever runs it of an error that the client is not told of.
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
  notify(method: string, params: Record<string, unknown>): void;
  readonly log: ((level: string, data: unknown, logger: string | undefined) => void) | undefined;
  fault(error: unknown): void;
}

/** What a client has to be able to for an input of this kind. */
export const NEEDS: Readonly<Record<ClientInput['kind'], ClientCan>> = {
  question: 'elicitation',
  link: 'url',
  sample: 'sampling',
  roots: 'roots',
};

/** The same in the words of its capabilities. */
export const CAPABILITY: Readonly<Record<ClientCan, Readonly<Record<string, unknown>>>> = {
  elicitation: { elicitation: {} },
  url: { elicitation: { url: {} } },
  sampling: { sampling: {} },
  roots: { roots: {} },
  tasks: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** What a client can, as its capabilities say. */
export function clientCan(capabilities: unknown): (what: ClientCan) => boolean {
  const { elicitation, sampling, roots, extensions } = (capabilities ?? {}) as Record<
    string,
    Record<string, unknown> | undefined
  >;
  return (what) => {
    switch (what) {
      // Before there were two ways, saying nothing of either meant forms.
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
