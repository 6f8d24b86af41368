import { type HandlingContext, refused } from 'orrery';
import { ProgressCounter } from './progress-counter.ts';
import { REPOSITORY_ROOT, type RepositoryRoot, repositoryRoot } from '../findings/repository-root.ts';

const LOOK_EVERY_MS = 200;
/** Who waits for a turn in the pool says so now and then: nobody is to take the work for stalled. */
const WAITING_NOTE_EVERY = 50;

/** What every offloaded job is given: the repository's real path, and where to count how far it is. */
export interface PooledAudit {
  readonly root: string;
  readonly progress: SharedArrayBuffer;
}

/**
 * Runs an offloaded job on the repository at `root` and tells the asker how far it is, counting in `unit`.
 *
 * Refuses, for good, a repository that is not there.
 */
export async function auditInPool<Output>(
  ctx: Pick<HandlingContext, 'effect' | 'offload' | 'progress' | 'sleep'>,
  module: URL,
  {
    root: asked,
    unit,
    ...input
  }: { readonly root: string; readonly unit: string; readonly [field: string]: unknown },
): Promise<Output> {
  const repository = await ctx.effect<RepositoryRoot>(REPOSITORY_ROOT, () => repositoryRoot(asked));
  if ('refusal' in repository) throw refused(repository.refusal, { root: asked });
  const counter = new ProgressCounter();
  const work = ctx.offload<unknown, Output>(module, {
    ...input,
    root: repository.root,
    progress: counter.shared,
  });
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const ended = work.then(end, end);
  let told = '';
  for (let looks = 0; !isOver; looks++) {
    await Promise.race([ended, ctx.sleep(LOOK_EVERY_MS)]);
    if (counter.expected === 0 && looks % WAITING_NOTE_EVERY === 0) ctx.progress(0, 'waits for its turn');
    const note = `${counter.done} of ${counter.expected} ${unit}`;
    if (note === told || counter.expected === 0) continue;
    told = note;
    ctx.progress(counter.fraction, note);
  }
  return work;
}
