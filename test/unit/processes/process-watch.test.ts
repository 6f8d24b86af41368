import { describe, expect, it } from 'vitest';
import { AgentProcess } from '../../../runtime/processes/agent-process.ts';
import { ProcessOptions } from '../../../runtime/agent/process-options.ts';
import { ProcessWatch } from '../../../runtime/processes/process-watch.ts';
import { WatchdogOptions } from '../../../runtime/supervision/supervisor-options.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type FakeProcess, FakeProcessSpawner, SMALLEST } from '../../fixtures/fake-process.ts';

const MIB = 2 ** 20;

/** What a process does: computes, answers when it is asked, or sleeps. */
interface Life {
  computes: boolean;
  answers: boolean;
  residentMb: number;
}

function watched() {
  const clock = new FakeClock();
  const spawner = new FakeProcessSpawner();
  const options = ProcessOptions.parse({ memoryMb: 100, residentMb: 200 });
  const process = new AgentProcess('file:///agent.ts', options, {
    spawner,
    clock,
    starting: { quietMs: 60_000, computeMs: 60_000 },
  });
  const watch = new ProcessWatch({
    clock,
    watchdog: WatchdogOptions.parse({}),
    arrivals: () => Promise.resolve(),
  });
  const child = spawner.last;
  const life: Life = { computes: false, answers: true, residentMb: 50 };
  live(child, clock, life);
  watch.watch(process, options);
  const findings: string[] = [];
  const listener = {
    onWork: () => true,
    onFinding: (finding: string) => findings.push(finding),
    onGone: () => undefined,
  };
  return { clock, child, process, life, findings, listener, watch };
}

function live(child: FakeProcess, clock: FakeClock, life: Life): void {
  let cpuMs = 0;
  let lastMs = clock.monotonicMs();
  child.usage = () => {
    const nowMs = clock.monotonicMs();
    if (life.computes) cpuMs += nowMs - lastMs;
    lastMs = nowMs;
    return Promise.resolve({ cpuMs, residentBytes: life.residentMb * MIB });
  };
  const write = child.write.bind(child);
  child.write = (bytes) => {
    write(bytes);
    if (life.answers && child.told.at(-1)?.t === 'ping') child.say({ t: 'pong' });
  };
}

const pings = ({ told }: FakeProcess): number => told.filter(({ t }) => t === 'ping').length;

function run(team: ReturnType<typeof watched>): void {
  team.child.say({ t: 'loaded', description: SMALLEST });
  void team.process.start('smallest', team.listener);
  team.child.say({ t: 'ready' });
}

describe('The watch over processes', () => {
  it('lets one that does not compute sleep', async () => {
    const team = watched();
    run(team);
    team.life.answers = false;
    await team.clock.advanceAsync(5_000);
    expect(pings(team.child)).toBe(0);
    expect(team.child.isKilled).toBe(false);
  });

  it('leaves one alone that computes and answers', async () => {
    const team = watched();
    run(team);
    team.life.computes = true;
    await team.clock.advanceAsync(5_000);
    expect(pings(team.child)).toBeGreaterThan(10);
    expect(team.child.isKilled).toBe(false);
  });

  it('ends one that computes and does not answer, within 600 ms', async () => {
    const team = watched();
    run(team);
    await team.clock.advanceAsync(1_000);
    team.life.computes = true;
    team.life.answers = false;
    await team.clock.advanceAsync(600);
    expect(team.child.isKilled).toBe(true);
    expect(team.findings[0]).toMatch(/^an endless loop \(4\d\d ms without a sign of life\)$/);
    team.child.exit();
    expect((await team.process.gone).reason).toBe(team.findings[0]);
  });

  it('gives a module time to compute while it is loaded', async () => {
    const team = watched();
    team.life.computes = true;
    team.life.answers = false;
    await team.clock.advanceAsync(5_000);
    expect(team.child.isKilled).toBe(false);
    // Nobody would answer yet.
    expect(pings(team.child)).toBe(0);
    run(team);
    team.life.answers = true;
    await team.clock.advanceAsync(5_000);
    expect(team.child.isKilled).toBe(false);
  });

  it('ends one that has more memory than it may, while it is loaded too', async () => {
    const team = watched();
    team.life.residentMb = 199;
    await team.clock.advanceAsync(1_000);
    expect(team.child.isKilled).toBe(false);
    team.life.residentMb = 201;
    await team.clock.advanceAsync(200);
    expect(team.child.isKilled).toBe(true);
    team.child.exit();
    expect((await team.process.gone).reason).toBe('its process used 201 MB of memory, and may use 200');
  });

  it('ends with the process, and leaves no timer', async () => {
    const team = watched();
    run(team);
    team.child.exit();
    await team.process.gone;
    await team.clock.advanceAsync(100);
    expect(team.clock.pending).toBe(0);
  });
});
