import { basename, join } from 'node:path';
import { type Clock, refused } from 'orrery';
import { protectedPathFaults } from '../gates/protected-paths.ts';
import { type GateEvent, type GatesVerdict, runGates } from '../gates/run-gates.ts';
import { type WorkItem, workItems } from '../loop/work-item.ts';
import type { Mission, MissionCode } from '../mission/mission.ts';
import { AttemptWorktree } from '../worktrees/attempt-worktree.ts';
import { branchNameOf, type CodeBranch, openBranch, tipOf } from '../worktrees/code-branch.ts';
import { trailerValue } from '../worktrees/commit-message.ts';
import { diffText } from '../worktrees/diff-text.ts';
import { OWN_FOLDER } from '../worktrees/exclude-own-files.ts';
import { fitName } from '../worktrees/fit-name.ts';
import { changedPaths, filesMatching } from '../worktrees/matching-paths.ts';
import { settleLeftovers } from '../worktrees/leftover-processes.ts';
import { forgetHalfMade, worktreesOf } from '../worktrees/linked-worktree.ts';
import { MergeQueue } from '../worktrees/merge-queue.ts';
import { MissionLock } from '../worktrees/mission-lock.ts';
import { liveOverlaps, overlapping, type Touching } from '../worktrees/overlap.ts';
import { type KeptAttempt, type Reclaimed, reclaim } from '../worktrees/reclaim.ts';
import { openRepository, type Repository } from '../worktrees/repository.ts';
import { dropSnapshotsOf, leaveSnapshotsOf, type Snapshot } from '../worktrees/snapshot.ts';
import { removeStaleLocks } from '../worktrees/stale-locks.ts';
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

/** Where the next attempt begins, with the files that the last one has left. */
interface Left {
  readonly from: string;
  readonly files: string;
  readonly tree: string;
}

/** A mission that changes the repository. */
export type CodeMission = Mission & { readonly code: MissionCode };

/** The work of a mission on its repository: a worktree for each attempt, gates, and merges one after another. */
export class CodeWork {
  /** What a run before has left, to go on with: tasks that are merged, and attempts that are over and were not. */
  readonly left: Reclaimed;
  readonly branch: CodeBranch;
  /** Items that may not be worked on at the same time, by id: both say that they touch the same files. */
  readonly overlaps: ReadonlyMap<string, readonly string[]>;
  readonly #mission: CodeMission;
  readonly #deps: CodeWorkDeps;
  readonly #repository: Repository;
  readonly #lock: MissionLock;
  readonly #queue: MergeQueue;
  readonly #current = new Map<string, Current>();
  readonly #left = new Map<string, Left>();
  readonly #leaving: Promise<void>[] = [];
  /** Set once an attempt has changed what belongs to git itself: nothing is begun, checked or merged after that. */
  #tampered: readonly string[] = [];

  private constructor(mission: CodeMission, deps: CodeWorkDeps, opened: Opened) {
    this.#mission = mission;
    this.#deps = deps;
    this.#repository = opened.repository;
    this.#lock = opened.lock;
    this.branch = opened.branch;
    this.left = opened.left;
    this.overlaps = opened.overlaps;
    this.#queue = new MergeQueue({ ...opened, setup: (path, signal) => this.#setUp(path, signal) });
  }

