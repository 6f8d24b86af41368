import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startSystem } from 'orrery';
import { afterAll, describe, expect, it } from 'vitest';
import { bubblewrapCommand } from '../../../runtime/processes/bubblewrap.ts';
import { codePaths } from '../../../runtime/processes/code-paths.ts';
import { exitReason } from '../../../runtime/processes/node-process-spawner.ts';
import { nodeArguments } from '../../../runtime/processes/node-arguments.ts';
import { ProcessOptions } from '../../../runtime/agent/process-options.ts';
import { parseAgent, processOptionsOf } from '../../../runtime/system/system-options.ts';
import { rejection } from '../../fixtures/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-paths-'));
afterAll(() => rmSync(folder, { recursive: true }));

const module = new URL('file:///srv/agents/mars.js');
const wrong = (fields: object) => {
  try {
    parseAgent({ module, isolation: 'process', ...fields } as never);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('The options of an agent in a process of its own', () => {
  it('have defaults that permit nothing', () => {
    const agent = parseAgent({ module, isolation: 'process' });
    expect(processOptionsOf(agent as never)).toEqual({
      permissions: {
        read: [],
        write: [],
        net: false,
        childProcess: false,
        worker: false,
        addons: false,
        wasi: false,
        ffi: false,
        sqlite: false,
      },
      memoryMb: 256,
      residentMb: 512,
      mayDeclareClean: false,
      catalogue: {},
      env: {},
    });
  });

  it('are the same in bubblewrap, and say so', () => {
    const isolation = { process: 'bubblewrap' } as const;
    const agent = parseAgent({ module, isolation, permissions: { net: true } });
    expect(processOptionsOf(agent as never)).toMatchObject({
      permissions: { net: true },
      within: 'bubblewrap',
    });
    expect(wrong({ isolation: { process: 'chroot' } })).toContain('isolation');
  });

  it('name paths as texts or URLs, and stay what they are when they are read again', () => {
    const given = { read: ['/data/in/../out/', new URL('file:///data/a%20file')], write: [] };
    const once = parseAgent({ module, isolation: 'process', permissions: given, memoryMb: 64 });
    const twice = parseAgent(once as never);
    for (const agent of [once, twice])
      expect(processOptionsOf(agent as never)).toMatchObject({
        permissions: { read: ['/data/out/', '/data/a file'] },
        memoryMb: 64,
        residentMb: 320,
      });
  });

  it.each<[string, object, string]>([
    [
      'a relative path',
      { permissions: { read: ['data'] } },
      'permissions.read[0] is "data", expected an absolute path',
    ],
    ['a pattern', { permissions: { write: ['/data/*'] } }, 'permissions.write[0] is "/data/*"'],
    [
      'a URL of no file',
      { permissions: { read: [new URL('https://a.example/')] } },
      'permissions.read[0] is',
    ],
    [
      'a permission that is none',
      { permissions: { root: true } },
      'permissions.root is true, expected no option',
    ],
    ['a permission that is no answer', { permissions: { net: 'yes' } }, 'permissions.net is "yes"'],
    ['too little heap', { memoryMb: 4 }, 'memoryMb is 4'],
    ['no whole megabytes', { residentMb: 200.5 }, 'residentMb is 200.5'],
    ['an environment for Node itself', { env: { NODE_OPTIONS: '--allow-fs-read=*' } }, 'NODE_OPTIONS'],
    ['a variable that is no text', { env: { PORT: 80 } }, 'env.PORT is a number that is not shown'],
    ['a tier that is none', { tier: 4 }, 'tier is 4'],
    ['an empty sandbox', { sandboxId: '' }, 'sandboxId is ""'],
    [
      'a module that is no file',
      { module: new URL('data:text/javascript,') },
      'module is "data:text/javascript,"',
    ],
  ])('are refused, naming field and value: %s', (_, fields, message) => {
    expect(wrong(fields)).toContain('agents.0');
    expect(wrong(fields)).toContain(message);
  });

  it('are refused for an agent that has none', () => {
    for (const isolation of ['inline', 'thread'] as const)
      expect(wrong({ isolation, memoryMb: 64 })).toContain(
        "memoryMb is 64, expected nothing, without isolation: 'process'",
      );
  });

  it('are refused by startSystem before anything is started', async () => {
    const agents = [{ module, isolation: 'process' as const, memoryMb: 1 }];
    expect((await rejection(startSystem({ agents }))).code).toBe('INVALID_OPTIONS');
  });
});

describe('The arguments of a process', () => {
  const options = (given: object) => ProcessOptions.parse(given);

  it('permit reading its code and nothing else, unless more is granted', () => {
    const args = nodeArguments(options({}), [folder], []);
    expect(args).toEqual([
      '--permission',
      '--allow-worker',
      '--disable-warning=SecurityWarning',
      `--allow-fs-read=${folder}`,
      '--no-experimental-sqlite',
      '--max-old-space-size=256',
    ]);
    const granted = nodeArguments(
      options({ permissions: { net: true, childProcess: true, addons: true, wasi: true, write: [folder] } }),
      [],
      [],
    );
    expect(granted).toEqual(
      expect.arrayContaining(['--allow-child-process', '--allow-addons', '--allow-wasi']),
    );
    expect(granted).toContain(`--allow-fs-write=${folder}`);
  });

  it('leave node:sqlite out unless it is granted, or everything is that it could reach', () => {
    const has = (permissions: object): boolean =>
      !nodeArguments(options({ permissions }), [], []).includes('--no-experimental-sqlite');
    expect(has({ read: ['/'] })).toBe(false);
    expect(has({ write: ['/'] })).toBe(false);
    expect(has({ read: ['/data'], write: ['/data'] })).toBe(false);
    expect(has({ read: ['/'], write: ['/'] })).toBe(true);
    expect(has({ sqlite: true })).toBe(true);
  });

  it('let the thread that watches the host look for what the process starts, where it may start anything', () => {
    for (const permissions of [{ childProcess: true }, { worker: true }, { addons: true }, { ffi: true }])
      expect(nodeArguments(options({ permissions }), [], [])).toContain('--allow-fs-read=/proc');
    const walled = options({ permissions: { childProcess: true }, within: 'bubblewrap' });
    for (const given of [options({}), walled])
      expect(nodeArguments(given, [], [])).not.toContain('--allow-fs-read=/proc');
  });

  it('grant a path that is not there yet as a file and as a folder', () => {
    const path = join(folder, 'later');
    const args = nodeArguments(options({ permissions: { write: [path] } }), [], []);
    expect(args).toEqual(expect.arrayContaining([`--allow-fs-write=${path}`, `--allow-fs-write=${path}/*`]));
  });

  it('resolve packages under the conditions of this process', () => {
    const own = ['--conditions=one', '-C', 'two', '--inspect', '--conditions', 'three'];
    const args = nodeArguments(options({}), [], own);
    expect(args.filter((arg) => arg.startsWith('--conditions'))).toEqual([
      '--conditions=one',
      '--conditions=two',
      '--conditions=three',
    ]);
    expect(args.join()).not.toContain('inspect');
  });
});

describe('The mounts of a process in bubblewrap', () => {
  const mounts = (permissions: object): string[] => {
    const options = ProcessOptions.parse({ permissions, within: 'bubblewrap' });
    const { args } = bubblewrapCommand(options, ['/app/agents'], '/opt/node');
    return args.flatMap((arg, at) => (/^--(ro-)?bind/.test(arg) ? [`${arg} ${args[at + 1]}`] : []));
  };

  it('are its code, what it may read, and what it may write, folders before what is in them', () => {
    const given = mounts({ read: ['/data/in', '/data'], write: ['/data/out/'] });
    expect(given.filter((mount) => /data|app|opt/.test(mount))).toEqual([
      '--ro-bind-try /app/agents',
      '--ro-bind-try /data',
      '--ro-bind-try /data/in',
      '--bind-try /data/out',
      '--ro-bind-try /opt/node',
    ]);
  });

  it('are writable where they lie in what may be written', () => {
    const given = mounts({ write: ['/app'] });
    expect(given).toContain('--bind-try /app/agents');
    expect(mounts({ read: ['/'] })).toContain('--ro-bind-try /');
  });

  it('have no programs and no network that are not granted', () => {
    expect(mounts({})).not.toContain('--ro-bind-try /usr');
    expect(mounts({ childProcess: true })).toContain('--ro-bind-try /usr');
    const shared = (net: boolean): boolean =>
      bubblewrapCommand(ProcessOptions.parse({ permissions: { net } }), []).args.includes('--share-net');
    expect([shared(false), shared(true)]).toEqual([false, true]);
  });
});

describe('The paths of the code of an agent', () => {
  it('are its folder, the packages above it, and Orrery: not what lies beside', () => {
    const app = join(folder, 'app');
    mkdirSync(join(app, 'agents', 'mars'), { recursive: true });
    mkdirSync(join(app, 'node_modules'));
    mkdirSync(join(app, 'secrets'));
    for (const name of ['package.json', 'agents/mars/mars.js', '.env']) writeFileSync(join(app, name), '');
    const entry = new URL('../../../process.ts', import.meta.url);
    const paths = codePaths(pathToFileURL(join(app, 'agents/mars/mars.js')).href, entry);
    expect(paths).toContain(join(app, 'agents/mars'));
    expect(paths).toContain(join(app, 'node_modules'));
    expect(paths).toContain(join(app, 'package.json'));
    expect(paths).toContain(new URL('../../../runtime', import.meta.url).pathname);
    for (const path of ['', 'agents', 'secrets', '.env']) expect(paths).not.toContain(join(app, path));
    const root = new URL('../../../', import.meta.url).pathname;
    for (const path of ['test', 'docs', '.git', 'README.md']) expect(paths).not.toContain(join(root, path));
    expect(paths).not.toContain('/');
  });

  it('are where a link leads, too', () => {
    const real = join(folder, 'real');
    mkdirSync(real);
    writeFileSync(join(real, 'linked.js'), '');
    const link = join(folder, 'link');
    symlinkSync(real, link);
    const paths = codePaths(pathToFileURL(join(link, 'linked.js')).href, new URL('file:///x/process.js'));
    expect(paths).toEqual(expect.arrayContaining([link, real]));
  });
});

describe('The end of a process', () => {
  it.each<[number | null, string | null, string, string]>([
    [7, null, '', 'its process ended with exit code 7'],
    [null, 'SIGKILL', '', 'its process was ended by SIGKILL'],
    [
      null,
      'SIGABRT',
      'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
      'its process ran out of memory and was ended by SIGABRT',
    ],
  ])('is told: code %s, signal %s', (code, signal, errorTail, reason) => {
    expect(exitReason(code, signal, errorTail)).toBe(reason);
  });
});
