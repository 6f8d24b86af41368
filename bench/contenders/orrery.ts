import type { System } from 'orrery';
import type { Contender, Session } from '../measurement.ts';
import type { ReceiverKind, Where } from '../orrery-team.ts';
import { sharesOf } from '../pipelined.ts';
import { type Layout, SENDERS } from '../team.ts';

const BURST_MS = 20_000;

export interface AskPlan {
  readonly where: Where;
  readonly width: number;
}

/** Every sender tells its share; a run ends when the receivers have answered for all of it. */
export const orreryTell = (receivers: ReceiverKind, layout: Layout, where: Where): Contender => ({
  name: `orrery ${receivers}`,
  open: () =>
    openSession(receivers, layout, where, async (system, count) => {
      const { tellBurst } = await import('../capabilities.ts');
      const shares = sharesOf(count, SENDERS.length);
      await eachSender(shares, (agent, share) =>
        system.ask({ agent, capability: tellBurst }, { count: share }, { timeoutMs: BURST_MS }),
      );
    }),
});

/** `width` loops of asks, dealt out to the senders. */
export const orreryAsk = (receivers: ReceiverKind, layout: Layout, { where, width }: AskPlan): Contender => ({
  name: `orrery ${receivers}`,
  open: () =>
    openSession(receivers, layout, where, async (system, count) => {
      const { askBurst } = await import('../capabilities.ts');
      const widths = sharesOf(width, SENDERS.length);
      await eachSender(widths, (agent, loops) => {
        const burst = { count: Math.ceil((count * loops) / width), width: loops };
        return system.ask({ agent, capability: askBurst }, burst, { timeoutMs: BURST_MS });
      });
    }),
});

async function openSession(
  receivers: ReceiverKind,
  layout: Layout,
  where: Where,
  run: (system: System, count: number) => Promise<void>,
): Promise<Session> {
  const { startTeam } = await import('../orrery-team.ts');
  const system = await startTeam({ receivers, layout, where });
  return { run: (count) => run(system, count), close: () => system.stop() };
}

/** Does `order` for every sender that has a share. */
async function eachSender(
  shares: readonly number[],
  order: (agent: string, share: number) => Promise<unknown>,
): Promise<void> {
  const busy = shares.flatMap((share, index) => {
    const sender = SENDERS[index];
    return share > 0 && sender !== undefined ? [order(sender.id, share)] : [];
  });
  await Promise.all(busy);
}
