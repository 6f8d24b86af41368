import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../../../runtime/protocol/parse-options.ts';
import {
  type CheckedUrlRules,
  checkedAddresses as checkAddresses,
  ForeignUrlRules,
  isPublicAddress,
  parseForeignUrl,
} from '../../../../gateway/reach/foreign-url.ts';
import { refusedReceiver } from '../../../../gateway/a2a/server/push/guarded-fetch.ts';
import { rejection } from '../../../fixtures/until.ts';

const PUBLIC = ['93.184.216.34', '8.8.8.8', '2606:4700::1111', '64:ff9b::808:808', '2002:808:808::1'];
const PRIVATE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200', // metadata of one cloud
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16', // metadata of another one, at an address that looks public
  '169.254.169.254', // metadata of most
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192', // metadata of one more
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '::ffff:169.254.169.254',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2001:2::1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'not-an-address',
  '',
];

const rules = (options: ForeignUrlRules = {}) =>
  parseOptions(ForeignUrlRules, { resolve: async () => ['93.184.216.34'], ...options }, 'targets');

const parseTarget = (url: string, rules: CheckedUrlRules) => parseForeignUrl(url, rules, refusedReceiver);
const checkedAddresses = (url: URL, rules: CheckedUrlRules) => checkAddresses(url, rules, refusedReceiver);

const refusal = (work: () => unknown): Promise<{ code: string; message: string }> =>
  rejection(Promise.resolve().then(work));

