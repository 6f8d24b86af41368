import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allTools } from '../../all-tools.ts';
import { auditPlanets } from '../../audit-planets.ts';
import { toolsOf } from '../../planet.ts';
import type { AgentDefinition } from 'orrery';
import type { Tool } from '../../tool.ts';

/** `docs/audit-tools.md`, made of what the planets and their tools say of themselves. */
function toolPage(planets: readonly AgentDefinition[]): string {
  const working = planets.filter((planet) => toolsOf(planet).length > 0);
  const tools = [...new Set(working.flatMap(toolsOf))];
  return [
    '# The tools of the audit',
    '',
    'This page is made of what the tools say of themselves (`npm exec -- vitest run -u apps/audit/test/unit/tool-docs`).',
    '[audit.md](audit.md) says how they are run, and how one is added.',
    '',
    '| planet | is asked | runs |',
    '| --- | --- | --- |',
    ...working.map((planet) => row(planetCells(planet))),
    '',
    '| tool | licence | stands on | replaced |',
    '| --- | --- | --- | --- |',
    ...tools.map(({ name, home, licence, packages, replaces }) =>
      row([`[${name}](${home})`, licence, packages.map((one) => `\`${one}\``).join(', '), replaces]),
    ),
    '',
    '## Rules',
    '',
    ...tools.flatMap(rulesOf),
  ].join('\n');
}

function planetCells(planet: AgentDefinition): string[] {
  const asked = [...planet.handlers.keys()].map((id) => `\`${id}\``).join(', ');
  return [
    planet.options.name,
    asked,
    toolsOf(planet)
      .map(({ name }) => name)
      .join(', '),
  ];
}

const rulesOf = ({ name, rules }: Tool): string[] => [
  `### ${name}`,
  '',
  '| rule | severity | what is wrong |',
  '| --- | --- | --- |',
  ...Object.entries(rules).map(([id, { severity, what }]) => row([`\`${id}\``, severity, what])),
  '',
];

const row = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
const escaped = (cell: string): string => cell.replaceAll('|', '\\|').replaceAll('\n', ' ').trim();

const APP = fileURLToPath(new URL('../../', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));

/** What asks nothing of those who use it but to name who made it. */
const PERMISSIVE = [
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  '0BSD',
];
/** Programs that are there already, or not: nobody is given them. */
const NOT_BROUGHT = ['git'];

const [planets, tools] = await Promise.all([auditPlanets(), allTools()]);

interface Manifest {
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestAt = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest;

function manifestOf(name: string): Manifest {
  const places = [
    `${APP}node_modules/${name}/package.json`,
    `${REPOSITORY}node_modules/${name}/package.json`,
  ];
  const place = places.find((path) => existsSync(path));
  if (place === undefined) throw new Error(`${name} is not installed`);
  return manifestAt(place);
}

/** All that is installed with a package of the lock file. */
function broughtBy(root: Manifest): ReadonlySet<string> {
  const lock = JSON.parse(readFileSync(`${REPOSITORY}package-lock.json`, 'utf8')) as {
    readonly packages: Readonly<Record<string, Manifest>>;
  };
  const found = new Set<string>();
  const pending = Object.keys(root.dependencies ?? {});
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    pending.push(...Object.keys(lock.packages[`node_modules/${name}`]?.dependencies ?? {}));
  }
  return found;
}

describe('the tools', () => {
  it('are those of docs/audit-tools.md', async () => {
    await expect(toolPage(planets)).toMatchFileSnapshot('../../../../docs/audit-tools.md');
  });

  it('are all run by a planet, under names of their own', () => {
    const run = planets.flatMap(toolsOf);
    expect(run.map(({ name }) => name).sort()).toEqual([...new Set(tools.map(({ name }) => name))].sort());
  });

  it.each(tools.map((tool) => [tool.name, tool] as const))('%s has a permissive licence', (_name, tool) => {
    expect(PERMISSIVE).toContain(tool.licence);
    for (const name of tool.packages.filter((one) => !NOT_BROUGHT.includes(one)))
      expect(PERMISSIVE, name).toContain(manifestOf(name).license);
  });

  it.each(tools.map((tool) => [tool.name, tool] as const))('%s rates its own rules alone', (name, tool) => {
    const ids = Object.keys(tool.rules);
    expect(ids).not.toEqual([]);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9-]+\/./);
    expect(new URL(tool.home).protocol, name).toBe('https:');
    expect(tool.nothing).toMatch(/^no /);
  });

  it('are brought by the audit alone: who installs the package gets none of them', () => {
    const brought = broughtBy(manifestAt(`${REPOSITORY}package.json`));
    const own = Object.keys(manifestAt(`${APP}package.json`).dependencies ?? {});
    const shared = ['orrery', 'xstate', 'zod'];
    expect(brought.size).toBeGreaterThan(5);
    expect(
      [...own, ...tools.flatMap(({ packages }) => packages)].filter((name) => brought.has(name)).sort(),
    ).toEqual(shared.filter((name) => brought.has(name)));
  });
});
