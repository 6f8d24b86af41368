import { type Probe, Unavailable } from '../measurement.ts';

export const idleAgents: Probe = {
  kind: 'probe',
  name: 'idle-agents',
  title: 'Memory of agents that have nothing to do',
  read: async () => {
    throw new Unavailable('waits for the runtime');
  },
};
