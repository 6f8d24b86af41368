import { refused } from 'orrery';
import { type CommitTrailers, readTrailers, TRAILERS_FORMAT, trailerValue } from './commit-message.ts';
import { fitId, fitName } from './fit-name.ts';
import { listWorktrees } from './linked-worktree.ts';
import type { Repository } from './repository.ts';
import { basesOf, refsIn } from './snapshot.ts';

/** The branch that accepted work is merged into. - `ref` its whole name. - `base` commit that it began at. */
export interface CodeBranch {
  readonly name: string;
  readonly ref: string;
  readonly base: string;
}

/**
 * - `mission` its name.
 * - `branch`  @default `orrery/` and the mission's name
 * - `base`    @default `HEAD`
 * - `run`     id of the run, which keeps its base when it is resumed.
 */
export interface OpenBranchOptions {
  readonly mission: string;
  readonly run?: string | undefined;
  readonly branch?: string | undefined;
  readonly base?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The name of a mission's branch. */
export const branchNameOf = ({
  mission,
  branch = `orrery/${fitName(mission)}`,
}: Pick<OpenBranchOptions, 'mission' | 'branch'>): string => branch;

/** Opens the branch of a mission, and makes it if it is not there. Throws REFUSED when it is checked out somewhere. */
export async function openBranch(repository: Repository, options: OpenBranchOptions): Promise<CodeBranch> {
  const { mission, run, base = 'HEAD', signal } = options;
  const name = branchNameOf(options);
  const ref = `refs/heads/${name}`;
  const { code } = await repository.git(['check-ref-format', ref], { codes: [0, 1], signal });
  if (code !== 0 || name.startsWith('-'))
    throw refused(`The branch is ${JSON.stringify(name)}, expected a name that git allows`);
  const commit = await repository.commitOf(base, { signal });
  if (commit === undefined) throw refused(`The base is ${JSON.stringify(base)}, which names no commit`);
  await refuseCheckedOut(repository, { name, ref }, signal);
  if ((await repository.commitOf(ref, { signal })) === undefined)
    // The empty string: it must not be there.
    await repository.git(['update-ref', '-m', `orrery: begin ${name}`, ref, commit, ''], { signal });
  const kept = run === undefined ? commit : await keptBase(repository, { mission, run, commit, signal });
  return { name, ref, base: kept };
}

/**
 * The base that the run has kept, or the one that it keeps from now on: what `HEAD` names may go on while it is interrupted. Bases of
 * other runs of the mission are let go.
 */
async function keptBase(repository: Repository, { mission, run, commit, signal }: KeptBase): Promise<string> {
  const bases = basesOf(fitName(mission));
  const own = `${bases}${fitId(run)}`;
  const kept = await repository.commitOf(own, { signal });
  for (const ref of await refsIn(repository, bases))
    if (ref !== own) await repository.git(['update-ref', '-d', ref], { signal });
  if (kept === undefined) await repository.git(['update-ref', own, commit, ''], { signal });
  return kept ?? commit;
}

interface KeptBase {
  readonly mission: string;
  readonly run: string;
  readonly commit: string;
  readonly signal: AbortSignal | undefined;
}

/** The commit that the branch is at. Throws REFUSED when it is gone. */
export async function tipOf(
  repository: Repository,
  branch: CodeBranch,
  signal?: AbortSignal,
): Promise<string> {
  const tip = await repository.commitOf(branch.ref, { signal });
  if (tip === undefined) throw refused(`The branch ${branch.name} is gone`);
  return tip;
}

/** The commit that the branch is at, and its tree. Throws REFUSED when it is gone. */
export async function tipAndTreeOf(
  repository: Repository,
  { name, ref }: CodeBranch,
  signal?: AbortSignal,
): Promise<{ readonly tip: string; readonly tree: string }> {
  const found = await repository.git(['rev-parse', `${ref}^{commit}`, `${ref}^{tree}`], {
    codes: [0, 128],
    signal,
  });
  const [tip = '', tree = ''] = found.bytes.toString('latin1').split('\n');
  if (found.code !== 0) throw refused(`The branch ${name} is gone`);
  return { tip, tree };
}

/** Throws REFUSED when a worktree has the branch checked out: its files would no longer be those of its commit. */
export async function refuseCheckedOut(
  repository: Repository,
  { name, ref }: Pick<CodeBranch, 'name' | 'ref'>,
  signal?: AbortSignal,
): Promise<void> {
  const listed = await listWorktrees(repository, signal);
  const holder = listed.split('\n\n').find((entry) => entry.split('\n').includes(`branch ${ref}`));
  if (holder === undefined) return;
  const path = holder.split('\n')[0]?.replace(/^worktree /, '');
  throw refused(
    `The branch ${name} is checked out in ${path}, whose files would no longer fit it; check out another branch there, or name another branch for the mission`,
  );
}

/** Moves the branch from one commit to another. False: somebody else has moved it. */
export async function moveBranch(
  repository: Repository,
  branch: CodeBranch,
  {
    from,
    to,
    signal,
  }: { readonly from: string; readonly to: string; readonly signal?: AbortSignal | undefined },
): Promise<boolean> {
  const moved = ['update-ref', '-m', 'orrery: merge', branch.ref, to, from];
  try {
    await repository.git(moved, { signal });
    return true;
  } catch (error) {
    if ((await tipOf(repository, branch)) !== from) return false;
    throw error;
  }
}

/** A task that is on the branch, and the commit that brought it. */
export type AcceptedTask = CommitTrailers & { readonly commit: string };

/**
 * The tasks that this run has brought onto the branch, oldest first. Only commits of the branch itself count, since where it left
 * its base: what an agent wrote into commits of its own is not among them.
 */
export async function acceptedTasks(
  repository: Repository,
  branch: CodeBranch,
  { mission, run, signal }: { readonly mission: string; readonly run: string; readonly signal?: AbortSignal },
): Promise<AcceptedTask[]> {
  const tip = await tipOf(repository, branch, signal);
  const { code, bytes } = await repository.git(['merge-base', branch.base, tip], { codes: [0, 1], signal });
  const since = code === 0 ? [`^${bytes.toString('latin1').trim()}`] : [];
  const log = [
    'log',
    '-z',
    '--reverse',
    '--first-parent',
    `--format=${TRAILERS_FORMAT}`,
    tip,
    ...since,
    '--',
  ];
  return (await repository.fields(log, { signal }))
    .map(readTrailers)
    .filter((found) => found !== undefined)
    .filter((found) => found.run === trailerValue(run) && found.mission === trailerValue(mission));
}
