import { describe, expect, it } from 'vitest';
import { SupervisedTeam } from '../../fixtures/supervised-team.ts';

const THREE = ['a', 'b', 'c'];
const grouped = (strategy: 'one-for-one' | 'one-for-all' | 'rest-for-one', intensity = {}) =>
  new SupervisedTeam({ groups: [{ name: 'core', agents: THREE, strategy, intensity }] });

describe('a supervisor', () => {
  it('leaves the first start to its caller', () => {
    const team = new SupervisedTeam();
    team.supervisor.add('a', { restart: 'permanent' });
    expect(team.taken()).toEqual([]);
    expect(team.supervisor.status('a')).toEqual({ status: 'starting', restarts: 0 });
  });

  it('restarts at once after the first death, later after further ones', () => {
    const team = new SupervisedTeam();
    team.run(['a']);
    team.crash('a');
    expect(team.taken()).toEqual(['start again a']);
    team.supervisor.started('a');
    team.crash('a', 'boom again');
    expect(team.supervisor.status('a')).toEqual({
      status: 'restarting',
      restarts: 1,
      lastError: 'boom again',
    });
    team.clock.advance(99);
    expect(team.taken()).toEqual([]);
    team.clock.advance(1);
    expect(team.taken()).toEqual(['start again a']);
    expect(team.supervisor.status('a')).toMatchObject({ status: 'starting', restarts: 2 });
  });

  it('gives up an agent as that says of itself, and one of a group as the group says', () => {
    const team = new SupervisedTeam({ groups: [{ name: 'core', agents: ['b'] }] });
    const supervision = { intensity: { maxRestarts: 0, withinMs: 1_000 }, halfOpen: false } as const;
    team.supervisor.add('a', { restart: 'permanent', supervision });
    team.supervisor.started('a');
    team.crash('a');
    expect(team.supervisor.status('a')).toMatchObject({ status: 'failed', restarts: 0 });
    expect(team.supervisor.status('a')).not.toHaveProperty('retryAtMs');
    // Other code may say otherwise.
    team.supervisor.restart('a');
    team.supervisor.started('a');
    team.supervisor.change('a', { restart: 'permanent' });
    team.crash('a');
    expect(team.supervisor.status('a').status).toBe('starting');
    expect(() => team.supervisor.requireAlone('a', supervision)).not.toThrow();
    expect(() => team.supervisor.requireAlone('b', supervision)).toThrow(
      /agent.supervision is .*expected nothing: b is in the group core/,
    );
  });

  it('does not try again what was started with wrong options', () => {
    const team = new SupervisedTeam();
    team.supervisor.add('a', { restart: 'permanent' });
    team.supervisor.misconfigured('a', { reason: 'no such program' });
    team.clock.advance(1_000_000);
    expect(team.taken()).toEqual([]);
    expect(team.supervisor.status('a')).toEqual({
      status: 'stopped',
      restarts: 0,
      lastError: 'no such program',
    });
    expect(team.events.map(({ type }) => type)).toEqual(['agent-crashed', 'agent-stopped']);
  });

  it('leaves a parked agent alone, whatever dies around it, until it is resumed', () => {
    const team = grouped('one-for-all');
    team.run(THREE);
    team.supervisor.parked('b', 'no migration');
    expect(team.events.at(-1)).toMatchObject({
      type: 'agent-parked',
      agentId: 'b',
      reason: 'no migration',
      errorCode: 'SNAPSHOT_UNKNOWN',
    });
    team.crash('a');
    team.crash('b', 'its thread died');
    expect(team.taken()).toEqual(['stop c', 'start again a,c']);
    expect(team.supervisor.status('b')).toEqual({ status: 'parked', restarts: 0, lastError: 'no migration' });
    expect(team.supervisor.resume('b')).toBe(true);
    expect(team.supervisor.resume('b')).toBe(false);
    team.supervisor.started('b');
    expect(team.statuses(...THREE)).toEqual(['starting', 'running', 'starting']);
  });

  it('restarts an agent as its new code says', () => {
    const team = new SupervisedTeam();
    team.run(['a']);
    team.supervisor.change('a', { restart: 'temporary' });
    team.crash('a');
    expect(team.statuses('a')).toEqual(['stopped']);
  });

  it('counts a death while starting like any other', () => {
    const team = new SupervisedTeam();
    team.supervisor.add('a', { restart: 'permanent' });
    for (let death = 1; death <= 4; death++) {
      team.crash('a', 'cannot start');
      team.clock.advance(1_000);
    }
    expect(team.statuses('a')).toEqual(['failed']);
  });

  it('gives up on the fourth death inside a minute and says why', () => {
    const team = new SupervisedTeam();
    team.run(['a', 'other']);
    for (let death = 1; death <= 4; death++) {
      team.crash('a', `boom ${death}`);
      team.clock.advance(1_000);
      team.supervisor.started('a');
    }
    const reason = '3 restarts within 60 s, no more are allowed; last error: boom 4';
    expect(team.taken().at(-1)).toBe(`gave up a: ${reason}`);
    expect(team.events.at(-1)).toMatchObject({
      type: 'agent-failed',
      agentId: 'a',
      errorCode: 'SUPERVISOR_GAVE_UP',
      reason,
    });
    expect(team.supervisor.status('a')).toMatchObject({ status: 'failed', restarts: 3, lastError: 'boom 4' });
    expect(team.statuses('other')).toEqual(['running']);
  });

  it('never gives up on deaths that come slowly enough', () => {
    const team = new SupervisedTeam();
    team.run(['a']);
    for (let death = 1; death <= 20; death++) {
      team.crash('a');
      team.clock.advance(20_001);
      team.supervisor.started('a');
    }
    expect(team.supervisor.status('a')).toMatchObject({ status: 'running', restarts: 20 });
  });

  it('forgets the row of restarts after a full window of running', () => {
    const team = new SupervisedTeam();
    team.run(['a']);
    team.crash('a');
    team.supervisor.started('a');
    team.clock.advance(60_000);
    team.taken();
    team.crash('a');
    expect(team.taken()).toEqual(['start again a']);
  });

  it('does not take the wait for a back-off for a life', () => {
    const team = new SupervisedTeam({
      backOff: { firstMs: 500, jitter: 0 },
      intensity: { maxRestarts: 9, withinMs: 100 },
    });
    team.run(['a']);
    for (const waitMs of [0, 500, 1_000, 2_000]) {
      team.crash('a');
      expect(team.clock.nextInMs ?? 0).toBe(waitMs);
      team.clock.advance(waitMs);
      team.supervisor.started('a');
    }
  });

  it('restarts after an uncharged death at once, however many there are', () => {
    const team = new SupervisedTeam();
    team.run(['a']);
    for (let kill = 1; kill <= 10; kill++) {
      team.crash('a', 'killed from outside', false);
      team.supervisor.started('a');
    }
    expect(team.supervisor.status('a')).toMatchObject({ status: 'running', restarts: 10 });
    expect(team.taken()).toEqual(Array(10).fill('start again a'));
  });

  it.each([
    ['permanent', 'starting', ['start a']],
    ['transient', 'stopped', []],
    ['temporary', 'stopped', []],
  ] as const)('lets a %s agent that ended by itself be %s', (restart, status, effects) => {
    const team = new SupervisedTeam();
    team.run(['a'], restart);
    team.supervisor.exited('a');
    expect(team.statuses('a')).toEqual([status]);
    expect(team.taken()).toEqual(effects);
  });

  it('counts the ends of a permanent agent, which would otherwise go round for ever', () => {
    const team = new SupervisedTeam();
    team.run(['a']);
    for (let end = 1; end <= 4; end++) {
      team.supervisor.exited('a');
      team.clock.advance(1_000);
      team.supervisor.started('a');
    }
    expect(team.taken().at(-1)).toMatch(/gave up a: .*last error: none, it ended by itself/);
  });

  it('does not restart a temporary agent that died', () => {
    const team = new SupervisedTeam();
    team.run(['a'], 'temporary');
    team.crash('a');
    expect(team.supervisor.status('a')).toEqual({ status: 'stopped', restarts: 0, lastError: 'boom' });
    expect(team.events.map(({ type }) => type)).toEqual(['agent-started', 'agent-crashed', 'agent-stopped']);
  });

  it('restarts a whole one-for-all group in start order, after ending it in the reverse', () => {
    const team = grouped('one-for-all');
    team.run(['c', 'b', 'a']);
    team.crash('b');
    expect(team.taken()).toEqual(['stop c,a', 'start again a,b,c']);
    expect(team.statuses(...THREE)).toEqual(['starting', 'starting', 'starting']);
  });

  it('restarts only what was started later for rest-for-one', () => {
    const team = grouped('rest-for-one');
    team.run(THREE);
    team.crash('b');
    expect(team.taken()).toEqual(['stop c', 'start again b,c']);
    expect(team.statuses(...THREE)).toEqual(['running', 'starting', 'starting']);
  });

  it('restarts a group once when a thread took it all along', () => {
    const team = grouped('one-for-all');
    team.run([...THREE, 'alone', 'lonely']);
    team.supervisor.crashedTogether(
      [...THREE, 'alone', 'lonely'].map((agentId) => ({
        agentId,
        reason: 'its thread looped',
        charged: agentId === 'b',
      })),
    );
    expect(team.taken()).toEqual(['start again a,b,c,alone,lonely']);
    expect(team.supervisor.status('c')).toMatchObject({ restarts: 1 });
  });

  it('fails a whole group whose intensity one member exceeded, and only that', () => {
    const team = grouped('one-for-one', { maxRestarts: 1 });
    team.run([...THREE, 'other']);
    team.crash('b', 'first');
    team.supervisor.started('b');
    team.taken();
    team.crash('b', 'second');
    const limit = 'group "core": 1 restart within 60 s, no more are allowed';
    expect(team.taken()).toEqual([
      'stop c,a',
      `gave up a: ${limit}; last error (b): second`,
      `gave up b: ${limit}; last error: second`,
      `gave up c: ${limit}; last error (b): second`,
    ]);
    expect(team.statuses(...THREE, 'other')).toEqual(['failed', 'failed', 'failed', 'running']);
  });

  it('tells all of a group the stack and the taint of what ended it', () => {
    const team = grouped('one-for-one', { maxRestarts: 0 });
    team.run(THREE);
    const last = { reason: 'a stranger says no', stack: 'Error: at b.ts:1', taint: ['web:example.org'] };
    team.supervisor.crashed('b', { ...last, charged: true });
    for (const id of THREE) {
      const { stack, taint } = last;
      expect(team.lastErrors.get(id)).toMatchObject({ stack, taint });
      const failed = team.events.find(({ type, agentId }) => type === 'agent-failed' && agentId === id);
      expect(failed).toMatchObject({ stack, taint });
    }
    expect(team.supervisor.status('b').lastError).toBe(last.reason);
  });

  it('does not start what a second death of the same report made fail', () => {
    const team = grouped('one-for-one', { maxRestarts: 1 });
    team.run(THREE);
    team.supervisor.crashedTogether([
      { agentId: 'a', reason: 'one', charged: true },
      { agentId: 'b', reason: 'two', charged: true },
    ]);
    expect(team.taken().filter((effect) => effect.startsWith('start'))).toEqual([]);
    expect(team.statuses(...THREE)).toEqual(['failed', 'failed', 'failed']);
    expect(team.supervisor.status('a').restarts).toBe(0);
  });

  it('waits once for a group, and starts it together', () => {
    const team = grouped('rest-for-one');
    team.run(THREE);
    for (const agentId of ['c', 'c']) {
      team.crash(agentId);
      team.supervisor.started(agentId);
    }
    expect(team.clock.pending).toBe(1);
    team.crash('a');
    expect(team.taken()).toEqual(['start again c', 'stop b', 'start again a,b,c']);
    team.clock.advance(10_000);
    expect(team.taken()).toEqual([]);
  });

  it('keeps a stopped agent out of what its group does', () => {
    const team = grouped('one-for-all');
    team.run(THREE);
    team.supervisor.stop('a');
    expect(team.taken()).toEqual(['stop a']);
    team.crash('a', 'too late');
    team.crash('b');
    expect(team.taken()).toEqual(['stop c', 'start again b,c']);
    expect(team.supervisor.status('a')).toEqual({ status: 'stopped', restarts: 0 });
  });

  it('drops the waiting restart of an agent that is stopped or removed', () => {
    const team = new SupervisedTeam();
    team.run(['a', 'b']);
    for (const agentId of ['a', 'b', 'a', 'b']) {
      team.crash(agentId);
      team.supervisor.started(agentId);
    }
    team.taken();
    team.supervisor.stop('a');
    team.supervisor.remove('b');
    expect(team.clock.pending).toBe(0);
    team.clock.advance(10_000);
    expect(team.taken()).toEqual([]);
    expect(() => team.supervisor.status('b')).toThrow(expect.objectContaining({ code: 'AGENT_NOT_FOUND' }));
  });

  it('starts a failed agent by hand, with a clean record', () => {
    const team = new SupervisedTeam({ intensity: { maxRestarts: 1 } });
    team.run(['a']);
    for (const death of ['one', 'two']) {
      team.crash('a', death);
      team.supervisor.started('a');
    }
    expect(team.statuses('a')).toEqual(['failed']);
    team.taken();
    team.supervisor.restart('a');
    team.supervisor.restart('a');
    expect(team.taken()).toEqual(['start a']);
    team.supervisor.started('a');
    team.crash('a', 'three');
    expect(team.taken()).toEqual(['start again a']);
  });

  it('starts an agent by hand that waits for its back-off', () => {
    const team = new SupervisedTeam();
    team.run(['a']);
    team.crash('a');
    team.supervisor.started('a');
    team.crash('a');
    team.taken();
    team.supervisor.restart('a');
    team.clock.advance(10_000);
    expect(team.taken()).toEqual(['start a']);
  });

  it('shrugs off reports about agents that it does not know', () => {
    const team = new SupervisedTeam();
    team.supervisor.started('ghost');
    team.supervisor.exited('ghost');
    team.crash('ghost');
    expect(team.events).toEqual([]);
  });

  it('has no timer left after it is closed', () => {
    const team = new SupervisedTeam();
    team.run(['a', 'b']);
    for (const agentId of ['a', 'b', 'a', 'b']) {
      team.crash(agentId);
      team.supervisor.started(agentId);
    }
    expect(team.clock.pending).toBe(2);
    team.supervisor.close();
    expect(team.clock.pending).toBe(0);
  });

  it.each([
    [{ intensity: { maxRestarts: -1 } }, /supervision\.intensity\.maxRestarts is -1/],
    [{ backOff: { jitter: 2 } }, /supervision\.backOff\.jitter is 2/],
    [
      { groups: [{ name: 'g', agents: [] }] },
      /supervision\.groups\[0\]\.agents is \[\], expected a list that is not empty/,
    ],
    [{ groups: [{ name: 'g', agents: ['a', 'a'] }] }, /supervision\.groups\.agents is "a"/],
  ])('refuses the options %j', (options, message) => {
    expect(() => new SupervisedTeam(options)).toThrow(message);
  });
});
