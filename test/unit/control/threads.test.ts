import { describe, expect, it } from 'vitest';
import type { ControlBoot } from '../../../runtime/control/control-calls.ts';
import { AgentTable } from '../../../runtime/control/agent-table.ts';
import { IncarnationRegistry } from '../../../runtime/control/incarnation-registry.ts';
import { Threads, type ThreadsListener } from '../../../runtime/control/threads.ts';
import type { Spawner } from '../../../runtime/link/spawner.ts';
import { STATUS } from '../../../runtime/mailbox/status-words.ts';
import { ControlLog } from '../../../runtime/observe/control-log.ts';
import { EventLimits } from '../../../runtime/observe/event-limits.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { AgentStatusMemory, newAgentStatusMemory } from '../../../runtime/routing/agent-status-memory.ts';
import { StartingOptions, WatchdogOptions } from '../../../runtime/supervision/supervisor-options.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SILENT_PORT } from '../../fixtures/steered-node.ts';

/** Threads that are started and never say anything; `posted` has what they are told. */
function threadsOf(heard: ThreadsListener['heard'] = () => undefined) {
  const clock = new FakeClock();
  const posted: unknown[] = [];
  const spawner: Pick<Spawner, 'spawn'> = {
    spawn: () => ({
      threadId: 1,
      port: { ...SILENT_PORT, post: (message) => posted.push(message) },
      cpuMs: async () => 0,
      usage: () => undefined,
      terminate: async () => undefined,
      onExit: () => undefined,
    }),
  };
  const events = EventLimits.parse({});
  const incarnations = new IncarnationRegistry();
  const agentStatus = newAgentStatusMemory();
  const boot = {
    options: {
      watchdog: WatchdogOptions.parse({}),
      starting: StartingOptions.parse({}),
      events,
    },
    agentStatus,
  } as unknown as ControlBoot;
  const threads = new Threads(
    {
      seams: { ...systemSeams(), clock },
      spawner: spawner as Spawner,
      incarnations,
      agents: new AgentTable(new AgentStatusMemory(agentStatus)),
      log: new ControlLog({
        clock,
        limits: events,
        onEvent: () => undefined,
        show: () => undefined,
        isTold: () => false,
      }),
      journal: undefined,
    },
    boot,
    { heard, died: () => undefined },
  );
  return { threads, incarnations, posted };
}

describe('The threads of a system', () => {
  it('tells one that has not begun yet to stream its events, and to stop', async () => {
    const { threads, posted } = threadsOf();
    threads.open('worker-1');
    await threads.inspect(true);
    await threads.inspect(false);
    expect(posted).toEqual([
      { t: 'inspect', isOn: true },
      { t: 'inspect', isOn: false },
    ]);
  });

  it('have caught up when a report is heard, also one that nobody can do anything with', async () => {
    const { threads, incarnations } = threadsOf(() => {
      throw new Error('what is this?');
    });
    let report: (message: unknown) => void = () => undefined;
    const host = incarnations.open();
    const port = {
      ...SILENT_PORT,
      onMessage: (listener: (message: unknown) => void) => {
        report = listener;
      },
    };
    threads.addHost(host, port, {} as never);
    new Int32Array(host.memories.status)[STATUS.reported] = 1;
    let isCaughtUp = false;
    const caughtUp = threads.caughtUp().then(() => {
      isCaughtUp = true;
    });
    await Promise.resolve();
    expect(isCaughtUp).toBe(false);
    expect(() => report({ t: 'told' })).toThrow('what is this?');
    await caughtUp;
    expect(isCaughtUp).toBe(true);
  });
});
