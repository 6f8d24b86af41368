import { coloured, type Paint, plain } from '@orrery/ralph-loop';
import { whatFailed } from './output-file.ts';

/** Where the command prints: standard output, or a test's stand-in. */
export interface Screen {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  write(text: string): void;
  /** Resolves once all is written, to what went wrong with it, if anything did; a reader who went away is no fault. */
  settled(): Promise<string | undefined>;
}

type Output = Pick<NodeJS.WriteStream, 'write' | 'on' | 'isTTY' | 'columns' | 'rows' | 'hasColors'>;

/** The reader went away, or the terminal was closed. */
const WITHOUT_READER = new Set(['EPIPE', 'EIO']);

/** FORCE_COLOR decides, then NO_COLOR, then whether it is a terminal that has colours. */
function hasColours(isTerminal: boolean, output: Output): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: unwanted } = process.env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (unwanted !== undefined && unwanted !== '') return false;
  return isTerminal && output.hasColors();
}

/**
 * A screen on an output stream. When it takes no more (`orrery run | head`, a full disk) the rest is dropped and
 * the work goes on: its files and its exit code are still wanted. Colours are as FORCE_COLOR and NO_COLOR
 * say.
 */
export function screenOn(output: Output): Screen {
  let fault: NodeJS.ErrnoException | undefined;
  output.on('error', (error: NodeJS.ErrnoException) => {
    fault ??= error;
  });
  const isTerminal = output.isTTY === true && process.env['TERM'] !== 'dumb';
  return {
    isTerminal,
    // Some pseudo-terminals say that they are 0 by 0.
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
      // Errors are told a turn after the write; on a stream that has ended, the callback is called at once.
      if (fault === undefined)
        await new Promise<void>((resolve) => output.write('', () => setImmediate(resolve)));
      return fault === undefined || WITHOUT_READER.has(fault.code ?? '') ? undefined : whatFailed(fault);
    },
  };
}
