import { modelAgent } from 'orrery/models';
import { model, triage } from './review.ts';

export const reviewer = modelAgent({
  id: 'reviewer',
  name: 'REVIEWER',
  model,
  instructions:
    'You review repositories. Have the scan run, with the root that you are given, and answer with those of its findings that somebody should act on today, copied whole. Heed the feedback, if there is any.',
  capabilities: [triage],
  tools: ['scanner.security.scan'],
  streams: false,
});
