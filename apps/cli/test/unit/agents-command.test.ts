import { describe, expect, it } from 'vitest';
import { rosterTable } from '../../agents-command.ts';

describe('orrery agents', () => {
  it("shows an agent's actors under it, each with its children and where it stands", () => {
    const row = {
      id: 'mars',
      name: 'MARS',
      version: '1.0.0',
      tier: 1,
      capabilities: ['dig'],
      place: 'worker-1',
      status: 'running' as const,
      waiting: 0,
      restarts: 0,
      capacity: 1_000,
      supervision: { strategy: 'one-for-one' as const, restarts: 0, maxRestarts: 3, withinMs: 60_000 },
    };
    const children = [
      { id: '0190-a', machine: 'proposer', state: 'pending.open' },
      { id: '0190-b', machine: 'responder', state: 'assigned' },
    ];
    const negotiator = { id: 'negotiator', machine: 'negotiator', state: 'active', children };
    expect(rosterTable([row, { ...row, id: 'venus', actors: [negotiator] }])).toEqual([
      'AGENT                 TIER  CAPABILITIES  PLACE     STATUS        MAILBOX  RESTARTS',
      'mars                  L1    dig           worker-1  running       0        0',
      'venus                 L1    dig           worker-1  running       0        0',
      '  negotiator                                        active',
      '    proposer 0190-a                                 pending.open',
      '    responder 0190-b                                assigned',
    ]);
  });
});
