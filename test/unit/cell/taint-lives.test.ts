import { describe, expect, it } from 'vitest';
import type { ActorLife } from '../../../runtime/cell/actor-life.ts';
import {
  AgentMemories,
  absorbTaint,
  declareClean,
  absorbAtClient,
} from '../../../runtime/cell/cell-taint.ts';
import type { CellStatus } from '../../../runtime/cell/cell.machine.ts';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { CellLives } from '../../../runtime/cell/cell-lives.ts';
import type { Snapshot } from '../../../runtime/protocol/snapshot.ts';

const SNAPSHOT: Snapshot = { agentId: 'mars', machineId: 'm', version: '1', hash: 'h', state: 1, atMs: 0 };

/** The lives of an agent whose snapshots are on their way until `left` resolves. */
function agentWithLives({ hasOwnMemory = false } = {}) {
  const left = Promise.withResolvers<Snapshot | undefined>();
  const makeActor = () => {
    const actor = {
      isOver: false,
      hasOwnMemory,
      state: undefined as unknown,
      start: async () => undefined,
      snapshot: () => left.promise,
      end: async () => {
        actor.isOver = true;
      },
    };
    return actor as unknown as ActorLife;
  };
  const cell = {
    status: 'starting',
    row: { id: 'mars', party: { isSystem: false } },
    handlings: [],
    definition: { concurrency: 1 },
    thread: {
      interceptors: { ended: () => undefined },
      channels: { ended: () => undefined },
      journal: undefined,
      memories: new AgentMemories(),
      log: { declaredClean: () => undefined },
    },
  } as unknown as Cell;
  const lives = new CellLives(cell, makeActor);
  (cell as { lives: CellLives }).lives = lives;
  return { cell, lives, left };
}

const standsAt = (cell: Cell, status: CellStatus): void => {
  (cell as { status: CellStatus }).status = status;
};

describe('what an agent has taken in, while its state is on its way to the next actor (F-09)', () => {
  it('is on the state, also what came before the state arrived; and on the next actor, also what came after', async () => {
    const { cell, lives, left } = agentWithLives();
    await lives.begin(undefined);
    standsAt(cell, 'running');
    absorbTaint(cell, undefined, ['web:a']);
    standsAt(cell, 'finishing');
    const snapshot = Promise.resolve(lives.snapshot());
    absorbAtClient(cell, ['web:b']);
    left.resolve(SNAPSHOT);
    expect((await snapshot)?.taint).toEqual(['web:a', 'web:b']);
    absorbAtClient(cell, ['web:c']);
    standsAt(cell, 'changing');
    await lives.end(() => undefined);
    absorbAtClient(cell, ['web:d']);
    standsAt(cell, 'starting');
    await lives.begin(await snapshot);
    expect(lives.taint).toEqual(['web:a', 'web:b', 'web:c', 'web:d']);
  });

  it('is on the next actor also where there is no state, because its thread may have kept it', async () => {
    const { cell, lives, left } = agentWithLives();
    await lives.begin(undefined);
    absorbTaint(cell, undefined, ['web:a']);
    left.resolve(undefined);
    expect(await lives.snapshot()).toBeUndefined();
    await lives.end(() => undefined);
    standsAt(cell, 'down');
    absorbAtClient(cell, ['web:b']);
    standsAt(cell, 'starting');
    await lives.begin(undefined);
    expect(lives.taint).toEqual(['web:a', 'web:b']);
    declareClean(cell, undefined, 'so it is');
    expect(lives.taint).toBeUndefined();
  });

  it('is not on the next actor of another process, but for what comes for that one meanwhile', async () => {
    const { cell, lives, left } = agentWithLives({ hasOwnMemory: true });
    await lives.begin(undefined);
    absorbTaint(cell, undefined, ['web:a']);
    left.resolve(undefined);
    await lives.end(() => undefined);
    standsAt(cell, 'down');
    absorbAtClient(cell, ['web:b']);
    standsAt(cell, 'starting');
    await lives.begin(undefined);
    expect(lives.taint).toEqual(['web:b']);
  });

  it('is in whatever bears its name in its thread later: its modules are still there', async () => {
    const { cell, lives } = agentWithLives();
    await lives.begin(undefined);
    absorbTaint(cell, undefined, ['web:a']);
    const again = new CellLives(cell);
    expect(again.taint).toEqual(['web:a']);
    expect(new CellLives({ ...cell, row: { ...cell.row, id: 'venus' } } as Cell).taint).toBeUndefined();
  });
});
