import { describe, expect, it } from 'vitest';
import type { Outsider } from '../../../runtime/mailbox/behalf.ts';
import { outsiderOf, outsidersBy } from '../../../runtime/mailbox/outsider.ts';
import type { Crash } from '../../../runtime/supervision/supervisor.ts';
import { SupervisedTeam } from '../../fixtures/supervised-team.ts';

const eve = outsiderOf('anonymous at 192.0.2.1', 'salt');
const bob = outsiderOf('key:bob', 'salt');

const over = (outsider: Outsider | undefined, isAgain = false): Pick<Crash, 'over'> => ({
  over: { outsider, isAgain },
});

const DIE_MS = 10;

/** A team with one agent, which has died so often over what somebody outside asked. */
function teamWith(deaths: readonly Pick<Crash, 'over'>[], options = {}): SupervisedTeam {
  const team = new SupervisedTeam({ backOff: { firstMs: 1, maxMs: 1 }, ...options });
  team.run(['mars']);
  for (const death of deaths) die(team, death);
  return team;
}

function die(team: SupervisedTeam, death: Pick<Crash, 'over'>): void {
  team.supervisor.crashed('mars', { reason: 'boom', charged: true, ...death });
  team.clock.advance(DIE_MS);
  team.supervisor.started('mars');
}

const refusedMs = (team: SupervisedTeam): number[] =>
  team.supervisor.refusals('mars').map(({ forMs }) => forMs);

describe('What somebody outside has an agent die over (F-04)', () => {
  it('never makes it be given up: they are refused beyond the intensity, and it is restarted', () => {
    const team = teamWith(Array.from({ length: 10 }, () => over(eve)));
    expect(team.supervisor.status('mars')).toMatchObject({ status: 'running', restarts: 10 });
    expect(team.taken().filter((effect) => effect.startsWith('gave up'))).toEqual([]);
    const refusals = team.events.filter(({ type }) => type === 'outsider-refused');
    expect(refusals[0]).toMatchObject({ agentId: 'mars', errorCode: 'RATE_LIMITED', security: true });
    expect(refusals[0]?.reason).toMatch(/^anonymous at 192\.0\.2\.1: more than 3 deaths within 60 s/);
  });

  it('has nobody else refused, and counts nothing against the agent itself', () => {
    const team = teamWith([...Array.from({ length: 4 }, () => over(eve)), over(bob), over(bob), over(bob)]);
    expect(team.supervisor.refusals('mars').map(({ key }) => key)).toEqual([eve.key]);
    for (let own = 0; own < 3; own++) die(team, {});
    expect(team.statuses('mars')).toEqual(['running']);
    die(team, {});
    expect(team.statuses('mars')).toEqual(['failed']);
  });

  it('is one charge for all attempts of one envelope, whoever sent it', () => {
    const thrice = [over(eve), over(eve, true), over(eve, true)];
    const team = teamWith([...thrice, ...thrice, ...thrice]);
    expect(refusedMs(team)).toEqual([]);
    die(team, over(eve));
    expect(team.supervisor.refusals('mars')).toHaveLength(1);
    const own = teamWith([over(undefined), over(undefined, true), over(undefined, true), over(undefined)]);
    expect(own.statuses('mars')).toEqual(['running']);
  });

  it('makes the next restart wait as any death does', () => {
    const team = teamWith([over(eve)], { backOff: { firstMs: 100 } });
    team.taken();
    team.supervisor.crashed('mars', { reason: 'boom', charged: true, ...over(eve) });
    expect(team.taken()).toEqual([]);
    team.clock.advance(100);
    expect(team.taken()).toEqual(['start again mars']);
  });

  it('has them refused for longer each time, until they have broken nothing for a whole window', () => {
    const refusal = { firstMs: 20_000, factor: 2, jitter: 0, maxMs: 100_000 };
    const team = teamWith(
      Array.from({ length: 4 }, () => over(eve)),
      { refusal },
    );
    const seen: number[] = [];
    for (let round = 0; round < 4; round++) {
      seen.push(Math.max(...refusedMs(team)) + DIE_MS);
      team.clock.advance(seen.at(-1) as number);
      expect(refusedMs(team)).toEqual([]);
      die(team, over(eve));
    }
    expect(seen).toEqual([20_000, 40_000, 80_000, 100_000]);
    team.clock.advance(100_000 + 60_000);
    die(team, over(eve));
    expect(refusedMs(team)).toEqual([]);
  });

  it('is remembered of so many, and nobody new drives them out or has somebody else refused', () => {
    const team = teamWith(
      Array.from({ length: 4 }, () => over(eve)),
      { refusal: { firstMs: 3e9, maxMs: 3e9 } },
    );
    // Each of another name: the agent dies of it, and is restarted.
    for (let n = 0; n < 2_000; n++) {
      const other = outsiderOf(`key:${n}`, 'salt');
      team.supervisor.crashed('mars', { reason: 'boom', charged: true, ...over(other) });
      team.clock.advance(DIE_MS);
      team.supervisor.started('mars');
    }
    expect(team.supervisor.refusals('mars').map(({ key }) => key)).toEqual([eve.key]);
    expect(team.supervisor.status('mars').status).not.toBe('failed');
  });
});

describe('The key of somebody outside', () => {
  it('is that of a name, and of no other; without the salt nobody can say it', () => {
    const keys = Array.from({ length: 1_000 }, (_, n) => outsiderOf(`key:${n}`, 'salt').key.join());
    expect(new Set(keys).size).toBe(1_000);
    expect(outsiderOf('key:bob', 'salt')).toEqual(bob);
    expect(outsiderOf('key:bob', 'other').key).not.toEqual(bob.key);
    expect(outsiderOf('x'.repeat(10_000), 'salt').name).toHaveLength(200);
  });

  it('is the same however many others were named meanwhile, long names among them', () => {
    const outsiders = outsidersBy('salt');
    const long = 'x'.repeat(10_000);
    for (let n = 0; n < 1_000; n++) {
      expect(outsiders('key:bob')).toEqual(bob);
      expect(outsiders(`key:${n}`)).toEqual(outsiderOf(`key:${n}`, 'salt'));
      expect(outsiders(`${long}${n}`)).toEqual(outsiderOf(`${long}${n}`, 'salt'));
    }
  });
});
