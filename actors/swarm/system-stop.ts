import type { ErrorCode } from '../../runtime/protocol/errors.ts';

/** Says whether something failed because the whole system ends. */
export const isStop = ({ code }: { readonly code: ErrorCode | string }): boolean =>
  code === 'SYSTEM_STOPPED' || code === 'CONTROL_LOST';
