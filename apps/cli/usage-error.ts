/** The error for a wrong command line. The command exits with 64, and the message says what to type instead. */
export class UsageError extends Error {
  readonly code = 'USAGE';

  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
