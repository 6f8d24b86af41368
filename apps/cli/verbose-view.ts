import { type LoopEvent, printable } from '@orrery/ralph-loop';
import type { Screen } from './screen.ts';
import type { View } from './view.ts';

/** The view of `--verbose`: a line for each event. */
export class VerboseView implements View {
  readonly #screen: Screen;
  #startedAtMs: number | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(event: LoopEvent): void {
    this.#startedAtMs ??= event.atMs;
    const text = sentence(event);
    if (text === undefined) return;
    const seconds = ((event.atMs - this.#startedAtMs) / 1_000).toFixed(1);
    this.#screen.write(`[${seconds.padStart(6)} s] ${printable(text)}\n`);
  }

  close(): void {}
}

function sentence(event: LoopEvent): string | undefined {
  switch (event.type) {
    case 'mission.started':
      return `${event.mission}: ${event.tasks.length} tasks, assigned by ${event.assigner}, judged by ${event.gate}`;
    case 'task.changed':
      return `${event.task} is ${event.status}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ''}: ${[event.why, event.summary ?? []].flat().join('; ')}`;
    case 'progress.lost':
      return `${event.task} is accepted, but that could not be kept: ${event.why}`;
    case 'loop.goes-on':
      return `goes on: ${event.why}`;
    case 'mission.ended':
      return `ended: ${event.stopReason}`;
    default:
      return undefined;
  }
}
