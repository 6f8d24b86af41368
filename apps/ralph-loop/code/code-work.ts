import { join } from 'node:path';
import type { Clock } from 'orrery';
import { gateEnvironment } from '../gates/gate-environment.ts';
import { protectedPathFaults } from '../gates/protected-paths.ts';
import { type GateEvent, type GatesVerdict, runGates } from '../gates/run-gates.ts';
import type { WorkItem } from '../loop/work-item.ts';
import type { Mission, MissionCode } from '../mission/mission.ts';
import { AttemptWorktree } from '../worktrees/attempt-worktree.ts';
import { OWN_FOLDER } from '../worktrees/exclude-own-files.ts';
import { type CodeBranch, openBranch, tipOf } from '../worktrees/code-branch.ts';
import { changedPaths } from '../worktrees/matching-paths.ts';
import { MergeQueue } from '../worktrees/merge-queue.ts';
import { MissionLock } from '../worktrees/mission-lock.ts';
import { type Reclaimed, reclaim } from '../worktrees/reclaim.ts';
import { openRepository, type Repository } from '../worktrees/repository.ts';
import type { Snapshot } from '../worktrees/snapshot.ts';
import type { CodeVerdict, MergeVerdict } from './code-verdict.ts';
import { runSetup } from './run-setup.ts';

/**
 * What the work on a repository needs.
 *
 * - `root`    folder in the repository.
 * - `runId`   of the run of the mission, which a resumed run keeps.
 * - `env`     of the process, from which gates get theirs.
 * - `newMark` a mark that no other process has, at each call.
 * - `onGate`  is told what gates do, for the item of that id.
 */
export interface CodeWorkDeps {
  readonly root: string;
  readonly runId: string;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly newMark: () => string;
  readonly onGate: (item: string, event: GateEvent) => void;
}

/** An attempt that is under way. */
interface Current {
  readonly worktree: AttemptWorktree;
  readonly number: number;
  snapshot?: Snapshot;
}

/** The work of a mission on its repository: a worktree for each attempt, gates, and merges one after another. */
export class CodeWork {
  /** What a run before has left, to go on with. */
  readonly left: Reclaimed;
  readonly branch: CodeBranch;
  readonly #mission: string;
  readonly #code: MissionCode;
  readonly #deps: CodeWorkDeps;
  readonly #repository: Repository;
  readonly #lock: MissionLock;
  readonly #queue: MergeQueue;
  readonly #current = new Map<string, Current>();

  private constructor(
    mission: Mission & { readonly code: MissionCode },
    deps: CodeWorkDeps,
    opened: {
      readonly repository: Repository;
      readonly branch: CodeBranch;
      readonly lock: MissionLock;
      readonly left: Reclaimed;
    },
  ) {
    this.#mission = mission.name;
    this.#code = mission.code;
    this.#deps = deps;
    this.#repository = opened.repository;
    this.#lock = opened.lock;
    this.branch = opened.branch;
    this.left = opened.left;
    this.#queue = new MergeQueue({ ...opened, setup: (path, signal) => this.#setUp(path, signal) });
  }

