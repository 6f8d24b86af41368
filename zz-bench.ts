import { RoutingTable, deltaOf } from './runtime/routing/routing-table.ts';
import { RouteDecider } from './runtime/routing/route-decider.ts';
import { GrantBook } from './runtime/routing/grants.ts';
import { defaultPolicies } from './policies/index.ts';
import { systemClock } from './runtime/protocol/system-seams.ts';
import { systemParty } from './runtime/protocol/policy.ts';
const card = (id: string, tier: 0|1|2|3) => ({ id, name: id, version: '1', description: '', tier, protocols: [], endpoints: [], capabilities: [], revision: 0, origin: 'local' as const, lastSeenAt: 0 });
const profile = (id: string, tier: 0|1|2|3) => ({ card: card(id, tier), capabilityIds: ['a.b','c.d','e.f'], delivery: 'once' as const, mailboxCapacity: 1000, lazy: false });
const gc = (globalThis as any).gc; 
function heap() { gc(); gc(); return process.memoryUsage().heapUsed; }
{
  const before = heap();
  const table = new RoutingTable();
  const p = profile('w', 2);
  const N = 100_000;
  for (let start = 0; start < N; start += 10_000) {
    table.apply({ version: 1, profiles: [p], upsert: Array.from({ length: 10_000 }, (_, i) => ({ id: `worker-${start + i}`, slot: start + i, place: 'worker-1', profile: 0, revision: 0 })), remove: [] });
  }
  const after = heap();
  console.log('bytes/row', (after - before) / N, table.size, table.withCapability('a.b').length);
  const t0 = performance.now();
  const s = structuredClone(table.snapshot()); const t1 = performance.now();
  const t2 = new RoutingTable(); t2.apply(s); console.log('snapshot+clone ms', t1 - t0, 'apply', performance.now() - t1, t2.size);
  const t3 = performance.now(); for (let i = 0; i < N; i += 2) t2.apply({ version: 2, profiles: [], upsert: [], remove: [`worker-${i}`] }); t2.withCapability('c.d'); console.log('50k removes ms', performance.now() - t3, t2.withCapability('c.d').length);
}
const table = new RoutingTable();
for (const [i, tier] of ([0,1,2,3,2,2] as const).entries()) table.apply({ version: i, profiles: [profile('p' + i, tier)], upsert: [{ id: 'p' + i, slot: i, place: 'w', profile: 0, revision: 0 }], remove: [] });
for (const clock of [systemClock, { now: () => 1e12 }]) {
  const decider = new RouteDecider(table, defaultPolicies(), clock, { grants: new GrantBook(systemClock) });
  const rows = [...table.rows()];
  const envs = [
    { id: 'x', schemaVersion: 1, sender: 'p2', recipient: 'p4', type: 'request' as const, timestamp: 1, payload: { a: 1 }, metadata: { tier: 2 as const, capability: 'a.b', deadlineAtMs: 9e15, path: [{ agent: 'p9', capability: 'q', envelopeId: 'e' }] } },
    { id: 'x', schemaVersion: 1, sender: 'p2', recipient: 'p4', type: 'notification' as const, timestamp: 1, payload: { a: 1 }, metadata: { tier: 2 as const } },
    { id: 'x', schemaVersion: 1, sender: 'p2', recipient: 'p4', type: 'notification' as const, timestamp: 1, payload: { a: 1 } },
  ];
  const host = systemParty('system/host');
  for (const [name, run] of Object.entries({
    judgeRow: (env: any) => decider.judgeRow(rows[2]!.party, rows[4]!, env, true) === undefined,
    judgeRowHost: (env: any) => decider.judgeRow(host, rows[4]!, env, true) === undefined,
    decide: (env: any) => decider.decide(rows[2]!.party, env).kind === 'one',
    described: (env: any) => { decider.request.sender = rows[2]!.party; decider.request.type = env.type; decider.request.schemaVersion = 1; return decider.judgeDescribed(rows[5]!.party) === undefined; },
  })) {
    for (let round = 0; round < 3; round++) {
      let ok = 0; const n = 3_000_000; const t = performance.now();
      for (let i = 0; i < n; i++) ok += run(envs[i % 3]) ? 1 : 0;
      if (round === 2) console.log(name, ((performance.now() - t) * 1e6 / n).toFixed(1), 'ns', ok === n);
    }
  }
}
