import { defineAgent } from 'orrery';
import { handled, inspect } from '../capabilities.ts';
import { receiverTransition } from '../receiver-transition.ts';
import { parametersOf } from './agent-parameters.ts';

const { tier } = parametersOf(import.meta.url);

export const receiver = defineAgent({
  id: 'transition-receiver',
  name: 'Receiver',
  version: '1.0.0',
  description: 'Handles findings with XState transition logic',
  tier,
}).logic(receiverTransition, [inspect, handled]);
