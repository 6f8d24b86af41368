import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exhaust } from '../fixtures/agents/hog.ts';
import { attempt, look } from '../fixtures/agents/insider.ts';
import { whyNoBubblewrap } from '../fixtures/bubblewrap.ts';
import { isRunning } from '../fixtures/processes.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const isolation = { process: 'bubblewrap' as const };
const home = mkdtempSync('/var/tmp/orrery-bubblewrap-');
const [readable, writable] = [join(home, 'readable'), join(home, 'writable')] as const;
for (const folder of [readable, writable]) mkdirSync(folder);
afterAll(() => rmSync(home, { recursive: true }));

describe.skipIf(whyNoBubblewrap() !== undefined)('An agent in bubblewrap (F-06)', () => {
  let system: System;
  const tries = (deed: 'read' | 'write' | 'list', path: string): Promise<string> =>
    system.ask({ agent: 'walled', capability: attempt }, { deed, path });

  beforeAll(async () => {
    system = await startSystem({
      agents: [
        agent('insider', {
          isolation,
          instances: ['walled'],
          permissions: { read: [readable], write: [writable] },
          env: { GREETING: 'hello' },
        }),
        agent('hog', { isolation, memoryMb: 64, residentMb: 200 }),
      ],
    });
  }, 120_000);
  afterAll(() => system.stop());

  it('has what it is granted, a /tmp of its own, and nothing else', async () => {
    expect(await tries('list', readable)).toBe('done');
    expect(await tries('write', join(readable, 'new'))).toBe('ERR_ACCESS_DENIED');
    expect(await tries('write', join(writable, 'new'))).toBe('done');
    expect(readFileSync(join(writable, 'new'), 'utf8')).toBe('written');
    const temporary = `/tmp/orrery-${process.pid}-own`;
    expect(await tries('write', temporary)).toBe('done');
    expect(await tries('read', temporary)).toBe('done');
    expect(() => readFileSync(temporary)).toThrow('ENOENT');
    expect(await tries('read', '/etc/passwd')).not.toBe('done');
  });

  it('inherits no environment, and is one of two processes that it knows', async () => {
    const { env, pid } = await system.ask({ agent: 'walled', capability: look }, undefined);
    expect(env).toEqual({ GREETING: 'hello', PWD: '/' });
    expect(pid).toBe(2);
  });

  it('is ended and started again like any other', async () => {
    const walled = async () => (await system.roster()).find(({ id }) => id === 'walled');
    const before = await walled();
    await system.terminate(`process-${before?.pid}`);
    expect(await tries('list', readable)).toBe('done');
    expect(await walled()).toMatchObject({ status: 'running', restarts: 1 });
    await until('the former one is gone', () => !isRunning(before?.pid as number));
  });

  it('has no more memory than it is given, in the heap or outside', async () => {
    const { code, message } = await rejection(system.ask(exhaust, 'Buffers', { timeoutMs: 100_000 }));
    expect(code).toBe('ACTOR_DIED');
    expect(message).toMatch(/megabytes|MB|memory/);
  }, 120_000);

  it('is refused when what it may write to is not there', async () => {
    const missing = join(home, 'missing');
    const given = agent('insider', { isolation, instances: ['other'], permissions: { write: [missing] } });
    const { code, message } = await rejection(system.start([given]));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain(missing);
  });
});

/** The real `bwrap`, where the kernel gives no namespaces to it. */
function withoutNamespaces(): string {
  const folder = join(home, 'without-namespaces');
  mkdirSync(folder);
  const real = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim();
  const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"';
  const script = `#!/bin/sh\nexec /usr/bin/unshare --user --map-root-user /bin/sh -c '${forbid}' '${real}' "$@"\n`;
  writeFileSync(join(folder, 'bwrap'), script, { mode: 0o755 });
  return folder;
}

/** What a start of an agent in bubblewrap fails with, where programs are looked for in this folder alone. */
async function refusalWith(folder: string): Promise<{ code: string; message: string }> {
  const { PATH } = process.env;
  process.env['PATH'] = folder;
  return rejection(startSystem({ agents: [agent('insider', { isolation })] })).finally(() => {
    process.env['PATH'] = PATH;
  });
}

describe.skipIf(whyNoBubblewrap() !== undefined)('A machine whose kernel gives no namespaces', () => {
  it('refuses to start an agent that is to have them, with what the kernel said and what else there is (F-06)', async () => {
    const { code, message } = await refusalWith(withoutNamespaces());
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('isolation');
    expect(message).toMatch(/namespace/);
    expect(message).toContain("isolation: 'process'");
  }, 120_000);
});

describe('A machine without bubblewrap', () => {
  it('refuses to start an agent that is to have it, by name', async () => {
    const { code, message } = await refusalWith(home);
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('isolation');
    expect(message).toContain('there is no bwrap');
  }, 120_000);
});
