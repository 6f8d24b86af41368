import type { Finding } from './envelope.ts';

/** What XState logic is given to end the handling of an envelope with; `HandlingContext` has these. */
export interface Handling {
  reply(output: unknown): void;
  settle(): void;
}

/** An envelope as XState logic sees it: told, asked about, or the question how many came. */
export type ReceiverEvent =
  | { readonly type: 'notification'; readonly input: Finding; readonly ctx: Handling }
  | { readonly type: 'bench.inspect'; readonly input: Finding; readonly ctx: Handling }
  | { readonly type: 'bench.handled'; readonly input: object; readonly ctx: Handling };
