import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Finding } from '../../findings/finding.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));

/** What is planted, or was found: the rule, the file and the line. */
export type Spot = `${string} ${string}:${number}`;

/** A folder that ends with its test. */
export class TemporaryFolder implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-audit-')));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export const fixturePath = (name: string): string => join(FIXTURES, name);

/** A copy of a fixture, with secrets in the place of their names: in the tree they would look like live ones. */
export function copyOfFixture(name: string): TemporaryFolder {
  const folder = new TemporaryFolder();
  cpSync(fixturePath(name), folder.path, { recursive: true });
  for (const file of filesIn(folder.path)) {
    const path = join(folder.path, file);
    const text = readFileSync(path, 'utf8');
    const filled = text.replace(/@@(\w+)@@/g, (_, secret: string) => secretNamed(secret));
    if (filled !== text) writeFileSync(path, filled);
  }
  return folder;
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/** Names what is planted where a comment cannot stand, or would change what is found: `rule file: text of the line`. */
const PLANTED_LIST = 'planted.txt';

/** Up to the end of the line, or of the comment. */
const PLANTED = /planted: ([\w.-]+(?:, [\w.-]+)*)(?: -->| \*\/\}?)?$/;

/** What the files of `folder` say is planted in them, by a comment at the end of the line or in the list. */
export const plantedIn = (folder: string): Spot[] =>
  filesIn(folder)
    .flatMap((file) => {
      const lines = readFileSync(join(folder, file), 'utf8').split('\n');
      if (file === PLANTED_LIST)
        return lines.filter((line) => line !== '').map((line) => listed(folder, line));
      return lines.flatMap((line, index) =>
        (PLANTED.exec(line)?.[1] ?? '')
          .split(', ')
          .filter((rule) => rule !== '')
          .map((rule): Spot => `${rule} ${file}:${index + 1}`),
      );
    })
    .sort();

function listed(folder: string, line: string): Spot {
  const [, rule, file = '', text = ''] = /^(\S+) ([^:]+): (.+)$/.exec(line) ?? [];
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  const found = lines.flatMap((one, index) => (one.includes(text) ? [index + 1] : []));
  if (rule === undefined || found.length !== 1) throw new Error(`${line}: in ${found.length} lines`);
  return `${rule} ${file}:${found[0] as number}`;
}

export const spotsOf = (findings: readonly Finding[]): Spot[] =>
  findings.map(({ rule, file, line }): Spot => `${rule} ${file}:${line}`).sort();

/** Letters and digits that look random, and are always the same. */
function letters(seed: string, count: number): string {
  let text = '';
  for (let block = 0; text.length < count; block++) {
    const hash = createHash('sha512').update(`${seed}${block}`).digest('base64');
    text += hash.replace(/[^A-Za-z0-9]/g, '');
  }
  return text.slice(0, count);
}

const SECRETS: Readonly<Record<string, () => string>> = {
  github: () => `ghp_${letters('github', 36)}`,
  github2: () => `ghp_${letters('another', 36)}`,
  npm: () => `npm_${letters('npm', 36)}`,
  aws: () => letters('aws', 40),
  slack: () => ['xoxb', '1234567890', '0987654321', letters('slack', 24)].join('-'),
  sendgrid: () => `SG.${letters('send', 22)}.${letters('grid', 43)}`,
  anthropic: () => `sk-ant-api03-${letters('anthropic', 93)}AA`,
  password: () => letters('password', 20),
  pem: () => 'RSA PRIVATE KEY',
  keybody: () => (letters('key', 640).match(/.{64}/g) ?? []).join('\\n'),
};

function secretNamed(name: string): string {
  const make = SECRETS[name];
  if (make === undefined) throw new Error(`no secret is called ${name}`);
  return make();
}
