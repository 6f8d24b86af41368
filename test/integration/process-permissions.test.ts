import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentSpec, startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attempt, type DEEDS, look, offloaded } from '../fixtures/agents/insider.ts';
import { agent, rejection } from '../fixtures/until.ts';

type Deed = (typeof DEEDS)[number];

const granted = mkdtempSync(join(tmpdir(), 'orrery-granted-'));
const secret = join(mkdtempSync(join(tmpdir(), 'orrery-secret-')), 'secret.txt');
const file = join(granted, 'file.txt');
const ADDON = join(granted, 'addon.node');
const OFFLOADED = new URL('../fixtures/offload/', import.meta.url);
let server: Server;
let system: System;

const insider = (name: string, options: object = {}): AgentSpec =>
  agent('insider', { instances: [name], isolation: 'process' as const, ...options });

beforeAll(async () => {
  process.env['SECRET_OF_THE_HOST'] = 'inherited';
  writeFileSync(secret, 'secret');
  writeFileSync(file, 'file');
  writeFileSync(ADDON, 'no native code');
  server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  system = await startSystem({
    agents: [
      insider('strict'),
      insider('granted', {
        permissions: {
          read: [granted],
          write: [new URL(`file://${granted}/`)],
          net: true,
          childProcess: true,
        },
        env: { GREETING: 'hello' },
        memoryMb: 100,
      }),
      insider('threaded', { permissions: { worker: true, addons: true, read: [granted, OFFLOADED] } }),
    ],
  });
});
afterAll(async () => {
  await system.stop();
  server.close();
  for (const folder of [granted, join(secret, '..')]) rmSync(folder, { recursive: true });
});

const tries = (name: string, deed: Deed, path = ''): Promise<string> =>
  system.ask({ agent: name, capability: attempt }, { deed, path });
const port = (): string => String((server.address() as { port: number }).port);

describe('An agent in a process of its own, without permissions (F-06)', () => {
  it.each<[Deed, string]>([
    ['read', '/etc/passwd'],
    ['read', secret],
    ['read', join(process.cwd(), 'package-lock.json')],
    ['read', join(process.cwd(), 'README.md')],
    ['read', `/proc/${process.pid}/environ`],
    ['list', '/'],
    ['list', process.cwd()],
    ['write', join(granted, 'new.txt')],
    ['write', join(process.cwd(), 'new.txt')],
    ['spawn', ''],
    ['listen', ''],
    ['make a thread', ''],
    ['signal the host', ''],
    ['open an inspector', ''],
    ['attach to the host', ''],
  ])('cannot %s %s', async (deed, path) => {
    expect(await tries('strict', deed, path)).toBe('ERR_ACCESS_DENIED');
  });

  it('cannot connect to anybody', async () => {
    expect(await tries('strict', 'connect', port())).toBe('ERR_ACCESS_DENIED');
  });

  it('cannot load native code', async () => {
    expect(await tries('strict', 'load native code', ADDON)).toMatch(/^ERR_(ACCESS_DENIED|DLOPEN_DISABLED)$/);
  });

  it('can read its own code', async () => {
    const own = new URL('../fixtures/agents/insider.agent.ts', import.meta.url).pathname;
    expect(await tries('strict', 'read', own)).toBe('done');
  });

  it('inherits no environment', async () => {
    const { env, pid } = await system.ask({ agent: 'strict', capability: look }, undefined);
    expect(env).toEqual({});
    expect(pid).toBe((await system.roster()).find(({ id }) => id === 'strict')?.pid);
  });

  it('cannot offload, and is told which permission is missing', async () => {
    const { code, message } = await rejection(system.ask({ agent: 'strict', capability: offloaded }, 21));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('permissions.worker');
  });
});

describe('An agent in a process of its own, with permissions', () => {
  it('can do what it is granted: files, folders, sockets, processes', async () => {
    expect(await tries('granted', 'read', file)).toBe('done');
    expect(await tries('granted', 'list', granted)).toBe('done');
    expect(await tries('granted', 'write', join(granted, 'new.txt'))).toBe('done');
    expect(existsSync(join(granted, 'new.txt'))).toBe(true);
    expect(await tries('granted', 'connect', port())).toBe('done');
    expect(await tries('granted', 'listen')).toBe('done');
    expect(await tries('granted', 'spawn')).toBe('done');
    expect(await tries('granted', 'signal the host')).toBe('done');
  });

  it('can do nothing else', async () => {
    expect(await tries('granted', 'read', secret)).toBe('ERR_ACCESS_DENIED');
    expect(await tries('granted', 'write', file.replace('granted', 'other'))).toBe('ERR_ACCESS_DENIED');
    expect(await tries('granted', 'make a thread')).toBe('ERR_ACCESS_DENIED');
  });

  it('has the environment and the heap that it is given', async () => {
    const { env, heapLimitMb } = await system.ask({ agent: 'granted', capability: look }, undefined);
    expect(env).toEqual({ GREETING: 'hello', ORRERY_PROCESS: expect.any(String) });
    expect(heapLimitMb).toBeGreaterThan(90);
    expect(heapLimitMb).toBeLessThan(200);
  });

  it('may be granted threads, and then offloads; and native code', async () => {
    expect(await tries('threaded', 'make a thread')).toBe('done');
    expect(await system.ask({ agent: 'threaded', capability: offloaded }, 21)).toBe(42);
    expect(await tries('threaded', 'load native code', ADDON)).toBe('ERR_DLOPEN_FAILED');
  });
});

describe('A module that needs more than it may read', () => {
  it('is refused with MODULE_INVALID, naming the file', async () => {
    const module = join(granted, 'curious.agent.ts');
    writeFileSync(
      module,
      `import { readFileSync } from 'node:fs';\nreadFileSync(${JSON.stringify(secret)});\n`,
    );
    const { code, message } = await rejection(
      system.start([{ module: new URL(`file://${module}`), isolation: 'process' }]),
    );
    expect(code).toBe('MODULE_INVALID');
    expect(message).toContain(secret);
  });
});
