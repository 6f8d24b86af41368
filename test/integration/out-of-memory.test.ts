import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Way, WAYS } from '../fixtures/agents/hog.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';
import { memoryKb } from '../fixtures/processes.ts';
import { readTable, writeTable } from '../fixtures/page-table.ts';

const HOST = fileURLToPath(new URL('../fixtures/exhaustion-host.ts', import.meta.url));
const ISOLATIONS = ['inline', 'thread', 'process'] as const;
type Isolation = (typeof ISOLATIONS)[number];

/** Who survives what, by way and isolation. */
const TABLE = { page: 'isolation.md', first: 'memory is exhausted by' };
/** `sometimes`: both were seen, and nothing is promised. */
type Survival = 'yes' | 'no' | 'sometimes';

/** With this variable set the table is not compared but written, from so many runs where it is a matter of luck. */
const WRITES = process.env['ORRERY_WRITE_TABLES'] !== undefined;
const RUNS = { inline: 1, thread: 5, process: 1 };
const HEAP_MB = 64;
/** A host with more than this would go on until the machine has no more. */
const MOST_MB = 1_200;
const TIMEOUT_MS = 120_000;

interface Ending {
  /** One line for each way that the host survived. */
  readonly survived: readonly { way: Way; asked: string; neighbour: readonly string[] }[];
  readonly code: number | null;
}

/** Runs a host in which an agent exhausts memory, ways one after the other. */
async function runHost(isolation: Isolation, ways: readonly Way[]): Promise<Ending> {
  const args = [...CONDITIONS, `--max-old-space-size=${HEAP_MB}`, HOST, isolation, ...ways];
  const host = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let printed = '';
  host.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const stopWatching = watchMemory(host);
  const code = await new Promise<number | null>((resolve) => host.on('close', resolve));
  stopWatching();
  return {
    survived: printed
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
    code,
  };
}

function watchMemory(host: ChildProcess): () => void {
  const timer = setInterval(() => {
    if (residentMb(host.pid as number) > MOST_MB) host.kill('SIGKILL');
  }, 20);
  return () => clearInterval(timer);
}

function residentMb(pid: number): number {
  try {
    return memoryKb(pid, 'VmRSS') / 1_024;
  } catch {
    return 0; // It is gone.
  }
}

/** Whether the host survives: its agent died of it alone, and everybody else answered all the while. */
async function survives(isolation: Isolation, way: Way): Promise<Survival> {
  const ending = await runHost(isolation, [way]);
  const clean: Ending = { survived: [{ way, asked: 'ACTOR_DIED', neighbour: [] }], code: 0 };
  return isDeepStrictEqual(ending, clean) ? 'yes' : 'no';
}

async function measure(isolation: Isolation, way: Way): Promise<Survival> {
  const seen = new Set<Survival>();
  for (let run = 0; run < RUNS[isolation]; run++) seen.add(await survives(isolation, way));
  // A thread that was rid of its agent in time was lucky: nothing promises that it will be again.
  if (isolation === 'thread' && seen.has('yes')) return 'sometimes';
  return seen.size === 1 ? ([...seen][0] as Survival) : 'sometimes';
}

describe('Memory that is exhausted (F-06)', () => {
  if (WRITES) {
    it(
      'is written down',
      async () => {
        const table = new Map<string, Map<string, Survival>>();
        for (const way of WAYS) {
          const cells = new Map<string, Survival>();
          for (const isolation of ISOLATIONS) cells.set(isolation, await measure(isolation, way));
          table.set(way, cells);
        }
        writeTable(TABLE, table);
      },
      TIMEOUT_MS * 10,
    );
    return;
  }

  const table = readTable<Survival>(TABLE);

  it('in every way is in the table of docs/semantics/isolation.md', () => {
    expect([...table.keys()]).toEqual([...WAYS]);
    for (const cells of table.values()) expect([...cells.keys()]).toEqual([...ISOLATIONS]);
  });

  /** What is a matter of luck could end in any way, and shows nothing. */
  const certain = WAYS.flatMap((way) =>
    (['inline', 'thread'] as const)
      .map((isolation) => ({ way, isolation, said: table.get(way)?.get(isolation) }))
      .filter(({ said }) => said !== 'sometimes'),
  );
  it.each(certain)(
    'by $way in an agent of isolation $isolation ends as docs/semantics/isolation.md says',
    async ({ way, isolation, said }) => {
      expect(await survives(isolation, way)).toBe(said);
    },
    TIMEOUT_MS,
  );

  it(
    'in every way by an agent in a process of its own is survived by everybody else, one after the other',
    async () => {
      for (const way of WAYS) expect(table.get(way)?.get('process')).toBe('yes');
      const { survived, code } = await runHost('process', WAYS);
      expect(survived).toEqual(WAYS.map((way) => ({ way, asked: 'ACTOR_DIED', neighbour: [] })));
      expect(code).toBe(0);
    },
    TIMEOUT_MS,
  );
});
