import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { AgentClient } from '../../runtime/public.ts';

/** Reports what a listener throws; it ends nothing. */
export const listenerFault =
  (note: AgentClient['note']) =>
  (error: unknown): void =>
    note({
      type: 'error',
      errorCode: 'REFUSED',
      reason: `A listener failed: ${reasonOf(error)}`,
      success: false,
    });
