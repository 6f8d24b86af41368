import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentPair, type Sending } from '../fixtures/agent-pair.ts';

const who = fc.constantFrom('mars' as const, 'venus' as const);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('send' as const), who }) },
  { weight: 12, arbitrary: fc.record({ does: fc.constantFrom('handle', 'post', 'takeIn'), who }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constantFrom('listen', 'leave'), who }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('start', 'forbid', 'allow'), who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('flow', 'pass'), who }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;
const DEATHS = ['crash', 'crashHandled', 'kill'] as const;
const steps = (dying: fc.Arbitrary<'mars' | 'venus'>) =>
  fc.array(
    fc.oneof(
      { weight: 20, arbitrary: step },
      { weight: 1, arbitrary: fc.record({ does: fc.constantFrom(...DEATHS), who: dying }) },
    ),
    { maxLength: 150, size: 'max' },
  );
const isDeath = ({ does }: { readonly does: string }): boolean =>
  (DEATHS as readonly string[]).includes(does);

/** Takes the steps, then lets everything come to rest with both listening. */
async function live(pair: AgentPair, all: readonly (Step | { does: string; who: 'mars' | 'venus' })[]) {
  let next = 0;
  for (const { does, who: name } of all) {
    const member = pair[name];
    if (does === 'send') pair.send(member, next++);
    else if (does === 'handle') await pair.handle(member);
    else if (does === 'post') pair.post(member);
    else if (does === 'takeIn') pair.takeIn(member, 3);
    else if (does === 'listen' || does === 'leave') pair.listen(member, does === 'listen');
    else if (does === 'forbid' || does === 'allow') member.isForbidden = does === 'forbid';
    else if (does === 'start') pair.start(member);
    else if (does === 'flow') await pair.flow();
    else if (does === 'pass') await pair.pass(100);
    else if (does === 'kill') await pair.kill(member);
    else await pair.crash(member, { isHandled: does === 'crashHandled' });
  }
  for (const member of [pair.mars, pair.venus]) pair.listen(member, true);
  for (let at = 0; at < 40; at++) await pair.pass(1_000);
}

async function opened(seed: number, windowSize: number): Promise<AgentPair> {
  const pair = new AgentPair({ seed, options: { windowSize } });
  const opening = pair.open({ windowSize });
  await pair.flow();
  await opening;
  return pair;
}

/** What arrived of one sender, in order, and each once. */
function expectOrder(sender: string, arrived: readonly string[], sent: readonly string[]): void {
  const own = arrived.filter((id) => id.startsWith(sender));
  expect(own).toEqual(sent.filter((id) => own.includes(id)));
}

const ids = (sendings: readonly Sending[], outcome: (one: Sending) => boolean): string[] =>
  sendings.filter(outcome).map(({ id }) => id);

describe('a channel between agents of a system', () => {
  it('keeps order and delivers once, and says the truth of each envelope, whoever dies when (C-37, N-3.4, N-3.7, N-P11)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 1, max: 8 }),
        steps(who),
        who,
        async (seed, windowSize, all, closing) => {
          const pair = await opened(seed, windowSize);
          await live(pair, all);
          const { sendings, mars, venus } = pair;
          const arrived = [...mars.arrived, ...venus.arrived];
          for (const [sender, to] of [
            ['mars', venus],
            ['venus', mars],
          ] as const) {
            expectOrder(
              sender,
              to.arrived,
              ids(sendings, ({ id }) => id.startsWith(sender)),
            );
          }
          expect(ids(sendings, ({ outcome }) => outcome === 'pending')).toEqual([]);
          const sent = ids(sendings, ({ outcome }) => outcome === 'sent');
          expect(sent.filter((id) => !arrived.includes(id))).toEqual([]);
          const certain = ids(
            sendings,
            ({ outcome, details }) => outcome !== 'sent' && details['mayHaveArrived'] !== true,
          );
          expect(certain.filter((id) => arrived.includes(id))).toEqual([]);
          expect(mars.channel?.status).toBe(venus.channel?.status);
          await pair[closing].channels?.closeAll();
          await pair.flow();
          expect([mars.channel, venus.channel, pair.clock.pending]).toEqual([undefined, undefined, 0]);
        },
      ),
      { numRuns: 600 },
    );
  });

  it('stays open while one end dies now and then, and gives its successor what that had not begun (C-37, N-3.7, N-V01)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 1, max: 8 }),
        steps(fc.constant('venus')),
        async (seed, windowSize, all) => {
          const pair = await opened(seed, windowSize);
          // More may be too many for one agent.
          let deaths = 0;
          const few = all.filter((one) => !isDeath(one) || ++deaths <= 2);
          deaths = Math.min(deaths, 2);
          await live(pair, few);
          const { mars, venus, sendings } = pair;
          expect([mars.channel?.status, venus.channel?.status]).toEqual(['open', 'open']);
          expect(mars.channel?.id).toBe(venus.channel?.id);
          const statuses = mars.events.flatMap(({ channelStatus }) => channelStatus ?? []);
          expect(statuses.filter((one) => one === 'reconnecting').length).toBeLessThanOrEqual(deaths);
          const own = sendings.filter(({ id }) => id.startsWith('mars'));
          const failed = own.filter(({ outcome }) => outcome === 'DELIVERY_FAILED');
          expect(failed.length).toBeLessThanOrEqual(deaths * windowSize);
          const known = ['sent', 'TIER_VIOLATION', 'DELIVERY_FAILED'];
          expect(own.filter(({ outcome }) => !known.includes(outcome))).toEqual([]);
        },
      ),
      { numRuns: 600 },
    );
  });
});
