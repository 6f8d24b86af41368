import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { TaskTerms } from '../../../runtime/protocol/task-service.ts';
import type { SenderFacts } from './sender-facts.ts';

/**
 * What a request is made by and under.
 *
 * - `baseUrl`    under which the caller reaches the gateway, without a slash at its end.
 * - `dialect`    the version of A2A that it speaks. @default the newest
 * - `agentId`    undefined means the system as a whole.
 * - `extensions` the URIs of those that it activates.
 * - `sender`     what its binding tells agents about it, in the metadata of its messages. @default nothing
 * - `signal`     aborts when the caller has gone, or the gateway is to end.
 */
export interface Caller {
  readonly principal: Principal;
  readonly baseUrl: string;
  readonly dialect?: string;
  readonly agentId: string | undefined;
  readonly terms: Partial<TaskTerms>;
  readonly extensions: readonly string[];
  readonly sender?: SenderFacts;
  readonly signal: AbortSignal;
}
