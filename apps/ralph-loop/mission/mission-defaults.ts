import { join, resolve } from 'node:path';
import { z } from 'zod';
import { CODE_CHANGE } from './changes-code.ts';
import { isRecord } from './is-record.ts';
import { MissionCode, MissionLimits } from './mission.ts';
import { MissionError } from './mission-error.ts';
import { readData, tellKind } from './read-data.ts';
import { schemaFaults } from './schema-faults.ts';

/**
 * What the missions of a repository get where they say nothing of their own.
 *
 * - `agents` modules of agents, relative to the file.
 * - `code`   how the repository is changed, for missions that change it.
 * - `limits` each by itself.
 */
export const MissionDefaults = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  agents: z.array(z.string().min(1)).min(1).optional(),
  code: MissionCode.optional(),
  limits: z.strictObject(MissionLimits.shape).optional(),
});
export type MissionDefaults = z.infer<typeof MissionDefaults>;

/** Defaults, and the folder of their file. */
export interface PlacedDefaults {
  readonly folder: string;
  readonly defaults: MissionDefaults;
}

/** The files of defaults; a repository has one of them at most. */
export const DEFAULTS_FILES = ['orrery.json', 'orrery.yaml', 'orrery.yml'] as const;

/**
 * Reads the defaults of a repository from `orrery.json`, or its YAML; undefined if it has none. Rejects with MissionError if
 * the file is wrong, or if there are several.
 */
export async function readDefaults(root: string): Promise<PlacedDefaults | undefined> {
  const kinds = await Promise.all(DEFAULTS_FILES.map((name) => tellKind(join(root, name))));
  const [name, other] = DEFAULTS_FILES.filter((_, index) => kinds[index] === 'file');
  if (name === undefined) return undefined;
  const file = join(root, name);
  if (other !== undefined) throw new MissionError(file, [`${other} is there too, expected one of them`]);
  const value = await readData(file);
  const parsed = MissionDefaults.safeParse(value);
  if (!parsed.success) throw new MissionError(file, schemaFaults(parsed.error, value));
  return { folder: root, defaults: parsed.data };
}

/** A mission as its file has it, with the defaults where it says nothing. What is no mission is left as it is. */
export function withDefaults(mission: unknown, { folder, defaults }: PlacedDefaults): unknown {
  if (!isRecord(mission)) return mission;
  const agents = mission['agents'] ?? defaults.agents?.map((path) => resolve(folder, path));
  const code = mayChangeCode(mission) ? merged(mission['code'], defaults.code) : mission['code'];
  const limits = merged(mission['limits'], defaults.limits);
  return {
    ...mission,
    ...(agents === undefined ? {} : { agents }),
    ...(code === undefined ? {} : { code }),
    ...(limits === undefined ? {} : { limits }),
  };
}

const merged = (own: unknown, given: object | undefined): unknown =>
  own === undefined ? given : isRecord(own) ? { ...given, ...own } : own;

/** Whether a mission changes code: one that only looks at the repository needs no branch. */
function mayChangeCode({ code, tasks }: Readonly<Record<string, unknown>>): boolean {
  if (code !== undefined) return true;
  return Array.isArray(tasks) && tasks.some((task) => isRecord(task) && isChange(task));
}

function isChange({ capability, requiredCapabilities }: Readonly<Record<string, unknown>>): boolean {
  if (capability === undefined && requiredCapabilities === undefined) return true;
  return (
    capability === CODE_CHANGE ||
    (Array.isArray(requiredCapabilities) && requiredCapabilities.includes(CODE_CHANGE))
  );
}
