import { describe, expect, it } from 'vitest';
import { newCertificates } from '../../../../test/fixtures/certificate.ts';
import { secretlint } from '../../tools/secretlint.tool.ts';
import { placesOf, reportHere, reportOn } from '../run-on.ts';

/** Letters and digits that look random, and are the same each time; no scanner finds them in this file. */
function letters(
  seed: string,
  length: number,
  alphabet = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789',
): string {
  let state = [...seed].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2_147_483_647, 7);
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return alphabet[state % alphabet.length];
  }).join('');
}

const HEX = '0123456789abcdef';
const PEM = ['PRIVATE', 'KEY'].join(' ');
const bodyOf = (seed: string): string => (letters(seed, 640).match(/.{64}/g) ?? []).join('\n');
const body = bodyOf('key');

const SECRETS: Readonly<Record<string, string>> = {
  anthropic: `ANTHROPIC_API_KEY=sk-ant-api03-${letters('anthropic', 93)}AA`,
  aws: `AWS_SECRET_ACCESS_KEY=${letters('aws', 40)}`,
  basicauth: `registry=https://deploy:${letters('basic', 20)}@packages.acme.io/npm`,
  'database-connection-string': `DATABASE_URL=postgres://admin:${letters('db', 20)}@db.acme.io:5432/shop`,
  github: `GITHUB_TOKEN=ghp_${letters('github', 36)}`,
  gitlab: `GITLAB_TOKEN=glpat-${letters('gitlab', 20)}`,
  groq: `GROQ_API_KEY=gsk_${letters('groq', 52)}`,
  huggingface: `HF_TOKEN=hf_${letters('hf', 34, 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ')}`,
  linear: `LINEAR_API_KEY=lin_api_${letters('linear', 40)}`,
  npm: `NPM_TOKEN=npm_${letters('npm', 36)}`,
  openai: `OPENAI_API_KEY=sk-proj-${letters('oa', 74)}T3BlbkFJ${letters('ia', 74)}`,
  sendgrid: `SENDGRID_API_KEY=SG.${letters('send', 22)}.${letters('grid', 43)}`,
  shopify: `SHOPIFY_TOKEN=shpat_${letters('shopify', 32, HEX)}`,
  slack: `SLACK_TOKEN=${['xoxb', '123456789012', '098765432109', letters('slack', 24)].join('-')}`,
  stripe: `STRIPE_KEY=sk_live_${letters('stripe', 24)}`,
};

