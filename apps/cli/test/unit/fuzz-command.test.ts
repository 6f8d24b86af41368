import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { times } from '../../../../test/fixtures/effort.ts';
import { arbDamaged, arbHostile, arbTorn } from '../../../../test/property/arbitraries/damage.ts';
import { readCommandLine } from '../../command-line.ts';
import { COMMANDS, type CommandName } from '../../options.ts';
import { UsageError } from '../../usage-error.ts';
import { orreryHere } from '../run-here.ts';

const NAMES = Object.keys(COMMANDS) as CommandName[];
/** Where an error was thrown is for its authors: users get a sentence. */
const STACK = /^\s+at .+:\d+:\d+\)?$/m;
const EXIT_USAGE = 64;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-fuzz-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const arbWord = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(
      ...NAMES,
      '--help',
      '-h',
      '--version',
      '--',
      '-',
      '--json',
      '--port=0x10',
      '--workers=1e3',
      '',
    ),
    fc
      .constantFrom(...NAMES.flatMap((name) => Object.keys(COMMANDS[name].options)))
      .map((name) => `--${name}`),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ maxLength: 8 }).map((text) => `--${text}`),
    fc.string({ maxLength: 8 }).map((text) => `--agents=${text}`),
    fc.constantFrom('__proto__', '--__proto__', '--constructor=1', '-xyz', '--no-json'),
  );

const MISSION = {
  version: 1,
  name: 'm',
  limits: { maxAttempts: 1, timeoutMs: 1_000 },
  tasks: [
    { id: 'a', title: 'A', capability: 'c' },
    { id: 'b', title: 'B', capability: 'd', after: ['a'] },
  ],
  agents: ['none.agent.ts'],
};
const LONG_NAMES = ['y'.repeat(5_000), 'a\u0000b'].map((name) =>
  JSON.stringify({ ...MISSION, agents: [name] }),
);
const KEY = { id: 'k', hash: 'a'.repeat(64), kind: 'service', roles: ['x'], tier: 3, expiresAtMs: 1 };

/** A file that somebody wrote by hand, tore or mistook. */
const arbText = (): fc.Arbitrary<string> =>
  fc.oneof(
    arbDamaged(fc.constantFrom<unknown>(MISSION, [KEY])).map((value) => JSON.stringify(value)),
    arbTorn(fc.constant(JSON.stringify(MISSION, null, 2))),
    arbHostile().map((value) => JSON.stringify(value)),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '[', 'SQLite format 3\u0000', '-----BEGIN PRIVATE KEY-----\n', 'export default 1;'),
  );

describe('any command line at all', () => {
  it('is understood, or refused with a sentence', () => {
    fc.assert(
      fc.property(fc.array(arbWord(), { maxLength: 6 }), (words) => {
        try {
          readCommandLine(words);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          expect(error.message).not.toBe('');
        }
      }),
      { numRuns: times(300, 100_000) },
    );
  });

  it('that cannot be done ends with its exit code and a sentence, never with a stack', async () => {
    // What is understood would be begun: the last word is one that no command takes.
    const arbRefused = fc
      .array(arbWord(), { maxLength: 5 })
      .map((words) => [
        ...words.filter((word) => !/^(?:-h|-V|--help|--version|--)$/.test(word)),
        '--none-such',
      ]);
    await fc.assert(
      fc.asyncProperty(arbRefused, async (words) => {
        const { code, stderr: told } = await orreryHere(...words);
        expect(code).toBe(EXIT_USAGE);
        expect(told).toMatch(/^orrery: .+\nSee 'orrery .*--help'\.\n$/s);
        expect(told).not.toMatch(STACK);
      }),
      { numRuns: times(300, 20_000) },
    );
  });
});

describe('any file at all', () => {
  /** Command lines that read `file`, and begin nothing whatever is in it. */
  const LINES: Readonly<Record<string, (file: string) => string[]>> = {
    'a mission to run': (file) => ['run', file],
    'a mission to simulate': (file) => ['simulate', file, '--seeds', '1'],
    'a mission, of agents that are not there': (file) => ['run', file, '--agents', `${file}.none`],
    'a former report': (file) => ['run', file, '--baseline', file, '--agents', `${file}.none`],
    'a journal': (file) => ['journal', file],
    'a journal to check': (file) => ['journal', file, '--check'],
    'a journal to salvage': (file) => ['journal', file, '--salvage', `${file}.salvaged`],
    'a list of keys': (file) => ['key', '--add', file],
    'keys, a certificate and more to serve with': (file) => [
      ...['up', '--api-keys', file, '--tls-key', file, '--tls-cert', file, '--agents', `${file}.none`],
    ],
  };

  it.each(Object.entries(LINES))(
    'as %s is answered with a sentence, and never with a stack',
    async (_what, line) => {
      let count = 0;
      await fc.assert(
        fc.asyncProperty(arbText(), async (text) => {
          const file = join(folder, `${line('')[0]}-${++count}`);
          writeFileSync(file, text);
          const { code, stderr: told } = await orreryHere(...line(file));
          expect(told).not.toMatch(STACK);
          if (code !== 0 && told !== '') expect(told).toMatch(/^orrery: ./);
          expect([0, 1, EXIT_USAGE]).toContain(code);
        }),
        { numRuns: times(15, 1_500), examples: LONG_NAMES.map((text) => [text] as [string]) },
      );
    },
  );

  it.each(Object.entries(LINES))(
    'that is not there, or is a folder, is refused as %s',
    async (_what, line) => {
      for (const file of [join(folder, 'none'), folder]) {
        const { code, stderr: told } = await orreryHere(...line(file));
        if (line(file)[0] === 'key' && file !== folder) continue;
        expect(code).not.toBe(0);
        expect(told).toMatch(/^orrery: ./);
        expect(told).not.toMatch(STACK);
      }
    },
  );
});
