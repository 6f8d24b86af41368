import type { RosterRow, SystemEvent } from 'orrery';
import type { MachineDrawing } from 'orrery/machines';
import type { OutputFile } from './output-file.ts';

/** Characters that are buffered before a write, for one turn of the event loop at most. */
const MAX_BUFFERED_CHARS = 64 * 1024;

/** The first line of a trace. */
export interface TraceHeader {
  readonly format: 'orrery-trace';
  readonly version: 1;
  readonly orrery: string;
  readonly startedAtMs: number;
  readonly mission: string;
  readonly root: string;
  readonly agents: readonly Pick<RosterRow, 'id' | 'name' | 'tier' | 'capabilities' | 'place'>[];
  /** The state machines of the system, and those of the agents. */
  readonly machines: readonly MachineDrawing[];
}

/** Writes a trace (docs/trace.md): a header, then each event as a line of JSON. After a failure, events are only counted. */
export class TraceFile {
  readonly #file: OutputFile;
  #lines = '';
  #buffered = 0;
  #written = 0;
  #isFlushDue = false;

  constructor(file: OutputFile, header: TraceHeader) {
    this.#file = file;
    this.#file.write(`${JSON.stringify(header)}\n`);
  }

  /** A sentence about where and why the trace stops; undefined if it is complete. */
  get failure(): string | undefined {
    const { failure, path } = this.#file;
    if (failure === undefined) return undefined;
    const all = this.#written + this.#buffered;
    return `The trace could not be written to ${path} and stops after ${this.#written} of ${all} events: ${failure}`;
  }

  record(event: SystemEvent): void {
    this.#buffered += 1;
    if (this.#file.failure !== undefined) return;
    this.#lines += `${JSON.stringify(event)}\n`;
    if (this.#lines.length >= MAX_BUFFERED_CHARS) this.#flush();
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  commit(): void {
    this.#flush();
    this.#file.commit();
  }

  #flush(): void {
    const isWritten = this.#file.write(this.#lines);
    this.#lines = '';
    if (!isWritten) return;
    this.#written += this.#buffered;
    this.#buffered = 0;
  }
}
