import { describe, expect, it, vi } from 'vitest';
import { notPermitted } from '../../../../runtime/protocol/edge-errors.ts';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { JsonValue } from '../../../../runtime/protocol/json-value.ts';
import { asked } from '../../../fixtures/lango/bare-peer.ts';
import { type HouseOptions, langoHouse, someone } from '../../../fixtures/lango/lango-house.ts';

const ID = '5f0c8c3e-8d3b-4f6e-9b0a-1c2d3e4f5a6b';
const TIME = '"timestamp":"2026-01-02T03:04:05.06Z"';
const card = { name: 'HOUSE', capabilities: ['search'] };

/** What a house answers, as text, to a request of Alice's with these fields. */
async function exchange(fields: Record<string, unknown>, options: HouseOptions = {}) {
  const house = langoHouse(options);
  const { theirs, served } = house.streamOf();
  const request = { type: 'tool_invoke', sessionToken: house.token, requestId: ID, ...fields };
  const answer = await asked(theirs, `${JSON.stringify(request)}\n`);
  await served;
  return { answer, house };
}

const search = { payload: { toolName: 'search', params: { query: 'x' } } };
const error = (text: string): string => `{"requestId":"${ID}","status":"error","error":"${text}",${TIME}}\n`;
const denied = (text: string): string =>
  `{"requestId":"${ID}","status":"denied","error":"${text}",${TIME}}\n`;
const ok = (result: string): string => `{"requestId":"${ID}","status":"ok","result":${result},${TIME}}\n`;

describe('What is asked of a Lango handler, by a bare client (L-01, L-02, L-05, L-06, L-17, L-18)', () => {
  it('runs the tool by its name and params (L-18), and answers with what it gave (L-05)', async () => {
    const { answer, house } = await exchange(search);
    expect(answer).toBe(ok('{"found":1}'));
    expect(house.ran).toEqual([{ toolName: 'search', params: { query: 'x' }, principal: house.alice.did }]);
  });

  it.each([
    ['agent_card', card, ok('{"capabilities":["search"],"name":"HOUSE"}')],
    ['agent_card', undefined, error('agent card not available')],
    ['capability_query', card, ok('{"capabilities":["search"],"name":"HOUSE"}')],
    ['capability_query', undefined, ok('{"capabilities":[]}')],
  ])('answers %s with the card %j (L-01, L-02)', async (type, shown, expected) => {
    const { answer } = await exchange({ type }, { handler: { cardProvider: () => shown } });
    expect(answer).toBe(expected);
  });

  it('names the type that it does not know (L-06)', async () => {
    const { answer } = await exchange({ type: 'dance' });
    expect(answer).toBe(error('unknown request type: dance'));
  });

  it.each([{}, { payload: {} }, { payload: { toolName: '' } }, { payload: { toolName: 3 } }])(
    'says of %j that there is no toolName (L-17)',
    async (fields) => {
      const { answer, house } = await exchange(fields);
      expect(answer).toBe(error('missing toolName in payload'));
      expect(house.ran).toEqual([]);
    },
  );

  it('takes no params for none, and refuses those that are no object', async () => {
    const none = await exchange({ payload: { toolName: 'search' } });
    expect(none.house.ran).toMatchObject([{ params: {} }]);
    const { answer } = await exchange({ payload: { toolName: 'search', params: [1] } });
    expect(answer).toBe(error('params in payload is no object'));
    const long = await exchange({ payload: { toolName: 'x'.repeat(513) } });
    expect(long.answer).toBe(error('toolName in payload is too long'));
  });

  it.each(['nonsense', '[]', '{"type":5}', '{"a":]}', `{"a":${'['.repeat(500)}`])(
    'answers %s, which is no request, with an error that has no id',
    async (text) => {
      const { theirs, served } = langoHouse().streamOf();
      expect(await asked(theirs, `${text}\n`)).toBe(
        `{"requestId":"","status":"error","error":"invalid request",${TIME}}\n`,
      );
      await served;
    },
  );

  it('answers a peer that ends its direction at once', async () => {
    const { theirs, served } = langoHouse().streamOf();
    await theirs.close();
    expect(await asked(theirs, '')).toContain('"error":"invalid request"');
    await served;
  });
});

