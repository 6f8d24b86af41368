const AGENTS = ['sun', 'mercury', 'mars', 'jupiter', 'enceladus'];

/** An agent as `startSystem` takes it. */
export interface TeamMember {
  readonly module: URL;
  readonly isolation: 'thread';
}

/** The planets that have a job, to be started in worker threads. */
export const defaultTeam = (): TeamMember[] =>
  AGENTS.map((name) => ({
    module: new URL(`../audit/agents/${name}.agent.ts`, import.meta.url),
    isolation: 'thread',
  }));
