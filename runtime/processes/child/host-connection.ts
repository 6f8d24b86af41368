import { readSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { errorFromData } from '../../protocol/errors.ts';
import type { GivenChildFrame } from '../child-frame.ts';
import { FD } from '../file-descriptors.ts';
import { encodeFrame, FrameReader } from '../frame-codec.ts';
import type { CallAnswer, HostFrame } from '../host-frame.ts';

const PIECE_BYTES = 65_536;

/**
 * The process's end of what connects it with its host.
 *
 * What is said is written before the code goes on, at the latest before the next handler begins: so the host knows how far
 * the process was, however it ends.
 */
export class HostConnection {
  #said: Buffer[] = [];
  #isFlushPlanned = false;

  constructor() {
    // What was said before `process.exit` counts.
    process.on('exit', () => this.flush());
  }

  /** Hears the host; when it is gone, so is the process. */
  listen(onFrame: (frame: HostFrame) => void): void {
    const inbox = new Socket({ fd: FD.inbox, readable: true, writable: false });
    const reader = new FrameReader();
    inbox.on('data', (bytes: Buffer) => {
      reader.add(bytes);
      for (let next = reader.next(); next !== undefined; next = reader.next())
        onFrame(next.frame as HostFrame);
    });
    inbox.on('error', awaitTheEnd);
    inbox.on('end', awaitTheEnd);
  }

  /** Says something, at the latest when the code that runs now is through. Throws what cannot be written. */
  say(frame: GivenChildFrame, isStructured = false): void {
    this.#said.push(encodeFrame(frame, isStructured));
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    process.nextTick(() => this.flush());
  }

  /** Says something now. */
  sayNow(frame: GivenChildFrame, isStructured = false): void {
    this.say(frame, isStructured);
    this.flush();
  }

  flush(): void {
    this.#isFlushPlanned = false;
    if (this.#said.length === 0) return;
    const bytes = this.#said.length === 1 ? (this.#said[0] as Buffer) : Buffer.concat(this.#said);
    this.#said = [];
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(FD.outbox, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
      awaitTheEnd();
    }
  }

  /** Says something and stands still until it is answered; throws what the answer says. */
  call(frame: GivenChildFrame & { t: 'call' }, isStructured = false): unknown {
    this.sayNow(frame, isStructured);
    const answer = readAnswer();
    if ('error' in answer) throw errorFromData(answer.error);
    return answer.value;
  }
}

const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));
const END_MS = 2_000;

/**
 * The host is gone. The thread at the lifeline ends the process with all that it has started: if this thread exited before,
 * its children would live on.
 */
function awaitTheEnd(): never {
  Atomics.wait(NEVER_NOTIFIED, 0, 0, END_MS);
  process.exit();
}

function readAnswer(): CallAnswer {
  const reader = new FrameReader();
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (;;) {
    const count = readSync(FD.answers, piece);
    if (count === 0) awaitTheEnd(); // Nobody is there any more.
    reader.add(Buffer.from(piece.subarray(0, count)));
    const next = reader.next();
    if (next !== undefined) return next.frame as CallAnswer;
  }
}
