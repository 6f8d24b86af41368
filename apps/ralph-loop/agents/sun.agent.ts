import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { missionAssign, missionRecover, missionRule } from './capabilities.ts';
import { sunMachine } from './sun.machine.ts';

export const sun = defineAgent({ ...PLANETS.sun, delivery: 'retry' }).logic(sunMachine, [
  missionAssign,
  missionRecover,
  missionRule,
]);
