import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentChannel, capability, channelsOf, defineAgent } from '../../../index.ts';
import { simulate } from '../../../simulate.ts';
import { letter } from '../../fixtures/agent-pair.ts';

const CARD = { version: '1.0.0', description: 'Writes', tier: 2 } as const;
const input = z.undefined();
const act = capability({
  id: 'post.act',
  description: 'Does something with its channel, or itself',
  input: z.enum(['open', 'listen', 'close', 'die']),
  output: z.void(),
});
const write = capability({ id: 'post.write', description: 'Writes and waits', input, output: z.string() });

const listen = (channel: AgentChannel): void => void channel.onMessage(() => undefined);

/** Opens a channel, and listens to it only when it is told to, or when it is asked to take it again. */
const mars = () =>
  defineAgent({ id: 'mars', name: 'MARS', ...CARD })
    .onChannel(listen)
    .handle(act, async (what, ctx) => {
      if (what === 'die') throw new Error('it was told to');
      const channels = channelsOf(ctx);
      if (what === 'open') await channels.openChannel('venus');
      else
        for (const channel of channels.listChannels())
          what === 'listen' ? listen(channel) : await channel.close();
    });

/** Writes in a handler that waits for what becomes of it, and takes nothing else meanwhile. */
const venus = () =>
  defineAgent({ id: 'venus', name: 'VENUS', ...CARD })
    .onChannel(listen)
    .handle(write, async (_, ctx) => {
      const [channel] = channelsOf(ctx).listChannels() as [AgentChannel];
      const outcome = (sent: Promise<void>) =>
        sent.then(
          () => 'sent',
          (error: { code: string }) => error.code,
        );
      return `${await outcome(channel.send(letter(1, 'venus')))}, ${await outcome(channel.send(letter(2, 'venus')))}`;
    });

describe('A handler that waits for what it writes over a channel (C-37, N-3.7)', () => {
  it.each([
    ['begins to listen', 'listen', 'sent, sent'],
    ['closes the channel', 'close', 'CHANNEL_CLOSED, CHANNEL_CLOSED'],
    ['dies, and takes the channel again', 'die', 'sent, sent'],
  ] as const)('goes on when the other end %s', async (_, what, expected) => {
    const { value, error } = await simulate({
      agents: [mars(), venus()],
      run: async (team, { sleep }) => {
        await team.ask({ agent: 'mars', capability: act }, 'open');
        const writing = team.ask({ agent: 'venus', capability: write }, undefined);
        await sleep(1_000);
        await team.ask({ agent: 'mars', capability: act }, what).catch(() => undefined);
        return writing;
      },
    });
    expect({ error, value }).toEqual({ value: expected });
  });
});
