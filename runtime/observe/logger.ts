/** How much a line of the log matters. */
export type LogLevel = 'error' | 'warn' | 'info';

/** Writes lines of a log: fields, and a sentence. A logger of pino is one; so is `console`. */
export type Logger = Readonly<Record<LogLevel, (fields: object, message: string) => void>>;

/** One line, before anybody has written it. */
export interface LogLine {
  readonly level: LogLevel;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}
