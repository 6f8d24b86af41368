/**
 * What the bench says to whoever started it.
 *
 * - `USAGE`            an option is wrong, or names nothing.
 * - `PLUGIN_INVALID`   a file is no plug-in.
 * - `RESULTS_INVALID`  a file holds no results, or those of another version.
 * - `MACHINE_BUSY`     the machine must be quiet, and is not.
 */
export type BenchErrorCode = 'USAGE' | 'PLUGIN_INVALID' | 'RESULTS_INVALID' | 'MACHINE_BUSY';

export class BenchError extends Error {
  override readonly name = 'BenchError';
  readonly code: BenchErrorCode;

  constructor(code: BenchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export const usageError = (message: string): BenchError => new BenchError('USAGE', message);

export const machineBusy = (reasons: readonly string[]): BenchError =>
  new BenchError('MACHINE_BUSY', `The machine is not quiet: ${reasons.join('; ')}`);

/** `fault` names the field. */
export const pluginInvalid = (file: string, fault: string, cause?: unknown): BenchError =>
  new BenchError('PLUGIN_INVALID', `${file} is no plug-in: ${fault}`, { cause });

/** `fault` names the field. */
export const resultsInvalid = (file: string, fault: string, cause?: unknown): BenchError =>
  new BenchError('RESULTS_INVALID', `${file} holds no results: ${fault}`, { cause });
