import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { table } from '@orrery/ralph-loop';
import { type AgentCard, isOrreryError, type Team } from 'orrery';
import packageJson from 'orrery/package.json' with { type: 'json' };
import { agentsMeant } from './agents-meant.ts';
import { codingPrograms, gitFinding } from './coding-programs.ts';
import type { CommandDeps } from './command.ts';
import type { DoctorFinding } from './doctor-finding.ts';
import { DEFAULT_PORT, readPort } from './option-values.ts';
import { isInstalled, optionalPackages } from './optional-packages.ts';
import type { TypedOptions } from './run-plan.ts';
import { startTeam } from './start-team.ts';
import { missionVariables } from './mission-variables.ts';
import { unapprovedCatalogues } from './unapproved-catalogues.ts';
import { UsageError } from './usage-error.ts';

/**
 * Runs `orrery doctor`: checks this machine and folder, and starts the team. Resolves to the exit code, 1 if something must
 * be mended.
 */
export async function doctorCommand(
  options: TypedOptions,
  { screen, version, clock }: Pick<CommandDeps, 'screen' | 'version' | 'clock'>,
): Promise<number> {
  const port = readPort('--port', options['port']) ?? DEFAULT_PORT;
  const findings = [
    ...machine(version),
    await gitFinding(clock),
    await portState(port),
    ...['.', tmpdir()].map(writable),
    ...whatIsInstalled(),
    ...(await codingPrograms(clock)),
    ...(await missionVariables()),
    ...(await whatStarts(options)),
  ];
  const isJson = options['json'] === true;
  screen.write(isJson ? `${JSON.stringify(findings, null, 2)}\n` : textOf(findings));
  return findings.some(({ state }) => state === 'fault') ? 1 : 0;
}

/** Reports the versions and processors. Node is new enough here, because the command refuses older ones. */
function machine(version: string): DoctorFinding[] {
  const cores = availableParallelism();
  return [
    ok('machine', 'Orrery', version),
    ok(
      'machine',
      'Node',
      `${process.versions.node}, needed is ${packageJson.engines.node.replace('>=', '')} or later`,
    ),
    ok('machine', 'processors', `${cores}`),
  ];
}

const ok = (area: DoctorFinding['area'], what: string, text: string): DoctorFinding => ({
  area,
  what,
  state: 'ok',
  text,
});

/** Checks whether `orrery up` could listen on a port. */
async function portState(port: number): Promise<DoctorFinding> {
  const what = `port ${port}`;
  const server = createServer();
  const { promise, resolve: settle } = Promise.withResolvers<string | undefined>();
  server.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
  server.listen(port, '127.0.0.1', () => settle(undefined));
  const code = await promise;
  server.close();
  if (code === undefined) return ok('machine', what, 'is free');
  const why = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be listened on: ${code}`;
  return { area: 'machine', what, state: 'missing', text: `${why}; "orrery up --port N" takes another` };
}

function writable(folder: string): DoctorFinding {
  const what = resolve(folder);
  try {
    accessSync(folder, constants.W_OK);
    return ok('folder', what, 'can be written');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { area: 'folder', what, state: 'fault', text: `cannot be written: ${code}` };
  }
}

const whatIsInstalled = (): DoctorFinding[] =>
  optionalPackages.map(([name, what]) =>
    isInstalled(name)
      ? ok('packages', name, `is installed, for ${what}`)
      : { area: 'packages', what: name, state: 'missing', text: `is not installed; needed for ${what}` },
  );

/** Starts the team, and reports its agents or the failure. */
async function whatStarts(options: TypedOptions): Promise<DoctorFinding[]> {
  try {
    const agents = await agentsMeant(options['agents']);
    await using system = await startTeam({ agents });
    const roster = await system.roster();
    const found = roster.map(
      ({ id, status, capabilities, place }): DoctorFinding => ({
        area: 'agents',
        what: id,
        state: status === 'failed' ? 'fault' : 'ok',
        text: `${status} in ${place}, offers ${capabilities.join(', ') || 'nothing'}`,
      }),
    );
    return [...found, ...(await foreignCatalogues(system, options['approve'] === true))];
  } catch (error) {
    if (error instanceof UsageError && options['agents'] === undefined)
      return [{ area: 'agents', what: 'the team', state: 'missing', text: error.message }];
    if (!isOrreryError(error)) throw error;
    return [{ area: 'agents', what: 'the team', state: 'fault', text: `${error.code}: ${error.message}` }];
  }
}

/** Reports catalogues that are not approved; `isShown`: with all their texts. */
async function foreignCatalogues(
  system: Pick<Team, 'recentEvents' | 'registry'>,
  isShown: boolean,
): Promise<DoctorFinding[]> {
  return (await unapprovedCatalogues(system)).map(({ agentId: what, reason }): DoctorFinding => {
    const card = system.registry.getById(what);
    const text =
      isShown && card !== undefined
        ? `${reason}. It says: ${textsOn(card)}`
        : 'is not approved: "orrery doctor --approve" shows what it says, and how it is';
    return { area: 'catalogues', what, state: 'missing', text };
  });
}

/** All texts of a card, with every character escaped that is not printable ASCII. */
function textsOn({
  name,
  description,
  capabilities,
  resources,
  resourceTemplates,
  prompts,
}: AgentCard): string {
  const texts = JSON.stringify({ name, description, capabilities, resources, resourceTemplates, prompts });
  return texts.replace(/[^ -~]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

const MARKS: Readonly<Record<DoctorFinding['state'], string>> = { ok: 'ok', missing: '-', fault: 'FAULT' };

function textOf(findings: readonly DoctorFinding[]): string {
  const faults = findings.filter(({ state }) => state === 'fault').length;
  const rows = findings.map(({ area, what, state, text }) => [MARKS[state], area, what, text]);
  const verdict = faults === 0 ? 'Everything needed is there' : `To be mended: ${faults}`;
  return `${[...table(rows), '', verdict].join('\n')}\n`;
}
