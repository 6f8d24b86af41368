import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import type { OrreryError } from '../../runtime/protocol/errors.ts';
import { times } from '../fixtures/effort.ts';
import { runFixture } from '../fixtures/run-fixture.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { StoreModel } from '../fixtures/store-model.ts';
import { contentOf, sizeOf, told, writeOf } from '../fixtures/store-script.ts';
import { rejection } from '../fixtures/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-durability-'));
afterAll(() => rmSync(folder, { recursive: true }));

const KILLS = times(6, 20);
const SEED = 4_711;

/** Little room for the log, so that many checkpoints are made. */
const SMALL_LOG = { walBytes: 65_536 };
const LARGE_LOG = { walBytes: 1_024 * 1_024 * 1_024 };

describe('A store whose process is killed with SIGKILL, again and again', () => {
  it('has everything that was acknowledged when it is opened again, and nothing half', async () => {
    const path = join(folder, 'killed');
    const random = seededRandom(SEED);
    let model = new StoreModel();
    let from = 0;
    let ahead = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const { child, lines, ended } = runFixture('store-writer', [
        JSON.stringify({ path, ...SMALL_LOG }),
        String(SEED),
        String(from),
        '1000000',
      ]);
      const enough = from + 3 + Math.floor(random() * 60);
      let acknowledged = from - 1;
      for await (const line of lines) {
        acknowledged = Number(line.split(' ')[0]);
        if (acknowledged >= enough) child.kill('SIGKILL');
      }
      expect((await ended).code, (await ended).errors).toBe('SIGKILL');
      for (let index = from; index <= acknowledged; index++) model.write(writeOf(SEED, index, model));
      const found = await openedContent(path);
      // One more may have been written when nobody could be told any more.
      if (found.next !== model.next || JSON.stringify(told(found)) !== JSON.stringify(told(model))) {
        model.write(writeOf(SEED, ++acknowledged, model));
        ahead += 1;
      }
      expect(told(found), `kill ${kill}, after write ${acknowledged}`).toEqual(told(model));
      model = found;
      from = acknowledged + 1;
    }
    expect(from).toBeGreaterThan(KILLS * 5);
    console.info(`${KILLS} kills, ${from} writes, of which ${ahead} were there and nobody had been told`);
  }, 120_000);
});

/** Opens the store, reads all of it, and closes it. */
async function openedContent(path: string): Promise<StoreModel> {
  const store = SqliteStore.open({ path });
  try {
    return await contentOf(store);
  } finally {
    await store.close();
  }
}

/**
 * A store as the loss of power finds it: its files, and how long the log was when each write was acknowledged; `marks` are
 * what its mark was before the first write and after each.
 */
interface Remains {
  readonly path: string;
  readonly logSizes: readonly number[];
  readonly marks: readonly Buffer[];
  /** What the store held before the first write and after each. */
  readonly models: readonly StoreModel[];
}

const WRITES = 120;

async function remainsOf(name: string, seed: number, options: object): Promise<Remains> {
  const path = join(folder, name);
  const { child, lines, ended } = runFixture('store-writer', [
    JSON.stringify({ path, ...options }),
    String(seed),
    '0',
    String(WRITES),
    'marks',
  ]);
  const logSizes: number[] = [];
  const marks: Buffer[] = [];
  for await (const line of lines) {
    if (line === 'done') child.kill('SIGKILL');
    else if (line.startsWith('mark ')) marks.push(Buffer.from(line.slice(5), 'base64'));
    else logSizes.push(Number(line.split(' ')[1]));
  }
  expect((await ended).errors).toBe('');
  const models = [new StoreModel()];
  for (let index = 0; index < WRITES; index++) {
    const { mails, records, next } = models[index] as StoreModel;
    const model = Object.assign(new StoreModel(), { mails, records, next });
    model.write(writeOf(seed, index, model));
    models.push(model);
  }
  return { path, logSizes, marks, models };
}

