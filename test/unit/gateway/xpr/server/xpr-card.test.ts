import { describe, expect, it } from 'vitest';
import type { XprAgent } from '../../../../../gateway/xpr/chain/xpr-accounts.ts';
import { withChainRecord, xprCards } from '../../../../../gateway/xpr/server/xpr-card.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const REGISTERED = 1_704_067_200_000;
const agent: XprAgent = {
  account: 'myagent',
  owner: 'alice',
  name: 'My Agent',
  description: 'Processes data analysis jobs',
  endpoint: 'https://agent.example.com',
  protocol: 'https',
  capabilities: ['compute', 'ai'],
  isActive: true,
  stake: 5_000,
  rating: 10_000,
  kycLevel: 2,
  registeredAtMs: REGISTERED,
};
const skill = { id: 'data-analysis', name: 'Data Analysis', description: 'Analyzes', tags: ['ai', 'data'] };
const card = {
  name: 'Orrery',
  description: 'A team',
  version: '1.0.0',
  url: 'http://127.0.0.1:1/rpc',
  supportedInterfaces: [{ url: 'http://127.0.0.1:1/rpc' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  skills: [skill],
};

describe('A card with what the chain says of its account', () => {
  it('has the seed’s fields, out of the record as it is today (X-02, X-03, X-04, X-05)', () => {
    const shown = withChainRecord(card, { account: 'myagent', agent, nowMs: REGISTERED });
    expect(shown).toEqual({
      name: 'My Agent',
      description: 'Processes data analysis jobs',
      url: 'https://agent.example.com',
      version: '1.0.0',
      supportedInterfaces: card.supportedInterfaces,
      capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
      defaultInputModes: ['text', 'text/plain'],
      defaultOutputModes: ['text'],
      skills: [{ ...skill, tags: ['compute', 'ai', 'data'] }],
      'xpr:account': 'myagent',
      'xpr:protocol': 'https',
      'xpr:trustScore': 70,
      'xpr:kycLevel': 2,
      'xpr:registeredAt': 1_704_067_200,
      'xpr:owner': 'alice',
    });
  });

  it('keeps what the record leaves empty, and all of it without one', () => {
    const empty = { ...agent, name: '', description: '', endpoint: '' };
    const shown = withChainRecord(card, { account: 'myagent', agent: empty, nowMs: REGISTERED });
    expect(shown).toMatchObject({ name: 'Orrery', description: 'A team', url: card.url });
    expect(withChainRecord(card, { account: 'myagent', agent: undefined, nowMs: 0 })).toEqual({
      ...card,
      'xpr:account': 'myagent',
    });
  });
});

describe('What cards show of the chain', () => {
  it.each([
    [{ account: 'My Agent' }, 'account'],
    [{ agents: { mars: 'MARS' } }, 'agents.mars'],
  ])('is not of %j', (options, field) => {
    const accounts = { agent: async () => agent };
    expect(() => xprCards({ accounts, ...options }, { clock: new FakeClock() })).toThrow(field);
  });

  function setUp() {
    const clock = new FakeClock(REGISTERED);
    const asked: string[] = [];
    const chain = { answer: async (): Promise<XprAgent | undefined> => agent };
    const accounts = {
      agent: (account: string) => {
        asked.push(account);
        return chain.answer();
      },
    };
    const amend = xprCards({ accounts, account: 'myagent', agents: { mars: 'marsagent' } }, { clock });
    return { clock, asked, chain, amend };
  }

  it('is that of the account of the system, or of the agent that has one', async () => {
    const { asked, amend } = setUp();
    expect(await amend(undefined, card)).toHaveProperty('xpr:account', 'myagent');
    expect(await amend('mars', card)).toHaveProperty('xpr:account', 'marsagent');
    expect(await amend('venus', card)).toBe(card);
    expect(await amend('constructor', card)).toBe(card);
    expect(asked).toEqual(['myagent', 'marsagent']);
  });

  it('is asked for once a minute, however many ask', async () => {
    const { clock, asked, amend } = setUp();
    await Promise.all([amend(undefined, card), amend(undefined, card)]);
    clock.advance(59_999);
    await amend(undefined, card);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await amend(undefined, card);
    expect(asked).toHaveLength(2);
  });

  it('is what it last said while it is away, and it is left alone for ten seconds', async () => {
    const { clock, asked, chain, amend } = setUp();
    chain.answer = () => Promise.reject(new Error('away'));
    expect(await amend(undefined, card)).toEqual({ ...card, 'xpr:account': 'myagent' });
    await amend(undefined, card);
    expect(asked).toHaveLength(1);
    clock.advance(10_000);
    chain.answer = async () => agent;
    expect(await amend(undefined, card)).toHaveProperty('xpr:owner', 'alice');
    clock.advance(60_000);
    chain.answer = () => new Promise(() => undefined);
    expect(await amend(undefined, card)).toHaveProperty('xpr:owner', 'alice');
    expect(asked).toHaveLength(3);
  });

  it('is nothing any more when the agent is withdrawn', async () => {
    const { clock, chain, amend } = setUp();
    await amend(undefined, card);
    chain.answer = async () => undefined;
    clock.advance(60_000);
    await amend(undefined, card);
    expect(await amend(undefined, card)).toEqual({ ...card, 'xpr:account': 'myagent' });
  });
});
