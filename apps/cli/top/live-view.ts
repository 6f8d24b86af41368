import type { Scene } from '@orrery/visualiser/model';
import type { Clock } from 'orrery';
import { sceneLater } from '../team-rows.ts';
import { KeyReader } from './key-reader.ts';
import type { TeamRecord } from './team-record.ts';
import type { Terminal } from './terminal.ts';
import { type Frame, topFrame } from './top-frame.ts';
import { FIRST_VIEW, pressed, type TopView } from './top-view.ts';

const REDRAW_MS = 200;
/** Interval of redrawing when nothing happens, so that the time moves, milliseconds. */
const TICK_MS = 1_000;
/** A terminal sends the rest of a key's sequence at once; whoever presses Escape presses it alone. */
const ESCAPE_MS = 50;

export interface LiveViewDeps {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Somebody has ended it. */
  readonly onQuit: () => void;
}

/** A team on a terminal, redrawn where it has changed, at most five times a second. */
export class LiveView {
  readonly #deps: LiveViewDeps;
  readonly #record: TeamRecord;
  readonly #keys = new KeyReader();
  #view: TopView = FIRST_VIEW;
  #pausedAt = 0;
  #drawn: readonly string[] = [];
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #cancelDraw: () => void = () => undefined;
  #cancelEscape: () => void = () => undefined;
  #isOpen = false;
  /** The moment of the last that was heard, and when that was here. */
  #heard = { atMs: 0, monotonicMs: 0 };

  constructor(record: TeamRecord, deps: LiveViewDeps) {
    this.#record = record;
    this.#deps = deps;
  }

  open(): void {
    this.#isOpen = true;
    this.#deps.terminal.open({
      keys: (text) => this.#typed(text),
      resized: () => this.#redrawAll(),
      ended: () => this.#deps.onQuit(),
    });
    this.#draw();
  }

  /** Redraws soon, because the team has changed. */
  change(): void {
    this.#drawIn(Math.max(0, this.#drawnAtMs + REDRAW_MS - this.#deps.clock.monotonicMs()));
  }

  close(): void {
    this.#isOpen = false;
    this.#cancelDraw();
    this.#cancelEscape();
    this.#deps.terminal.close();
  }

  #typed(text: string): void {
    this.#cancelEscape();
    this.#press(this.#keys.push(text));
    if (!this.#keys.isUnfinished || !this.#isOpen) return;
    this.#cancelEscape = this.#deps.clock.setTimer(ESCAPE_MS, () => this.#press(this.#keys.flush()));
  }

  #press(keys: ReturnType<KeyReader['push']>): void {
    for (const key of keys) {
      const next = pressed(this.#view, key, this.#frame().items);
      if (next === 'quit') {
        this.#deps.onQuit();
        return;
      }
      if (next.isPaused && !this.#view.isPaused) this.#pausedAt = this.#record.recording.length;
      this.#view = next;
    }
    if (keys.length > 0) this.#draw();
  }

  #frame(): Frame {
    const { terminal, clock } = this.#deps;
    const { recording, status } = this.#record;
    const { columns, rows, paint } = terminal;
    return topFrame(
      this.#view,
      { recording, scene: this.#scene(), status, nowMs: clock.now() },
      { columns, rows, paint },
    );
  }

  /** While the connection is up, time goes on although nothing is heard. */
  #scene(): Scene {
    const { recording, status } = this.#record;
    if (this.#view.isPaused) return recording.sceneAt(this.#pausedAt);
    const { latest } = recording;
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#heard.atMs !== latest.atMs) this.#heard = { atMs: latest.atMs, monotonicMs: nowMs };
    const isLive = status.kind === 'live' && latest.position > 0;
    return isLive ? sceneLater(latest, latest.atMs + nowMs - this.#heard.monotonicMs) : latest;
  }

  #redrawAll(): void {
    this.#drawn = [];
    this.#deps.terminal.write('\x1b[2J');
    this.#draw();
  }

  #drawIn(delayMs: number): void {
    if (!this.#isOpen) return;
    this.#cancelDraw();
    this.#cancelDraw = this.#deps.clock.setTimer(delayMs, () => this.#draw());
  }

  #draw(): void {
    const { terminal, clock } = this.#deps;
    if (!this.#isOpen) return;
    this.#drawnAtMs = clock.monotonicMs();
    this.#drawIn(TICK_MS);
    if (terminal.isBusy) return;
    const { lines } = this.#frame();
    const text = changedLines(this.#drawn, lines);
    if (text !== '') terminal.write(text);
    this.#drawn = lines;
  }
}

/** What makes the drawn lines those: only lines that differ are written, each at its place. */
export function changedLines(drawn: readonly string[], lines: readonly string[]): string {
  const changed = lines.flatMap((line, at) =>
    line === drawn[at] ? [] : [`\x1b[${at + 1};1H${line}\x1b[0m\x1b[K`],
  );
  const below = lines.length < drawn.length ? [`\x1b[${lines.length + 1};1H\x1b[0J`] : [];
  return [...changed, ...below].join('');
}
