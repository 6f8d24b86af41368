import type { Paint } from '@orrery/ralph-loop';

/** A terminal that is drawn on as a whole, and tells which keys are pressed. */
export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  /** It has not taken yet what was drawn: more would only wait. */
  readonly isBusy: boolean;
  write(text: string): void;
  /** Takes the screen and the keys, until `close`. */
  open(listener: TerminalListener): void;
  close(): void;
}

export interface TerminalListener {
  keys(text: string): void;
  resized(): void;
  /** Nobody is at the terminal any more. */
  ended(): void;
}

type Input = Pick<NodeJS.ReadStream, 'setRawMode' | 'setEncoding' | 'resume' | 'pause' | 'on' | 'off'>;
type Output = Pick<NodeJS.WriteStream, 'write' | 'on' | 'off' | 'columns' | 'rows' | 'writableNeedDrain'>;

/** - `process` tells when it ends, however that comes. */
export interface TerminalDeps {
  readonly input: Input;
  readonly output: Output;
  readonly process: Pick<NodeJS.Process, 'on' | 'off'>;
  readonly paint: Paint;
}

/** The other screen, without a cursor and without breaking lines; and back to how it was. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';

/**
 * The terminal of this process. It is given back as it was on every way out: when it is closed, when the process ends, and before
 * an error that nobody catches is printed.
 */
export class ProcessTerminal implements Terminal {
  readonly #deps: TerminalDeps;
  #listener: TerminalListener | undefined;

  constructor(deps: TerminalDeps) {
    this.#deps = deps;
  }

  get columns(): number {
    return this.#deps.output.columns || 80;
  }

  get rows(): number {
    return this.#deps.output.rows || 24;
  }

  get paint(): Paint {
    return this.#deps.paint;
  }

  get isBusy(): boolean {
    return this.#deps.output.writableNeedDrain;
  }

  write(text: string): void {
    this.#deps.output.write(text);
  }

  open(listener: TerminalListener): void {
    const { input, output, process } = this.#deps;
    this.#listener = listener;
    process.on('exit', this.#give);
    process.on('uncaughtExceptionMonitor', this.#give);
    process.on('SIGCONT', this.#onContinued);
    output.on('resize', this.#onResize);
    input.on('data', this.#onData);
    input.on('end', this.#onEnd);
    input.on('error', this.#onEnd);
    input.setEncoding('utf8');
    input.setRawMode(true);
    input.resume();
    output.write(ENTER);
  }

  close(): void {
    this.#give();
  }

  readonly #give = (): void => {
    if (this.#listener === undefined) return;
    this.#listener = undefined;
    const { input, output, process } = this.#deps;
    process.off('exit', this.#give);
    process.off('uncaughtExceptionMonitor', this.#give);
    process.off('SIGCONT', this.#onContinued);
    output.off('resize', this.#onResize);
    input.off('data', this.#onData);
    input.off('end', this.#onEnd);
    input.off('error', this.#onEnd);
    output.write(LEAVE);
    try {
      input.setRawMode(false);
    } catch {
      // A terminal that is gone has no mode.
    }
    input.pause();
  };

  readonly #onData = (text: string): void => this.#listener?.keys(text);
  readonly #onEnd = (): void => this.#listener?.ended();
  readonly #onResize = (): void => this.#listener?.resized();

  /** Whoever stopped the process had the terminal meanwhile. */
  readonly #onContinued = (): void => {
    this.#deps.input.setRawMode(true);
    this.write(ENTER);
    this.#listener?.resized();
  };
}
