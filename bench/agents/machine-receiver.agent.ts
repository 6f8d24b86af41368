import { defineAgent } from 'orrery';
import { handled, inspect } from '../capabilities.ts';
import { receiverMachine } from '../receiver.machine.ts';
import { parametersOf } from './agent-parameters.ts';

const { tier } = parametersOf(import.meta.url);

export const receiver = defineAgent({
  id: 'machine-receiver',
  name: 'Receiver',
  version: '1.0.0',
  description: 'Handles findings with an XState machine',
  tier,
}).logic(receiverMachine, [inspect, handled]);
