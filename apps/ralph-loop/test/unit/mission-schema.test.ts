import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MissionError } from '../../mission/mission-error.ts';
import { missionJsonSchema } from '../../mission/mission-schema.ts';
import { parseMission } from '../../mission/read-mission.ts';

const validate = new Ajv2020({ strict: false }).compile(missionJsonSchema());
const page = readFileSync(new URL('../../../../docs/missions.md', import.meta.url), 'utf8');
const shown = [...page.matchAll(/^```json mission\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

const isRead = (value: unknown): boolean => {
  try {
    parseMission(JSON.stringify(value), 'm.json');
    return true;
  } catch (error) {
    if (error instanceof MissionError) return false;
    throw error;
  }
};

describe('the JSON Schema of a mission', () => {
  it('takes the missions of docs/missions.md', () => {
    expect(shown.length).toBeGreaterThan(1);
    for (const text of shown) expect(validate(JSON.parse(text)), JSON.stringify(validate.errors)).toBe(true);
  });

  it('refuses nothing that can be run', () => {
    const odd = fc.constantFrom<unknown>(
      0,
      1,
      -1,
      1.5,
      '',
      'a',
      'a b',
      true,
      null,
      [],
      {},
      ['a'],
      [''],
      [{}],
    );
    const paths = shown.flatMap((text) =>
      pathsIn(JSON.parse(text) as unknown).map((path) => ({ text, path })),
    );
    let refused = 0;
    fc.assert(
      fc.property(fc.constantFrom(...paths), odd, fc.boolean(), ({ text, path }, value, isBeside) => {
        const mission = JSON.parse(text) as unknown;
        put(mission, isBeside ? [...path.slice(0, -1), 'beside'] : path, value);
        if (validate(mission)) return;
        refused += 1;
        expect(isRead(mission)).toBe(false);
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(0);
  });
});

type Path = readonly (string | number)[];

const pathsIn = (value: unknown, path: Path = []): Path[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => {
        const at = [...path, Array.isArray(value) ? Number(key) : key];
        return [at, ...pathsIn(inner, at)];
      });

function put(whole: unknown, path: Path, value: unknown): void {
  const parent = path.slice(0, -1).reduce((at, key) => (at as Record<string | number, unknown>)[key], whole);
  (parent as Record<string | number, unknown>)[path.at(-1) ?? ''] = value;
}
