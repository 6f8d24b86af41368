import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Ledgers, Traffic } from '../fixtures/peers/node-ledgers.ts';
import { type NodeProcess, until } from '../fixtures/peers/node-process.ts';
import { CHANNEL, documentOf, haveWritten, NodeTeam } from '../fixtures/peers/node-team.ts';
import { PartedNetwork, whyNoPartedNetwork } from '../fixtures/peers/parted-network.ts';

const NAMES = ['rome', 'oslo', 'bern'];

describe.skipIf(whyNoPartedNetwork() !== undefined)('a network that parts nodes (N-3.6, N-3.7)', () => {
  let net: PartedNetwork;
  let ledgers: Ledgers;

  beforeEach(async () => {
    net = await PartedNetwork.start(NAMES);
    ledgers = new Ledgers();
  });

  afterEach(async () => {
    await net[Symbol.asyncDispose]();
    ledgers[Symbol.dispose]();
  });

  /** Three nodes that know each other; `reconnectTimeoutMs` is how long they await one that is lost. */
  const meet = async (reconnectTimeoutMs: number) => {
    const withDocument = documentOf(NAMES);
    const channel = { ...CHANNEL, reconnectTimeoutMs };
    const team = new NodeTeam(net, NAMES, (of) => ({
      ...withDocument(of),
      ledger: ledgers.fileOf(of),
      channel,
    }));
    await team.startAll(NAMES);
    await team.meets();
    const [rome, oslo, bern] = team.nodes as [NodeProcess, NodeProcess, NodeProcess];
    return { team, rome, oslo, bern };
  };

  const write = (node: NodeProcess, line: string): Promise<unknown> =>
    node.ask(`writer-${node.node}`, 'peers.write', [line]);

  it('for less long than they await each other: nothing is lost, repeated or reordered, and a document agrees', async () => {
    const { team, rome, oslo, bern } = await meet(100_000);
    await using _ = team;
    const said = new Traffic(team.nodes, 40);
    await until(() => ledgers.read('rome').length > 20 && ledgers.read('oslo').length > 20);
    await net.part('rome', 'oslo');
    await Promise.all([rome.sees('oslo', 'rejoining'), oslo.sees('rome', 'rejoining')]);
    await Promise.all([write(rome, 'rome'), write(oslo, 'oslo')]);
    // Who can reach both goes on with both.
    expect(await bern.ask('worker-rome', 'peers.terms', 1)).toMatchObject({ input: 1 });
    expect(await bern.ask('worker-oslo', 'peers.terms', 2)).toMatchObject({ input: 2 });
    const waits = rome.ask('worker-oslo', 'peers.terms', 3, { timeoutMs: 100_000 });
    await net.heal('rome', 'oslo');
    await team.meets();
    expect(await waits).toMatchObject({ input: 3 });
    await ledgers.hold(await said.outcomes(), { nodes: team.nodes });
    await haveWritten(team.nodes, ['rome', 'oslo']);
    for (const node of team.nodes) await node.settles();
  });

  it('for longer: what was under way and what waited is told, they meet again by themselves, and work goes on', async () => {
    const { team, rome, oslo, bern } = await meet(5_000);
    await using _ = team;
    const pid = await oslo.call('pid');
    const underWay = rome.ask('worker-oslo', 'peers.outlive', pid, { timeoutMs: 100_000 });
    await until(
      async () => ((await bern.ask('worker-oslo', 'peers.tally', null)) as { waiting: number }).waiting === 1,
    );
    await net.part('rome', 'oslo');
    await rome.sees('oslo', 'rejoining');
    const waited = rome.ask('worker-oslo', 'peers.terms', 1, { timeoutMs: 100_000 });
    await rome.call('tell', 'smith-oslo', [{ from: 'rome', number: -1 }]);
    await Promise.all([write(rome, 'rome'), write(oslo, 'oslo')]);
    await Promise.all([rome.sees('oslo', 'lost'), oslo.sees('rome', 'lost')]);
    await expect(underWay).rejects.toMatchObject({ code: 'ACTOR_DIED' });
    await expect(waited).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE' });
    await expect(rome.ask('worker-oslo', 'peers.terms', 2)).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
    });
    const letters = async () =>
      (await rome.call<{ recipient: string; code: string }[]>('deadLetters')).filter(
        ({ recipient }) => recipient === 'smith-oslo',
      );
    // What was told has nobody who hears of its end: the thread that has it reports it in its own time.
    await until(async () => (await letters()).length > 0);
    expect(await letters()).toMatchObject([{ code: 'REMOTE_UNREACHABLE' }]);
    // There, too, nobody waits for it any more.
    await until(
      async () => ((await bern.ask('worker-oslo', 'peers.tally', null)) as { aborted: number }).aborted === 1,
    );
    expect(ledgers.read('oslo')).toEqual([]);

    await net.heal('rome', 'oslo');
    await team.meets();
    const said = new Traffic(team.nodes, 20);
    await ledgers.hold(await said.outcomes(), { nodes: team.nodes });
    await haveWritten(team.nodes, ['rome', 'oslo']);
    for (const node of team.nodes) await node.settles();
  });
});