describe('The token of a request (L-10, L-11, L-12, L-13, L-14)', () => {
  const DENIED = denied('invalid or expired session token');

  it.each(['tool_invoke', 'agent_card', 'capability_query', 'dance'])(
    'is checked before anything else of %s (L-10, L-12)',
    async (type) => {
      const cardProvider = vi.fn(() => card);
      for (const sessionToken of ['', 'wrong', undefined]) {
        const { answer, house } = await exchange(
          { ...search, type, sessionToken },
          { handler: { cardProvider } },
        );
        expect(answer).toBe(DENIED);
        expect(house.ran).toEqual([]);
      }
      expect(cardProvider).not.toHaveBeenCalled();
    },
  );

  it('is denied to a peer without a session, and to one who has stolen it (L-12)', async () => {
    const house = langoHouse();
    const thief = someone('thief').peer;
    const request = JSON.stringify({ type: 'agent_card', sessionToken: house.token, requestId: ID });
    for (const peer of [thief, { ...thief, did: house.alice.did }, { ...thief, id: house.alice.peer.id }])
      expect(await asked(house.streamOf(peer).theirs, request)).toBe(DENIED);
    house.sessions.create(thief);
    expect(await asked(house.streamOf(thief).theirs, request)).toBe(DENIED);
  });

  it('gives the DID behind it, of all active sessions (L-11, L-13)', async () => {
    const house = langoHouse();
    for (let n = 0; n < 5; n++) house.sessions.create(someone(`other-${n}`).peer);
    const bob = someone('bob');
    house.firewall.addRule({ peerDid: bob.did, action: 'allow', tools: ['search'] });
    const { token } = house.sessions.create(bob.peer);
    const request = { type: 'tool_invoke', sessionToken: token, requestId: ID, ...search };
    await asked(house.streamOf(bob.peer).theirs, JSON.stringify(request));
    expect(house.ran).toMatchObject([{ principal: bob.did }]);
  });

  it('that has expired is denied, and its session is gone (L-14)', async () => {
    const house = langoHouse({ sessions: { ttlMs: 1_000 } });
    house.clock.advance(1_000);
    const request = { type: 'tool_invoke', sessionToken: house.token, requestId: ID, ...search };
    const answer = await asked(house.streamOf().theirs, JSON.stringify(request));
    expect(answer).toContain('"status":"denied","error":"invalid or expired session token"');
    expect(house.sessions.remove(house.alice.did)).toBe(false);
    expect(house.ran).toEqual([]);
  });
});

describe('The firewall of a Lango handler (L-15, L-16)', () => {
  it.each([
    ['tool_invoke', 'search'],
    ['agent_card', 'agent_card'],
    ['capability_query', 'capability_query'],
  ])('denies %s before anything runs (L-15, L-16)', async (type, tool) => {
    const cardProvider = vi.fn(() => card);
    const { answer, house } = await exchange(
      { ...search, type },
      { firewall: { rules: [] }, handler: { cardProvider } },
    );
    expect(answer).toBe(denied(`no firewall rule allows ${house.alice.did} the tool ${tool}`));
    expect(house.ran).toEqual([]);
    expect(cardProvider).not.toHaveBeenCalled();
  });

  it('denies when its hook throws, and keeps what was thrown at home', async () => {
    const filterQuery = (): never => {
      throw new Error('/home/operator/rules.json is broken');
    };
    const { answer, house } = await exchange(search, { handler: { firewall: { filterQuery } } });
    expect(answer).toBe(denied(`The firewall does not let ${house.alice.did} use search`));
    expect(house.ran).toEqual([]);
  });
});

