import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopAgents } from '@orrery/ralph-loop';
import { type Progress, startSystem, type Team } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { securityScan } from '../../capabilities.ts';

const KEY = ['gh', `p_${'Ab1'.repeat(12)}`].join('');

let system: Team;
let root: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'orrery-planet-'));
  const enceladus = new URL('../../planets/enceladus.agent.ts', import.meta.url);
  system = await startSystem({
    agents: [...loopAgents(), { module: enceladus, isolation: 'thread' }],
    workers: 1,
  });
});
afterAll(async () => {
  await system.stop();
  rmSync(root, { recursive: true, force: true });
});

function write(file: string, text: string): void {
  mkdirSync(join(root, file, '..'), { recursive: true });
  writeFileSync(join(root, file), text);
}

describe('a planet in a system', () => {
  it('finds in a process of its own, masks what it shows, and says how far it is', async () => {
    write('src/keys.ts', `export const token = '${KEY}';\n`);
    const heard: Progress[] = [];
    const answer = await system.ask(
      securityScan,
      { root },
      { onProgress: (progress) => heard.push(progress) },
    );
    expect(answer.findings).toMatchObject([{ rule: 'secretlint/github', file: 'src/keys.ts', line: 1 }]);
    expect(JSON.stringify(answer)).not.toContain(KEY);
    expect(heard.map(({ note }) => note)).toEqual(
      expect.arrayContaining(['lists the files', 'secretlint: 1 files', 'checks what was found']),
    );
  });

  it('says what there was not, when there is nothing for it to read', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'orrery-planet-'));
    expect(await system.ask(securityScan, { root: empty })).toMatchObject({
      findings: [],
      nothing: 'no files, no scripts',
    });
    rmSync(empty, { recursive: true });
  });

  it('declines a repository that is not there', async () => {
    await expect(system.ask(securityScan, { root: join(root, 'gone') })).rejects.toMatchObject({
      code: 'REFUSED',
    });
  });

  it('ends its tool when it is cancelled, and works on', async () => {
    for (let index = 0; index < 2_000; index++) write(`many/${index}.ts`, 'export {};\n');
    const left = new AbortController();
    const asked = system.ask(
      securityScan,
      { root },
      {
        timeoutMs: 100_000,
        signal: left.signal,
        onProgress: ({ fraction }) => fraction > 0.1 && left.abort(),
      },
    );
    await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
    const { findings } = await system.ask(securityScan, { root }, { timeoutMs: 100_000 });
    expect(findings).toHaveLength(1);
    expect((await system.roster()).find(({ id }) => id === 'enceladus')?.restarts).toBe(0);
  });
});