  /** Takes the mission's lock and cleans up after a run that was killed. Throws REFUSED, saying what is to be done. */
  static async open(
    mission: Mission & { readonly code: MissionCode },
    deps: CodeWorkDeps,
  ): Promise<CodeWork> {
    const { name, code } = mission;
    const repository = await openRepository(deps.root);
    const lock = await MissionLock.take(repository, name);
    try {
      const branch = await openBranch(repository, { mission: name, branch: code.branch, base: code.base });
      const left = await reclaim(repository, { branch, lock, run: deps.runId });
      return new CodeWork(mission, deps, { repository, branch, lock, left });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Makes the worktree of an attempt and resolves to its path. It begins at what is accepted by now. */
  async begin(item: WorkItem, number: number, signal: AbortSignal): Promise<string> {
    await this.abandon(item);
    const from = await tipOf(this.#repository, this.branch, signal);
    const worktree = await AttemptWorktree.create({
      repository: this.#repository,
      trailers: this.#trailers(item, number),
      from,
      signal,
    });
    this.#current.set(item.id, { worktree, number });
    await this.#setUp(worktree.path, signal);
    return worktree.path;
  }

  /** Judges what is in the worktree of the item: what git knows first, then the gates. */
  async check(item: WorkItem, signal: AbortSignal): Promise<CodeVerdict> {
    const current = this.#attemptOf(item);
    const { worktree, number } = current;
    const tampered = await worktree.tampered();
    if (tampered.length > 0)
      return refusal(`changed what belongs to git itself, for all worktrees: ${tampered.join(', ')}`);
    const snapshot = await worktree.snapshot(textOf(item), signal);
    current.snapshot = snapshot;
    if (snapshot.isEmpty) return { ...refusal('nothing was changed'), isEmpty: true };
    const faults = await this.#protectedFaults(item, snapshot, signal);
    if (faults.length > 0) return refusal(faults.join('\n'));
    const verdict = await this.#runGates(item, { cwd: worktree.path, stage: `attempt-${number}`, signal });
    return { isAccepted: verdict.passed, verdict, feedback: verdict.feedback ?? '' };
  }

  /** Merges what was checked, with the gates on the result. */
  async merge(item: WorkItem, signal: AbortSignal): Promise<MergeVerdict> {
    const { snapshot, number } = this.#attemptOf(item);
    if (snapshot === undefined) throw new Error(`${item.id} is merged before it was checked`);
    const outcome = await this.#queue.merge({
      snapshot,
      text: textOf(item),
      trailers: this.#trailers(item, number),
      signal,
      check: async ({ path, signal: until = signal }) => {
        const verdict = await this.#runGates(item, { cwd: path, stage: `merge-${number}`, signal: until });
        return { isAccepted: verdict.passed, verdict };
      },
    });
    if (outcome.kind === 'conflict') return { kind: 'conflict', files: outcome.files };
    if (outcome.kind === 'empty') return { kind: 'empty' };
    const { verdict } = outcome.verdict;
    if (outcome.kind === 'refused') return { kind: 'refused', verdict };
    await this.abandon(item);
    return { kind: 'merged', commit: outcome.commit, verdict };
  }

  /** Removes the worktree of the item, if it has one. Its snapshot stays. */
  async abandon({ id }: WorkItem): Promise<void> {
    const current = this.#current.get(id);
    this.#current.delete(id);
    await current?.worktree.discard();
  }

  /** Ends it: no merge is under way any more, and others may work on the mission. */
  async close(): Promise<void> {
    await this.#queue.idle();
    for (const { worktree } of this.#current.values()) await worktree.discard();
    this.#current.clear();
    await this.#lock.release();
  }

  /** Folder of the receipts' logs. */
  get #logs(): string {
    return join(this.#repository.root, OWN_FOLDER, 'logs', this.#deps.runId);
  }

  #attemptOf({ id }: WorkItem): Current {
    const current = this.#current.get(id);
    if (current === undefined) throw new Error(`${id} has no attempt under way`);
    return current;
  }

  #trailers(item: WorkItem, attempt: number) {
    return { mission: this.#mission, task: item.id, attempt, run: this.#deps.runId };
  }

  async #protectedFaults(item: WorkItem, snapshot: Snapshot, signal: AbortSignal): Promise<string[]> {
    const matches = new Map<string, string[]>();
    for (const pattern of item.code?.protect ?? [])
      matches.set(pattern, await changedPaths(this.#repository, snapshot, [pattern], signal));
    const changed = snapshot.changed.flatMap(({ path, oldPath }) =>
      oldPath === undefined ? [path] : [oldPath, path],
    );
    return protectedPathFaults(changed, matches);
  }

  #runGates(
    item: WorkItem,
    { cwd, stage, signal }: { readonly cwd: string; readonly stage: string; readonly signal: AbortSignal },
  ): Promise<GatesVerdict> {
    const { clock, newMark, env, onGate } = this.#deps;
    return runGates(item.code?.gates ?? [], {
      cwd,
      clock,
      newMark,
      signal,
      env: gateEnvironment(env, { cwd }),
      logFolder: join(this.#logs, item.id, stage),
      report: (event) => onGate(item.id, event),
    });
  }

  async #setUp(path: string, signal?: AbortSignal): Promise<void> {
    const { setup } = this.#code;
    if (setup === undefined) return;
    const logFile = `${this.#logs}/setup.log`;
    await runSetup(setup, { ...this.#deps, path, logFile, signal });
  }
}

const textOf = ({ title, description }: WorkItem) => ({ subject: title, body: description });

const refusal = (feedback: string): CodeVerdict => ({ isAccepted: false, feedback });