describe('What a tool gives or throws (L-21, L-22)', () => {
  it('goes out without what is sensitive (L-21, L-22)', async () => {
    const given: JsonValue = {
      token: 'secret',
      deep: [{ password: 'x', line: 'see /home/alice/notes/a.txt' }],
      tokenCount: 3,
    };
    const { answer } = await exchange(search, { executor: () => given });
    expect(answer).toBe(ok('{"deep":[{"line":"see [path-redacted]"}],"tokenCount":3}'));
  });

  it('has no prototype of its own making', async () => {
    const given = JSON.parse('{"__proto__":{"isAdmin":true},"a":1}') as JsonValue;
    const { answer } = await exchange(search, { executor: () => given });
    expect(answer).toBe(ok('{"a":1}'));
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  it.each([
    ['text', '{"result":"text"}'],
    [[1], '{"result":[1]}'],
    [null, '{"result":null}'],
  ] as const)('that is no object (%j) goes out as a result', async (given, result) => {
    const { answer } = await exchange(search, { executor: () => given as JsonValue });
    expect(answer).toBe(ok(result));
  });

  it('stays at home if it was thrown: the peer is told an id', async () => {
    const { answer, house } = await exchange(search, {
      executor: () => {
        throw new Error('ENOENT: /home/operator/.ssh/id_rsa');
      },
    });
    expect(answer).toBe(error('The agent failed at this (e-1)'));
    expect(house.noted).toMatchObject([{ message: 'ENOENT: /home/operator/.ssh/id_rsa' }]);
  });

  it.each([
    [new OrreryError('TOOL_NOT_FOUND', 'tool not found'), 'tool not found'],
    [notPermitted('not from /srv/www/site'), 'not from [path-redacted]'],
  ])('is told if it is a refusal, without paths', async (thrown, told) => {
    const { answer } = await exchange(search, { executor: () => Promise.reject(thrown) });
    expect(answer).toBe(error(told));
  });

  it('is told to be too large when it is', async () => {
    const { answer } = await exchange(search, {
      handler: { maxBytes: 1_024 },
      executor: () => ({ text: 'x'.repeat(2_000) }),
    });
    expect(answer).toBe(error('the response is larger than 1024 bytes'));
  });

  it('does not go out if it cannot be sanitised', async () => {
    let deep: JsonValue = 1;
    for (let n = 0; n < 70; n++) deep = [deep];
    const { answer } = await exchange(search, { executor: () => deep });
    expect(answer).toBe(error('What the agent has answered may not go out'));
  });

  it('ends the session after five failures, one after the other', async () => {
    const house = langoHouse({ executor: () => Promise.reject(new Error('x')) });
    const request = JSON.stringify({
      type: 'tool_invoke',
      sessionToken: house.token,
      requestId: ID,
      ...search,
    });
    for (let n = 0; n < 5; n++) await asked(house.streamOf().theirs, request);
    expect(await asked(house.streamOf().theirs, request)).toContain('"denied"');
    expect(house.sessions.history()).toMatchObject([
      { peerDid: house.alice.did, reason: 'repeated_failures' },
    ]);
  });
});

describe('The attestation of a result', () => {
  it('is made of the sanitised result and of our DID (L-23), and is not empty (L-24)', async () => {
    const zkAttest = vi.fn((_hash: Uint8Array, _did: Uint8Array) => Uint8Array.of(1, 2, 3));
    const { answer } = await exchange(search, {
      firewall: {
        rules: [{ peerDid: '*', action: 'allow', tools: ['search'] }],
        zkAttest,
        did: 'did:example:house',
      },
      executor: () => ({ b: 1, a: 2, token: 'x' }),
    });
    expect(answer).toBe(
      `{"requestId":"${ID}","status":"ok","result":{"a":2,"b":1},"attestationProof":"AQID",${TIME}}\n`,
    );
    const sha256 = async (text: string) =>
      new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
    const [[hash, did] = []] = zkAttest.mock.calls;
    expect(new Uint8Array(hash as Uint8Array)).toEqual(await sha256('{"a":2,"b":1}'));
    expect(new Uint8Array(did as Uint8Array)).toEqual(await sha256('did:example:house'));
  });

  it('that cannot be made keeps the result in', async () => {
    const rules = [{ peerDid: '*', action: 'allow' as const, tools: ['search'] }];
    const { answer } = await exchange(search, {
      firewall: { rules, zkAttest: () => new Uint8Array(), did: 'did:example:house' },
    });
    expect(answer).toBe(error('What the agent has answered may not go out'));
  });
});
