import { PLANETS } from 'orrery/planets';

/** An agent as `startSystem` takes it. */
export interface TeamMember {
  readonly module: URL;
  readonly isolation: 'thread';
}

/** The 21 planets, to be started in worker threads. */
export const defaultTeam = (): TeamMember[] =>
  Object.keys(PLANETS).map((name) => ({
    module: new URL(`../audit/agents/${name}.agent.ts`, import.meta.url),
    isolation: 'thread',
  }));
