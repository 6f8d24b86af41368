import { describe, expect, it } from 'vitest';
import { MachineHost } from '../../../runtime/machine/machine-host.ts';
import { stepsOf } from '../../../runtime/machine/machine-steps.ts';
import type { Restart } from '../../../runtime/supervision/supervisor-options.ts';
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

function lifeAfter(
  restart: Restart,
  ...events: AgentLifeEvent['type'][]
): MachineHost<typeof agentLifeMachine> {
  const life = new MachineHost(agentLifeMachine, {}, { input: { restart } });
  for (const type of events) life.send({ type });
  return life;
}

const statusAfter = (restart: Restart, ...events: AgentLifeEvent['type'][]): string =>
  lifeAfter(restart, ...events).value;

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

  it('goes on at the same point under another restart kind', () => {
    const running = lifeAfter('permanent', 'agent.started');
    const persisted = { ...running.persist(), context: { restart: 'temporary' } };
    const changed = new MachineHost(agentLifeMachine, {}, { persisted });
    expect(changed.value).toBe('running');
    changed.send({ type: 'agent.crashed' });
    expect(changed.value).toBe('stopped');
  });

  it('can be resumed by hand after it failed or stopped', () => {
    expect(statusAfter('temporary', 'agent.crashed', 'agent.restart')).toBe('starting');
    expect(statusAfter('permanent', 'intensity.exceeded', 'agent.restart')).toBe('starting');
  });

  it.each(['agent.crashed', 'agent.exited', 'agent.started', 'backOff.elapsed'] as const)(
    'is not changed by a late %s',
    (event) => {
      for (const end of ['agent.stop', 'intensity.exceeded'] as const) {
        const over = lifeAfter('permanent', end);
        const status = over.value;
        expect(over.can({ type: event })).toBe(false);
        over.send({ type: event });
        expect(over.value).toBe(status);
      }
    },
  );

  it('is one of eighteen, shared by all agents that are equally far', () => {
    const steps = stepsOf(agentLifeMachine);
    const { snapshot: starting } = steps.begin({ restart: 'permanent' });
    const { snapshot: waiting } = steps.step(starting, { type: 'agent.crashed' });
    expect(steps.step(waiting, { type: 'backOff.elapsed' }).snapshot).toBe(starting);
    expect(steps.begin({ restart: 'permanent' }).snapshot).toBe(starting);
    expect(steps.begin({ restart: 'transient' }).snapshot).not.toBe(starting);
  });
});
