import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { refused } from 'orrery';
import { isNotedAlive, notedProcessIn, noteOfThisProcess } from 'orrery/coding';
import { fitName } from './fit-name.ts';
import { worktreesOf } from './linked-worktree.ts';
import type { Repository } from './repository.ts';

/** How often it is tried to take the lock of a dead process, when others do the same. */
const MAX_TRIES = 10;

/** One process at a time carries out a mission in a repository. */
export class MissionLock {
  readonly mission: string;
  readonly #file: string;
  readonly #own: string;

  private constructor(mission: string, file: string, own: string) {
    this.mission = mission;
    this.#file = file;
    this.#own = own;
  }

  /** Takes the lock, also from a process that is dead. Throws REFUSED when a living one has it, naming it. */
  static async take(repository: Repository, mission: string): Promise<MissionLock> {
    const file = join(worktreesOf(repository, fitName(mission)), 'lock');
    const own = JSON.stringify(noteOfThisProcess());
    const written = `${file}.${process.pid}`;
    await mkdir(dirname(file), { recursive: true });
    try {
      await writeFile(written, own);
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        // A link is made whole, and only where nothing is.
        if (await linked(written, file)) return new MissionLock(mission, file, own);
        await takeAway(file, mission);
      }
    } finally {
      await rm(written, { force: true });
    }
    throw refused(`The lock ${file} is taken again and again; is another process starting the same mission?`);
  }

  /** Throws REFUSED when the lock is no longer held: its file was removed, or somebody else has it. */
  async check(): Promise<void> {
    if ((await textOf(this.#file)) === this.#own) return;
    throw refused(`The lock ${this.#file} is no longer held by this process; somebody removed it`);
  }

  async release(): Promise<void> {
    if ((await textOf(this.#file)) === this.#own) await rm(this.#file, { force: true });
  }
}

/** Takes away the lock of a dead process. */
async function takeAway(file: string, mission: string): Promise<void> {
  refuseAlive(await textOf(file), { file, mission });
  const aside = `${file}.old-${process.pid}`;
  const isMoved = await rename(file, aside).then(
    () => true,
    () => false,
  );
  if (!isMoved) return;
  try {
    refuseAlive(await textOf(aside), { file, mission });
  } catch (error) {
    // Between the two looks somebody else has taken it: it gets it back.
    await linked(aside, file);
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

function refuseAlive(
  text: string | undefined,
  { file, mission }: { readonly file: string; readonly mission: string },
): void {
  const holder = text === undefined ? undefined : notedProcessIn(text);
  if (holder === undefined || !isNotedAlive(holder)) return;
  throw refused(
    `The mission "${mission}" is carried out in this repository by process ${holder.pid} already (${file}); wait until it is over, or stop it`,
  );
}

const textOf = async (file: string): Promise<string | undefined> =>
  await readFile(file, 'utf8').catch(() => undefined);

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