/** A copy of the remains whose log is cut off at a byte, or has garbage from there on. `mark`: what its mark says. */
function damaged(path: string, at: number, garbage: Uint8Array | undefined, mark?: Buffer): string {
  const copy = join(folder, 'damaged');
  for (const suffix of ['', '-wal', '-mark']) {
    rmSync(copy + suffix, { force: true });
    copyFileSync(path + suffix, copy + suffix);
  }
  if (mark !== undefined) writeFileSync(`${copy}-mark`, mark);
  if (garbage === undefined) {
    truncateSync(`${copy}-wal`, at);
    return copy;
  }
  const descriptor = openSync(`${copy}-wal`, 'r+');
  writeSync(descriptor, garbage, 0, garbage.length, at);
  closeSync(descriptor);
  return copy;
}

describe('A store whose log lost its end', () => {
  const CUTS = 60;

  it.each([
    ['is cut off', 11, false],
    ['is cut off', 12, false],
    ['is followed by garbage', 13, true],
    ['is followed by garbage', 14, true],
  ])(
    'has exactly what had been acknowledged where its log %s, however old its mark, and says so if that knows of more (seed %i)',
    async (_, seed, isGarbage) => {
      const { path, logSizes, marks, models } = await remainsOf(`log-${seed}`, seed, LARGE_LOG);
      expect(logSizes.toSorted((one, other) => one - other)).toEqual(logSizes); // No checkpoint was made.
      const random = seededRandom(seed);
      const last = logSizes.at(-1) as number;
      for (let cut = 0; cut < CUTS; cut++) {
        const at = Math.floor(random() * last);
        const garbage = isGarbage ? garbageOf(random, 1 + Math.floor(random() * 20_000)) : undefined;
        const acknowledged = logSizes.filter((size) => size <= at).length;
        const old = marks[Math.floor(random() * (acknowledged + 1))];
        const found = await openedContent(damaged(path, at, garbage, old));
        expect(told(found), `byte ${at}, after ${acknowledged} writes`).toEqual(
          told(models[acknowledged] as StoreModel),
        );
        // The log of a store that was killed and not cut off by a loss of power.
        if (acknowledged === WRITES) continue;
        const ahead = marks[acknowledged + 1 + Math.floor(random() * (WRITES - acknowledged))];
        const { code, message } = await rejection(openedContent(damaged(path, at, garbage, ahead)));
        expect({ code, message }, `byte ${at}`).toEqual({
          code: 'STORE_INVALID',
          message: expect.stringMatching(/commits the last \d+ are missing: .*-wal/),
        });
      }
      expect(told(await openedContent(path))).toEqual(told(models.at(-1) as StoreModel));
    },
    120_000,
  );

  it.each([21, 22, 23, 24])(
    'after checkpoints has what it had at some moment, or says that it is damaged (seed %i)',
    async (seed) => {
      const { path, marks, models } = await remainsOf(`checkpoints-${seed}`, seed, SMALL_LOG);
      const moments = new Set(models.map((model) => JSON.stringify(told(model))));
      const random = seededRandom(seed);
      const last = sizeOf(`${path}-wal`);
      let refused = 0;
      for (let cut = 0; cut < CUTS; cut++) {
        const at = Math.floor(random() * last);
        const garbage = cut % 3 === 0 ? garbageOf(random, 1 + Math.floor(random() * 20_000)) : undefined;
        try {
          // So old a mark that it promises nothing: what is found is judged by its checksums alone.
          const found = await openedContent(damaged(path, at, garbage, marks[0]));
          expect(moments, `byte ${at} of ${last}`).toContain(JSON.stringify(told(found)));
        } catch (error) {
          if ((error as OrreryError).code !== 'STORE_INVALID') throw error;
          refused += 1;
        }
      }
      console.info(`seed ${seed}: ${CUTS} cuts, ${refused} refused`);
    },
    120_000,
  );
});

const garbageOf = (random: () => number, bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, () => Math.floor(random() * 256));
