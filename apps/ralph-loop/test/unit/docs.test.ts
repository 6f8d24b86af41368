import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  CodingProgram,
  Mission,
  MissionCode,
  MissionGate,
  MissionLimits,
  MissionTask,
} from '../../mission/mission.ts';
import { MissionDefaults } from '../../mission/mission-defaults.ts';
import { MissionError } from '../../mission/mission-error.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { EXIT_CODES } from '../../loop/stop-reason.ts';
import { MissionReport } from '../../report/mission-report.ts';

const read = (page: string): string =>
  readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');

/** What a mission is, what becomes of it, and what its report is. */
const missions = ['missions.md', 'mission-runs.md', 'mission-report.md'].map(read).join('\n');

/** The code blocks whose fence says `language`. */
const blocks = (language: string, text = missions): string[] =>
  [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, fence]) => fence === language)
    .map(([, , text = '']) => text);

const faultsOf = (text: string): readonly string[] => {
  try {
    parseMission(text, 'docs');
    return [];
  } catch (error) {
    if (error instanceof MissionError) return error.faults;
    throw error;
  }
};

describe('docs/missions.md, docs/mission-runs.md and docs/mission-report.md', () => {
  it('shows missions that can be run', () => {
    expect(blocks('json mission')).not.toEqual([]);
    for (const text of blocks('json mission')) expect(faultsOf(text)).toEqual([]);
  });

  it('shows what is said about missions that cannot', () => {
    expect(blocks('json refused').map((text) => faultsOf(text).join('\n'))).toEqual(
      blocks('text').map((text) => text.trimEnd()),
    );
  });

  it('shows a report as it is written', () => {
    expect(blocks('json report')).toHaveLength(1);
    for (const text of blocks('json report')) MissionReport.parse(JSON.parse(text));
  });

  it('explains every field and every stop reason', () => {
    const names = [
      Mission,
      MissionCode,
      CodingProgram,
      MissionGate,
      MissionLimits,
      MissionTask,
      MissionReport,
    ].flatMap((schema) => Object.keys(schema.shape));
    for (const name of [...names, ...Object.keys(EXIT_CODES)]) expect(missions).toContain(`\`${name}\``);
  });
});

describe('docs/coding-missions.md', () => {
  const page = read('coding-missions.md');

  it('is one page: at most 8 KB', () => {
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(8_192);
  });

  it('shows a rehearsal that can be run', () => {
    const [rehearsal = ''] = blocks('json mission', page);
    expect(parseMission(rehearsal, 'docs').code?.backends).toMatchObject([{ id: 'rehearsal' }]);
  });
});

describe('docs/mission-formats.md', () => {
  const page = read('mission-formats.md');

  it('shows defaults that a repository may have', () => {
    const [, text = ''] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
    expect(MissionDefaults.parse(JSON.parse(text))).toHaveProperty('code.gates');
  });

  it('names what has to be installed', () => {
    const { peerDependenciesMeta } = JSON.parse(read('../package.json')) as {
      readonly peerDependenciesMeta: Readonly<Record<string, { readonly for: string }>>;
    };
    const needed = Object.entries(peerDependenciesMeta).filter(([, { for: what }]) =>
      what.includes('missions'),
    );
    expect(needed).toHaveLength(4);
    for (const [name] of needed) expect(page).toMatch(new RegExp(`npm install [^\`]*${name}`));
  });
});
