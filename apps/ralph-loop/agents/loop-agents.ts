/** An agent as `startSystem` takes it. */
export interface TeamMember {
  readonly module: URL;
  readonly isolation: 'thread';
}

/** SUN, who gives tasks out, and MERCURY, who judges findings: the agents that the loop itself asks. */
export const loopAgents = (): TeamMember[] =>
  ['sun', 'mercury'].map((name) => ({
    module: new URL(`./${name}.agent.ts`, import.meta.url),
    isolation: 'thread',
  }));
