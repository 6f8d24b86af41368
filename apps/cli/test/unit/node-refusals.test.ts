import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signingKeyPair } from 'orrery';
import { orreryHere } from '../run-here.ts';

const agents = fileURLToPath(new URL('../fixtures/dawdler.agent.ts', import.meta.url));
const { publicKey } = signingKeyPair();
const state = process.env['XDG_STATE_HOME'];
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-refusals-'));
  process.env['XDG_STATE_HOME'] = folder;
  writeFileSync(join(folder, 'no.json'), '[');
  writeFileSync(join(folder, 'list.json'), '{"trust": [{"node": "oslo"}]}');
  writeFileSync(join(folder, 'more.json'), '{"trusted": []}');
  writeFileSync(join(folder, 'tier.json'), JSON.stringify({ trust: [{ key: publicKey, tier: 0 }] }));
  writeFileSync(join(folder, 'key.pem'), 'no key');
});
afterAll(() => {
  if (state === undefined) delete process.env['XDG_STATE_HOME'];
  else process.env['XDG_STATE_HOME'] = state;
  rmSync(folder, { recursive: true, force: true });
});

describe('orrery up as a node refuses with 64, naming option and value', () => {
  const node = ['--node', 'rome'];
  const refused: readonly [string, () => string[], string][] = [
    ['a node without a name', () => ['--peer', 'ws://rome:1/'], 'Option "--peer" is given without "--node"'],
    [
      'a name that is none',
      () => ['--node', 'a/b'],
      'Option "--node" is "a/b", expected at most 64 characters',
    ],
    [
      'an address that is none',
      () => [...node, '--peer', 'rome'],
      'Option "--peer" is "rome", expected ws://',
    ],
    [
      'one of several addresses',
      () => [...node, '--peer', 'ws://rome:1/', '--peer', 'hyperswarm:abc'],
      'Option "--peer" is "hyperswarm:abc", expected ws://',
    ],
    [
      'a place that is none',
      () => [...node, '--peer-listen', '127.0.0.1'],
      'Option "--peer-listen" is "127.0.0.1", expected HOST:PORT',
    ],
    [
      'a port that is none',
      () => [...node, '--peer-listen', '127.0.0.1:70000'],
      'Option "--peer-listen" is "127.0.0.1:70000", expected HOST:PORT',
    ],
    [
      'two places for one transport',
      () => [...node, '--peer-listen', '127.0.0.1:1,127.0.0.1:2'],
      'expected one HOST:PORT at most',
    ],
    [
      'a multiaddr that is none',
      () => [...node, '--peer-listen', '/ip4/127.0.0.1'],
      'Option "--peer-listen" is "/ip4/127.0.0.1"',
    ],
    [
      'an outside address that is none',
      () => [...node, '--peer-address', 'rome.example:7000'],
      'Option "--peer-address" is "rome.example:7000", expected ws://',
    ],
    [
      'an outside address of a transport that it has not',
      () => [...node, '--peer-address', '/ip4/192.0.2.1/tcp/7000/p2p/12D3KooW'],
      'Option "--peer-address" is "/ip4/192.0.2.1/tcp/7000/p2p/12D3KooW", expected an address of websocket',
    ],
    [
      'a DHT for nothing',
      () => [...node, '--peer-bootstrap', '127.0.0.1:1'],
      'Option "--peer-bootstrap" is given without "--join"',
    ],
    [
      'a DHT at no place',
      () => [...node, '--join', 'topic', '--peer-bootstrap', 'here'],
      'Option "--peer-bootstrap" is "here", expected HOST:PORT',
    ],
    [
      'a topic that is too long',
      () => [...node, '--join', 'x'.repeat(257)],
      'expected at most 256 characters',
    ],
    [
      'trust in a name',
      () => [...node, '--peer-trust', 'oslo'],
      'Option "--peer-trust" is "oslo", expected KEY',
    ],
    ['trust in anybody', () => [...node, '--peer-trust', '*'], 'Option "--peer-trust" is "*", expected KEY'],
    [
      'trust under a name that is none',
      () => [...node, `--peer-trust=${publicKey}=a/b`],
      `Option "--peer-trust" is "${publicKey}=a/b", expected KEY`,
    ],
    [
      'a file of trust that is none',
      () => [...node, '--peer-trust-file', join(folder, 'no.json')],
      'it is no JSON',
    ],
    [
      'trust without a key',
      () => [...node, '--peer-trust-file', join(folder, 'list.json')],
      '"trust" is no list',
    ],
    [
      'trust of another form',
      () => [...node, '--peer-trust-file', join(folder, 'more.json')],
      'it has "trusted"',
    ],
    [
      'trust in tier 0',
      () => ['--agents', agents, ...node, '--peer-trust-file', join(folder, 'tier.json')],
      'tier 0 is never remote',
    ],
    ['a key that is none', () => [...node, '--peer-key', join(folder, 'key.pem')], 'Option "--peer-key" is'],
  ];
  it.each(refused)('%s', async (_, words, message) => {
    const ended = await orreryHere('up', ...words());
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).toContain("See 'orrery up --help'.");
  });
});

describe('orrery peers', () => {
  it.each([
    [['--trust', publicKey, '--revoke', publicKey], 'Options "--trust" and "--revoke" exclude each other'],
    [['--node', 'nowhere'], 'Option "--node" is "nowhere": no such node of this user runs here'],
  ])('refuses %j', async (words, message) => {
    const ended = await orreryHere('peers', ...words);
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
