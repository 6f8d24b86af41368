import type { RosterRow, SystemEvent } from 'orrery';
import type { OutputFile } from './output-file.ts';

/** Lines are gathered up to this much before they are written, a turn of the event loop at most. */
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
}

/** Writes a header and then every event as a line of JSON (docs/trace.md). */
export class TraceFile {
  readonly #file: OutputFile;
  #lines = '';
  #isFlushDue = false;

  constructor(file: OutputFile, header: TraceHeader) {
    this.#file = file;
    this.#file.write(`${JSON.stringify(header)}\n`);
  }

  record(event: SystemEvent): void {
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
    this.#file.write(this.#lines);
    this.#lines = '';
  }
}
