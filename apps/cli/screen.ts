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

/**
 * A screen on an output stream. When it takes no more (`orrery run | head`, a full disk) the rest is dropped and
 * the work goes on: its files and its exit code are still wanted. A terminal's own colour settings, NO_COLOR
 * among them, are respected.
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
    paint: isTerminal && output.hasColors() ? coloured : plain,
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
