import type { Finding } from '../finding.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { type RepositoryJob, repositoryJobFor } from '../repository-jobs.ts';

/** Finds again what follows from several files, by doing the whole job once more: at most once for each job. */
export class AgainCheck {
  readonly #root: string;
  readonly #found = new Map<RepositoryJob, Promise<ReadonlySet<string>>>();

  /** `root` is a real path. */
  constructor(root: string) {
    this.#root = root;
  }

  /** What is wrong with the finding, if it is of such a job. */
  async fault({ rule, id, line }: Finding): Promise<string | undefined> {
    const job = repositoryJobFor(rule);
    if (job === undefined) return undefined;
    const found = this.#found.get(job) ?? this.#look(job);
    this.#found.set(job, found);
    return (await found).has(id) ? undefined : `line ${line} holds nothing of ${rule}`;
  }

  async #look({ check }: RepositoryJob): Promise<ReadonlySet<string>> {
    const { findings } = await check(this.#root, new ProgressCounter());
    return new Set(findings.map(({ id }) => id));
  }
}
