import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NodeNetwork } from '../fixtures/peers/node-networks.ts';
import { type NodeProcess, until } from '../fixtures/peers/node-process.ts';
import { Ledgers, Traffic } from '../fixtures/peers/node-ledgers.ts';
import { documentOf, haveWritten, NodeTeam, writtenAt } from '../fixtures/peers/node-team.ts';

const linesBy = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${name} ${at}`);

const write = (node: NodeProcess, lines: readonly string[]): Promise<unknown> =>
  node.ask(`writer-${node.node}`, 'peers.write', lines);

/** What several nodes do together, over any transport. */
export function peerTeamsSuite(name: string, network: () => Promise<NodeNetwork>): void {
  describe(`teams of nodes over ${name} (N-3.6, N-3.7, N-9.1, N-9.2, N-T04)`, () => {
    let net: NodeNetwork;

    beforeEach(async () => {
      net = await network();
    });

    afterEach(() => net[Symbol.asyncDispose]());

    it('share a document: through a cut, the death of a node, and for one that comes later', async () => {
      await using team = new NodeTeam(net, ['rome', 'oslo', 'bern'], documentOf(['rome', 'oslo', 'bern']));
      await team.startAll(['rome', 'oslo']);
      const [rome, oslo] = team.nodes as [NodeProcess, NodeProcess];
      await team.meets();
      const lines = (when: string): Lines => ({
        rome: linesBy(`rome ${when}`, 20),
        oslo: linesBy(`oslo ${when}`, 20),
        bern: linesBy(`bern ${when}`, 20),
      });
      const [early, cut, alone, late] = [lines('early'), lines('cut'), lines('alone'), lines('late')];
      // Both at once.
      await Promise.all([write(rome, early.rome), write(oslo, early.oslo)]);
      const all = [...early.rome, ...early.oslo];
      await haveWritten([rome, oslo], all);
      // One stands still for longer than its channel waits, with changes of its own that are not out yet.
      const unread = write(oslo, cut.oslo);
      oslo.suspend();
      await write(rome, cut.rome);
      await rome.sees('oslo', 'rejoining');
      oslo.resume();
      await unread;
      all.push(...cut.rome, ...cut.oslo);
      await haveWritten([rome, oslo], all);
      // What the dead one had, the other has; what is written meanwhile, the next process gets.
      await oslo.kill();
      await rome.sees('oslo', 'rejoining');
      await write(rome, alone.rome);
      const again = await team.start('oslo');
      await team.meets();
      all.push(...alone.rome);
      await haveWritten([rome, again], all);
      const bern = await team.start('bern');
      await team.meets();
      await haveWritten([rome, again, bern], all);
      await Promise.all([write(rome, late.rome), write(again, late.oslo), write(bern, late.bern)]);
      all.push(...late.rome, ...late.oslo, ...late.bern);
      await haveWritten([rome, again, bern], all);
      for (const node of team.nodes) {
        expect((await writtenAt(node)).refused).not.toHaveProperty('FORGED');
        await node.settles();
      }
    });

    it('of five discover, negotiate, swarm, stream and share, through a cut and a kill: of all that one said to another nothing is lost silently, and nothing comes twice', {
      timeout: 300_000,
    }, async () => {
      const names = ['rome', 'oslo', 'bern', 'lima', 'kyiv'];
      using ledgers = new Ledgers();
      const withDocument = documentOf(names);
      const more = (of: string) => ({ ...withDocument(of), ledger: ledgers.fileOf(of) });
      await using team = new NodeTeam(net, names, more);
      await team.startAll(names);
      await team.meets();
      const [rome, oslo, , lima, kyiv] = team.nodes as FiveNodes;

      expect(await kyiv.call('propose', ['craft.oslo'])).toMatchObject({ acceptedBy: 'smith-oslo' });
      const parts = names.map((of) => `craft.${of}`);
      const swarm = await rome.call<{ status: string; by: string[] }>('swarm', parts, 'all');
      expect(swarm.status).toBe('completed');
      expect(swarm.by.sort()).toEqual(names.map((of) => `smith-${of}`).sort());
      await Promise.all(
        names.slice(1).map(async (of) => {
          expect(await rome.read(`worker-${of}`, 'peers.count', 50, 100)).toHaveLength(50);
        }),
      );
      const lines = names.map((of) => linesBy(of, 5));
      await Promise.all(team.nodes.map((node, at) => write(node, lines[at] as string[])));
      await haveWritten(team.nodes, lines.flat());

      // Everybody asks and tells everybody, while one stands still for longer than its channels wait, and another is killed.
      const said = new Traffic(team.nodes, 20);
      await until(() => ledgers.read('oslo').length > 20 && ledgers.read('lima').length > 20);
      lima.suspend();
      await oslo.kill();
      await Promise.all([rome.sees('lima', 'rejoining'), kyiv.sees('oslo', 'rejoining')]);
      lima.resume();
      await team.start('oslo');
      await team.meets();
      const outcomes = await said.outcomes();
      for (const node of team.nodes) await node.settles();

      const alone = linesBy('after', 3);
      await write(lima, alone);
      await haveWritten(team.nodes, [...lines.flat(), ...alone]);
      expect(await rome.call('swarm', parts, 'again')).toMatchObject({ status: 'completed' });
      await ledgers.hold(outcomes, { killed: oslo, nodes: team.nodes });
      for (const node of team.nodes) await node.settles();
    });
  });
}

type FiveNodes = [NodeProcess, NodeProcess, NodeProcess, NodeProcess, NodeProcess];

interface Lines {
  readonly rome: readonly string[];
  readonly oslo: readonly string[];
  readonly bern: readonly string[];
}
