import { randomUUID } from 'node:crypto';
import type { LoopEvent, MissionProgress } from '@orrery/ralph-loop';
import type { Seen } from './view.ts';

/** The progress of a run that no journal keeps. */
const unkept = (): MissionProgress => ({
  runId: randomUUID(),
  accepted: new Map(),
  accept: () => Promise.resolve(),
});

/** What agents say of the tasks that were accepted. The loop's news have it not: it is heard where progress is kept. */
export class Summaries {
  /** What the loop is to be given. */
  readonly progress: MissionProgress;
  readonly #said = new Map<string, string | undefined>();

  constructor(kept: MissionProgress = unkept()) {
    for (const [task, { result }] of kept.accepted) this.#said.set(task, result?.summary);
    this.progress = {
      ...kept,
      accept: (task, context) => {
        this.#said.set(task, context.result?.summary);
        return kept.accept(task, context);
      },
    };
  }

  /** The event, with what the task's agent says. */
  added(event: LoopEvent): Seen {
    return event.type === 'task.changed' ? { ...event, summary: this.#said.get(event.task) } : event;
  }
}
