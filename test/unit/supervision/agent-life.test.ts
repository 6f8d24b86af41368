import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import type { Restart } from '../../../runtime/supervision/restart.ts';
import { beginLife, lifeUnder, nextLife } from '../../../runtime/supervision/agent-life.ts';
import { type AgentLifeEvent, agentLifeMachine } from '../../../runtime/supervision/agent-life.machine.ts';

const EVENTS: readonly AgentLifeEvent['type'][] = [
  'agent.started',
  'agent.crashed',
  'agent.exited',
  'agent.stop',
  'agent.restart',
  'agent.parked',
  'agent.resume',
  'group.restarting',
  'backOff.elapsed',
  'intensity.exceeded',
];

const statusAfter = (restart: Restart, ...events: AgentLifeEvent['type'][]): string =>
  events.reduce(nextLife, beginLife(restart)).status;

describe('agent life', () => {
  it('begins by starting', () => {
    expect(statusAfter('permanent')).toBe('starting');
    expect(statusAfter('permanent', 'agent.started')).toBe('running');
  });

  it.each([
    ['permanent', 'agent.crashed', 'restarting'],
    ['permanent', 'agent.exited', 'restarting'],
    ['transient', 'agent.crashed', 'restarting'],
    ['transient', 'agent.exited', 'stopped'],
    ['temporary', 'agent.crashed', 'stopped'],
    ['temporary', 'agent.exited', 'stopped'],
    ['permanent', 'group.restarting', 'restarting'],
    ['transient', 'group.restarting', 'restarting'],
    ['temporary', 'group.restarting', 'stopped'],
  ] as const)('of a %s agent goes on, after %s, as %s', (restart, event, status) => {
    expect(statusAfter(restart, event)).toBe(status);
    expect(statusAfter(restart, 'agent.started', event)).toBe(status);
  });

  it('waits for the back-off before it starts again', () => {
    expect(statusAfter('permanent', 'agent.crashed', 'backOff.elapsed')).toBe('starting');
  });

  it('fails from anywhere but rest when the intensity is exceeded', () => {
    expect(statusAfter('permanent', 'intensity.exceeded')).toBe('failed');
    expect(statusAfter('permanent', 'agent.crashed', 'intensity.exceeded')).toBe('failed');
    expect(statusAfter('permanent', 'agent.stop', 'intensity.exceeded')).toBe('stopped');
  });

  it('is parked from anywhere but rest, and only resumed or stopped then', () => {
    for (const before of [[], ['agent.started']] as AgentLifeEvent['type'][][]) {
      const parked = [...before, 'agent.parked'] as const;
      expect(statusAfter('permanent', ...parked)).toBe('parked');
      for (const type of EVENTS) {
        const after = { 'agent.resume': 'starting', 'agent.stop': 'stopped' }[type as string] ?? 'parked';
        expect(statusAfter('permanent', ...parked, type), type).toBe(after);
      }
    }
    expect(statusAfter('permanent', 'agent.stop', 'agent.parked')).toBe('stopped');
    expect(statusAfter('permanent', 'intensity.exceeded', 'agent.parked')).toBe('failed');
  });

  it('stands at the same point under another restart kind', () => {
    const running = nextLife(beginLife('permanent'), 'agent.started');
    const changed = lifeUnder('temporary', running);
    expect(changed).toBe(nextLife(beginLife('temporary'), 'agent.started'));
    expect(nextLife(changed, 'agent.crashed').status).toBe('stopped');
    expect(lifeUnder('permanent', changed)).toBe(running);
  });

  it('can be resumed by hand after it failed or stopped', () => {
    expect(statusAfter('temporary', 'agent.crashed', 'agent.restart')).toBe('starting');
    expect(statusAfter('permanent', 'intensity.exceeded', 'agent.restart')).toBe('starting');
  });

  it.each(['agent.crashed', 'agent.exited', 'agent.started', 'backOff.elapsed'] as const)(
    'is not changed by a late %s',
    (event) => {
      for (const end of ['agent.stop', 'intensity.exceeded'] as const) {
        const over = nextLife(beginLife('permanent'), end);
        expect(nextLife(over, event)).toBe(over);
      }
    },
  );

  it('is the same object for every agent that is equally far', () => {
    const one = nextLife(nextLife(beginLife('permanent'), 'agent.crashed'), 'backOff.elapsed');
    expect(one).toBe(beginLife('permanent'));
    expect(one).not.toBe(beginLife('transient'));
  });

  it('agrees with the machine run as an actor', () => {
    for (const restart of ['permanent', 'transient', 'temporary'] as const) {
      const actor = createActor(agentLifeMachine, { input: { restart } }).start();
      let life = beginLife(restart);
      for (const type of [...EVENTS, ...[...EVENTS].reverse(), ...EVENTS]) {
        actor.send({ type });
        life = nextLife(life, type);
        expect(life.status).toBe(actor.getSnapshot().value);
      }
    }
  });
});
