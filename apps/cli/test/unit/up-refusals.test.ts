import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { orreryHere } from '../run-here.ts';

const agents = fileURLToPath(new URL('../fixtures/dawdler.agent.ts', import.meta.url));

describe('orrery up refuses with 64, naming option and value, before anything starts', () => {
  const refused: readonly [string, () => string[], string][] = [
    [
      'a port that is none',
      () => ['--port', '70000'],
      'Option "--port" is "70000", expected a whole number from 0 to 65535',
    ],
    [
      'a module that is not there',
      () => ['--agents', '/no/agent.ts'],
      'Option "--agents" is "/no/agent.ts": there is no file',
    ],
    [
      'a list of nothing',
      () => ['--hosts', 'a,,b'],
      'Option "--hosts" is "a,,b", expected names separated by commas',
    ],
    [
      'keys that are not there',
      () => ['--api-keys', '/no/keys'],
      'Option "--api-keys" is "/no/keys": there is no such file',
    ],
    ['keys that are none', () => ['--api-keys', agents], 'it is no JSON'],
    ['half a certificate', () => ['--tls-cert', agents], 'Option "--tls-key" is missing'],
    ['tokens of anybody', () => ['--jwks', 'https://id.example/jwks'], 'Option "--issuer" is missing'],
    [
      'keys at no URL',
      () => ['--jwks', 'x', '--issuer', 'i', '--audience', 'a'],
      'Option "--jwks" is "x", expected the URL',
    ],
    ['trust in nobody', () => ['--no-token', '--trust'], 'Option "--trust" is of the token'],
    ['a gate for nothing', () => ['--xpr-gate'], 'without "--xpr"'],
    [
      'a tracing module that is not there',
      () => ['--tracing', '/no/t.js'],
      'Option "--tracing" is "/no/t.js": there is no file',
    ],
    [
      'a level that is none',
      () => ['--log-level', 'loud'],
      'Option "--log-level" is "loud", expected error, warn, info, silent',
    ],
    ['XPR without a chain', () => ['--xpr'], 'XPR_RPC_ENDPOINT is undefined'],
  ];
  it.each(refused)('%s', async (_, words, message) => {
    const ended = await orreryHere('up', ...words());
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).toContain("See 'orrery up --help'.");
  });
});

describe('orrery key', () => {
  it.each([
    [['--kind', 'robot'], 'Option "--kind" is "robot", expected one of agent, user, service'],
    [['--tier', '4'], 'Option "--tier" is "4", expected 0, 1, 2 or 3'],
    [['--days', '0'], 'Option "--days" is "0", expected a whole number'],
    [['--add', '/no/such/list'], 'Option "--add" is "/no/such/list"'],
    // A device without an end.
    [['--add', '/dev/zero'], 'Option "--add" is "/dev/zero": it has more than 16777216 bytes'],
  ])('refuses %j', async (words, message) => {
    const ended = await orreryHere('key', ...words);
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
