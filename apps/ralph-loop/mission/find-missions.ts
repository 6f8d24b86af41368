import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readChecklist } from './formats/checklist.ts';
import { MissionError } from './mission-error.ts';
import { type PathKind, readMissionText, tellKind } from './read-data.ts';

const OWN = /^(?:.+\.)?mission\.(?:json|ya?ml)$/i;
/** Files by their names, in the order in which they are told; `*` is any one folder. */
const KNOWN: readonly string[] = [
  'prd.json',
  '.taskmaster/tasks/tasks.json',
  'scripts/ralph/prd.json',
  'fix_plan.md',
  '@fix_plan.md',
  'PRD.md',
  'openspec/changes/*/tasks.md',
  'specs/*/tasks.md',
];

/** Whether a path has the name of a mission of ours. */
export const isOwnMission = (path: string): boolean => OWN.test(path);

/** The missions that a folder has: those of ours, then those of other tools, each as a path below the folder. */
export async function findMissions(folder: string): Promise<readonly string[]> {
  const own = (await namesIn(folder)).filter((name) => isOwnMission(name));
  const listed = await Promise.all(KNOWN.map((pattern) => matching(folder, pattern)));
  const files = await kept([...own, ...listed.flat()], (path) => isOf(folder, path, 'file'));
  const missions = await kept(
    files,
    async (path) => path !== 'PRD.md' || (await hasBoxes(join(folder, path))),
  );
  return (await isOf(folder, '.beads', 'folder')) ? [...missions, '.beads'] : missions;
}

/** The only mission of a folder, as a path. Rejects with MissionError if there is none, or several, which it lists. */
export async function onlyMission(folder: string): Promise<string> {
  const [only, ...others] = await findMissions(folder);
  if (only === undefined)
    throw new MissionError(folder, ['no mission is there, and no list of tasks that is known']);
  if (others.length === 0) return join(folder, only);
  throw new MissionError(folder, [
    'several missions are there; name the one that is meant:',
    only,
    ...others,
  ]);
}

async function matching(folder: string, pattern: string): Promise<readonly string[]> {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return [pattern];
  const names = await namesIn(join(folder, before));
  return names.filter((name) => name !== 'archive').map((name) => `${before}${name}${after}`);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch {
    return [];
  }
}

async function kept(
  paths: readonly string[],
  isKept: (path: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const verdicts = await Promise.all(paths.map(isKept));
  return paths.filter((_, index) => verdicts[index]);
}

const isOf = async (folder: string, path: string, kind: PathKind): Promise<boolean> =>
  (await tellKind(join(folder, path))) === kind;

const hasBoxes = async (file: string): Promise<boolean> =>
  (await readChecklist(await readMissionText(file), file)).items.length > 0;
