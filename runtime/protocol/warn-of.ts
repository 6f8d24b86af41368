import { reasonOf, stackOf } from './errors.ts';

/** A warning of the process (`OrreryWarning`) that something of a user's failed, and where: it ends nothing. */
export const warnOf = (what: string, error: unknown): void =>
  process.emitWarning(`${what}: ${reasonOf(error)}`, {
    type: 'OrreryWarning',
    detail: stackOf(error, true) ?? '',
  });
