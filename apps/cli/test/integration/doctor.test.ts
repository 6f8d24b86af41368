import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BACKENDS } from 'orrery/coding';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Orrery } from '../spawn-orrery.ts';

interface Found {
  readonly area: string;
  readonly what: string;
  readonly state: string;
  readonly text: string;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-doctor-'));
  mkdirSync(join(folder, 'agents'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const agent = (name: string, text: string): void =>
  writeFileSync(join(folder, 'agents', `${name}.agent.mjs`), text);

/** A module outside this repository, so it names the package by where it lies. */
const greeter = (id: string): string => `
import { defineAgent } from ${JSON.stringify(new URL('../../../../index.ts', import.meta.url).href)};
export const agent = defineAgent({ id: '${id}', name: '${id.toUpperCase()}', version: '1.0.0', description: 'Greets', tier: 3 });
`;

async function doctor(...words: readonly string[]): Promise<{ code: number | null; found: Found[] }> {
  const { code, found } = await doctorWith({}, ...words);
  return { code, found };
}

async function doctorWith(env: NodeJS.ProcessEnv, ...words: readonly string[]) {
  const { code, stdout, stderr } = await new Orrery(['doctor', '--json', ...words], { cwd: folder, env })
    .ended;
  return { code, found: JSON.parse(stdout) as Found[], said: `${stdout}${stderr}` };
}

const STAND_INS = fileURLToPath(new URL('../../../../test/fixtures/coding/bin', import.meta.url));

/** An environment in which nobody is logged in, with these programs, git and node on the `PATH`. */
function machineWith(programs: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const [bin, home] = ['bin', 'home'].map((name) => join(folder, name)) as [string, string];
  for (const path of [bin, home]) mkdirSync(path);
  const git = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  for (const [name, file] of Object.entries({ node: process.execPath, git, ...programs }))
    symlinkSync(file, join(bin, name));
  const ownPlaces = { CLAUDE_CONFIG_DIR: undefined, CODEX_HOME: undefined, XDG_DATA_HOME: undefined };
  return { ...NOBODY, ...ownPlaces, PATH: bin, HOME: home };
}

/** No credentials of whoever runs the test. */
const NOBODY: NodeJS.ProcessEnv = Object.fromEntries(
  Object.values(BACKENDS).flatMap(({ env }) => env.map((name) => [name, undefined])),
);

/** A program with this script, for `machineWith`. */
function script(name: string, text: string): string {
  const file = join(folder, `${name}-script`);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

const standIn = (name: string): string => join(STAND_INS, name);
const agentsOf = (found: readonly Found[]): Record<string, string> =>
  Object.fromEntries(
    found
      .filter(({ area }) => area === 'coding agents')
      .map(({ what, state, text }) => [what, `${state}: ${text}`]),
  );

describe('orrery doctor', () => {
  it('says whether the variables are set that the mission of the folder names, and not what is in them', async () => {
    const mission = {
      version: 1,
      name: 'named',
      code: {
        gates: [{ name: 'e2e', run: 'true', passEnv: ['DOCTOR_TOKEN'] }],
        backends: [{ id: 'claude', env: ['DOCTOR_KEY'] }],
      },
      limits: { maxAttempts: 1 },
      tasks: [{ id: 'a', title: 'A' }],
    };
    writeFileSync(join(folder, 'mission.json'), JSON.stringify(mission));
    const { code, found, said } = await doctorWith({ DOCTOR_TOKEN: 'sesame-open-now' });
    expect(found.filter(({ area }) => area === 'mission')).toEqual([
      {
        area: 'mission',
        what: 'DOCTOR_TOKEN',
        state: 'ok',
        text: 'is set; for gate e2e, as code.gates[0].passEnv[0] says',
      },
      {
        area: 'mission',
        what: 'DOCTOR_KEY',
        state: 'missing',
        text: 'is not set; for agent claude, as code.backends[0].env[0] says',
      },
    ]);
    expect(said).not.toContain('sesame');
    expect(code).toBe(0);
  });

  it('starts the agents of the folder and says that they run', async () => {
    agent('one', greeter('one'));
    agent('two', greeter('two'));
    const { code, found } = await doctor();
    expect(code).toBe(0);
    expect(found.filter(({ area }) => area === 'agents').map(({ what, state }) => [what, state])).toEqual([
      ['one', 'ok'],
      ['two', 'ok'],
    ]);
    expect(found).toContainEqual(expect.objectContaining({ what: 'Node', state: 'ok' }));
  });

  it('names the agent whose module cannot be loaded, and ends with 1', async () => {
    agent('one', 'export const nothing = 1;\n');
    const { code, found } = await doctor();
    expect(code).toBe(1);
    const faults = found.filter(({ state }) => state === 'fault');
    expect(faults).toMatchObject([
      { area: 'agents', text: expect.stringContaining('one.agent.mjs') as string },
    ]);
  });

  it('says that a port is taken, and how another is chosen', async () => {
    agent('one', greeter('one'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      const { code, found } = await doctor('--port', String(port));
      expect(code).toBe(0);
      expect(found).toContainEqual(expect.objectContaining({ what: `port ${port}`, state: 'missing' }));
    } finally {
      server.close();
    }
  });

  it('shows what a mounted MCP server says of its tools, and how that is approved (F-09)', async () => {
    const lies = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    agent(
      'bad',
      `import { mcpServer } from ${lies('../../../../mcp.ts')};
       import { program } from ${lies('../../../../test/fixtures/mcp/mounted.ts')};
       export const bad = mcpServer({ id: 'bad', ...program('bad-server') });`,
    );
    const { found } = await doctor('--approve');
    expect(found.filter(({ area }) => area === 'catalogues')).toMatchObject([
      {
        what: 'bad',
        state: 'missing',
        text: expect.stringMatching(/approved: 'sha256:[0-9a-f]{64}'.*"description":"calls"/) as string,
      },
    ]);
  });

  it('says which coding agents are there, in which version, and that a missing one is no fault', async () => {
    agent('one', greeter('one'));
    const env = machineWith({
      claude: standIn('claude'),
      gemini: standIn('gemini'),
      'codex-acp': standIn('claude'),
    });
    const { code, found } = await doctorWith(env);
    expect(code).toBe(0);
    const unknown = 'whether it is logged in cannot be told without asking it';
    expect(agentsOf(found)).toEqual({
      claude: `ok: 1.2.3; ${unknown}`,
      codex: 'missing: is not on the PATH',
      gemini: `ok: 1.2.3; ${unknown}`,
      opencode: 'missing: is not on the PATH',
      'claude-agent-acp': 'missing: is not on the PATH',
      'claude-code-acp': 'missing: is not on the PATH',
      'codex-acp': `ok: 1.2.3; ${unknown}`,
    });
    expect(found).toContainEqual(
      expect.objectContaining({
        area: 'machine',
        what: 'git',
        state: 'ok',
        text: expect.stringMatching(/^\d+\.\d+.*2\.30/) as string,
      }),
    );
  });

  it('sees credentials in variables and files, and shows none of them', async () => {
    agent('one', greeter('one'));
    const names = ['claude', 'codex', 'gemini', 'opencode'];
    const env = machineWith(Object.fromEntries(names.map((name) => [name, standIn(name)])));
    const home = String(env['HOME']);
    const secret = 'a-secret-that-nobody-may-see';
    for (const path of ['.claude', '.local/share/opencode']) mkdirSync(join(home, path), { recursive: true });
    writeFileSync(join(home, '.claude/.credentials.json'), JSON.stringify({ token: secret }));
    // Nobody is logged in: an empty list is what is left of a login.
    writeFileSync(join(home, '.local/share/opencode/auth.json'), '{}');
    const { found, said } = await doctorWith({ ...env, GOOGLE_API_KEY: secret });
    expect(agentsOf(found)).toMatchObject({
      claude: `ok: 1.2.3; has credentials: the file ${join(home, '.claude/.credentials.json')}`,
      codex: 'missing: 1.2.3; is not logged in, "codex login status" says; "codex login" does it',
      gemini: 'ok: 1.2.3; has credentials: the variable GOOGLE_API_KEY',
      opencode: 'ok: 1.2.3; whether it is logged in cannot be told without asking it',
    });
    expect(said).not.toContain(secret);
  });

  it('asks Codex itself where its login is in no file that is known, and repeats nothing of what it says', async () => {
    agent('one', greeter('one'));
    const asked = script(
      'codex',
      '[ "$1" = login ] && { echo "Logged in using an API key - sk-proj-***WXYZ1"; exit 0; }; echo 0.145.0',
    );
    const { found, said } = await doctorWith(machineWith({ codex: asked }));
    expect(agentsOf(found)['codex']).toBe('ok: 0.145.0; is logged in, "codex login status" says');
    expect(said).not.toContain('WXYZ1');
  });

  it('says what is wrong with a program that is there and does not start, and lets no terminal act on what it says', async () => {
    agent('one', greeter('one'));
    const { code, found, said } = await doctorWith(
      machineWith({
        claude: script('claude', 'exit 3'),
        codex: script('codex', 'printf "\\033[31mno number\\n"'),
        gemini: script('gemini', 'printf "\\033]0;x\\0071.0.0\\033[31m\\n"'),
      }),
    );
    expect(code).toBe(0);
    expect(agentsOf(found)).toMatchObject({
      claude: 'missing: cannot be used: claude --version ended with code 3',
      gemini: expect.stringMatching(/^ok: 1\.0\.0;/) as string,
    });
    expect(agentsOf(found)['codex']).toContain('says no version');
    expect(said).not.toContain('\u001B');
  });

  it('says that git is not there, or too old, and that missions without changes need none', async () => {
    agent('one', greeter('one'));
    const { code, found } = await doctorWith(machineWith({ git: script('git', 'echo git version 2.29.3') }));
    expect(code).toBe(0);
    expect(found.find(({ what }) => what === 'git')).toMatchObject({
      state: 'missing',
      text: '2.29.3, needed is 2.30 or later, for missions that change a repository',
    });
  });
});
