import { isOrreryError, reasonOf, stackOf } from './errors.ts';

/** A warning of the process (`OrreryWarning`) that something of a user's failed, and where: it ends nothing. */
export const warnOf = (what: string, error: unknown): void =>
  process.emitWarning(`${what}: ${reasonOf(error)}`, {
    type: 'OrreryWarning',
    detail: stackOf(error, true) ?? '',
  });

/** With these fails what an actor left behind when its life, or its work, was over. */
const ENDINGS: ReadonlySet<string> = new Set(['NOT_HERE', 'SYSTEM_STOPPED', 'CANCELLED']);

/** A warning of an error that nobody caught, when nothing was in hand that ends of it. */
export function warnOfStray(where: string, error: unknown): void {
  if (isOrreryError(error) && ENDINGS.has(error.code)) return;
  warnOf(`Nobody caught an error in ${where}`, error);
}
