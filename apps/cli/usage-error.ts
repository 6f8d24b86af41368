/**
 * What the user asked for cannot be done as asked. The command exits with 64 and says what to type instead.
 */
export class UsageError extends Error {
  readonly code = 'USAGE';

  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
