import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import { resultOf, runFixture } from '../fixtures/run-fixture.ts';
import { StoreModel } from '../fixtures/store-model.ts';
import { contentOf, told } from '../fixtures/store-script.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-full-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Told {
  readonly large: { readonly code: string; readonly message: string; readonly details: object };
  readonly small: { readonly code: string; readonly message: string };
  readonly isKept: readonly boolean[];
  readonly isGoingOn: boolean;
}

/** A file system of one megabyte that is there for this command alone, and goes with it. */
const onSmallDisk = (mount: string, size = '1m'): readonly string[] => [
  'unshare',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`,
  mount,
];

const mount = join(folder, 'mount');
mkdirSync(mount);
const [unshare = '', ...how] = onSmallDisk(mount);
/** A container may forbid it; what a file may grow to can be limited everywhere. */
const mayMount = spawnSync(unshare, [...how, 'true']).status === 0;

const asItShould = (told: Told, reason: string): void => {
  expect(told.large).toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining(reason) });
  expect(told.large.details).toMatchObject({ operation: 'write', file: expect.stringMatching(/journal$/) });
  expect(told.small.code).toBe('STORE_FAILED');
  expect(told).toMatchObject({ isKept: [true, true, true, true, true], isGoingOn: true });
};

describe('A store without room', () => {
  it.skipIf(!mayMount)(
    'on a full disk refuses, keeps what it had, and goes on when there is room',
    async () => {
      const result = await resultOf<Told>(runFixture('full-disk', [mount, 'disk'], onSmallDisk(mount)));
      asItShould(result, 'database or disk is full');
    },
  );

  it('whose files may grow no more (RLIMIT_FSIZE) does the same', async () => {
    const limited = ['bash', '-c', 'ulimit -S -f 600 && exec "$0" "$@"'];
    const result = await resultOf<Told>(runFixture('full-disk', [folder, 'limit'], limited));
    asItShould(result, 'disk');
  });

  it('that has reached its maxBytes refuses until enough is settled', async () => {
    const path = join(folder, 'bounded');
    const store = SqliteStore.open({ path, maxBytes: 1_048_576 });
    const model = new StoreModel();
    const batch = {
      mails: Array.from({ length: 50 }, (_, at) => ({
        recipient: 'ada',
        body: `${at} ${'x'.repeat(2_000)}`,
      })),
      settled: [],
      records: [],
    };
    const writeUntilFull = async (): Promise<unknown> => {
      for (;;) {
        try {
          await store.write([batch]);
        } catch (error) {
          return error;
        }
        model.write([batch]);
      }
    };
    for (let tries = 0; tries < 3; tries++) {
      expect(await writeUntilFull()).toMatchObject({
        code: 'STORE_FAILED',
        message: `The store ${path} failed to write: database or disk is full (SQLite 13)`,
      });
    }
    expect(model.mails.length).toBeGreaterThan(300);
    expect(told(await contentOf(store))).toEqual(told(model));
    const settling = {
      mails: [],
      settled: model.mails.slice(0, 100).map(({ number }) => number),
      records: [],
    };
    expect(await store.write([settling])).toEqual(model.write([settling]));
    expect(await store.write([batch])).toEqual(model.write([batch]));
    await store.close();
    const again = SqliteStore.open({ path });
    expect(told(await contentOf(again))).toEqual(told(model));
    await again.close();
  });
});

interface TeamTold {
  readonly refused: { readonly code: string; readonly message: string };
  readonly ready: readonly number[];
  readonly signed: readonly string[];
  readonly leftWhenFull: number;
  readonly meanwhile: number;
  readonly journal: readonly {
    readonly success: boolean;
    readonly errorCode?: string;
    readonly reason: string;
  }[];
  readonly entered: Readonly<Record<string, readonly number[]>>;
  readonly deadLetters: readonly unknown[];
  readonly restarts: readonly number[];
  readonly holds: boolean;
}

/** Every envelope was handled once, in order, and those that came while nothing could be kept waited until it could. */
const goesOn = (told: TeamTold, reason: string): void => {
  expect(told.refused).toEqual({ code: 'STORE_FAILED', message: expect.stringContaining(reason) });
  expect(told.leftWhenFull).toBeGreaterThan(0);
  const first = told.journal[0];
  expect(first).toMatchObject({ success: false, errorCode: 'STORE_FAILED' });
  expect(first?.reason).toContain(reason);
  expect(told.journal.at(-1)?.success).toBe(true);
  const all = Array.from({ length: 12 }, (_, n) => n);
  expect(told).toMatchObject({
    ready: [503, 200],
    // It was not let in, so it may come again: once.
    signed: ['UNAVAILABLE', 'TASK_NOT_FOUND', 'UNAUTHENTICATED'],
    meanwhile: 0,
    entered: { 'once-tally': all, 'retry-tally': all },
    deadLetters: [],
    restarts: [0, 0],
    holds: true,
  });
};

describe('A running team without room', () => {
  it.skipIf(!mayMount)(
    'on a full disk takes nothing new, says so, and goes on when there is room (X-52)',
    async () => {
      goesOn(
        await resultOf<TeamTold>(runFixture('full-disk-team', [mount], onSmallDisk(mount, '8m'))),
        'database or disk is full',
      );
    },
  );

  it('whose files may grow no more (RLIMIT_FSIZE) does the same (X-52)', async () => {
    const path = join(folder, 'team');
    mkdirSync(path);
    const limited = ['bash', '-c', 'ulimit -S -f 3000 && exec "$0" "$@"'];
    goesOn(await resultOf<TeamTold>(runFixture('full-disk-team', [path], limited)), 'disk');
  });
});
