import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchTarget } from '../../../watch/watch-target.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-top-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const served = (port: number, token = `token-${port}`): void =>
  writeFileSync(join(folder, `${port}.token`), `${token}\n`);
const meant = (options: Record<string, string | true>, alive: readonly number[] = []) =>
  watchTarget(options, { folder, isServed: async (url) => alive.some((port) => url.endsWith(`:${port}`)) });

describe('which team is watched', () => {
  it('is the only one that is served here, with its token as it is at each try', async () => {
    served(4_710);
    served(4_711);
    writeFileSync(join(folder, 'notes.txt'), '');
    const target = await meant({}, [4_711]);
    expect(target()).toEqual({ url: 'http://127.0.0.1:4711', token: 'token-4711' });
    served(4_711, 'another');
    expect(target().token).toBe('another');
  });

  it('must be said where there are several, and cannot be where there is none', async () => {
    await expect(meant({})).rejects.toThrow(/^No team of this user is served here/);
    served(9_000);
    await expect(meant({})).rejects.toThrow(/^No team of this user is served here/);
    served(80);
    await expect(meant({}, [80, 9_000])).rejects.toThrow(
      'Option "--port" is missing: several teams are served here, on 80, 9000',
    );
    expect((await meant({ port: '9000' }))()).toEqual({ url: 'http://127.0.0.1:9000', token: 'token-9000' });
    expect((await meant({ port: '9001' }))().token).toBeUndefined();
  });

  it('is the one at a URL, with the token of a file', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, 'secret\n');
    expect((await meant({ url: 'https://team.example/orrery/', 'token-file': file }))()).toEqual({
      url: 'https://team.example/orrery',
      token: 'secret',
    });
    mkdirSync(join(folder, 'a'));
    await expect(meant({ url: 'team' })).rejects.toThrow('Option "--url" is "team", expected a URL');
    await expect(meant({ 'token-file': file })).rejects.toThrow('"--token-file" is given without "--url"');
    await expect(meant({ url: 'http://a', port: '1' })).rejects.toThrow('exclude each other');
    await expect(meant({ url: 'http://a', 'token-file': join(folder, 'a') })).rejects.toThrow(
      'it is a folder',
    );
  });
});
