import { choiceWords, duration, type LoopEvent, printable, overlapWarning } from '@orrery/ralph-loop';
import type { Screen } from './screen.ts';
import { codingText } from './coding-text.ts';
import { limitText } from './mission-news.ts';
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
      return `${event.task} is ${event.status}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ''}: ${[whyOf(event), event.summary ?? []].flat().join('; ')}`;
    case 'progress.lost':
      return `${event.task} is accepted, but that could not be kept: ${event.why}`;
    case 'loop.goes-on':
      return `goes on: ${event.why}`;
    case 'task.coding':
      return `${event.task}, ${event.agent} ${codingText(event.event)}`;
    case 'task.gate':
      return `${event.task}, ${gateText(event.event)}`;
    case 'mission.paused':
      return `paused by ${event.by}`;
    case 'mission.resumed':
      return `goes on, as ${event.by} wishes`;
    case 'tasks.overlap':
      return overlapWarning({ path: event.path, ids: event.tasks });
    case 'limit.near':
      return `a limit is near: ${limitText(event)}`;
    case 'mission.ended':
      return `ended: ${event.stopReason}`;
    default:
      return undefined;
  }
}

/** Who was chosen among several says who took it on, too. */
const whyOf = ({ why, choice }: Extract<LoopEvent, { type: 'task.changed' }>): string =>
  choice === undefined ? why : choiceWords(choice);

function gateText(event: Extract<LoopEvent, { type: 'task.gate' }>['event']): string {
  if (event.type === 'gate.started') return `the gate ${event.gate} is run`;
  const { gate, passed, why, command, durationMs, logFile } = event.receipt;
  return `the gate ${gate} has ${passed ? 'passed' : 'failed'} in ${duration(durationMs)}: ${why}; ${command}; log: ${logFile}`;
}
