import { describe, expect, it } from 'vitest';
import type { XprAgent } from '../../../../../gateway/xpr/chain/xpr-accounts.ts';
import {
  jobMessage,
  XprToolService,
  type XprToolOptions,
} from '../../../../../gateway/xpr/tools/xpr-tool-service.ts';
import type { ForeignUrlRules } from '../../../../../gateway/reach/foreign-url.ts';
import { rejection } from '../../../../fixtures/until.ts';

const PUBLIC = '93.184.216.34';
const agent = (endpoint: string): XprAgent => ({
  account: 'foreign',
  owner: 'foreign',
  name: '',
  description: '',
  endpoint,
  protocol: 'https',
  capabilities: [],
  isActive: true,
  stake: 0,
  rating: 0,
  kycLevel: 0,
  registeredAtMs: 0,
});

function setUp(endpoint: string, rules: ForeignUrlRules = {}) {
  const sent: string[] = [];
  const resolve = async (name: string) => {
    if (name === 'inside.example') return [PUBLIC, '10.0.0.1'];
    return name === 'agent.example' ? [PUBLIC] : Promise.reject(new Error('ENOTFOUND'));
  };
  const tools = new XprToolService({
    chain: { agent: async () => agent(endpoint), job: async () => undefined },
    endpoints: { resolve, ...rules },
    client: {
      fetch: async (url) => {
        sent.push(String(url));
        return Response.json({ name: 'Foreign', url: endpoint });
      },
    },
  });
  return { sent, discover: () => tools.discover({ account: 'foreign' }) };
}

describe('An endpoint that stands on the chain (X-44)', () => {
  it('is called over TLS, at a public address', async () => {
    const { sent, discover } = setUp('https://agent.example/mars/');
    expect((await discover()).card.name).toBe('Foreign');
    expect(sent).toEqual(['https://agent.example/mars/.well-known/agent-card.json']);
  });

  it.each([
    ['without TLS', 'http://agent.example', 'expected an https URL'],
    ['of another kind', 'file:///etc/passwd', 'expected an https URL'],
    ['with credentials', 'https://alice:secret@agent.example', 'credentials'],
    ['no URL', 'agent.example', 'an absolute URL'],
    ['of this machine', 'https://127.0.0.1', 'public address'],
    ['of this machine by name', 'https://a.localhost', 'public address'],
    ['of a cloud’s metadata', 'https://169.254.169.254', 'public address'],
    ['in another spelling', 'https://0x7f.1', 'public address'],
    ['in IPv6', 'https://[::ffff:10.0.0.1]', 'public address'],
    ['by a name that leads inside, too', 'https://inside.example', '10.0.0.1'],
    ['by a name that leads nowhere', 'https://nowhere.example', 'a name that has addresses'],
  ])('is not called when it is %s', async (_, endpoint, why) => {
    const { sent, discover } = setUp(endpoint);
    const { code, message } = await rejection(discover());
    expect(code).toBe('REFUSED');
    expect(message).toContain('"foreign"');
    expect(message).toContain(why);
    expect(message).not.toContain('secret');
    expect(sent).toEqual([]);
  });

  it('may be one that the deployment allows', async () => {
    const rules = { allowHttp: true, allowPrivate: (address: string) => address === '127.0.0.1' };
    expect((await setUp('http://127.0.0.1:8080', rules).discover()).card.name).toBe('Foreign');
    expect((await rejection(setUp('http://10.0.0.1', rules).discover())).code).toBe('REFUSED');
  });
});

describe('The tools of XPR', () => {
  const chain = { agent: async () => undefined, job: async () => undefined };

  it.each<[string, object]>([
    ['chain.agent', {}],
    ['chain.job', { chain: { agent: chain.agent } }],
    ['confirm', { chain, confirm: 'no' }],
    ['signingKey', { chain, signing: { account: 'alice', key: 'no key' } }],
    ['callerAccount', { chain, signing: { account: 'Alice', key: '' } }],
    ['endpoints.resolve', { chain, endpoints: { resolve: '127.0.0.1' } }],
    ['timeout', { chain, client: { timeout: -1 } }],
  ])('are not made with a wrong %s', (field, options) => {
    expect(() => new XprToolService(options as XprToolOptions)).toThrow(field);
  });
});

describe('What an agent is told of a job (X-48)', () => {
  it('is the job as it stands in escrow, and what is asked of it', () => {
    const job = {
      id: 42,
      client: 'alice',
      agent: '',
      title: 'Market report',
      description: 'Numbers of the last quarter',
      deliverables: ['report.pdf', 'data.csv'],
      amount: 100.5,
      deadlineAtMs: Date.UTC(2024, 0, 2),
    };
    expect(jobMessage(job, 'Only the summary').split('\n')).toEqual([
      '# Job 42: Market report',
      '',
      'Description: Numbers of the last quarter',
      'Deliverables: report.pdf; data.csv',
      'Amount: 100.5 XPR',
      'Deadline: 2024-01-02T00:00:00.000Z',
      '',
      '## Instructions',
      '',
      'Only the summary',
    ]);
    const open = { ...job, deliverables: [], deadlineAtMs: undefined };
    expect(jobMessage(open, 'x')).toContain('Deliverables: none are named\n');
    expect(jobMessage(open, 'x')).toContain('Deadline: none\n');
  });
});
