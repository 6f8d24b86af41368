import { defineAgent } from 'orrery';

export const idle = defineAgent({
  id: 'idle',
  name: 'Idle',
  version: '1.0.0',
  description: 'Has nothing to do',
  tier: 3,
}).on('notification', () => undefined);
