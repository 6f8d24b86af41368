import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hit, Tool } from '../../tool.ts';

const tool = (name: string, run: Tool['run'], more: Partial<Tool> = {}): Tool => ({
  name,
  module: import.meta.url,
  packages: [],
  licence: 'MIT',
  home: 'https://example.org',
  replaces: '',
  rules: { 'planted/*': { severity: 'low', what: 'Whatever is planted' } },
  nothing: 'no files',
  takes: () => true,
  run,
  ...more,
});

const hit = (file: string, message: string, rule = 'planted/rule'): Hit => ({
  rule,
  severity: 'low',
  file,
  line: 1,
  message,
});

export const throwing = tool('throwing', () => Promise.reject(new Error('planted to throw')));

export const exiting = tool('exiting', async () => {
  console.error('the last words');
  process.exit(7);
});

export const greedy = tool(
  'greedy',
  async () => {
    const kept: string[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => `${index}-${kept.length}`));
  },
  { maxHeapMb: 32 },
);

/** Says for ever what is no message. */
export const talking = tool('talking', async () => {
  const line = 'x'.repeat(1_000_000);
  for (;;) await new Promise((said) => process.stderr.write(line, said));
});

export const printing = tool('printing', async ({ files }) => {
  console.log('{"result":{"findings":[],"notes":[],"filesSeen":99,"bytesSeen":0}}');
  return { hits: files.map((file) => hit(file, 'It is here.')) };
});

/** What it can reach, as one hit each. */
export const curious = tool('curious', async ({ files: [file = ''], input }) => {
  const attempts: Record<string, () => unknown> = {
    outside: () => readFileSync(String(input['outside']), 'utf8'),
    writing: () => writeFileSync(String(input['target']), 'written'),
    scratch: () => writeFileSync(join(tmpdir(), 'own'), 'written'),
    spawning: () => spawn('true'),
    home: () => homedir(),
    environment: () => Object.keys(process.env).sort().join(' '),
    folder: () => (process.cwd() === tmpdir() ? tmpdir() : 'another'),
  };
  const hits = Object.entries(attempts).map(([name, attempt]) => {
    try {
      return hit(file, `${name}: ${attempt()}`);
    } catch (error) {
      return hit(file, `${name}: ${(error as NodeJS.ErrnoException).code}`);
    }
  });
  return { hits };
});

/** Starts a program that outlives it unless somebody ends both; says its number, and never comes to an end. */
export const lingering = tool(
  'lingering',
  async (_job, progress) => {
    const child = spawn('sleep', ['600'], { stdio: 'inherit' });
    progress(child.pid ?? 0, 1_000_000_000);
    return new Promise(() => setInterval(() => undefined, 1_000));
  },
  { maySpawn: true },
);

export const misplacing = tool('misplacing', async ({ files: [file = ''] }) => ({
  hits: [
    { ...hit(file, 'Past the end.'), line: 900, column: 4 },
    hit('gone.ts', 'In no file.'),
    hit(file, 'Of no rule.', 'unknown/rule'),
    { ...hit(file, `It shows ${['gh', `p_${'Ab1'.repeat(12)}`].join('')} whole.`), column: 9_999 },
  ],
}));
