import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { System } from 'orrery';
import { askBurst, handled, tellBurst } from '../capabilities.ts';
import type { Contender, Session } from '../measurement.ts';
import { type ReceiverKind, startTeam, type TeamOptions, type Where } from '../orrery-team.ts';
import { sharesOf } from '../pipelined.ts';
import { type Layout, receiversOf, SENDERS } from '../team.ts';

const BURST_MS = 20_000;

export interface AskPlan {
  readonly where: Where;
  readonly width: number;
}

/** Every sender tells its share; a run ends when the receivers have answered for all of it. */
export const orreryTell = (receivers: ReceiverKind, layout: Layout, where: Where): Contender =>
  orrery({ receivers, layout, where }, tell);

/** The same, to mailboxes that outlive the process: each finding is kept before it is sent on its way. */
export const orreryDurableTell = (receivers: ReceiverKind, layout: Layout): Contender => ({
  name: 'orrery durable',
  open: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-bench-'));
    const session = await openTeam(
      { receivers, layout, where: 'across', journal: join(folder, 'journal') },
      tell,
    );
    return {
      run: (count) => session.run(count),
      close: async () => {
        await session.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
});

/** `width` loops of asks, dealt out to the senders. */
export const orreryAsk = (receivers: ReceiverKind, layout: Layout, { where, width }: AskPlan): Contender =>
  orrery({ receivers, layout, where }, (system, count) => {
    const widths = sharesOf(width, SENDERS.length);
    return eachSender(widths, (agent, loops) => {
      const burst = { count: Math.ceil((count * loops) / width), width: loops };
      return system.ask({ agent, capability: askBurst }, burst, { timeoutMs: BURST_MS });
    });
  });

/** Has the senders do about `count` operations; resolves to how many they did. */
type Run = (system: System, count: number) => Promise<number>;

export const tell: Run = (system, count) =>
  eachSender(sharesOf(count, SENDERS.length), (agent, share) =>
    system.ask({ agent, capability: tellBurst }, { count: share }, { timeoutMs: BURST_MS }),
  );

const orrery = (team: TeamOptions, run: Run): Contender => ({
  name: `orrery ${team.receivers}`,
  open: () => openTeam(team, run),
});

/** `onStarted`: what else is done with the team before it is measured. */
export async function openTeam(
  team: TeamOptions,
  run: Run,
  onStarted?: (system: System) => Promise<void>,
): Promise<Session> {
  const system = await startTeam(team);
  await onStarted?.(system);
  let sent = 0;
  return {
    run: async (count) => {
      sent += await run(system, count);
    },
    close: async () => {
      const arrived = await handledBy(system, team.layout);
      await system.stop();
      if (arrived !== sent) throw new Error(`${sent} findings were sent, ${arrived} were handled`);
    },
  };
}

async function handledBy(system: System, layout: Layout): Promise<number> {
  const counts = await Promise.all(
    receiversOf(layout).map(({ id }) => system.ask({ agent: id, capability: handled }, {})),
  );
  return counts.reduce((sum, count) => sum + count.handled, 0);
}

/** Gives an order to every sender that has a share; how many operations they did in all. */
export async function eachSender(
  shares: readonly number[],
  order: (agent: string, share: number) => Promise<{ readonly done: number }>,
): Promise<number> {
  const busy = shares.flatMap((share, index) => {
    const sender = SENDERS[index];
    return share > 0 && sender !== undefined ? [order(sender.id, share)] : [];
  });
  const ends = await Promise.all(busy);
  return ends.reduce((sum, { done }) => sum + done, 0);
}