describe('secretlint as a tool', () => {
  it('finds a secret of each kind, and shows at most four characters of it', async () => {
    const files = Object.fromEntries(
      Object.entries(SECRETS).map(([kind, text]) => [`config/${kind}.env`, `# settings\n${text}\n`]),
    );
    const report = await reportOn(secretlint, files);
    expect(placesOf(report)).toEqual(
      Object.keys(SECRETS)
        .map((kind) => `${kind} config/${kind}.env:2`)
        .sort(),
    );
    expect(report.findings.every(({ severity }) => ['critical', 'high'].includes(severity))).toBe(true);
    const told = JSON.stringify(report);
    for (const text of Object.values(SECRETS)) expect(told).not.toContain(text.slice(-16));
  });

  it('says nothing of a key whose certificate beside it no public authority has issued', async () => {
    const { key, cert } = newCertificates();
    const other = newCertificates();
    const report = await reportHere(secretlint, {
      'tls/server.key': key,
      'tls/server.crt': cert,
      'etc/server.key': other.key,
      'etc/server.crt': cert,
    });
    expect(placesOf(report)).toEqual(['privatekey etc/server.key:1']);
  });

  it('rates a password that is a word less than one that a program made', async () => {
    const address = (password: string): string =>
      `const url = 'https://deploy:${password}@packages.acme.io/npm';\n`;
    const { findings } = await reportHere(secretlint, {
      'a.js': address('Moonshine7'),
      'b.js': address(letters('basic', 20)),
    });
    expect(findings.map(({ file, severity }) => [file, severity])).toEqual([
      ['a.js', 'medium'],
      ['b.js', 'high'],
    ]);
  });

  it('says nothing of what stands for a token', async () => {
    const address = ['https://hooks.slack.com', 'services', 'T00', 'B00', 'xxx'].join('/');
    const report = await reportHere(secretlint, { 'pkg/validate.go': `var hook = "${address}"\n` });
    expect(report.findings).toEqual([]);
  });

  it('finds private keys of any kind, whole or cut off', async () => {
    const report = await reportHere(secretlint, {
      'keys/rsa.pem': `-----BEGIN RSA ${PEM}-----\n${bodyOf('rsa')}\n-----END RSA ${PEM}-----\n`,
      'keys/any.pem': `-----BEGIN ${PEM}-----\n${bodyOf('any')}\n-----END ${PEM}-----\n`,
      'keys/locked.pem': `-----BEGIN ENCRYPTED ${PEM}-----\n${bodyOf('locked')}\n-----END ENCRYPTED ${PEM}-----\n`,
      'keys/pgp.asc': `-----BEGIN PGP ${PEM} BLOCK-----\n\n${bodyOf('pgp')}\n-----END PGP ${PEM} BLOCK-----\n`,
      'src/cut.ts': `export const key = '-----BEGIN ${PEM}-----\\n${body.replaceAll('\n', '\\n')}';\n`,
      'keys/public.pem': `-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----\n`,
    });
    expect(placesOf(report)).toEqual([
      'privatekey keys/any.pem:1',
      'privatekey keys/locked.pem:1',
      'privatekey keys/pgp.asc:1',
      'privatekey keys/rsa.pem:1',
      'privatekey src/cut.ts:1',
    ]);
  });

  it('leaves out placeholders, made-up addresses, and what the file itself says is none', async () => {
    const { findings } = await reportHere(secretlint, {
      '.env': [
        'GITHUB_TOKEN=ghp_your-token-goes-here',
        'A=ghp_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE1',
        'B=postgres://user:$' + '{PASSWORD}@db.acme.io/shop',
        'C=postgres://postgres:postgres@localhost:5432/shop',
        'D=postgres://shop:STRONG_DB_PASSWORD@db:5432/shop',
        'E=mysql://root:hunter2@db.acme.io/shop',
      ].join('\n'),
      'test/urls.test.ts': `const url = 'https://alice:wonder1@books.acme.io/a';\n`,
      'src/quiet.ts': `// secretlint-disable-next-line\nconst key = '${SECRETS['github']?.slice(13)}';\n`,
    });
    expect(findings).toEqual([]);
  });

  it('takes a Slack token of words, or with asterisks, for none', async () => {
    const { findings } = await reportHere(secretlint, {
      'src/a.ts': `start('${['xoxb', 'completely-invalid-token'].join('-')}', '${['xoxb', '244493285', '28*****', '****'].join('-')}');\n`,
    });
    expect(findings).toEqual([]);
  });

  it('is less severe where code does not run in production', async () => {
    const { findings } = await reportHere(secretlint, {
      'src/a.ts': `export const a = '${SECRETS['npm']?.slice(10)}';\n`,
      'test/a.ts': `export const a = '${SECRETS['npm']?.slice(10)}';\n`,
      'test/tls.ts': `export const key = '-----BEGIN ${PEM}-----\\n${body.replaceAll('\n', '\\n')}';\n`,
    });
    const severities = findings.map(({ file, severity }) => [file, severity]);
    expect(Object.fromEntries(severities)).toEqual({
      'src/a.ts': 'critical',
      'test/a.ts': 'medium',
    });
  });

  it('tells of a private key once, and not of one that a test is given', async () => {
    const key = `-----BEGIN ${PEM}-----\n${body}\n-----END ${PEM}-----\n`;
    const report = await reportHere(secretlint, {
      'certs/client.key': key,
      'certs/client.pem': `a certificate\n${key}`,
      'tests/client.key': key,
      'examples/client.key': key.replace('A', 'B'),
      'demo-setups/client.key': key.replace('A', 'C'),
    });
    expect(placesOf(report)).toEqual(['privatekey certs/client.key:1']);
  });
});
