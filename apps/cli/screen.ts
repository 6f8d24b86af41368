import { coloured, type Paint, plain } from '@orrery/ralph-loop';
import { whatFailed } from './output-file.ts';

/** Where the command prints: standard output or error, or a fake in tests. */
export interface Screen {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  write(text: string): void;
  /** Resolves once all is written, to the failure if there was one. A reader that has closed the pipe is no failure. */
  settled(): Promise<string | undefined>;
}

type Output = Pick<NodeJS.WriteStream, 'write' | 'on' | 'isTTY' | 'columns' | 'rows' | 'hasColors'>;

/** Codes for a pipe without a reader, and for a closed terminal. */
const WITHOUT_READER = new Set(['EPIPE', 'EIO']);

/** Whether to use colours: by FORCE_COLOR, then NO_COLOR, then the terminal's abilities. */
function hasColours(isTerminal: boolean, output: Output): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: unwanted } = process.env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (unwanted !== undefined && unwanted !== '') return false;
  return isTerminal && output.hasColors();
}

/**
 * Makes a screen of an output stream. If the stream fails (`orrery run | head`, a full disk), the rest is dropped and the
 * work goes on: its files and exit code are still wanted. Colours follow FORCE_COLOR and NO_COLOR.
 */
export function screenOn(output: Output): Screen {
  let fault: NodeJS.ErrnoException | undefined;
  output.on('error', (error: NodeJS.ErrnoException) => {
    fault ??= error;
  });
  const isTerminal = output.isTTY === true && process.env['TERM'] !== 'dumb';
  return {
    isTerminal,
    // Some pseudo-terminals report a size of 0 by 0.
    get columns() {
      return output.columns || 80;
    },
    get rows() {
      return output.rows || 24;
    },
    paint: hasColours(isTerminal, output) ? coloured : plain,
    write: (text) => {
      if (fault === undefined) output.write(text);
    },
    settled: async () => {
      // Errors come one turn after the write. On an ended stream the callback comes at once.
      if (fault === undefined)
        await new Promise<void>((resolve) => output.write('', () => setImmediate(resolve)));
      return fault === undefined || WITHOUT_READER.has(fault.code ?? '') ? undefined : whatFailed(fault);
    },
  };
}
