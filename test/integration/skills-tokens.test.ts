import { startSystem, systemSeams, type Team } from 'orrery';
import { type Serving, serve } from 'orrery/gateway';
import { skillAgents } from 'orrery/skills';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearerJwt } from '../../gateway/admit/bearer-jwt.ts';
import { callToolOf, type Door, doorsTo, type SkillUser } from '../fixtures/skills/doors.ts';
import { outputOf, SkillTeam } from '../fixtures/skills/skill-team.ts';
import { xprOf } from '../fixtures/skills/xpr-of.ts';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'orrery';
const SECRET = new Uint8Array(32).fill(7);
const NAMES = SkillTeam.doorNames.filter((name) => name !== 'envelopes');
/** In seconds: so late that no test comes to it. */
const LATE = 2 ** 40;

const claims = (changes: JWTPayload = {}): JWTPayload => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'ann',
  exp: LATE,
  tenant: 'acme',
  roles: ['admin'],
  ...changes,
});
const signed = (payload: JWTPayload, secret = SECRET): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(secret);
const holder = (key: string): SkillUser => ({
  key,
  id: `jwt:${ISSUER}#ann`,
  tenant: 'acme',
  roles: ['admin'],
});

let system: Team;
let served: Serving;
let doors: readonly Door[];
beforeAll(async () => {
  const agents = skillAgents({ store: ':memory:', embedding: 'none' });
  system = await startSystem({ agents, workers: 1, spareThread: false });
  const jwt = bearerJwt({ issuer: ISSUER, audience: AUDIENCE, secret: SECRET }, systemSeams());
  served = await serve(system, { authenticators: [jwt], grpc: {}, bindings: [xprOf([jwt])] });
  doors = doorsTo({
    url: served.url,
    grpcAddress: served.grpcAddress ?? '',
    callTool: callToolOf(system),
    proofOf: (token) => ({ authorization: `Bearer ${token}` }),
  });
});
afterAll(async () => {
  await served.close({ drainMs: 0 });
  await system.stop();
});

describe.each(NAMES)('A token, by %s', (name) => {
  const door = (): Door => doors.find((one) => one.name === name) as Door;

  it('is refused where it is unsigned, of others, for others or too old, and nothing is done (A-04)', async () => {
    const good = holder(await signed(claims()));
    const args = { content: `By ${name}`, layer: 'project', scope: name };
    const { memory_id } = outputOf(await door().call(good, 'memory_add', args));
    const bad = [
      new UnsecuredJWT(claims()).encode(),
      await signed(claims(), new Uint8Array(32).fill(8)),
      await signed(claims({ aud: 'another' })),
      await signed(claims({ iss: 'https://other.example' })),
      await signed(claims({ exp: 1 })),
    ];
    for (const token of bad)
      for (const [tool, given] of [
        ['memory_add', { ...args, content: 'Forged' }],
        ['memory_delete', { memory_id }],
        ['knowledge_query', {}],
        ['governance_policy_list', {}],
      ] as const)
        expect(await door().call(holder(token), tool, given)).toMatchObject({
          kind: 'failed',
          code: expect.stringMatching(/^(UNAUTHENTICATED|UNAUTHORIZED)$/),
        });
    const { memories } = outputOf(await door().call(good, 'memory_list', { scope: name }));
    expect(memories).toMatchObject([{ memory_id, content: `By ${name}` }]);
  });
});
