import { isOrreryError, reasonOf, stackOf } from './errors.ts';

/** Emits a warning of the process (`OrreryWarning`): code of the user failed, and where. It ends nothing. */
export const warnOf = (what: string, error: unknown): void =>
  process.emitWarning(`${what}: ${reasonOf(error)}`, {
    type: 'OrreryWarning',
    detail: stackOf(error, true) ?? '',
  });

/** Codes with which calls fail that an actor left behind when its life or work was over. */
const ENDINGS: ReadonlySet<string> = new Set(['NOT_HERE', 'SYSTEM_STOPPED', 'CANCELLED']);

/** Warns of an error that nobody caught, when nothing was in hand that it could end. */
export function warnOfStray(where: string, error: unknown): void {
  if (isOrreryError(error) && ENDINGS.has(error.code)) return;
  warnOf(`Nobody caught an error in ${where}`, error);
}
