import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allTestFiles, citedInTitles, idsIn, listedRequirements } from '../../../.ci/cited-requirements.ts';

const TEST = new URL('../..', import.meta.url).pathname;
const PROPERTIES = 34;
const LEAST_RUNS = 100;
const listed = listedRequirements();
const cited = citedInTitles();

const propertyFiles = (): { readonly name: string; readonly text: string }[] =>
  ['property', 'integration'].flatMap((folder) =>
    readdirSync(join(TEST, folder))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => ({ name, text: readFileSync(join(TEST, folder, name), 'utf8') })),
  );

describe('docs/requirements.md', () => {
  it('lists every family of ids', () => {
    expect(listed.size).toBeGreaterThan(300);
  });

  // That these ran and passed is seen to by the reporter of requirements.
  it('names a test, in its title, for every requirement that is done', () => {
    const done = [...listed].filter(([, state]) => state === 'done').map(([id]) => id);
    expect(done.filter((id) => !cited.has(id))).toEqual([]);
    expect(done.length).toBeGreaterThan(0);
  });

  it('lists every requirement that a test cites', () => {
    const all = allTestFiles().filter((file) => !file.endsWith('requirements.test.ts'));
    const ids = new Set(all.flatMap((file) => idsIn(readFileSync(file, 'utf8'))));
    expect([...ids].filter((id) => !listed.has(id)).sort()).toEqual([]);
  });
});

describe('The tests of properties (N-T01, N-T02)', () => {
  it('are there for each of the seed’s properties, tagged with its number', () => {
    const tags = propertyFiles().flatMap(({ text }) =>
      [...text.matchAll(/Feature: a2a-mcp-protocols, Property (\d+): \S/g)].map(([, number]) =>
        Number(number),
      ),
    );
    const numbers = Array.from({ length: PROPERTIES }, (_, at) => at + 1);
    expect([...new Set(tags)].sort((one, other) => one - other)).toEqual(numbers);
  });

  it('run each of them a hundred times at least', () => {
    const few = propertyFiles()
      .filter(({ text }) => text.includes('Feature: a2a-mcp-protocols, Property '))
      .flatMap(({ name, text }) =>
        propertiesIn(text)
          .flatMap((property) => [...property.matchAll(/numRuns: (\d+)/g)])
          .filter(([, runs]) => Number(runs) < LEAST_RUNS)
          .map(([runs]) => `${name}: ${runs}`),
      );
    expect(few).toEqual([]);
  });

  it('have generators for all that the seed names', () => {
    const generators = [
      'agent-card',
      'envelope',
      'capability-descriptor',
      'task-proposal',
      'crdt-sync-message',
      'sandbox-config',
      'tier-pair',
      'tool',
    ];
    const there = readdirSync(join(TEST, 'property/arbitraries'));
    expect(generators.filter((name) => !there.includes(`${name}.ts`))).toEqual([]);
    const used = propertyFiles()
      .map(({ text }) => text)
      .join('\n');
    expect(generators.filter((name) => !used.includes(`arbitraries/${name}.ts`))).toEqual([]);
  });
});

describe('The tests of units (N-T03, N-T05)', () => {
  it('are there for each case that the seed names', () => {
    const cases = ['6.3', '13.7', '3.7', '4.4', '7.4', '8.5', '9.5', '11.1', '5.4'];
    const inUnits = (id: string): boolean =>
      [...(cited.get(id) ?? [])].some((file) => file.includes('/test/unit/'));
    expect(cases.filter((id) => !inUnits(`N-${id}`))).toEqual([]);
  });
});

/** From the tag of each property to the end of its test. */
function propertiesIn(text: string): string[] {
  const [, ...parts] = text.split('Feature: a2a-mcp-protocols, Property ');
  return parts.map((part) => part.split(/\n {0,2}\}\);\n|\n {2}it\(/)[0] as string);
}
