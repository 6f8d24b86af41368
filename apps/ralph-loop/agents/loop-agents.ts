/** An agent as `startSystem` takes it. */
export interface TeamMember {
  readonly module: URL;
  readonly isolation: 'thread';
}

/** SUN, who gives tasks out, and MERCURY, who judges findings: the agents that the loop itself asks. */
export const loopAgents = (): TeamMember[] =>
  [new URL('./sun.agent.ts', import.meta.url), new URL('./mercury.agent.ts', import.meta.url)].map(
    (module) => ({ module, isolation: 'thread' }),
  );
