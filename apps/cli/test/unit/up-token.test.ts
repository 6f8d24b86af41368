import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runtimeFolder } from '../../own-folder.ts';
import { newToken, TokenFile } from '../../up-token.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-token-'));
  folder = join(root, 'orrery');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('The token of orrery up', () => {
  it('is another one each time, and lets in whoever has it', async () => {
    const [one, other] = [newToken(), newToken()];
    expect(one.token).not.toBe(other.token);
    expect(Buffer.from(one.token, 'base64url')).toHaveLength(32);
    const come = (authorization: string) =>
      one.authenticator.authenticate({
        method: 'POST',
        url: 'http://127.0.0.1/',
        headers: new Headers({ authorization }),
        body: new Uint8Array(),
      });
    expect(await come(`Bearer ${one.token}`)).toMatchObject({ id: 'token:local', kind: 'user' });
    expect(await come(`Bearer ${other.token}`)).toBeUndefined();
  });

  it('is kept where the user alone reads, and not after the end', () => {
    const file = new TokenFile(folder, 4710, 'secret');
    expect(file.path).toBe(join(folder, '4710.token'));
    expect(readFileSync(file.path, 'utf8')).toBe('secret\n');
    expect([modeOf(folder), modeOf(file.path)]).toEqual([0o700, 0o600]);
    file[Symbol.dispose]();
    expect(readdirSync(folder)).toEqual([]);
    expect(() => file[Symbol.dispose]()).not.toThrow();
  });

  it('leaves the token of whoever has come after', () => {
    const former = new TokenFile(folder, 4710, 'former');
    const later = new TokenFile(folder, 4710, 'later');
    former[Symbol.dispose]();
    expect(readFileSync(later.path, 'utf8')).toBe('later\n');
  });

  it('closes a folder that others could read, and follows no link', () => {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    const theirs = join(root, 'theirs');
    writeFileSync(theirs, 'theirs');
    symlinkSync(theirs, join(folder, '4710.token'));
    symlinkSync(theirs, join(folder, `4710.token.${process.pid}.part`));
    const { path } = new TokenFile(folder, 4710, 'secret');
    expect(readFileSync(theirs, 'utf8')).toBe('theirs');
    expect(readFileSync(path, 'utf8')).toBe('secret\n');
    expect([modeOf(folder), modeOf(path)]).toEqual([0o700, 0o600]);
  });

  it('is refused a folder that is a link, naming it', () => {
    symlinkSync(root, folder);
    expect(() => new TokenFile(folder, 4710, 'secret')).toThrow(
      `No token can be kept in ${folder}: it is no folder`,
    );
    expect(existsSync(join(root, '4710.token'))).toBe(false);
  });

  it('has its folder where XDG says', () => {
    expect(runtimeFolder({ XDG_RUNTIME_DIR: '/run/user/7', XDG_STATE_HOME: '/s' }, '/home/x')).toBe(
      '/run/user/7/orrery',
    );
    expect(runtimeFolder({ XDG_STATE_HOME: '/s' }, '/home/x')).toBe('/s/orrery');
    expect(runtimeFolder({ XDG_RUNTIME_DIR: 'here', XDG_STATE_HOME: '' }, '/home/x')).toBe(
      '/home/x/.local/state/orrery',
    );
  });
});
