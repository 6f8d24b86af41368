import type { AgentDefinition } from 'orrery';
import { toolsOf } from '../../planet.ts';
import type { Tool } from '../../tool.ts';

/** `docs/audit-tools.md`, made of what the planets and their tools say of themselves. */
export function toolPage(planets: readonly AgentDefinition[]): string {
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
