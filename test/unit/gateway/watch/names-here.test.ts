import { describe, expect, it } from 'vitest';
import { NamesHere } from '../../../../gateway/watch/names-here.ts';

const names = new NamesHere('rome', 'oslo');
const event = (fields: object) =>
  names.event({ type: 'message-sent', timestamp: 1, place: 'worker-1', ...fields });

describe('NamesHere (F-08)', () => {
  it.each([
    ['mars', 'rome/mars'],
    ['oslo/venus', 'venus'],
    ['paris/pluto', 'paris/pluto'],
    ['system/host', 'rome/system/host'],
    ['*', '*'],
  ])('calls %s of another node %s', (there, here) => {
    expect(names.agent(there)).toBe(here);
  });

  it('tells an event as this node would: who, to whom, where', () => {
    expect(event({ sender: 'mars', recipient: 'oslo/venus', targetAgentId: 'oslo/venus' })).toMatchObject({
      node: 'rome',
      place: 'rome/worker-1',
      sender: 'rome/mars',
      recipient: 'venus',
      targetAgentId: 'venus',
    });
    const step = event({ type: 'machine-step', agentId: 'mars', actorId: 'mars', machine: 'agentLife' });
    expect(step).toMatchObject({ agentId: 'rome/mars', actorId: 'rome/mars' });
    expect(event({ type: 'machine-step', agentId: 'mars', actorId: 'p1' })).toMatchObject({ actorId: 'p1' });
  });

  it('has another node say nothing of what agents of this one do', () => {
    expect(event({ type: 'agent-failed', agentId: 'oslo/venus' }).agentId).toBe('rome/oslo/venus');
    for (const type of ['message-received', 'envelope-settled'] as const)
      expect(event({ type, recipient: 'oslo/venus', targetAgentId: 'oslo/venus' }).targetAgentId).toBe(
        'rome/oslo/venus',
      );
    const state = names.state({
      format: 'orrery-watch',
      version: 1,
      node: 'rome',
      name: 'a team',
      nowMs: 1,
      agents: [
        { id: 'oslo/venus' },
        { id: 'mars', place: 'worker-1', actors: [{ id: 'mars', machine: 'm', state: 's' }] },
      ],
      places: [{ id: 'worker-1', kind: 'worker', agents: ['mars'] }],
    } as never);
    expect(state.agents).toEqual([
      { id: 'rome/mars', place: 'rome/worker-1', actors: [{ id: 'rome/mars', machine: 'm', state: 's' }] },
    ]);
    expect(state.places).toEqual([{ id: 'rome/worker-1', kind: 'worker', agents: ['rome/mars'] }]);
  });
});
