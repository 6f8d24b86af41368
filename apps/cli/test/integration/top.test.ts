import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONDITIONS } from '../../../../test/fixtures/conditions.ts';
import { type Ended, MAIN, Orrery } from '../spawn-orrery.ts';

let folder: string;
let env: NodeJS.ProcessEnv;
let run: Orrery;
const screens: OnTerminal[] = [];
const workshop = fileURLToPath(new URL('../fixtures/workshop.agent.ts', import.meta.url));
const trace = (): string => join(folder, 'run.jsonl');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-top-'));
  env = { XDG_RUNTIME_DIR: folder };
  mkdirSync(join(folder, 'repo'));
  writeFileSync(join(folder, 'repo/wrong.txt'), 'fine\nWRONG\n');
  const tasks = [{ id: 'words', title: 'T', capability: 'words.check' }];
  writeFileSync(
    join(folder, 'mission.json'),
    JSON.stringify({ version: 1, name: 'workshop', agents: [workshop], limits: { maxAttempts: 2 }, tasks }),
  );
  const words = ['run', join(folder, 'mission.json'), '--repo', join(folder, 'repo')];
  run = new Orrery([...words, '--record', trace(), '--watch', '--watch-port', '0'], { env });
  await run.printed('until Ctrl-C');
  if (!run.stdout.includes('until Ctrl-C')) throw new Error((await run.ended).stderr);
});
afterAll(() => {
  for (const { child } of screens) child.kill();
  run.child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const top = (...words: string[]): Promise<Ended> => new Orrery(['top', ...words], { env }).ended;

/** Makes a terminal for a command, where it is there: that of util-linux. */
const SCRIPT = hasScript();

function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

/** `orrery top` on a terminal of its own, of 80 by 24. */
class OnTerminal {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly ended: Promise<number | null>;
  #shown = '';
  #waiting: { text: string; found: () => void }[] = [];

  constructor() {
    const words = [process.execPath, ...CONDITIONS, MAIN, 'top'].map((word) => `'${word}'`);
    this.child = spawn('script', ['-qefc', `exec ${words.join(' ')}`, '/dev/null'], {
      env: { ...process.env, ...env, TERM: 'xterm-256color', NO_COLOR: '1', FORCE_COLOR: undefined },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#shown += text;
      for (const { text: wanted, found } of this.#waiting) if (this.#shown.includes(wanted)) found();
    });
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.ended = promise;
    this.child.once('close', (code) => resolve(code));
  }

  get shown(): string {
    return this.#shown;
  }

  async shows(text: string): Promise<void> {
    if (this.#shown.includes(text)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ text, found: resolve });
    await Promise.race([promise, this.ended]);
  }

  press(keys: string): void {
    this.child.stdin.write(keys);
  }
}

/** What gives a terminal back as it was. */
const GIVEN_BACK = '\x1b[?7h\x1b[?25h\x1b[?1049l';

describe('orrery top (F-08)', () => {
  it('finds the team that is watched here, and prints how it is where there is no terminal', async () => {
    const { code, stdout, stderr } = await top();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^workshop, for /);
    expect(stdout).toContain('Work [####################] 1 of 1 tasks done');
    expect(stdout).toMatch(/^ {2}WORKSHOP +idle .* 0\/\d+ +\d\.\d +0\/\d+$/im);
    expect(stdout).not.toContain('\x1b');
    const json = await top('--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      format: 'orrery-scene',
      mission: { name: 'workshop', tasks: [{ id: 'words', state: 'accepted' }] },
    });
  });

  it('says that a token is wrong, and that nobody is there', async () => {
    const [file = ''] = readdirSync(join(folder, 'orrery'));
    const url = `http://127.0.0.1:${file.split('.')[0]}`;
    const wrong = join(folder, 'wrong.token');
    writeFileSync(wrong, 'not-the-token\n');
    expect(await top('--url', url, '--token-file', wrong)).toMatchObject({
      code: 1,
      stderr: `orrery: The token is wrong: ${url} does not know it\n`,
    });
    expect(await top('--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('http://127.0.0.1:1 cannot be watched: '),
    });
  });

  it.skipIf(!SCRIPT)(
    'is drawn on a terminal, follows keys, says when the team is gone, and gives the terminal back',
    async () => {
      const screen = new OnTerminal();
      screens.push(screen);
      await screen.shows('Work [####################] 1 of 1 tasks done');
      expect(screen.shown).toContain('\x1b[?1049h');
      screen.press('w');
      await screen.shows('Work: workshop');
      screen.press('c');
      await screen.shows('Conversations: ');
      run.child.kill('SIGINT');
      expect((await run.ended).code).toBe(0);
      await screen.shows('NOT CONNECTED: ');
      screen.press('q');
      expect(await screen.ended).toBe(0);
      expect(screen.shown).toContain(GIVEN_BACK);
    },
  );

  it('finds no team when the run is over, for its token is gone with it', async () => {
    run.child.kill('SIGINT');
    await run.ended;
    expect(readdirSync(join(folder, 'orrery'))).toEqual([]);
    expect(await top()).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('No team of this user is served here'),
    });
  });
});

describe('orrery inspect', () => {
  it('reads what a run has recorded, with the machines of its agents', async () => {
    run.child.kill('SIGINT');
    await run.ended;
    const inspect = (...words: string[]) => new Orrery(['inspect', trace(), ...words], { env }).ended;
    const said = await inspect();
    expect(said).toMatchObject({ code: 0, stderr: '' });
    expect(said.stdout).toMatch(/^workshop on /);
    expect(said.stdout).toMatch(/^ {2}accepted {2}words {2}workshop/m);
    expect(said.stdout).toContain('Nothing went wrong\n');
    const talk = await inspect('--conversation', 'workshop/words');
    expect(talk.stdout).toMatch(/system\/loop -> workshop +request words\.check - handled in /);
    const drawn = await inspect('--machine', 'mercury', '--agent', 'mercury');
    expect(drawn.stdout).toMatch(/^stateDiagram-v2\n[\s\S]*state "● /);
    expect((await inspect('--sequence', 'workshop/words', '--as', 'svg')).stdout).toMatch(/^<svg/);
  });
});
