import { describe, expect, it } from 'vitest';
import type { A2AChannel } from '../../../runtime/channels/a2a-channel.ts';
import type { ChannelManager } from '../../../runtime/channels/channel-manager.ts';
import { type ChannelGoal, PeerDialler } from '../../../runtime/peers/peer-dialler.ts';
import type { PeerSession } from '../../../runtime/peers/peer-session.ts';
import type { AgentEndpoint } from '../../../runtime/protocol/agent-card.ts';
import { channelClosed, refused } from '../../../runtime/protocol/errors.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const at = (address: string): AgentEndpoint => ({ transport: 'websocket', address });

/** A session that can be ended. */
class FakeSession {
  readonly publicKey: string;
  readonly #tell: (() => void)[] = [];

  constructor(publicKey: string) {
    this.publicKey = publicKey;
  }

  whenUsed(tell: () => void): void {
    tell();
  }

  whenOver(tell: () => void): void {
    this.#tell.push(tell);
  }

  end(): void {
    for (const tell of this.#tell.splice(0)) tell();
  }
}

/** Who is where: nobody where nothing is said, and nobody who lets this node in where it is `refuses`. */
const network = (says: (address: string) => string | undefined, named: readonly string[] = []) => {
  const clock = new FakeClock();
  const attempts: { readonly addresses: readonly string[]; readonly key: string | undefined }[] = [];
  const goals: ChannelGoal[] = [];
  const sessions: FakeSession[] = [];
  let open = 0;
  let most = 0;
  const openChannel = async (goal: ChannelGoal): Promise<A2AChannel> => {
    const addresses = goal.endpoints().map(({ address = '' }) => address);
    attempts.push({ addresses, key: goal.key() });
    open += 1;
    most = Math.max(most, open);
    await new Promise<void>((resolve) => clock.setTimer(100, resolve));
    open -= 1;
    for (const address of addresses) {
      const said = says(address);
      if (said === 'refuses') throw refused('it is not let in');
      if (said !== undefined) return said as unknown as A2AChannel;
    }
    throw channelClosed('c', 'nobody answered');
  };
  const dialler = new PeerDialler(
    {
      newManager: (goal) => {
        goals.push(goal);
        return {
          openChannel: () => openChannel(goal),
          closeAll: async () => undefined,
        } as unknown as ChannelManager;
      },
      join: (channel) => {
        const session = new FakeSession(channel as unknown as string);
        sessions.push(session);
        return session as unknown as PeerSession;
      },
      inUseWith: () => undefined,
      endpointsOf: () => named.map(at),
      onFailed: () => undefined,
    },
    { clock, random: () => 0 },
  );
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) await clock.advanceAsync(100);
  };
  return { dialler, attempts, goals, sessions, pass, counts: () => ({ most, attempts: attempts.length }) };
};

describe('dialling other nodes (N-3.6, N-D07, C-05)', () => {
  it('dials again and again where the owner said so, every ten seconds at the latest', async () => {
    const { dialler, pass, counts } = network(() => undefined);
    dialler.dial(at('ws://gone'));
    await pass(60_000);
    const { attempts } = counts();
    await pass(60_000);
    expect(counts().attempts - attempts).toBeGreaterThanOrEqual(5);
  });

  it('dials 32 found ends at a time and remembers 1,024, and forgets those where nobody is', async () => {
    const { dialler, goals, pass, counts } = network(() => undefined);
    for (let end = 0; end < 10_000; end++) dialler.dialFound(at(`ws://${end}`));
    expect(goals).toHaveLength(1_024);
    expect(counts()).toEqual({ most: 32, attempts: 32 });
    await pass(60_000);
    expect(counts()).toEqual({ most: 32, attempts: 5 * 1_024 });
    dialler.dialFound(at('ws://0'));
    await pass(100);
    expect(counts().attempts).toBe(5 * 1_024 + 1);
  });

  it('leaves a found end that refuses alone for a minute, and then for twice as long, however often it is found', async () => {
    const { dialler, pass, counts } = network(() => 'refuses');
    const seek = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        dialler.dialFound(at('ws://stranger'));
        await pass(1_000);
      }
    };
    await seek(59_000);
    expect(counts().attempts).toBe(1);
    await seek(60_000);
    expect(counts().attempts).toBe(2);
    await seek(60_000);
    expect(counts().attempts).toBe(2);
  });

  it('dials an end that refused at once, and once, when who is let in has changed', async () => {
    const { dialler, pass, counts } = network(() => 'refuses');
    dialler.dialFound(at('ws://stranger'));
    await pass(1_000);
    dialler.retry();
    dialler.retry();
    await pass(59_000);
    expect(counts().attempts).toBe(2);
  });

  it('looks for a node that has gone at the other addresses that it has named, where it has to have the same key', async () => {
    let isThere = true;
    const { dialler, attempts, goals, sessions, pass } = network(
      (address) => (isThere ? 'key' : address === 'ws://b' ? 'key' : undefined),
      ['ws://a', 'ws://b'],
    );
    dialler.dial(at('ws://a'));
    await pass(200);
    expect(goals[0]?.endpoints().map(({ address }) => address)).toEqual(['ws://a', 'ws://b']);
    isThere = false;
    sessions[0]?.end();
    await pass(1_000);
    expect(attempts.slice(0, 3)).toEqual([
      { addresses: ['ws://a'], key: undefined },
      { addresses: ['ws://a'], key: undefined },
      { addresses: ['ws://b'], key: 'key' },
    ]);
    expect(sessions).toHaveLength(2);
  });
});
