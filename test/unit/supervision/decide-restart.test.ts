import { describe, expect, it } from 'vitest';
import { BackOff } from '../../../runtime/protocol/back-off.ts';
import { RestartIntensity } from '../../../runtime/supervision/supervisor-options.ts';
import {
  type Blame,
  decideRestart,
  type GroupState,
  type Member,
} from '../../../runtime/supervision/decide-restart.ts';

const member = (agentId: string, facts: Partial<Member> = {}): Member => ({
  agentId,
  restart: 'permanent',
  status: 'running',
  consecutive: 0,
  ranMs: 100,
  ...facts,
});

const group = (facts: Partial<GroupState>): GroupState => ({
  strategy: 'one-for-one',
  intensity: RestartIntensity.parse({}),
  backOff: BackOff.parse({ jitter: 0 }),
  restarts: [],
  members: [member('a'), member('b', { status: 'restarting' }), member('c')],
  ...facts,
});

const died = (agentId: string, blame: Blame = 'agent') => ({ agentId, blame });
const random = (): number => 0;

describe('the decision after a death', () => {
  it.each([
    ['one-for-one', ['b'], []],
    ['one-for-all', ['a', 'b', 'c'], ['c', 'a']],
    ['rest-for-one', ['b', 'c'], ['c']],
  ] as const)('%s restarts %j and first ends %j', (strategy, restart, stop) => {
    const decision = decideRestart(group({ strategy }), [died('b')], 1_000, random);
    expect(decision).toMatchObject({ kind: 'restart', restart, stop, afterMs: 0, restarts: [1_000] });
  });

  it('takes the earliest of several dead for rest-for-one', () => {
    const members = ['a', 'b', 'c', 'd'].map((id) =>
      member(id, id === 'b' || id === 'd' ? { status: 'restarting' } : {}),
    );
    const state = group({ strategy: 'rest-for-one', members });
    const decision = decideRestart(state, [died('d'), died('b')], 1_000, random);
    expect(decision).toMatchObject({ restart: ['b', 'c', 'd'], stop: ['c'], restarts: [1_000] });
  });

  it('leaves those alone that were stopped or have failed', () => {
    const members = [
      member('a', { status: 'stopped' }),
      member('b', { status: 'restarting' }),
      member('c', { status: 'failed' }),
    ];
    const decision = decideRestart(group({ strategy: 'one-for-all', members }), [died('b')], 0, random);
    expect(decision).toMatchObject({ restart: ['b'], stop: [] });
  });

  it('ends a temporary neighbour without bringing it back', () => {
    const members = [member('a', { restart: 'temporary' }), member('b', { status: 'restarting' })];
    const decision = decideRestart(group({ strategy: 'one-for-all', members }), [died('b')], 0, random);
    expect(decision).toMatchObject({ restart: ['b'], stop: ['a'] });
  });

  it('brings a neighbour back that still waits for its back-off, without ending it', () => {
    const members = [member('a', { status: 'restarting' }), member('b', { status: 'restarting', ranMs: 0 })];
    const decision = decideRestart(group({ strategy: 'rest-for-one', members }), [died('a')], 0, random);
    expect(decision).toMatchObject({ restart: ['a', 'b'], stop: [] });
  });

  it('gives up with the whole group when the intensity is exceeded', () => {
    const decision = decideRestart(group({ restarts: [900, 800, 700] }), [died('b')], 1_000, random);
    expect(decision).toMatchObject({ kind: 'give-up', giveUp: ['a', 'b', 'c'], stop: ['c', 'a'] });
  });

  it('neither counts nor delays an uncharged death', () => {
    const members = [member('b', { status: 'restarting', consecutive: 5 })];
    const decision = decideRestart(
      group({ members, restarts: [900, 800, 700] }),
      [died('b', 'nobody')],
      1_000,
      random,
    );
    expect(decision).toMatchObject({ kind: 'restart', afterMs: 0, restarts: [900, 800, 700] });
    expect(decision).toHaveProperty('consecutive', new Map([['b', 5]]));
  });

  it('counts deaths that happened at once as one, charged if one of them is', () => {
    const members = ['a', 'b', 'c'].map((id) => member(id, { status: 'restarting', consecutive: 1 }));
    const state = group({ strategy: 'one-for-all', members });
    const decision = decideRestart(
      state,
      [died('a', 'nobody'), died('b'), died('c', 'nobody')],
      1_000,
      random,
    );
    expect(decision).toMatchObject({ restart: ['a', 'b', 'c'], restarts: [1_000], afterMs: 100 });
  });

  it('waits longer with each restart in a row, for those taken along as well', () => {
    const members = [
      member('a', { consecutive: 4, ranMs: 70_000 }),
      member('b', { consecutive: 2, status: 'restarting' }),
    ];
    const decision = decideRestart(group({ strategy: 'one-for-all', members }), [died('b')], 0, random);
    expect(decision).toMatchObject({ afterMs: 200 });
    expect(decision).toHaveProperty(
      'consecutive',
      new Map([
        ['a', 1],
        ['b', 3],
      ]),
    );
  });

  it('ends the row with a life of a full window', () => {
    const members = [member('b', { status: 'restarting', consecutive: 7, ranMs: 60_000 })];
    expect(decideRestart(group({ members }), [died('b')], 0, random)).toMatchObject({ afterMs: 0 });
  });
});
