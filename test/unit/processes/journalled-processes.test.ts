import { describe, expect, it } from 'vitest';
import { processRecord, readProcesses } from '../../../runtime/journal/process-records.ts';
import { MemoryStore } from '../../../runtime/journal/memory-store.ts';
import { AgentProcess } from '../../../runtime/processes/agent-process.ts';
import { JournalledProcesses } from '../../../runtime/processes/journalled-processes.ts';
import { identityOf } from '../../../runtime/os/process-identity.ts';
import { ProcessOptions } from '../../../runtime/agent/process-options.ts';
import type { RecordChange } from '../../../runtime/protocol/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { FakeProcessSpawner } from '../../fixtures/fake-process.ts';

/** A journal that writes when a test has it write. */
class SlowJournal {
  readonly store = new MemoryStore();
  #changes: RecordChange[] = [];
  #waiting: (() => void)[] = [];

  note(change: RecordChange): void {
    this.#changes.push(change);
  }

  records(...page: Parameters<MemoryStore['records']>): ReturnType<MemoryStore['records']> {
    return this.store.records(...page);
  }

  whenKept(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async write(): Promise<void> {
    await this.store.write([{ mails: [], settled: [], records: this.#changes.splice(0) }]);
    for (const tell of this.#waiting.splice(0)) tell();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A process that has the number of this one: that is in `/proc`. */
function started() {
  const clock = new FakeClock();
  const journal = new SlowJournal();
  const book = new JournalledProcesses({ journal: () => journal, clock });
  const spawner = new FakeProcessSpawner(process.pid);
  const deps = {
    spawner,
    clock,
    starting: { quietMs: 8_000, computeMs: 8_000 },
    note: (pid: number, gone: Promise<unknown>) => book.note(pid, gone),
  };
  const agentProcess = new AgentProcess('file:///agent.ts', ProcessOptions.parse({}), deps);
  return { agentProcess, book, clock, journal, child: spawner.last };
}

describe('A process of an agent, in a host with a journal (F-12)', () => {
  it('is not told to load anything before the journal has its number', async () => {
    const { agentProcess, child, journal } = started();
    await turn();
    expect(child.told).toEqual([]);
    await journal.write();
    await turn();
    expect(child.told.map(({ t }) => t)).toEqual(['load']);
    expect(await readProcesses(journal.store)).toEqual([identityOf(process.pid)]);
    child.exit();
    await agentProcess.gone;
    await journal.write();
    expect(await readProcesses(journal.store)).toEqual([]);
  });

  it('is told all the same when the journal cannot write', async () => {
    const { child, clock } = started();
    await turn();
    clock.advance(500);
    await turn();
    expect(child.told.map(({ t }) => t)).toEqual(['load']);
  });
});

describe('A book of processes', () => {
  it('forgets those that are gone, whoever noted them', async () => {
    const { book, journal } = started();
    const here = identityOf(process.pid) as NonNullable<ReturnType<typeof identityOf>>;
    const gone = { ...here, start: '1' };
    journal.note(processRecord(gone));
    await journal.write();
    await book.tidy();
    await journal.write();
    expect(await readProcesses(journal.store)).toEqual([here]);
  });

  it('leaves out what is no process', async () => {
    const store = new MemoryStore();
    const records = [
      { kind: 'processes', key: '1', value: 'no JSON' },
      { kind: 'processes', key: '2', value: '{"pid":-1,"start":"1","machine":"m"}' },
    ];
    await store.write([{ mails: [], settled: [], records }]);
    expect(await readProcesses(store)).toEqual([]);
  });
});
