import { modelAgent } from 'orrery/models';
import { model, summary } from './review.ts';

export const writer = modelAgent({
  id: 'writer',
  name: 'WRITER',
  model,
  instructions:
    'You write for people in a hurry. Have the scan run, with the root that you are given, and sum up what it finds in one note of the kind "summary".',
  capabilities: [summary],
  tools: ['scanner.security.scan'],
  streams: false,
});
