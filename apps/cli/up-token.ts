import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Authenticator, sharedToken } from 'orrery/admission';
import { makeOwn } from './own-folder.ts';
import { UsageError } from './usage-error.ts';

const TOKEN_BYTES = 32;
const OWN_FILE = 0o600;

/** The principal of callers with the token: the user who started the team, or somebody who got the token from them. */
const OWNER = {
  id: 'token:local',
  kind: 'user',
  roles: ['operator'],
  tier: 3,
  trust: { score: 1, source: 'this machine' },
} as const;

/** Makes a token, and the authenticator that accepts it. */
export function newToken(): { readonly token: string; readonly authenticator: Authenticator } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, authenticator: sharedToken(token, OWNER) };
}

/** A file with the token for a port, readable by this user only, until it is disposed. */
export class TokenFile implements Disposable {
  readonly path: string;
  readonly #token: string;

  /** Replaces the file of this port, on which nobody else can serve now. Throws UsageError. */
  constructor(folder: string, port: number, token: string) {
    this.path = join(folder, `${port}.token`);
    this.#token = token;
    try {
      makeOwn(folder);
      const part = `${this.path}.${process.pid}.part`;
      rmSync(part, { force: true });
      // `wx` fails for an existing file, so that no link is followed.
      const file = openSync(part, 'wx', OWN_FILE);
      try {
        writeSync(file, `${token}\n`);
      } finally {
        closeSync(file);
      }
      renameSync(part, this.path);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UsageError(`No token can be kept in ${folder}: ${why}`);
    }
  }

  /** Removes the file, unless it has another token now. */
  [Symbol.dispose](): void {
    try {
      if (readFileSync(this.path, 'utf8') === `${this.#token}\n`) rmSync(this.path, { force: true });
    } catch {
      // It is gone or unreadable, so it is not ours any more.
    }
  }
}
