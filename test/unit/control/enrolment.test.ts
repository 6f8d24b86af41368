import { expect, it } from 'vitest';
import type { LoadedAgent } from '../../../runtime/agent/loaded-agent.ts';
import { AgentTable } from '../../../runtime/control/agent-table.ts';
import { type AgentOrder, Enrolment, type EnrolmentDeps, PEERS } from '../../../runtime/control/enrolment.ts';
import { loadedPeerAgent } from '../../../runtime/peers/peer-agent.ts';
import type { AgentCard } from '../../../runtime/protocol/agent-card.ts';
import type { TableDelta } from '../../../runtime/routing/routing-table.ts';

const card: AgentCard = {
  ...{ id: 'mars', name: 'mars', version: '1.0.0', description: '', tier: 3, protocols: [], endpoints: [] },
  ...{ capabilities: [], revision: 0, origin: 'remote', lastSeenAt: 1 },
};
const ofOslo = loadedPeerAgent(card, { tier: 3, sandboxId: undefined, nodeId: 'oslo' });
const { clearance: _clearance, ...agent } = ofOslo;
const ofRome: LoadedAgent = { ...agent, node: undefined };

/** Takes in agents whose places say that they host them when the test has them do so. */
function enrolment() {
  const agents = new AgentTable({ reach: () => undefined, hostDied: () => undefined });
  const hosted: PromiseWithResolvers<void>[] = [];
  const rows: unknown[] = [];
  const supervised: string[] = [];
  let asked = 0;
  const load = async (module: string): Promise<LoadedAgent> => (module.startsWith('peer:') ? ofOslo : ofRome);
  const taken = new Enrolment(
    {
      agents,
      threads: {
        ensure: () => undefined,
        get: (id: string) => ({ id, connection: { api: { load } } }),
        watchLoading: () => () => undefined,
        tellAll: ({ delta }: { readonly delta: TableDelta }) =>
          rows.push(...delta.remove.map((id) => `-${id}`), ...delta.upsert.map(({ place }) => place)),
      },
      hosting: {
        host: () => {
          const one = Promise.withResolvers<void>();
          hosted.push(one);
          return one.promise;
        },
      },
      supervisor: {
        requireAlone: () => undefined,
        add: (id: string) => supervised.push(id),
        remove: (id: string) => supervised.splice(supervised.indexOf(id), 1),
      },
      lives: { forget: () => undefined },
    } as unknown as EnrolmentDeps,
    { workers: 1, durable: undefined },
  );
  const enrol = async (module: string, order: Partial<AgentOrder>) => {
    const enrolled = taken.enrol([
      {
        ...{ module, isInline: false, process: undefined, ids: ['mars'], lazy: undefined, card: undefined },
        ...order,
      },
    ]);
    enrolled.catch(() => undefined);
    // The place has loaded what it is to host.
    asked += 1;
    while (hosted.length < asked) await Promise.resolve();
    return { enrolled };
  };
  return { agents, enrol, hosted, rows, supervised };
}

it('An agent of another node whose id goes to one of this node while it is being hosted is not taken in (C-31)', async () => {
  for (const becomes of ['resolve', 'reject'] as const) {
    const { agents, enrol, hosted, rows, supervised } = enrolment();
    const other = await enrol('peer:oslo/mars', { isPeer: true });
    const own = await enrol('mars.js', { isInline: true });
    hosted[0]?.[becomes]();
    await expect(other.enrolled).rejects.toThrow();
    hosted[1]?.resolve();
    await own.enrolled;
    expect(agents.at(PEERS)).toEqual([]);
    expect(agents.get('mars').place).toBe('host');
    expect(rows).toEqual(['-mars', 'host']);
    expect(supervised).toEqual(['mars']);
  }
});
