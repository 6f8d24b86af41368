import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { AgentDesk } from '../../runtime/public.ts';

/** A listener that fails ends nothing, and is told of. */
export const listenerFault =
  (note: AgentDesk['note']) =>
  (error: unknown): void =>
    note({
      type: 'error',
      errorCode: 'REFUSED',
      reason: `A listener failed: ${reasonOf(error)}`,
      success: false,
    });
