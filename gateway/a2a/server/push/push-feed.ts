import type { Part, TaskChange } from '../../../../runtime/protocol/task.ts';

/** A change that receivers are sent: status and artifacts. */
export type PushNews = Exclude<TaskChange, { kind: 'message' }>;

/** How many pieces of news wait for one receiver, before reading pauses. */
const MOST_WAITING = 32;
/** Pieces of an artifact are put together up to about so much, in characters. */
const MOST_TOGETHER = 128 * 1024;

interface Waiting {
  news: PushNews;
  size: number;
}

/**
 * A task's changes for a receiver that takes them one by one. While it is slow, pieces of one artifact that follow each
 * other become one; where the task stands is told each time.
 */
export class PushFeed {
  readonly #changes: AsyncGenerator<TaskChange, void>;
  readonly #waiting: Waiting[] = [];
  #isOver = false;
  #failure: unknown;
  #wakeReader: () => void = () => undefined;
  #wakeTaker: () => void = () => undefined;

  constructor(changes: AsyncGenerator<TaskChange, void>) {
    this.#changes = changes;
    void this.#read(); // It keeps its failure for `next`.
  }

  /** The next piece of news when there is one; undefined when nothing follows. Rejects as the changes do. */
  async next(): Promise<PushNews | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wakeTaker = resolve;
      });
    }
    const first = this.#waiting.shift();
    this.#wakeReader();
    return first?.news;
  }

  async #read(): Promise<void> {
    try {
      for await (const change of this.#changes) {
        if (change.kind === 'message') continue;
        this.#add(change);
        this.#wakeTaker();
        while (this.#waiting.length >= MOST_WAITING)
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
      }
      this.#isOver = true;
    } catch (error) {
      this.#failure = error;
    }
    this.#wakeTaker();
  }

  #add(change: PushNews): void {
    const last = this.#waiting.at(-1);
    const size = change.kind === 'artifact' ? sizeOf(change.artifact.parts) : 0;
    const together = last === undefined ? undefined : joined(last.news, change);
    if (last !== undefined && together !== undefined && last.size + size <= MOST_TOGETHER) {
      last.news = together;
      last.size += size;
    } else this.#waiting.push({ news: change, size });
  }
}

/** Both as one, if the second is more of the same artifact. */
export function joined(first: PushNews, second: PushNews): PushNews | undefined {
  if (first.kind !== 'artifact' || second.kind !== 'artifact') return undefined;
  if (!second.append || first.lastChunk || first.artifact.artifactId !== second.artifact.artifactId)
    return undefined;
  const parts = [...first.artifact.parts, ...second.artifact.parts];
  return { ...second, append: first.append, artifact: { ...first.artifact, ...second.artifact, parts } };
}

/** About how long the parts are as JSON. */
function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => {
    if ('text' in part) return sum + part.text.length;
    if ('raw' in part) return sum + part.raw.length;
    return sum + ('data' in part ? JSON.stringify(part.data).length : part.url.length);
  }, 0);
}
