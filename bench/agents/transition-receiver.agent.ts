import { defineAgent } from 'orrery';
import { handled, inspect } from '../capabilities.ts';
import { receiverTransition } from '../receiver-transition.ts';
import { parametersOf } from './agent-parameters.ts';

const { id, tier } = parametersOf(import.meta.url);

export const receiver = defineAgent({
  id,
  name: id,
  version: '1.0.0',
  description: 'Handles findings with XState transition logic',
  tier,
}).logic(receiverTransition, [inspect, handled]);
