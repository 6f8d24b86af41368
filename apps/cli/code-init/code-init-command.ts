import { existsSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  backendProgram,
  DEFAULTS_FILES,
  findMissions,
  isOwnMission,
  type MissionBackend,
  nearest,
  printable,
} from '@orrery/ralph-loop';
import { BACKENDS } from 'orrery/coding';
import { ACP_PROGRAMS } from '../acp-programs.ts';
import type { CommandDeps } from '../command.ts';
import { isInstalled } from '../optional-packages.ts';
import { programOnPath } from '../program-on-path.ts';
import { UsageError } from '../usage-error.ts';
import { codingDefaults, codingMission, REASONS } from './coding-mission.ts';
import { type FoundGates, foundGates, NO_TESTS } from './found-gates.ts';
import { initLines } from './init-lines.ts';
import { freeBranch, plainName } from './mission-names.ts';
import { notIgnored, type RepositoryFacts, repositoryFacts } from './repository-facts.ts';
import { type PlainData, yamlText } from './yaml-text.ts';

const ACP = 'acp';
const ACP_PACKAGE = '@agentclientprotocol/sdk';

/**
 * Runs `orrery init --backend NAME`: writes a mission for a coding agent into a git repository, or defaults for the mission that
 * it has already. It overwrites nothing, and starts no agent. Resolves to the exit code; rejects with UsageError.
 */
export async function codeInitCommand(
  backendName: string | true,
  [folder = '.']: readonly string[],
  { screen, clock }: Pick<CommandDeps, 'screen' | 'clock'>,
): Promise<number> {
  const backend = backendMeant(String(backendName));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`Folder "${folder}" is not there, or is no folder`);
  const facts = await repositoryFacts(folder, clock);
  const missions = await findMissions(facts.root);
  const [own] = missions.filter(isOwnMission);
  if (own !== undefined)
    throw new UsageError(`"${facts.root}" already has the mission ${own}; init overwrites nothing`);
  const ending = isInstalled('yaml') ? 'yaml' : 'json';
  const file = `${missions.length === 0 ? 'mission' : 'orrery'}.${ending}`;
  refuseDefaults(facts.root, missions);
  const found = foundGates(facts.files, { file, missions });
  const name = plainName(basename(facts.root));
  const place = { name, branch: freeBranch(name, facts.branches), base: facts.base };
  const data = missions.length === 0 ? codingMission(backend, found, place) : codingDefaults(backend, found);
  writeFileSync(join(facts.root, file), textOf(data as PlainData, ending), { flag: 'wx' });
  const lacks = [
    ...found.lacks,
    ...(found.hasTests ? [] : [`${NO_TESTS}; until then "write-a-gate" fails, and nothing is accepted`]),
    ...(await unready(found, facts, { backend, clock })),
  ];
  screen.write(`${initLines({ facts, found, missions, file, backend, lacks }).map(printable).join('\n')}\n`);
  return 0;
}

function backendMeant(value: string): MissionBackend {
  if (value === ACP) return acpProgram();
  if (Object.hasOwn(BACKENDS, value)) return value as keyof typeof BACKENDS;
  const known = [...Object.keys(BACKENDS), ACP];
  const meant = nearest(value, known);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new UsageError(`Option "--backend" is "${value}", expected one of ${known.join(', ')}${hint}`);
}

function acpProgram(): MissionBackend {
  const found = ACP_PROGRAMS.find(({ command: [program] }) => programOnPath(program, process.env['PATH']));
  if (found !== undefined) return { id: found.id, command: [...found.command], acp: true };
  throw new UsageError(
    `Option "--backend" is "acp", but none of the programs that are known to speak it is on the PATH; looked for ${ACP_PROGRAMS.map(
      ({ command }) => `"${command.join(' ')}"`,
    ).join(', ')}`,
  );
}

/** A repository has one file of defaults. That of a mission of ours would only be overridden. */
function refuseDefaults(root: string, missions: readonly string[]): void {
  const there = DEFAULTS_FILES.find((name) => existsSync(join(root, name)));
  if (there !== undefined && missions.length > 0)
    throw new UsageError(
      `"${root}" already has ${missions.join(', ')} and the defaults ${there}; init overwrites nothing`,
    );
}

const textOf = (data: PlainData, ending: 'yaml' | 'json'): string =>
  ending === 'yaml' ? yamlText(data, REASONS) : `${JSON.stringify(data, null, 2)}\n`;

interface Meant {
  readonly backend: MissionBackend;
  readonly clock: CommandDeps['clock'];
}

/** What stands in the way of a run, in sentences. */
async function unready(
  { makes }: FoundGates,
  { root, unsaved }: RepositoryFacts,
  { backend, clock }: Meant,
): Promise<string[]> {
  const { known } = backendProgram(backend);
  const program = known === undefined ? undefined : BACKENDS[known].command;
  const kept = await notIgnored(root, makes, clock);
  return [
    ...(program === undefined || programOnPath(program, process.env['PATH']) !== undefined
      ? []
      : [`The program "${program}" is not on the PATH`]),
    ...(known !== undefined || isInstalled(ACP_PACKAGE)
      ? []
      : [`The package ${ACP_PACKAGE} is not installed: npm install ${ACP_PACKAGE}`]),
    ...kept.map((name) => `Git does not ignore ${name}/: what is in it would become part of changes`),
    ...(unsaved === 0
      ? []
      : [
          `Files with changes that are not committed: ${unsaved}; attempts begin at the last commit, without them`,
        ]),
  ];
}
