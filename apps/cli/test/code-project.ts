import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissionReport } from '@orrery/ralph-loop';
import { type Ended, Orrery } from './spawn-orrery.ts';

/** The programs that stand in for those of coding agents, found on the PATH as those are. */
const STAND_INS = fileURLToPath(new URL('../../../test/fixtures/coding/bin', import.meta.url));

type Json = Readonly<Record<string, unknown>>;

/** A gate that refuses each file with the word WRONG in it, and counts a test for each file that there is. */
const GATE = `
import { test } from 'node:test';
import { readdirSync, readFileSync } from 'node:fs';
for (const name of readdirSync('.').filter((file) => file.endsWith('.txt')))
  test(name, () => {
    if (readFileSync(name, 'utf8').includes('WRONG')) throw new Error(name + ' is WRONG');
  });
`;

/** A user's repository, what the stand-ins do in it by task and attempt, and a mission, until it is disposed of. */
export class CodeProject implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-code-')));
  readonly root = join(this.folder, 'shop');
  readonly report = join(this.folder, 'report.json');
  readonly mission = join(this.folder, 'mission.json');

  readonly #env: NodeJS.ProcessEnv;

  /** - `env` variables of its user. */
  constructor(files: Readonly<Record<string, string>> = {}, env: NodeJS.ProcessEnv = {}) {
    this.#env = env;
    mkdirSync(this.root);
    this.git('init', '-q', '-b', 'main', '.');
    this.write({
      'README.md': 'A shop\n',
      'all.test.js': GATE,
      'package.json': '{"type":"module"}',
      ...files,
    });
    this.git('add', '-A');
    this.git('commit', '-q', '-m', 'The shop');
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: this.root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  /** Writes files of the user, without a commit. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, name)), { recursive: true });
      writeFileSync(join(this.root, name), text);
    }
  }

  /** What the stand-ins do, by task and attempt. */
  plan(plan: Readonly<Record<string, readonly Json[]>>): void {
    writeFileSync(join(this.folder, 'plan.json'), JSON.stringify(plan));
  }

  /** A mission for Claude's stand-in, with the gate, unless it says otherwise. */
  missionOf(tasks: readonly Json[], { code = {}, limits = {} }: { code?: Json; limits?: Json } = {}): void {
    const gates = [{ name: 'test', run: 'node --test', tests: true }];
    writeFileSync(
      this.mission,
      JSON.stringify({
        version: 1,
        name: 'Shop',
        code: { backends: ['claude'], gates, ...code },
        limits: { maxAttempts: 2, ...limits },
        tasks,
      }),
    );
  }

  /** What its user's commands have in their environment beside what everybody has. */
  get env(): NodeJS.ProcessEnv {
    return {
      PATH: `${STAND_INS}:${process.env['PATH']}`,
      STAND_IN_PLAN: join(this.folder, 'plan.json'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      XDG_STATE_HOME: join(this.folder, 'state'),
      XDG_RUNTIME_DIR: join(this.folder, 'runtime'),
      ...this.#env,
    };
  }

  start(...words: readonly string[]): Orrery {
    return new Orrery([...words, '--repo', this.root], { cwd: this.folder, env: this.env });
  }

  /** Whether a run of its mission was kept, so that it can be resumed. */
  get isBegun(): boolean {
    return existsSync(join(this.root, '.orrery/runs/shop/run.json'));
  }

  /** Runs the mission to its end, and reads its report. */
  async run(...more: readonly string[]): Promise<Ended & { readonly report: MissionReport }> {
    const ended = await this.start('run', this.mission, '--json', this.report, ...more).ended;
    return { ...ended, report: this.reportOf(ended) };
  }

  reportOf({ stderr }: Ended): MissionReport {
    try {
      return MissionReport.parse(JSON.parse(readFileSync(this.report, 'utf8')));
    } catch (error) {
      throw new Error(`There is no report: ${stderr}`, { cause: error });
    }
  }

  /** A file as the mission's branch has it; undefined if it has none. */
  merged(file: string): string | undefined {
    try {
      return this.git('show', `orrery/shop:${file}`);
    } catch {
      return undefined;
    }
  }

  /** The tasks that the branch has, by its commits. */
  get tasks(): readonly string[] {
    const log = ['log', '--reverse', '--format=%(trailers:key=Orrery-Task,valueonly)', 'main..orrery/shop'];
    return this.git(...log)
      .split('\n')
      .filter((task) => task !== '');
  }

  /** The processes that were started with its plan, by whoever it was. Without `/proc` none is seen. */
  get processes(): readonly string[] {
    const mark = `STAND_IN_PLAN=${join(this.folder, 'plan.json')}`;
    if (!existsSync('/proc')) return [];
    return readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
      } catch {
        return false; // It has ended, or is somebody else's.
      }
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const edit = (file: string, text: string, more: Json = {}): Json => ({
  edits: [{ file, text }],
  ...more,
});
