import { describe, expect, it } from 'vitest';
import { membersOf } from '../../runtime/os/proc-table.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../../runtime/os/process-identity.ts';
import { runFixture } from '../fixtures/run-fixture.ts';
import { until } from '../fixtures/until.ts';

describe('MCP servers that heed neither signals nor the end of their input', () => {
  it.each([
    ['is killed -9', 'waits'],
    ['exits', 'exits'],
    ['stops its system', 'stops'],
  ])('are gone when their host %s, and their watchers with them', async (_how, ending) => {
    const { child, lines, ended } = runFixture('mcp-host', [ending]);
    let servers: ProcessIdentity[] = [];
    for await (const line of lines) {
      const pids = JSON.parse(line) as number[];
      servers = pids.flatMap((pid) => identityOf(pid) ?? []);
      if (ending === 'waits') expect(servers).toHaveLength(2);
      break;
    }
    if (ending === 'waits') child.kill('SIGKILL');
    await ended;
    for (const server of servers) {
      await until('it is gone', () => !isAlive(server));
      await until('so is its group', () => membersOf(server.pid).length === 0);
    }
  });
});
