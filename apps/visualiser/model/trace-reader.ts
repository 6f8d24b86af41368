import { ByteLines } from './byte-lines.ts';
import { capped } from './narrow.ts';
import { isHeader, readHeader, type TraceHeader } from './trace-header.ts';
import { readEvent, type WatchedEvent } from './watched-event.ts';

/** The version of the traces that this model reads. */
const VERSION = 1;
/** A longer line is no event: it is left out, and never held in memory as a whole. */
const MAX_LINE = 1024 * 1024;
const MAX_FAULTS = 100;
const NEWLINE = 10;
const RETURN = 13;

/** What is wrong with a trace, and in which line; lines are counted from 1. */
export interface TraceFault {
  readonly line: number;
  readonly code:
    | 'EMPTY'
    | 'NOT_TEXT'
    | 'NO_HEADER'
    | 'VERSION'
    | 'NOT_JSON'
    | 'NOT_AN_EVENT'
    | 'TOO_LONG'
    | 'CUT_OFF';
  readonly text: string;
}

/** Who takes what a reader has read. */
export interface TraceSink {
  header(header: TraceHeader): void;
  /** `line` is the event's own bytes, only until this returns. */
  event(event: WatchedEvent, line: Uint8Array): void;
}

/**
 * Reads a trace (docs/trace.md) from chunks of bytes, wherever these are cut. What cannot be read is left out and said in
 * `faults`; a trace that is broken opens as far as it can.
 */
export class TraceReader {
  readonly #sink: TraceSink;
  readonly #text = new TextDecoder('utf-8', { fatal: true });
  readonly #faults: TraceFault[] = [];
  #rest: Uint8Array = new Uint8Array(0);
  #isSkipping = false;
  #line = 0;
  #hasHeader = false;
  #isFirst = true;
  #events = 0;
  #leftOut = 0;

  constructor(sink: TraceSink) {
    this.#sink = sink;
  }

  /** The first faults; `leftOut` counts all lines that were left out. */
  get faults(): readonly TraceFault[] {
    return this.#faults;
  }

  get leftOut(): number {
    return this.#leftOut;
  }

  get events(): number {
    return this.#events;
  }

  push(chunk: Uint8Array): void {
    let begin = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, begin);
      if (end < 0) break;
      this.#endLine(chunk.subarray(begin, end));
      begin = end + 1;
    }
    this.#keep(chunk.subarray(begin));
  }

  /** There are no more chunks. */
  end(): void {
    const last = this.#rest;
    this.#rest = new Uint8Array(0);
    if (this.#isSkipping) this.#endLine(new Uint8Array(0));
    else if (last.length > 0) this.#read(last, true);
    if (this.#line === 0) this.#fault('EMPTY', 'The file is empty', false);
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0 || this.#isSkipping) return;
    if (this.#rest.length + part.length > MAX_LINE) {
      this.#isSkipping = true;
      this.#rest = new Uint8Array(0);
      return;
    }
    this.#rest = joined(this.#rest, part);
  }

  #endLine(part: Uint8Array): void {
    if (this.#isSkipping || this.#rest.length + part.length > MAX_LINE) {
      this.#isSkipping = false;
      this.#rest = new Uint8Array(0);
      this.#line += 1;
      this.#isFirst = false;
      this.#fault('TOO_LONG', `has more than ${MAX_LINE} bytes`);
      return;
    }
    const line = this.#rest.length === 0 ? part : joined(this.#rest, part);
    this.#rest = new Uint8Array(0);
    this.#read(line, false);
  }

  #read(bytes: Uint8Array, isCut: boolean): void {
    this.#line += 1;
    const line = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
    if (line.length === 0) return;
    const text = this.#decode(line);
    if (text === undefined) {
      this.#isFirst = false;
      this.#fault('NOT_TEXT', 'is not UTF-8 text');
      return;
    }
    const value = parsed(text);
    if (value === undefined) {
      this.#isFirst = false;
      if (isCut) this.#fault('CUT_OFF', 'ends in the middle: whoever wrote it was cut off');
      else this.#fault('NOT_JSON', `is not JSON: ${capped(text, 80)}`);
      return;
    }
    this.#take(value, line);
  }

  #take(value: unknown, line: Uint8Array): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isHeader(value)) {
      if (this.#hasHeader) return this.#fault('NOT_AN_EVENT', 'is another header');
      this.#hasHeader = true;
      const header = readHeader(value);
      if (header.version !== VERSION)
        this.#fault(
          'VERSION',
          `says version ${header.version}; this reads version ${VERSION}, as far as it can`,
          false,
        );
      this.#sink.header(header);
      return;
    }
    if (isFirst && !this.#hasHeader)
      this.#fault('NO_HEADER', 'is no header of a trace (orrery-trace)', false);
    const event = readEvent(value);
    if (event === undefined) {
      if (!isFirst) this.#fault('NOT_AN_EVENT', 'is no event: it has no type, or no time');
      else this.#leftOut += 1;
      return;
    }
    this.#events += 1;
    this.#sink.event(event, line);
  }

  #decode(line: Uint8Array): string | undefined {
    try {
      return this.#text.decode(line);
    } catch {
      return undefined;
    }
  }

  #fault(code: TraceFault['code'], text: string, isLeftOut = true): void {
    if (isLeftOut) this.#leftOut += 1;
    if (this.#faults.length >= MAX_FAULTS) return;
    const line = Math.max(1, this.#line);
    this.#faults.push({ line, code, text: code === 'EMPTY' ? text : `Line ${line} ${text}` });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** What is kept of the events of a trace: their bytes, read again when they are asked for. */
export class TraceEvents {
  readonly #lines = new ByteLines();
  readonly #text = new TextDecoder();

  get length(): number {
    return this.#lines.length;
  }

  push(line: Uint8Array): void {
    this.#lines.push(line);
  }

  at(index: number): WatchedEvent | undefined {
    const line = this.#lines.at(index);
    return line === undefined ? undefined : readEvent(parsed(this.#text.decode(line)));
  }
}
