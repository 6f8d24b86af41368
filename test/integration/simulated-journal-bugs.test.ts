import { describe, expect, it, vi } from 'vitest';
import { defineAgent } from 'orrery';
import { RepeatableMails } from '../../runtime/cell/repeatable-mails.ts';
import { Backlog } from '../../runtime/journal/backlog.ts';
import { MemoryStore } from '../../runtime/journal/memory-store.ts';
import { Outbox } from '../../runtime/link/outbox.ts';
import { type SimulateOptions, type SimulationControls, simulate } from 'orrery/simulate';
import { type Books, brokenPromises, journaledTeam, newBooks } from '../fixtures/journaled-team.ts';
import { CARD, to, work } from '../fixtures/simulated-work.ts';

/** What is wrong in the first seed of so many in which something is. */
async function brokenWithin(
  seeds: number,
  options: (seed: number, books: Books) => SimulateOptions = journaledTeam,
): Promise<string[]> {
  for (let seed = 1; seed <= seeds; seed++) {
    const books = newBooks();
    const broken = brokenPromises(books, await simulate(options(seed, books)));
    if (broken.length > 0) return broken;
  }
  return [];
}

describe('bugs that a simulation with a journal finds (F-01, F-03)', () => {
  it('mail that is sent on its way and never kept', async () => {
    const real = Outbox.prototype.accept;
    let count = 0;
    const planted = vi.spyOn(Outbox.prototype, 'accept').mockImplementation(function (
      this: Outbox,
      row,
      ...given
    ) {
      count += 1;
      const durable = row.profile.durable && count % 20 !== 0;
      real.call(this, { ...row, profile: { ...row.profile, durable } }, ...given);
    });
    try {
      expect(await brokenWithin(5)).toContainEqual(expect.stringMatching(/before it was kept/));
    } finally {
      planted.mockRestore();
    }
  });

  it('a process that does not know what the one before had begun on', async () => {
    const real = Backlog.prototype.take;
    const planted = vi.spyOn(Backlog.prototype, 'take').mockImplementation(async function (
      this: Backlog,
      ...given
    ) {
      return (await real.apply(this, given)).map((left) => ({ ...left, starts: 0 }));
    });
    try {
      expect(await brokenWithin(20)).toContainEqual(expect.stringMatching(/has begun twice on .* kept/));
    } finally {
      planted.mockRestore();
    }
  });

  it('a process that does not know how often an envelope was begun on', async () => {
    const real = Backlog.prototype.take;
    const planted = vi.spyOn(Backlog.prototype, 'take').mockImplementation(async function (
      this: Backlog,
      ...given
    ) {
      return (await real.apply(this, given)).map((left) => ({ ...left, starts: Math.min(left.starts, 1) }));
    });
    try {
      let controls: SimulationControls | undefined;
      const bomb = defineAgent({ id: 'bomb', name: 'BOMB', delivery: 'retry', ...CARD }).handle(
        work,
        async (n, ctx) => {
          controls?.cause({ fault: 'hostCrash' });
          await ctx.sleep(1_000);
          return n;
        },
      );
      const { violations } = await simulate({
        agents: [bomb],
        journal: true,
        maxSteps: 50_000,
        maxMs: 20_000,
        run: async (team, given) => {
          controls = given;
          if (given.life === 1) team.tell(to('bomb'), 1);
          await team.whenKept();
        },
      });
      expect(violations).toContainEqual(expect.stringMatching(/in more than 3 processes/));
    } finally {
      planted.mockRestore();
    }
  });

  it('a page of what is left that is never read', async () => {
    const real = Backlog.prototype.take;
    const planted = vi.spyOn(Backlog.prototype, 'take').mockImplementation(async function (
      this: Backlog,
      ...given
    ) {
      const page = await real.apply(this, given);
      return page.length > 3 ? page.slice(0, -1) : page;
    });
    try {
      expect(await brokenWithin(20)).toContainEqual(expect.stringMatching(/nobody has handled it/));
    } finally {
      planted.mockRestore();
    }
  });

  it('an id that is taken and not remembered by the next process', async () => {
    const planted = vi.spyOn(RepeatableMails.prototype, 'add').mockImplementation(() => undefined);
    try {
      expect(await brokenWithin(200)).toContainEqual(expect.stringMatching(/which was sent again/));
    } finally {
      planted.mockRestore();
    }
  });

  it('a write that is acknowledged and not done', async () => {
    const real = MemoryStore.prototype.write;
    let count = 0;
    const planted = vi.spyOn(MemoryStore.prototype, 'write').mockImplementation(function (
      this: MemoryStore,
      batches,
    ) {
      count += 1;
      if (count % 7 !== 0) return real.call(this, batches);
      return real.call(
        this,
        batches.map((batch) => ({ ...batch, settled: [] })),
      );
    });
    try {
      expect(await brokenWithin(20)).not.toEqual([]);
    } finally {
      planted.mockRestore();
    }
  });
});
