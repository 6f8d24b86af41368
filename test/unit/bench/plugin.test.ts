import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { joined, packagesOf } from '../../../bench/catalogue.ts';
import type { Contender, Race } from '../../../bench/measurement.ts';
import { loadPlugin, pluginOf } from '../../../bench/plugin.ts';

const contender = (name: string, packages?: readonly string[]): Contender => ({
  name,
  ...(packages === undefined ? {} : { packages }),
  open: async () => ({ run: async () => undefined, close: async () => undefined }),
});

const race = (changes: Partial<Race> = {}): Race => ({
  kind: 'race',
  name: 'copy',
  title: 'Copy',
  unit: 'per second',
  contenders: [contender('a'), contender('b')],
  comparisons: [{ contender: 'a', baseline: 'b', of: 'rate' }],
  ...changes,
});

const file = (name: string): URL => new URL(`file:///plugins/${name}.ts`);

describe('pluginOf', () => {
  it('takes the value itself: its functions may need what it holds', () => {
    const value = { measurements: [race()] };
    expect(pluginOf(value, 'a.ts')).toBe(value);
  });

  it.each([
    [undefined, 'plugin is missing, expected an object'],
    [{ races: [] }, 'plugin.races is [], expected no field of this name'],
    [
      { measurements: [{ kind: 'rase' }] },
      'plugin.measurements[0].kind is "rase", expected "race" or "probe"',
    ],
    [{ measurements: [race({ contenders: [] })] }, 'plugin.measurements[0].contenders'],
    [{ measurements: [{ ...race(), unit: 'furlongs' }] }, 'plugin.measurements[0].unit is "furlongs"'],
    [
      { measurements: [{ ...race(), contenders: [{ name: 'a', open: 'later' }] }] },
      'plugin.measurements[0].contenders[0].open is "later", expected a function',
    ],
    [{ measurements: [{ kind: 'probe', name: 'p', title: 'P' }] }, 'plugin.measurements[0].read is missing'],
    [{ entrants: [{ contender: contender('c') }] }, 'plugin.entrants[0].race is missing, expected a text'],
  ])('refuses %j by file and field', (value, fault) => {
    expect(() => pluginOf(value, 'a.ts')).toThrow(
      expect.objectContaining({
        code: 'PLUGIN_INVALID',
        message: expect.stringContaining(`a.ts is no plug-in: ${fault}`),
      }),
    );
  });
});

describe('loadPlugin', () => {
  const fixture = (name: string): URL => new URL(`../../fixtures/bench/${name}`, import.meta.url);

  it('loads the example', async () => {
    const example = new URL('../../../bench/example.plugin.ts', import.meta.url);
    const { measurements } = await loadPlugin(example);
    expect(measurements?.map(({ name }) => name)).toEqual(['copy']);
  });

  it('refuses a module that exports no plug-in', async () => {
    const url = fixture('no-plugin.ts');
    await expect(loadPlugin(url)).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: `${fileURLToPath(url)} is no plug-in: it exports no \`plugin\``,
    });
  });

  it('refuses a file that is not there', async () => {
    await expect(loadPlugin(fixture('not-there.ts'))).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringContaining('not-there.ts is no plug-in: it cannot be loaded: '),
    });
  });
});

describe('joined', () => {
  const faultOf = (...plugins: Parameters<typeof joined>[0]): string => {
    try {
      joined(plugins);
    } catch (error) {
      return (error as Error).message;
    }
    return 'nothing was thrown';
  };

  it('puts contenders of one file into the race of another, and remembers whose they are', () => {
    const [only] = joined([
      { file: file('late'), plugin: { entrants: [{ race: 'copy', contender: contender('c') }] } },
      { file: file('copy'), plugin: { measurements: [race()] } },
    ]);
    if (only?.kind !== 'race') throw new Error('A race was expected');
    expect(only.contenders.map(({ name, plugin }) => `${name} of ${plugin.pathname}`)).toEqual([
      'a of /plugins/copy.ts',
      'b of /plugins/copy.ts',
      'c of /plugins/late.ts',
    ]);
  });

  it('compares a contender that came with one that was there', () => {
    const comparison = { contender: 'c', baseline: 'a', of: 'rate' } as const;
    const [only] = joined([
      { file: file('copy'), plugin: { measurements: [race()] } },
      {
        file: file('late'),
        plugin: { entrants: [{ race: 'copy', contender: contender('c'), comparisons: [comparison] }] },
      },
    ]);
    expect(only).toMatchObject({ comparisons: [{ contender: 'a' }, comparison] });
  });

  it('refuses names that clash, and those that lead nowhere', () => {
    const copy = { file: file('copy'), plugin: { measurements: [race()] } };
    const entrant = (changes: object) => ({
      file: file('late'),
      plugin: { entrants: [{ race: 'copy', contender: contender('c'), ...changes }] },
    });
    expect(faultOf(copy, { ...copy, file: file('again') })).toBe(
      '/plugins/again.ts is no plug-in: plugin.measurements[0].name is "copy", which another measurement is called',
    );
    expect(faultOf(copy, entrant({ race: 'paste' }))).toBe(
      '/plugins/late.ts is no plug-in: plugin.entrants[0].race is "paste", which is no race',
    );
    expect(faultOf(copy, entrant({ contender: contender('a') }))).toBe(
      '/plugins/late.ts is no plug-in: plugin.entrants[0].contender.name is "a", which another contender of the race is called',
    );
    expect(faultOf(copy, entrant({ comparisons: [{ contender: 'c', baseline: 'z', of: 'rate' }] }))).toBe(
      '/plugins/late.ts is no plug-in: plugin.entrants[0].comparisons[0].baseline is "z", which is no contender of the race',
    );
    const odd = race({ comparisons: [{ contender: 'z', baseline: 'a', of: 'rate' }] });
    expect(faultOf({ file: file('copy'), plugin: { measurements: [odd] } })).toContain(
      'plugin.measurements[0].comparisons[0].contender is "z"',
    );
  });

  it('knows the packages of all contenders, each once', () => {
    const contenders = [contender('a', ['xstate', 'yjs']), contender('b', ['xstate'])];
    const catalogue = joined([{ file: file('copy'), plugin: { measurements: [race({ contenders })] } }]);
    expect(packagesOf(catalogue).map(({ name }) => name)).toEqual(['xstate', 'yjs']);
  });
});