  /** Takes the mission's lock and cleans up after a run that was killed. Throws REFUSED, saying what is to be done. */
  static async open(mission: CodeMission, deps: CodeWorkDeps): Promise<CodeWork> {
    const { name, code } = mission;
    const repository = await openRepository(deps.root);
    const lock = await MissionLock.take(repository, name);
    try {
      const wanted = { mission: name, run: deps.runId, branch: code.branch, base: code.base };
      const slug = fitName(name);
      await settleLeftovers(repository, { slug, clock: deps.clock });
      await removeStaleLocks(repository, { ref: `refs/heads/${branchNameOf(wanted)}`, slug });
      await forgetHalfMade(repository, worktreesOf(repository, slug));
      const branch = await openBranch(repository, wanted);
      const left = await reclaim(repository, { branch, lock, run: deps.runId });
      const overlaps = await overlapsOf(repository, workItems(mission), branch);
      return new CodeWork(mission, deps, { repository, branch, lock, left, overlaps });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * Makes the worktree of an attempt and resolves to its path. It begins with the files of the attempt before, if that was
   * refused, else at what is accepted by now. Throws REFUSED if it cannot be made ready.
   */
  async begin(item: WorkItem, number: number, signal: AbortSignal): Promise<string> {
    await this.abandon(item);
    this.#refuseTampered();
    const left = this.#left.get(item.id);
    const from = left?.from ?? (await tipOf(this.#repository, this.branch, signal));
    return (await this.#enter(item, number, { from, files: left?.files, signal })).path;
  }

  /**
   * Judges what is in the worktree of the item: what git knows first, then the gates. An item without an attempt under way has one
   * that a run before has left.
   */
  async check(item: WorkItem, signal: AbortSignal): Promise<CodeVerdict> {
    const current = this.#current.get(item.id) ?? (await this.#adopt(item, signal));
    const { worktree, number } = current;
    this.#refuseTampered();
    const tampered = await worktree.tampered();
    if (tampered.length > 0) {
      this.#tampered = tampered;
      throw refused(`The attempt changed what belongs to git itself: ${tampered.join(', ')}`);
    }
    const snapshot = await worktree.snapshot(textOf(item), signal);
    current.snapshot = snapshot;
    const verdict = await this.#judge(item, { snapshot, number, path: worktree.path, signal });
    const { start: from, commit: files, tree } = snapshot;
    const isStuck = !verdict.isAccepted && this.#left.get(item.id)?.tree === tree;
    this.#left.set(item.id, { from, files, tree });
    return isStuck ? { ...verdict, isStuck } : verdict;
  }

  /** What was checked, for those who review it: a worktree with it, and it as text. */
  async changeOf(
    item: WorkItem,
    signal: AbortSignal,
  ): Promise<{ readonly root: string; readonly diff: string }> {
    const { worktree, snapshot } = this.#attemptOf(item);
    if (snapshot === undefined) throw new Error(`${item.id} is reviewed before it was checked`);
    return { root: worktree.path, diff: await diffText(this.#repository, snapshot, { signal }) };
  }

  /** Merges what was checked, with the gates on the result. */
  async merge(item: WorkItem, signal: AbortSignal): Promise<MergeVerdict> {
    const { snapshot, number } = this.#attemptOf(item);
    if (snapshot === undefined) throw new Error(`${item.id} is merged before it was checked`);
    this.#refuseTampered();
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
    if (outcome.kind === 'conflict') {
      // On the files of the others, without its own: it is done again.
      this.#left.delete(item.id);
      return { kind: 'conflict', files: outcome.files };
    }
    if (outcome.kind === 'refused') {
      const { tip: from, commit: files } = outcome;
      this.#left.set(item.id, { from, files, tree: '' });
      return { kind: 'refused', verdict: outcome.verdict.verdict };
    }
    await this.abandon(item);
    await dropSnapshotsOf(this.#repository, fitName(this.#mission.name), item.id);
    if (outcome.kind === 'empty') return { kind: 'empty' };
    return { kind: 'merged', commit: outcome.commit, verdict: outcome.verdict.verdict };
  }

  /** Removes the worktree of the item, if it has one. Its snapshot stays. */
  async abandon({ id }: Pick<WorkItem, 'id'>): Promise<void> {
    const current = this.#current.get(id);
    this.#current.delete(id);
    await current?.worktree.discard();
  }

  /** Removes the worktree of an item that came to nothing. Its snapshots stay, where no other run goes on with them. */
  giveUp(item: Pick<WorkItem, 'id'>): Promise<void> {
    const left = this.abandon(item).then(() =>
      leaveSnapshotsOf(this.#repository, fitName(this.#mission.name), item.id),
    );
    this.#leaving.push(left.catch(() => undefined));
    return left;
  }

  /** Paths that several attempts under way have changed by now, with their items. */
  async liveOverlaps(): Promise<{ readonly path: string; readonly ids: readonly string[] }[]> {
    const live = await Promise.all(
      [...this.#current].map(async ([id, { worktree }]) => ({ id, paths: await worktree.liveChanges() })),
    );
    return liveOverlaps(live);
  }

  /** Ends it: no merge is under way any more, and others may work on the mission. */
  async close(): Promise<void> {
    await Promise.all(this.#leaving);
    for (const id of [...this.#current.keys()]) await this.abandon({ id });
    await this.#queue.close();
    await this.#lock.release();
  }

  /** What a run before has left of the item, in a worktree again. */
  async #adopt(item: WorkItem, signal: AbortSignal): Promise<Current> {
    const kept = keptOf(this.left.kept, item);
    if (kept === undefined) throw new Error(`${item.id} has no attempt under way`);
    return await this.#enter(item, kept.attempt, { from: kept.start, files: kept.commit, signal });
  }

  #refuseTampered(): void {
    if (this.#tampered.length === 0) return;
    throw refused(
      `An attempt has changed what belongs to git itself, for all worktrees: ${this.#tampered.join(', ')}; look at it before anything else is done`,
    );
  }

  async #enter(
    item: WorkItem,
    number: number,
    where: { readonly from: string; readonly files: string | undefined; readonly signal: AbortSignal },
  ): Promise<Current & { readonly path: string }> {
    const worktree = await AttemptWorktree.create({
      repository: this.#repository,
      trailers: this.#trailers(item, number),
      ...where,
    });
    const current = { worktree, number, path: worktree.path };
    this.#current.set(item.id, current);
    await this.#setUp(worktree.path, where.signal);
    return current;
  }

  async #judge(
    item: WorkItem,
    {
      snapshot,
      number,
      path,
      signal,
    }: {
      readonly snapshot: Snapshot;
      readonly number: number;
      readonly path: string;
      readonly signal: AbortSignal;
    },
  ): Promise<CodeVerdict> {
    if (snapshot.isEmpty) return refusal('nothing was changed');
    const faults = await this.#protectedFaults(item, snapshot, signal);
    if (faults.length > 0) return refusal(faults.join('\n'));
    const verdict = await this.#runGates(item, { cwd: path, stage: `attempt-${number}`, signal });
    return { isAccepted: verdict.passed, verdict, feedback: verdict.feedback ?? '' };
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
    return { mission: this.#mission.name, task: item.id, attempt, run: this.#deps.runId };
  }

  async #protectedFaults(item: WorkItem, snapshot: Snapshot, signal: AbortSignal): Promise<string[]> {
    const patterns = item.code?.protect ?? [];
    // By which of them is asked where something matches: that is seldom, and each question is a process.
    if ((await changedPaths(this.#repository, snapshot, patterns, signal)).length === 0) return [];
    const matches = new Map<string, string[]>();
    for (const pattern of patterns)
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
      env,
      logFolder: join(this.#logs, item.id, stage),
      report: (event) => onGate(item.id, event),
    });
  }

  async #setUp(path: string, signal?: AbortSignal): Promise<void> {
    const { setup } = this.#mission.code;
    if (setup === undefined) return;
    // Several are made ready at the same time.
    const logFile = join(this.#logs, 'setup', `${basename(path)}.log`);
    await runSetup(setup, { ...this.#deps, path, logFile, signal });
  }
}

interface Opened {
  readonly repository: Repository;
  readonly branch: CodeBranch;
  readonly lock: MissionLock;
  readonly left: Reclaimed;
  readonly overlaps: ReadonlyMap<string, readonly string[]>;
}

/** The newest of the attempts that a run before has left of an item. */
export const keptOf = (kept: readonly KeptAttempt[], { id }: Pick<WorkItem, 'id'>): KeptAttempt | undefined =>
  kept.filter(({ task }) => task === trailerValue(id)).sort((a, b) => b.attempt - a.attempt)[0];

async function overlapsOf(
  repository: Repository,
  items: readonly WorkItem[],
  branch: CodeBranch,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const touching = items.flatMap(({ id, code }) =>
    code === undefined ? [] : [{ id, touches: code.touches }],
  );
  const tip = await tipOf(repository, branch);
  const found: Touching[] = [];
  for (const { id, touches } of touching)
    found.push({ id, touches, files: await filesMatching(repository, tip, touches) });
  return overlapping(found);
}

const textOf = ({ title, description }: WorkItem) => ({ subject: title, body: description });

const refusal = (feedback: string): CodeVerdict => ({ isAccepted: false, feedback });
