import { coloured, type Paint, plain } from '@orrery/ralph-loop';

/** Where the command prints: standard output, or a test's stand-in. */
export interface Screen {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  write(text: string): void;
}

type Output = Pick<NodeJS.WriteStream, 'write' | 'on' | 'isTTY' | 'columns' | 'rows' | 'hasColors'>;

/**
 * A screen on an output stream. When the reader goes away (`orrery run | head`) the rest is dropped and the
 * work goes on: its files and its exit code are still wanted. A terminal's own colour settings, NO_COLOR
 * among them, are respected.
 */
export function screenOn(output: Output): Screen {
  let isOpen = true;
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    isOpen = false;
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
      if (isOpen) output.write(text);
    },
  };
}