describe('which addresses are public', () => {
  it.each(PUBLIC)('%s is', (address) => expect(isPublicAddress(address)).toBe(true));
  it.each(PRIVATE)('%s is not', (address) => expect(isPublicAddress(address)).toBe(false));

  it('an address within another is public exactly when it is by itself', () => {
    const octet = fc.nat(255);
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), (bytes) => {
        const four = bytes.join('.');
        const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
        const [high, low] = [hex.slice(0, 4), hex.slice(4)];
        const within = [`::ffff:${four}`, `64:ff9b::${high}:${low}`, `2002:${high}:${low}::1`];
        expect(within.map(isPublicAddress)).toEqual(within.map(() => isPublicAddress(four)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('URLs of receivers', () => {
  it.each([
    ['nonsense', 'an absolute URL'],
    ['/relative', 'an absolute URL'],
    ['ftp://receiver.example/', 'an https URL'],
    ['file:///etc/passwd', 'an https URL'],
    ['gopher://receiver.example/', 'an https URL'],
    ['javascript:alert(1)', 'an https URL'],
    ['http://receiver.example/', 'an https URL'],
    ['https://alice:secret@receiver.example/', 'a URL without credentials'],
    ['https://alice@receiver.example/', 'a URL without credentials'],
    ['https://127.0.0.1/', 'a public address'],
    ['https://127.1/', 'a public address'],
    ['https://2130706433/', 'a public address'],
    ['https://0x7f000001/', 'a public address'],
    ['https://0x7f.0.0.1/', 'a public address'],
    ['https://0177.0.0.1/', 'a public address'],
    ['https://017700000001/', 'a public address'],
    ['https://127.0.0.1./', 'a public address'],
    ['https://①②⑦.⓪.⓪.①/', 'a public address'],
    ['https://0/', 'a public address'],
    ['https://0.0.0.0/', 'a public address'],
    ['https://10.1.2.3:8443/', 'a public address'],
    ['https://192.168.0.1/', 'a public address'],
    ['https://169.254.169.254/latest/meta-data/', 'a public address'],
    ['https://2852039166/', 'a public address'],
    ['https://[::]/', 'a public address'],
    ['https://[::1]/', 'a public address'],
    ['https://[::ffff:127.0.0.1]/', 'a public address'],
    ['https://[::ffff:7f00:1]/', 'a public address'],
    ['https://[0:0:0:0:0:ffff:10.0.0.1]/', 'a public address'],
    ['https://[64:ff9b::169.254.169.254]/', 'a public address'],
    ['https://[2002:7f00:1::]/', 'a public address'],
    ['https://[fd00:ec2::254]/', 'a public address'],
    ['https://[fe80::1]/', 'a public address'],
    [`https://receiver.example/${'a'.repeat(3_000)}`, 'at most 2048 characters'],
  ])('refuses %s', async (url, expected) => {
    const { code, message } = await refusal(() => parseTarget(url, rules()));
    expect(code).toBe('INVALID_PAYLOAD');
    expect(message).toContain('url is "');
    expect(message).toContain(expected);
    expect(message).not.toContain('secret');
  });

  it.each(['https://localhost/', 'https://localhost./', 'https://LOCALHOST:8443/', 'https://me.localhost/'])(
    'refuses %s without asking a resolver',
    async (url) => {
      const asked: string[] = [];
      const resolve = async (name: string) => {
        asked.push(name);
        return ['93.184.216.34'];
      };
      const checked = rules({ resolve });
      const { code } = await refusal(() => checkedAddresses(parseTarget(url, checked), checked));
      expect({ code, asked }).toEqual({ code: 'INVALID_PAYLOAD', asked: [] });
    },
  );

  it('refuses a name of which a single address is private, whichever it is', async () => {
    const arbitrary = fc.record({
      open: fc.subarray(PUBLIC),
      hidden: fc.constantFrom(...PRIVATE),
      at: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ open, hidden, at }) => {
        const addresses = [...open];
        addresses.splice(at % (open.length + 1), 0, hidden);
        const checked = rules({ resolve: async () => addresses });
        const target = parseTarget('https://receiver.example/', checked);
        expect((await refusal(() => checkedAddresses(target, checked))).code).toBe('INVALID_PAYLOAD');
        const only = rules({ resolve: async () => open });
        if (open.length > 0) expect(await checkedAddresses(target, only)).toEqual(open);
      }),
      { numRuns: 200 },
    );
  });

  it('refuses a name without addresses', async () => {
    const checked = rules({ resolve: async () => [] });
    const target = parseTarget('https://receiver.example/', checked);
    expect((await refusal(() => checkedAddresses(target, checked))).message).toContain(
      'a name that has addresses',
    );
  });

  it('takes public receivers, and what the deployment allows', async () => {
    expect(parseTarget('https://receiver.example:8443/a?b=c', rules()).href).toBe(
      'https://receiver.example:8443/a?b=c',
    );
    const own = rules({ allowHttp: true, allowPrivate: (address) => address === '10.0.0.7' });
    expect(parseTarget('http://10.0.0.7/', own).hostname).toBe('10.0.0.7');
    expect((await refusal(() => parseTarget('http://10.0.0.8/', own))).code).toBe('INVALID_PAYLOAD');
  });

  it('takes the ports that are allowed, and no others', async () => {
    const some = rules({ ports: [443, 8443] });
    expect(parseTarget('https://receiver.example/', some).port).toBe('');
    expect(parseTarget('https://receiver.example:8443/', some).port).toBe('8443');
    expect((await refusal(() => parseTarget('https://receiver.example:22/', some))).message).toContain(
      'one of the ports 443, 8443',
    );
  });

  it('looks a full name up without the dot at its end', async () => {
    const asked: string[] = [];
    const checked = rules({ resolve: async (name) => [asked.push(name) > 0 ? '8.8.8.8' : ''] });
    await checkedAddresses(parseTarget('https://receiver.example./', checked), checked);
    expect(asked).toEqual(['receiver.example']);
  });

  it('refuses rules that are none, naming the field', async () => {
    const { code, message } = await refusal(() =>
      parseOptions(ForeignUrlRules, { ports: [0] }, 'push.targets'),
    );
    expect({ code, message }).toEqual({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('push.targets.ports[0] is 0') as string,
    });
  });
});
