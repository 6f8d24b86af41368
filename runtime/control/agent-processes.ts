import type { ControlLog } from '../observe/control-log.ts';
import type { Clock } from '../protocol/seams.ts';
import type { AgentTable } from './agent-table.ts';
import type { AgentLives } from './agent-lives.ts';
import type { JournalThread } from '../journal/journal-thread.ts';
import type { Threads } from './threads.ts';
import type { Spawner } from '../link/spawner.ts';

/** How a process is called where a place is named. */
export const processName = (pid: number): string => `process-${pid}`;

export interface AgentProcessesDeps {
  readonly agents: AgentTable;
  readonly threads: Threads;
  readonly spawner: Spawner;
  readonly lives: AgentLives;
  readonly clock: Clock;
  readonly log: Pick<ControlLog, 'note'>;
}

/** The processes of agents as the control thread knows them: by their numbers. */
export class AgentProcesses {
  readonly #deps: AgentProcessesDeps;

  constructor(deps: AgentProcessesDeps) {
    this.#deps = deps;
  }

  /** Ends what former hosts have left behind, before any agent starts. */
  async endLeft(journal: Pick<JournalThread, 'leftProcesses' | 'forgetProcesses'>): Promise<void> {
    const { clock, log } = this.#deps;
    const noted = await journal.leftProcesses();
    if (noted.length === 0) return;
    const { endLeftProcesses } = await import('../os/left-processes.ts');
    const found = await endLeftProcesses(noted, clock);
    for (const { process, isGone } of found) {
      const end = isGone ? 'ended' : 'killed, and still there';
      log.note('process-ended', { reason: `${processName(process.pid)} of a former host was ${end}` });
    }
    const still = new Set(found.filter(({ isGone }) => !isGone).map(({ process }) => process));
    await journal.forgetProcesses(noted.filter((process) => !still.has(process)));
  }

  /** Ends a process from outside; resolves when its agent has been started again, or will not be. Undefined for no process. */
  end(name: string): Promise<void> | undefined {
    const { agents, threads, lives } = this.#deps;
    for (const { id, pid, slot, place } of agents) {
      if (pid === undefined || processName(pid) !== name) continue;
      threads.tell(threads.get(place), { t: 'end-process', slot });
      return lives.whenStarted(id);
    }
    return undefined;
  }

  /** The thread that relayed for these processes is gone: they would end by themselves, but a moment later. */
  endAt(place: string): void {
    const { agents, spawner } = this.#deps;
    for (const agent of agents.at(place)) {
      if (agent.pid !== undefined) spawner.endProcess(agent.pid);
      agent.pid = undefined;
    }
  }
}
