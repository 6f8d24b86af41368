import { describe, expect, it } from 'vitest';
import { type CellEvent, type CellStatus, cellMachine } from '../../../runtime/cell/cell.machine.ts';
import { MachineHost } from '../../../runtime/machine/machine-host.ts';

const STATUSES: readonly CellStatus[] = [
  'down',
  'idle',
  'starting',
  'running',
  'finishing',
  'changing',
  'parked',
  'failed',
  'stopped',
];

/** Every step that changes something, by what happens; whatever is not listed changes nothing. */
const STEPS: Readonly<Record<CellEvent['type'], Partial<Record<CellStatus, CellStatus>>>> = {
  'mail.awaited': { down: 'idle' },
  'actor.starting': {
    down: 'starting',
    idle: 'starting',
    changing: 'starting',
    parked: 'starting',
    failed: 'starting',
    stopped: 'starting',
  },
  'actor.started': { starting: 'running' },
  'actor.failed': { starting: 'down' },
  'actor.died': { starting: 'down', running: 'down', finishing: 'down' },
  'upgrade.asked': { running: 'finishing' },
  'upgrade.dropped': { finishing: 'running' },
  'upgrade.ready': { finishing: 'changing' },
  'upgrade.resumed': { parked: 'changing' },
  'state.dropped': { changing: 'down' },
  'state.parked': { down: 'parked', idle: 'parked' },
  'supervisor.gaveUp': {
    down: 'failed',
    idle: 'failed',
    starting: 'failed',
    running: 'failed',
    finishing: 'failed',
    changing: 'failed',
    parked: 'failed',
  },
  'agent.stopped': {
    down: 'stopped',
    idle: 'stopped',
    starting: 'stopped',
    running: 'stopped',
    finishing: 'stopped',
    changing: 'stopped',
    parked: 'stopped',
    failed: 'stopped',
  },
};

const CASES = STATUSES.flatMap((status) =>
  Object.entries(STEPS).map(([type, steps]) => [status, type, steps[status] ?? status] as const),
);

describe("where an agent's cell stands (F-08)", () => {
  it.each(CASES)('%s, after %s: %s', (status, type, next) => {
    const host = new MachineHost(cellMachine, {}, { persisted: { value: status, context: {}, timers: [] } });
    host.send({ type } as CellEvent);
    expect(host.value).toBe(next);
  });

  it('begins without an actor', () => {
    expect(new MachineHost(cellMachine, {}).value).toBe('down');
  });
});
